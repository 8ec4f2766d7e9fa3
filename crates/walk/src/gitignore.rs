//! The `.gitignore` files that decide which entries of a directory are listed.

use crate::patterns::Verdict;
use crate::Patterns;
use hedgerow_fs::{FileKind, Listing};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

pub(crate) const FILE_NAME: &[u8] = b".gitignore";

/// The `.gitignore` files from a directory up to the root of its repository.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    patterns: Patterns,
    base: Base,
    outer: Option<Arc<Chain>>,
}

/// The position of a pattern file's directory.
#[derive(Clone, Debug)]
enum Base {
    /// Below the root of the walk: length of the directory's part of a path, with its slash.
    Below(usize),
    /// Above it: the path from there to the root, with a slash at its end.
    Above(Vec<u8>),
}

/// The patterns of the directories above `root`, up to the root of the repository that contains it;
/// none if it is not in a repository or is itself the root of one. Unreadable files are skipped, as
/// git does with those above a repository's root.
pub(crate) fn above(root: &Path) -> Option<Arc<Chain>> {
    let root = hedgerow_fs::real_path(root).ok()?;
    let repository = root
        .ancestors()
        .find(|path| hedgerow_fs::is_there(&path.join(".git")).unwrap_or(false))?;
    let between = root.ancestors().skip(1);
    let mut between: Vec<&Path> = between
        .take_while(|path| path.starts_with(repository))
        .collect();
    between.reverse();
    let mut chain = None;
    for directory in between {
        let path = directory.join(".gitignore");
        let Ok(Some(content)) = hedgerow_fs::read_file(&path, Patterns::FILE_LIMIT_BYTES) else {
            continue;
        };
        let Ok(way) = root.strip_prefix(directory) else {
            continue;
        };
        chain = Some(Arc::new(Chain {
            patterns: Patterns::parse(&content),
            base: Base::Above([way.as_os_str().as_bytes(), b"/"].concat()),
            outer: chain,
        }));
    }
    chain
}

/// Whether a listing has a `.gitignore` file.
pub(crate) fn has_file(listing: &Listing) -> bool {
    let is_file = |kind| matches!(kind, Some(FileKind::File) | None);
    let mut entries = listing.entries().iter();
    entries.any(|entry| listing.name(entry) == FILE_NAME && is_file(entry.kind))
}

impl Chain {
    /// Adds the patterns of the directory at `path` below the root.
    pub(crate) fn inner(outer: Option<Arc<Chain>>, path: &[u8], patterns: Patterns) -> Arc<Chain> {
        let base = Base::Below(match path.len() {
            0 => 0,
            len => len + 1,
        });
        Arc::new(Chain {
            patterns,
            base,
            outer,
        })
    }

    /// The verdict on `path` of the innermost matching file; `path` is below that file's directory.
    pub(crate) fn verdict(&self, path: &[u8], is_directory: bool) -> Option<Verdict> {
        let mut at = Some(self);
        while let Some(chain) = at {
            let verdict = match &chain.base {
                Base::Below(length) => {
                    let rest = path.get(*length..).unwrap_or_default();
                    chain.patterns.verdict(rest, is_directory)
                }
                Base::Above(way) => {
                    let whole = [way, path].concat();
                    chain.patterns.verdict(&whole, is_directory)
                }
            };
            if verdict.is_some() {
                return verdict;
            }
            at = chain.outer.as_deref();
        }
        None
    }
}
