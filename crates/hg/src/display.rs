use crate::astray::Ancestors;
use crate::environment::relative;
use crate::{Error, Repository, Result};
use bstr::{BString, ByteSlice};
use std::os::unix::ffi::OsStrExt;

/// The user's display settings for a status: `hg help config.ui`, `hg help config.commands`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Display {
    /// Only tracked files are shown, unless others are requested: `ui.quiet`.
    pub quiet: bool,
    /// The sources of copies are shown: `ui.statuscopies`.
    pub copies: bool,
    /// Whether paths are shown relative to the current directory (`true`) or to the root; `None` if
    /// that depends on whether paths were given.
    pub relative: Option<bool>,
    /// Settings that would change the output, or run something, but are not supported.
    pub unsupported: Vec<String>,
}

impl Repository {
    /// The display settings of the configuration.
    pub fn display(&self) -> Result<Display> {
        let config = self.config();
        let is_tweaked = config.boolean("ui.tweakdefaults")?.unwrap_or(false);
        let of_user = match config.get("ui", "relative-paths") {
            None if is_tweaked => Some(true),
            None => None,
            Some(value) if value == "legacy" => None,
            Some(_) => config.boolean("ui.relative-paths")?,
        };
        let of_command = config.boolean("commands.status.relative")?;
        let mut unsupported = Vec::new();
        for (section, key) in [
            ("commands", "status.terse"),
            ("alias", "status"),
            ("defaults", "status"),
        ] {
            if config
                .get(section, key)
                .is_some_and(|value| !value.is_empty())
            {
                unsupported.push(format!("{section}.{key}"));
            }
        }
        for (name, value) in config.section("hooks") {
            // What follows a dot tells several hooks apart.
            let event = name.split(|byte| *byte == b'.').next();
            if !value.is_empty() && matches!(event, Some(b"pre-status" | b"post-status")) {
                unsupported.push(format!("hooks.{name}"));
            }
        }
        Ok(Display {
            quiet: config.boolean("ui.quiet")?.unwrap_or(false),
            copies: config.boolean("ui.statuscopies")?.unwrap_or(is_tweaked),
            relative: of_command.or(of_user),
            unsupported,
        })
    }

    /// A path of the working copy, relative to the current directory.
    pub fn seen_from_here(&self, path: &[u8]) -> BString {
        relative(self.current_directory(), path)
    }

    /// The path relative to the root that a word of the command line names.
    ///
    /// Fails if it leaves the working copy, through a symbolic link or into another repository as
    /// well (unless `path:` precedes it, as in Mercurial), and for patterns.
    pub fn named(&self, word: &[u8]) -> Result<BString> {
        let failed = |reason: String| Error::Argument {
            word: word.into(),
            reason,
        };
        let (kind, text) = match word.split_once_str(b":") {
            Some((kind, rest)) if KINDS.contains(&kind) => (kind, rest),
            _ => (b"relpath".as_slice(), word),
        };
        let start: &[u8] = match (kind, text.first()) {
            (b"path" | b"filepath", _) => b"",
            (b"relpath", Some(b'/')) => b"",
            (b"relpath", _) => self.current_directory().as_os_str().as_bytes(),
            _ => return Err(failed("patterns are not supported, only paths".into())),
        };
        let root = self.root().as_os_str().as_bytes();
        let below = match text.strip_prefix(root) {
            Some(rest) if rest.is_empty() || rest.starts_with(b"/") => rest,
            _ if text.starts_with(b"/") => return Err(failed(self.outside())),
            _ => text,
        };
        let mut parts: Vec<&[u8]> = Vec::new();
        for part in [start, below]
            .into_iter()
            .flat_map(|path| path.split_str("/"))
        {
            match part {
                b"" | b"." => {}
                b".." if parts.pop().is_none() => return Err(failed(self.outside())),
                b".." => {}
                part => parts.push(part),
            }
        }
        let path = bstr::join("/", parts);
        if kind == b"relpath" {
            Ancestors::new(self.root()).check(&path)?;
        }
        Ok(path.into())
    }

    fn outside(&self) -> String {
        format!("not under root '{}'", self.root().display())
    }
}

/// Pattern kinds that may precede a colon at the start of a word.
const KINDS: [&[u8]; 14] = [
    b"re",
    b"glob",
    b"path",
    b"filepath",
    b"relglob",
    b"relpath",
    b"relre",
    b"rootglob",
    b"listfile",
    b"listfile0",
    b"set",
    b"include",
    b"subinclude",
    b"rootfilesin",
];
