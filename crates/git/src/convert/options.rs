//! The configuration of conversion.

use bstr::BString;

/// All settings that affect conversion.
#[derive(Clone, Debug)]
pub struct ConvertOptions {
    /// `core.autocrlf`.
    pub auto_crlf: AutoCrlf,
    /// `core.eol`; `native` is [`Eol::Lf`] here.
    pub eol: Eol,
    /// `core.safecrlf`, by default a warning.
    pub safe_crlf: SafeCrlf,
    /// `core.checkRoundtripEncoding`, by default `SHIFT-JIS`.
    pub round_trip_encodings: Vec<BString>,
    /// Each `filter.<name>`.
    pub drivers: Vec<Driver>,
}

impl Default for ConvertOptions {
    fn default() -> ConvertOptions {
        ConvertOptions {
            auto_crlf: AutoCrlf::False,
            eol: Eol::Lf,
            safe_crlf: SafeCrlf::Warn,
            round_trip_encodings: vec!["SHIFT-JIS".into()],
            drivers: Vec::new(),
        }
    }
}

/// `core.autocrlf`: the conversion of files without a matching attribute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AutoCrlf {
    /// Nothing.
    #[default]
    False,
    /// Text files have CRLF in the working tree, LF in the repository.
    True,
    /// CRLF in text files becomes LF on the way into the repository.
    Input,
}

/// The kind of line ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Eol {
    /// With a line feed.
    #[default]
    Lf,
    /// With a carriage return and a line feed.
    CrLf,
}

/// `core.safecrlf`: what happens when a conversion of line ends cannot be undone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SafeCrlf {
    /// Nothing.
    False,
    /// A message.
    #[default]
    Warn,
    /// An error.
    True,
}

/// A filter driver, `filter.<name>.*` in the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Driver {
    /// The name, as attributes spell it.
    pub name: BString,
    /// `clean`: a shell command, `%f` in it is the path.
    pub clean: Option<BString>,
    /// `smudge`: likewise.
    pub smudge: Option<BString>,
    /// `process`: a command that handles any number of files; the other two are then not used.
    pub process: Option<BString>,
    /// `required`: a file that cannot be filtered is an error.
    pub required: bool,
}

impl Driver {
    /// Whether it has any command, even an empty one.
    pub(super) fn has_command(&self) -> bool {
        self.clean.is_some() || self.smudge.is_some() || self.process.is_some()
    }
    /// Whether it has commands, but none for smudging. An empty command counts as none.
    pub(super) fn cannot_smudge(&self) -> bool {
        let command = self.process.as_ref().or(self.smudge.as_ref());
        self.has_command() && command.is_none_or(|command| command.is_empty())
    }
}
