//! What the parts of one listing have in common: the root, and the options that select entries.

use crate::text::{escaped, unescaped};
use crate::{Error, Result};
use hedgerow_walk::WalkOptions;
use std::ffi::OsStr;
use std::fmt::{self, Display};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The tree that a part is of, and what is listed of it. Parts of different origins are no parts of
/// one listing, whatever directories they have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    root: PathBuf,
    one_file_system: bool,
    ignore_case: bool,
    max_depth: Option<u64>,
    exclude: Vec<Vec<u8>>,
}

impl Origin {
    /// That of a walk with these options from the directory at `root`, which is taken as it is named:
    /// links in it are not resolved, since they may lead to other places on other machines.
    pub(crate) fn new(root: &Path, walk: &WalkOptions) -> Result<Self> {
        let (exclude, ignore_case) = walk.selection.exclude.lines();
        // An empty path is the current directory.
        let absolute = std::path::absolute(Path::new(".").join(root))
            .map_err(|source| hedgerow_fs::Error::new("find", root, source))?;
        Ok(Origin {
            root: absolute.components().collect(),
            one_file_system: walk.one_file_system,
            ignore_case,
            max_depth: walk.selection.max_depth.map(|depth| depth as u64),
            exclude,
        })
    }

    /// Refuses the file at `path` if it is of another origin. `what` is of this one: a part's name.
    pub(crate) fn check(&self, what: &str, path: &Path, other: &Origin) -> Result<()> {
        if self == other {
            return Ok(());
        }
        Err(Error::Differs {
            path: path.to_owned(),
            origin: other.to_string(),
            other: format!("{what} of {self}"),
        })
    }

    /// Appends lines of text, which [`Origin::read`] reads. All have a tab, unlike the line of a path.
    pub(crate) fn append(&self, text: &mut String) {
        let mut line = |word: &str, value: &str| {
            text.extend([word, "\t", value, "\n"]);
        };
        line("root", &escaped(self.root.as_os_str().as_bytes()));
        for (word, is_on) in self.flags() {
            if is_on {
                line("option", word);
            }
        }
        if let Some(depth) = self.max_depth {
            line("max_depth", &depth.to_string());
        }
        for pattern in &self.exclude {
            line("exclude", &escaped(pattern));
        }
    }

    /// Reads one of these lines; `None` if it is none.
    pub(crate) fn read(&mut self, fields: &[&str]) -> Option<()> {
        match *fields {
            ["root", root] => self.root = OsStr::from_bytes(&unescaped(root)?).into(),
            ["option", "one_file_system"] => self.one_file_system = true,
            ["option", "ignore_case"] => self.ignore_case = true,
            ["max_depth", depth] => self.max_depth = Some(depth.parse().ok()?),
            ["exclude", pattern] => self.exclude.push(unescaped(pattern)?),
            _ => return None,
        }
        Some(())
    }

    fn flags(&self) -> [(&'static str, bool); 2] {
        [
            ("one_file_system", self.one_file_system),
            ("ignore_case", self.ignore_case),
        ]
    }
}

impl Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = self.flags().into_iter().filter(|(_, is_on)| *is_on);
        let mut words: Vec<String> = flags.map(|(word, _)| word.to_owned()).collect();
        words.extend(self.max_depth.map(|depth| format!("max_depth {depth}")));
        let exclude = self.exclude.iter();
        words.extend(exclude.map(|pattern| format!("exclude '{}'", escaped(pattern))));
        let words = match &words[..] {
            [] => "all entries".to_owned(),
            words => words.join(", "),
        };
        let root = escaped(self.root.as_os_str().as_bytes());
        write!(f, "'{root}' ({words})")
    }
}
