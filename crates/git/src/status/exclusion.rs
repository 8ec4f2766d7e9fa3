//! Which entries of a directory git ignores, for a scan from the root downwards: gitignore(5).

use super::remarks::Warning;
use crate::worktree::unanswered::is_unanswered;
use bstr::{BStr, BString, ByteSlice};
use hedgerow_fs::Dir;
use hedgerow_walk::{Patterns, Verdict};
use std::io::ErrorKind;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What holds for the whole working tree.
pub(super) struct Rules<'a> {
    /// The working tree, to read `.gitignore` files from.
    pub root: &'a Dir,
    /// The user's patterns and the repository's, lowest precedence first.
    pub outer: Vec<Patterns>,
    pub ignore_case: bool,
    /// Git's warnings about files that cannot be opened.
    pub warnings: Mutex<Vec<Warning>>,
}

/// A directory and the patterns that apply in it. They are read when the first path is queried;
/// where everything is tracked, none are read.
#[derive(Debug)]
pub(super) struct Level {
    above: Option<Arc<Level>>,
    path: Box<[u8]>,
    source: Source,
    /// Whether git is certain to come here and so reports unreadable patterns.
    is_certain: bool,
    patterns: OnceLock<Option<Patterns>>,
    excluded: OnceLock<bool>,
}

/// The source of a directory's own patterns.
#[derive(Debug)]
pub(super) enum Source {
    /// It has none.
    Nowhere,
    /// In its `.gitignore`.
    File,
    /// In the index, because the file is outside the sparse checkout.
    Index(Vec<u8>),
}

impl Level {
    /// The directory `path`, below `above`.
    pub(super) fn new(
        above: Option<Arc<Level>>,
        path: &[u8],
        source: Source,
        is_certain: bool,
    ) -> Self {
        Level {
            above,
            path: path.into(),
            source,
            is_certain,
            patterns: OnceLock::new(),
            excluded: OnceLock::new(),
        }
    }

    /// The same if it is already known whether the directory itself is ignored.
    pub(super) fn known(self, excluded: bool) -> Self {
        // The cell is new, so this cannot fail.
        let _ = self.excluded.set(excluded);
        self
    }

    /// Whether the entry `path` of this directory is ignored, by itself or through a directory
    /// above it. `path` starts at the root of the working tree.
    pub(super) fn excludes(&self, path: &BStr, is_directory: bool, rules: &Rules<'_>) -> bool {
        self.is_excluded(rules) || self.matches(path, is_directory, rules)
    }

    /// Whether this directory is ignored itself.
    pub(super) fn is_excluded(&self, rules: &Rules<'_>) -> bool {
        *self.excluded.get_or_init(|| {
            let above = self.above.as_ref();
            above.is_some_and(|above| above.excludes(self.path.as_bstr(), true, rules))
        })
    }

    fn matches(&self, path: &BStr, is_directory: bool, rules: &Rules<'_>) -> bool {
        let mut level = Some(self);
        while let Some(at) = level {
            if let Some(patterns) = at.patterns(rules) {
                let own = if at.path.is_empty() {
                    0
                } else {
                    at.path.len() + 1
                };
                let rest = path.get(own..).unwrap_or_default();
                if let Some(verdict) = patterns.verdict(rest, is_directory) {
                    return verdict == Verdict::Matched;
                }
            }
            level = at.above.as_deref();
        }
        let mut outer = rules.outer.iter().rev();
        let verdict = outer.find_map(|patterns| patterns.verdict(path, is_directory));
        verdict == Some(Verdict::Matched)
    }

    fn patterns(&self, rules: &Rules<'_>) -> Option<&Patterns> {
        let read = || {
            let content = match &self.source {
                Source::Nowhere => return None,
                Source::Index(content) => content.clone(),
                Source::File => self.read(rules)?,
            };
            Some(Patterns::parse(&content).ignoring_case(rules.ignore_case))
        };
        self.patterns.get_or_init(read).as_ref()
    }

    /// Reads the `.gitignore` of the directory. A symbolic link is not followed, since it could
    /// lead anywhere; a directory or an unreadable file counts as empty, as with git.
    fn read(&self, rules: &Rules<'_>) -> Option<Vec<u8>> {
        let opened = rules.root.open_dir(&self.path);
        let opened = opened.and_then(|directory| directory.open_file(b".gitignore"));
        let mut content = Vec::new();
        let read =
            opened.and_then(|file| file.read_to_end(&mut content, Patterns::FILE_LIMIT_BYTES));
        if let Err(error) = read {
            let says_nothing = error.is_missing() || error.kind() == ErrorKind::IsADirectory;
            if self.is_certain && !says_nothing || is_unanswered(&error.source) {
                self.warn(&error, rules);
            }
            return None;
        }
        Some(content)
    }

    fn warn(&self, error: &hedgerow_fs::Error, rules: &Rules<'_>) {
        let slash = if self.path.is_empty() { "" } else { "/" };
        let (path, reason) = (self.path.as_bstr(), error.reason());
        let path: BString = format!("{path}{slash}.gitignore").into();
        let text = format!("unable to access '{path}': {reason}");
        let warning = Warning::new(path, text, &error.source);
        let mut warnings = rules
            .warnings
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        warnings.push(warning);
    }
}
