//! Which entries of a tree are listed, and where the walk descends.

use crate::gitignore::{self, Chain};
use crate::patterns::Verdict;
use crate::Patterns;
use hedgerow_fs::{FileKind, Listing, OpenDirectory};
use hedgerow_tree::NodeKind;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// Which entries of a tree are listed.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Only entries of these kinds; empty means all kinds. Directories are entered anyway.
    pub kinds: Vec<NodeKind>,
    /// Only entries up to this depth: 1 for those of the root itself.
    pub max_depth: Option<usize>,
    /// Entries that match are left out, with everything below them. These patterns take precedence
    /// over `.gitignore` files.
    pub exclude: Patterns,
    /// Entries whose paths it names are left out, with everything below them.
    pub skip: Skip,
    /// Entries that `.gitignore` files exclude are left out, and entries named `.git`. This uses
    /// the files in the tree, and those of the directories above up to the root of the repository.
    pub gitignore: bool,
}

/// A rule of the caller about paths, which are relative to the root of the walk. The default
/// skips nothing.
#[derive(Clone, Default)]
pub struct Skip(Option<Arc<SkipRule>>);

type SkipRule = dyn Fn(&[u8]) -> bool + Send + Sync;

impl Skip {
    /// Skips the paths for which `rule` is true. It is called by several threads at a time, and not
    /// for paths below a skipped one.
    pub fn new(rule: impl Fn(&[u8]) -> bool + Send + Sync + 'static) -> Self {
        Skip(Some(Arc::new(rule)))
    }

    fn skips(&self, path: &[u8]) -> bool {
        self.0.as_ref().is_some_and(|rule| rule(path))
    }
}

impl std::fmt::Debug for Skip {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = if self.0.is_some() {
            "a rule"
        } else {
            "nothing"
        };
        formatter.debug_tuple("Skip").field(&what).finish()
    }
}

/// A prepared [`Selection`].
#[derive(Debug)]
pub(crate) struct Filter {
    selection: Selection,
    max_depth: usize,
    has_patterns: bool,
}

/// The filter's data for a directory to be listed.
#[derive(Clone, Debug)]
pub(crate) struct Level {
    /// 0 for the root.
    depth: usize,
    outer: Option<Arc<Chain>>,
    /// `outer` plus the directory's own `.gitignore`.
    own: OnceLock<Option<Arc<Chain>>>,
}

/// The decision about an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Judgement {
    pub(crate) listed: bool,
    pub(crate) entered: bool,
}

impl Filter {
    pub(crate) fn new(selection: Selection) -> Self {
        Filter {
            max_depth: selection.max_depth.unwrap_or(usize::MAX),
            has_patterns: selection.gitignore || !selection.exclude.is_empty(),
            selection,
        }
    }

    /// The data of the root, which is at `path`.
    pub(crate) fn root(&self, path: Option<&Path>) -> Level {
        let path = path.filter(|_| self.selection.gitignore);
        Level {
            depth: 0,
            outer: path.and_then(gitignore::above),
            own: OnceLock::new(),
        }
    }

    /// The data of a directory at this depth, if no patterns above it matter.
    pub(crate) fn at_depth(&self, depth: usize) -> Level {
        debug_assert!(!self.selection.gitignore);
        Level {
            depth,
            outer: None,
            own: OnceLock::new(),
        }
    }

    /// Whether a directory must be listed completely before its entries can be judged.
    pub(crate) fn reads_patterns(&self) -> bool {
        self.selection.gitignore
    }

    /// Whether anything is listed at all.
    pub(crate) fn enters_root(&self) -> bool {
        self.max_depth > 0
    }

    /// Whether the entries of a directory at this depth are listed.
    pub(crate) fn enters(&self, depth: usize) -> bool {
        depth < self.max_depth
    }

    /// The data of a subdirectory of the directory `level`.
    pub(crate) fn below(&self, level: &Level) -> Level {
        Level {
            depth: level.depth + 1,
            outer: level.own.get().unwrap_or(&level.outer).clone(),
            own: OnceLock::new(),
        }
    }

    /// Reads the directory's own `.gitignore` once if the complete `listing` contains one. Fails if
    /// the file exists but cannot be read; then it excludes nothing.
    pub(crate) fn read_patterns(
        &self,
        level: &Level,
        path: &[u8],
        directory: &OpenDirectory,
        listing: &Listing,
    ) -> hedgerow_fs::Result<()> {
        if !self.selection.gitignore || level.own.get().is_some() {
            return Ok(());
        }
        let mut outcome = Ok(());
        level.own.get_or_init(|| {
            if !gitignore::has_file(listing) {
                return level.outer.clone();
            }
            match directory.read_file(gitignore::FILE_NAME, Patterns::FILE_LIMIT_BYTES) {
                Ok(content) => {
                    let patterns = Patterns::parse(&content);
                    Some(Chain::inner(level.outer.clone(), path, patterns))
                }
                Err(error) => {
                    // One that is a link is not read, as git does not: it could lead anywhere.
                    if !error.is_absent() {
                        outcome = Err(error);
                    }
                    level.outer.clone()
                }
            }
        });
        outcome
    }

    /// Decides about the entry at `path`, in the directory of `level`. An entry of unknown kind is
    /// listed, so that its stat decides.
    pub(crate) fn judge(&self, level: &Level, path: &[u8], kind: Option<FileKind>) -> Judgement {
        let is_directory = kind == Some(FileKind::Directory);
        let is_excluded = self.has_patterns && self.is_excluded(level, path, is_directory);
        if is_excluded || self.selection.skip.skips(path) {
            return Judgement {
                listed: false,
                entered: false,
            };
        }
        Judgement {
            listed: kind.is_none_or(|kind| self.lists(kind)),
            entered: is_directory && level.depth + 1 < self.max_depth,
        }
    }

    /// Whether entries of this kind are listed.
    pub(crate) fn lists(&self, kind: FileKind) -> bool {
        self.selection.kinds.is_empty() || self.selection.kinds.contains(&node_kind(kind))
    }

    fn is_excluded(&self, level: &Level, path: &[u8], is_directory: bool) -> bool {
        let mut verdict = self.selection.exclude.verdict(path, is_directory);
        if verdict.is_none() && self.selection.gitignore {
            if hedgerow_tree::split_path(path).1 == b".git" {
                return true;
            }
            let chain = level.own.get().unwrap_or(&level.outer).as_ref();
            verdict = chain.and_then(|chain| chain.verdict(path, is_directory));
        }
        verdict == Some(Verdict::Matched)
    }
}

/// Converts a file kind to a node kind.
pub(crate) fn node_kind(kind: FileKind) -> NodeKind {
    match kind {
        FileKind::File => NodeKind::File,
        FileKind::Directory => NodeKind::Directory,
        FileKind::Symlink => NodeKind::Symlink,
        FileKind::Fifo => NodeKind::Fifo,
        FileKind::Socket => NodeKind::Socket,
        FileKind::BlockDevice => NodeKind::BlockDevice,
        FileKind::CharacterDevice => NodeKind::CharacterDevice,
    }
}
