//! The conversion of a path's content.

use super::attributes::{Attributes, PathStates, State};
use super::eol::EolAction;
use super::options::{AutoCrlf, ConvertOptions, Eol};
use bstr::{BStr, ByteSlice};

/// The conversion of a file's content between the repository and the working tree. Only for regular
/// files: links and submodules are never converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// None, in either direction.
    Plain,
    /// A conversion without a filter program.
    InCore(InCore),
    /// A filter program runs: after the built-in steps for smudging, before them for cleaning.
    Driver(DriverConversion),
}

/// The built-in steps of a conversion, which need no other program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InCore {
    /// What happens to line ends.
    pub(super) eol: EolAction,
    /// Whether `$Id$` is expanded.
    pub(super) ident: bool,
    /// The number of an encoding in the converter.
    pub(super) encoding: Option<u32>,
    /// Whether git streams it, which matters for unusual `$Id$` keywords.
    pub(super) streamable: bool,
}

/// The part of a conversion that a filter program performs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriverConversion {
    /// The position of the driver in [`ConvertOptions::drivers`].
    pub index: usize,
    /// How the driver is run.
    pub kind: DriverKind,
    /// The built-in steps.
    pub in_core: InCore,
}

/// How a filter driver works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriverKind {
    /// A process of its own for each file.
    Command,
    /// One process for all files.
    Process,
}

impl Conversion {
    /// Whether any content enters the working tree unchanged.
    pub fn is_identity_to_worktree(&self) -> bool {
        match self {
            Conversion::Plain => true,
            Conversion::InCore(in_core) => {
                !in_core.ident && in_core.encoding.is_none() && !in_core.eol.writes_crlf()
            }
            Conversion::Driver(_) => false,
        }
    }

    /// Whether a file that was checked out from a blob, and is as large, is added as that blob. It is where
    /// nothing is converted, or only line ends, and these only in what looks like text (`text=auto`): a
    /// converted line end changes the size, so the file has the blob's bytes; and carriage returns that
    /// the blob has itself are kept.
    pub fn is_judged_by_size(&self) -> bool {
        match self {
            Conversion::Plain => true,
            Conversion::InCore(in_core) => {
                in_core.eol.is_auto() && !in_core.ident && in_core.encoding.is_none()
            }
            Conversion::Driver(_) => false,
        }
    }

    /// Whether content can be converted piece by piece, so that a huge file does not need much
    /// memory.
    pub fn is_streamable(&self) -> bool {
        match self {
            Conversion::Plain => true,
            Conversion::InCore(in_core) => in_core.streamable,
            Conversion::Driver(_) => false,
        }
    }

    /// The built-in steps.
    pub(super) fn in_core(&self) -> InCore {
        match self {
            Conversion::Plain => InCore::default(),
            Conversion::InCore(in_core) => *in_core,
            Conversion::Driver(driver) => driver.in_core,
        }
    }
}

/// The attributes about line ends, before the configuration supplies defaults.
#[derive(Clone, Copy)]
enum TextAttribute {
    Unspecified,
    Binary,
    Text(Option<Eol>),
    Auto,
}

/// Decides about line ends from attributes and configuration. Also returns whether git would stream
/// such a file: it does not if it has to inspect the content to guess.
pub(super) fn eol_action<'a>(
    states: &PathStates,
    options: &ConvertOptions,
    value: &dyn Fn(State) -> Option<&'a [u8]>,
) -> (EolAction, bool) {
    let (text, eol) = line_end_attributes(states, value);
    let default_eol = match options.auto_crlf {
        AutoCrlf::True => Eol::CrLf,
        AutoCrlf::Input => Eol::Lf,
        AutoCrlf::False => options.eol,
    };
    match (text, eol) {
        (TextAttribute::Binary, _) => (EolAction::Keep, true),
        (TextAttribute::Auto, Some(eol)) => (EolAction::Auto(eol), eol == Eol::Lf),
        (TextAttribute::Auto, None) => (EolAction::Auto(default_eol), false),
        (TextAttribute::Text(_) | TextAttribute::Unspecified, Some(eol)) => {
            (EolAction::Text(eol), true)
        }
        (TextAttribute::Text(eol), None) => (EolAction::Text(eol.unwrap_or(default_eol)), true),
        (TextAttribute::Unspecified, None) => match options.auto_crlf {
            AutoCrlf::False => (EolAction::Keep, true),
            AutoCrlf::True => (EolAction::Auto(Eol::CrLf), false),
            AutoCrlf::Input => (EolAction::Auto(Eol::Lf), true),
        },
    }
}

impl Attributes {
    /// What the attributes of the file at `path` say about line ends, in the words of
    /// git-ls-files(1) under `%(eolattr)`; empty if nothing.
    pub(crate) fn line_end_words(&self, path: &BStr) -> &'static str {
        let value = |state| match state {
            State::Value(number) => Some(self.value(number).as_bytes()),
            _ => None,
        };
        match line_end_attributes(&self.lookup(path), &value) {
            (TextAttribute::Binary, _) => "-text",
            (TextAttribute::Auto, None) => "text=auto",
            (TextAttribute::Auto, Some(Eol::Lf)) => "text=auto eol=lf",
            (TextAttribute::Auto, Some(Eol::CrLf)) => "text=auto eol=crlf",
            (TextAttribute::Unspecified, None) => "",
            (TextAttribute::Text(None), None) => "text",
            (TextAttribute::Text(Some(eol)), None) | (_, Some(eol)) => match eol {
                Eol::Lf => "text eol=lf",
                Eol::CrLf => "text eol=crlf",
            },
        }
    }
}

/// The attributes `text` (or its older name `crlf`) and `eol`.
fn line_end_attributes<'a>(
    states: &PathStates,
    value: &dyn Fn(State) -> Option<&'a [u8]>,
) -> (TextAttribute, Option<Eol>) {
    let read = |state: State| match state {
        State::Set => TextAttribute::Text(None),
        State::Unset => TextAttribute::Binary,
        State::Unspecified => TextAttribute::Unspecified,
        State::Value(_) => match value(state) {
            Some(b"input") => TextAttribute::Text(Some(Eol::Lf)),
            Some(b"auto") => TextAttribute::Auto,
            _ => TextAttribute::Unspecified,
        },
    };
    let mut text = read(states.text);
    if matches!(text, TextAttribute::Unspecified) {
        text = read(states.crlf);
    }
    let eol = match value(states.eol) {
        Some(b"lf") => Some(Eol::Lf),
        Some(b"crlf") => Some(Eol::CrLf),
        _ => None,
    };
    (text, eol)
}
