//! Which entries of a directory git ignores, for a scan from the root downwards: gitignore(5).

use super::remarks::Warning;
use crate::index::Index;
use crate::repository::Objects;
use crate::worktree::unanswered::is_unanswered;
use crate::worktree::Worktree;
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use hedgerow_fs::{Dir, Listing};
use hedgerow_walk::{Decision, Patterns, Verdict};
use std::io::ErrorKind;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What holds for the whole working tree.
pub(crate) struct Rules<'a> {
    /// The working tree, to read directories' pattern files from.
    pub root: &'a Dir,
    /// The patterns of the command line, which have the highest precedence.
    pub command_line: Patterns,
    /// The name of the files in directories that have patterns; `None` if none are read.
    pub per_directory: Option<BString>,
    /// The user's patterns and the repository's, lowest precedence first.
    pub outer: Vec<Patterns>,
    pub ignore_case: bool,
    /// The contents of pattern files are kept, so that it can be told which patterns were used.
    pub keeps_contents: bool,
    /// Git's warnings about files that cannot be opened.
    pub warnings: Mutex<Vec<Warning>>,
}

/// A directory and the patterns that apply in it. They are read when the first path is queried;
/// where everything is tracked, none are read.
#[derive(Debug)]
pub(crate) struct Level {
    above: Option<Arc<Level>>,
    path: Box<[u8]>,
    source: Source,
    /// Whether git is certain to come here and so reports unreadable patterns.
    is_certain: bool,
    own: OnceLock<Option<Own>>,
    excluded: OnceLock<bool>,
}

/// The patterns of a directory.
#[derive(Debug)]
struct Own {
    patterns: Patterns,
    /// What they were read from, if that is to be kept.
    content: Vec<u8>,
}

/// What the patterns of a directory were, when its entries were looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UsedPatterns<'l> {
    /// It has none, or they did not matter.
    None,
    /// Those of a file with this content.
    InFile(&'l [u8]),
    /// Those of an entry of the index with this content.
    InIndex(&'l [u8]),
    /// Its pattern file cannot be read.
    Unreadable,
}

/// The source of a directory's own patterns.
#[derive(Debug)]
pub(crate) enum Source {
    /// It has none.
    Nowhere,
    /// In its pattern file.
    File,
    /// Here: read from the index, because the file is outside the sparse checkout, or otherwise.
    Content(Vec<u8>),
}

impl<'a> Rules<'a> {
    /// Git's standard rules: `.gitignore` files, the repository's patterns and the user's.
    pub(crate) fn standard(worktree: &'a Worktree<'_>) -> Result<Self> {
        Ok(Rules {
            per_directory: Some(".gitignore".into()),
            outer: worktree.outer_patterns()?,
            ..Rules::none(worktree)
        })
    }

    /// No rules: nothing is ignored.
    pub(crate) fn none(worktree: &'a Worktree<'_>) -> Self {
        Rules {
            root: &worktree.root,
            command_line: Patterns::default(),
            per_directory: None,
            outer: Vec::new(),
            ignore_case: worktree.settings().ignore_case,
            keeps_contents: false,
            warnings: Mutex::default(),
        }
    }

    /// The source of the patterns of the directory `path`, which is listed as `listing`. A pattern
    /// file outside the sparse checkout still applies: it is read from the index.
    pub(crate) fn source(&self, path: &[u8], listing: &Listing, tracked: &Tracked<'_>) -> Source {
        let Some(name) = &self.per_directory else {
            return Source::Nowhere;
        };
        let is_there = |entry| listing.name(entry) == name.as_slice();
        if listing.entries().iter().any(is_there) {
            Source::File
        } else {
            tracked.patterns(path, name.as_bstr())
        }
    }
}

/// The index, in which pattern files may be that are not in the working tree.
#[derive(Clone, Copy)]
pub(crate) struct Tracked<'a> {
    pub index: &'a Index,
    pub objects: Objects<'a>,
    /// Whether the index has skip-worktree entries.
    pub has_skipped: bool,
}

impl Tracked<'_> {
    /// The patterns of the file `name` in the directory `path`, if it is outside the sparse
    /// checkout.
    pub(crate) fn patterns(&self, path: &[u8], name: &BStr) -> Source {
        if !self.has_skipped {
            return Source::Nowhere;
        }
        let slash: &[u8] = if path.is_empty() { b"" } else { b"/" };
        let path = bstr::concat([path, slash, name]);
        let row = self.index.find(path.as_bstr(), Default::default());
        let entry = row.ok().map(|row| self.index.entries()[row]);
        let content = entry
            .filter(|entry| entry.flags.skip_worktree)
            .and_then(|entry| self.objects.replacement(&entry.id).ok())
            .and_then(|id| self.objects.store.read(&id).ok());
        content.map_or(Source::Nowhere, |(_, content)| Source::Content(content))
    }
}

impl Level {
    /// The directory `path`, below `above`.
    pub(crate) fn new(
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
            own: OnceLock::new(),
            excluded: OnceLock::new(),
        }
    }

    /// The same if it is already known whether the directory itself is ignored.
    pub(crate) fn known(self, excluded: bool) -> Self {
        // The cell is new, so this cannot fail.
        let _ = self.excluded.set(excluded);
        self
    }

    /// Whether the entry `path` of this directory is ignored, by itself or through a directory
    /// above it. `path` starts at the root of the working tree.
    pub(crate) fn excludes(&self, path: &BStr, is_directory: bool, rules: &Rules<'_>) -> bool {
        self.is_excluded(rules) || self.matches(path, is_directory, rules)
    }

    /// The same for a file, given whether something at its path is known to be a directory, which is
    /// only asked if that matters.
    pub(crate) fn excludes_unless(
        &self,
        path: &BStr,
        rules: &Rules<'_>,
        is_directory: impl FnOnce() -> bool,
    ) -> bool {
        if self.is_excluded(rules) {
            return true;
        }
        let of_directory = self.decision(path, true, rules);
        let matters = of_directory.is_some_and(|decision| decision.fits_directories_only);
        let of_file = || self.decision(path, false, rules);
        let decision = match matters.then(of_file) {
            None => of_directory,
            Some(of_file) => {
                let verdict = |decision: Option<Decision>| decision.map(|it| it.verdict);
                let is_excluded = |it| verdict(it) == Some(Verdict::Matched);
                let differs = is_excluded(of_file) != is_excluded(of_directory);
                if differs && is_directory() {
                    of_directory
                } else {
                    of_file
                }
            }
        };
        decision.is_some_and(|decision| decision.verdict == Verdict::Matched)
    }

    /// Whether this directory is ignored itself.
    pub(crate) fn is_excluded(&self, rules: &Rules<'_>) -> bool {
        *self.excluded.get_or_init(|| {
            let above = self.above.as_ref();
            above.is_some_and(|above| above.excludes(self.path.as_bstr(), true, rules))
        })
    }

    fn matches(&self, path: &BStr, is_directory: bool, rules: &Rules<'_>) -> bool {
        let decision = self.decision(path, is_directory, rules);
        decision.is_some_and(|decision| decision.verdict == Verdict::Matched)
    }

    /// What the patterns say of the entry `path` of this directory, which is not ignored itself.
    fn decision(&self, path: &BStr, is_directory: bool, rules: &Rules<'_>) -> Option<Decision> {
        let found = rules.command_line.decision(path, is_directory);
        if found.is_some() {
            return found;
        }
        let mut level = Some(self);
        while let Some(at) = level {
            if let Some(patterns) = at.patterns(rules) {
                let own = if at.path.is_empty() {
                    0
                } else {
                    at.path.len() + 1
                };
                let rest = path.get(own..).unwrap_or_default();
                let found = patterns.decision(rest, is_directory);
                if found.is_some() {
                    return found;
                }
            }
            level = at.above.as_deref();
        }
        let mut outer = rules.outer.iter().rev();
        outer.find_map(|patterns| patterns.decision(path, is_directory))
    }

    fn patterns(&self, rules: &Rules<'_>) -> Option<&Patterns> {
        let read = || {
            let content = match &self.source {
                Source::Nowhere => return None,
                Source::Content(content) => content.clone(),
                Source::File => self.read(rules)?,
            };
            Some(Own {
                patterns: Patterns::parse(&content).ignoring_case(rules.ignore_case),
                content: if rules.keeps_contents {
                    content
                } else {
                    Vec::new()
                },
            })
        };
        let own = self.own.get_or_init(read).as_ref();
        own.map(|own| &own.patterns)
    }

    /// The directory's own patterns, if they were asked for until now. Their contents must be kept.
    pub(crate) fn used_patterns(&self) -> UsedPatterns<'_> {
        match (self.own.get(), &self.source) {
            (None, _) | (_, Source::Nowhere) => UsedPatterns::None,
            (Some(None), _) => UsedPatterns::Unreadable,
            (Some(Some(own)), Source::File) => UsedPatterns::InFile(&own.content),
            (Some(Some(own)), Source::Content(_)) => UsedPatterns::InIndex(&own.content),
        }
    }

    /// Reads the pattern file of the directory. A symbolic link is not followed, since it could
    /// lead anywhere; a directory or an unreadable file counts as empty, as with git.
    fn read(&self, rules: &Rules<'_>) -> Option<Vec<u8>> {
        let name = rules.per_directory.as_ref()?;
        let opened = rules.root.open_dir(&self.path);
        let opened = opened.and_then(|directory| directory.open_file(name));
        let mut content = Vec::new();
        let read =
            opened.and_then(|file| file.read_to_end(&mut content, Patterns::FILE_LIMIT_BYTES));
        if let Err(error) = read {
            let says_nothing = error.is_missing() || error.kind() == ErrorKind::IsADirectory;
            if self.is_certain && !says_nothing || is_unanswered(&error.source) {
                self.warn(name.as_bstr(), &error, rules);
            }
            return None;
        }
        Some(content)
    }

    fn warn(&self, name: &BStr, error: &hedgerow_fs::Error, rules: &Rules<'_>) {
        let slash = if self.path.is_empty() { "" } else { "/" };
        let (path, reason) = (self.path.as_bstr(), error.reason());
        let path: BString = format!("{path}{slash}{name}").into();
        let text = format!("unable to access '{path}': {reason}");
        let warning = Warning::new(path, text, &error.source);
        let mut warnings = rules
            .warnings
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        warnings.push(warning);
    }
}
