//! Which paths are outside a sparse checkout: git-sparse-checkout(1).

use crate::index::common_len;
use bstr::{BStr, BString, ByteSlice};
use hedgerow_fs::FileKind;
use hedgerow_walk::{Patterns, Verdict};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The patterns of `info/sparse-checkout`. Cone mode only restricts their form so that git can
/// match them by hashing; their meaning is the same for files, so one parser serves both.
#[derive(Debug)]
pub(crate) struct SparsePatterns {
    patterns: Patterns,
    is_cone: bool,
    above: Mutex<Above>,
}

/// What is known of the directories above the last path that was asked about.
#[derive(Debug)]
struct Above {
    /// The innermost, with a slash at its end; empty for the top.
    path: BString,
    /// From the top on.
    levels: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    /// Length of the directory's path, with the slash at its end.
    end: usize,
    /// What no pattern fits in it is left out.
    excluded: bool,
    /// The patterns that may fit something in it.
    patterns: Vec<u32>,
}

impl SparsePatterns {
    /// Parses the content of `info/sparse-checkout`.
    pub(crate) fn parse(content: &[u8], is_cone: bool, ignore_case: bool) -> Self {
        Self::new(Patterns::parse(content), is_cone, ignore_case)
    }

    /// Takes patterns one by one.
    pub(crate) fn of(patterns: &[BString], ignore_case: bool) -> Self {
        let patterns = patterns.iter().map(|pattern| &pattern[..]);
        Self::new(Patterns::of(patterns), false, ignore_case)
    }

    fn new(patterns: Patterns, is_cone: bool, ignore_case: bool) -> Self {
        let patterns = patterns.ignoring_case(ignore_case);
        let top = Level {
            end: 0,
            excluded: true,
            patterns: patterns.all(),
        };
        SparsePatterns {
            above: Mutex::new(Above {
                path: BString::default(),
                levels: vec![top],
            }),
            patterns,
            is_cone,
        }
    }

    /// Whether the file `path` is left out of the working tree: the last pattern that matches it
    /// decides, or else one that matches the nearest directory above it.
    pub(crate) fn excludes(&self, path: &BStr) -> bool {
        self.in_directory_of(path, |level| {
            let verdict = self.patterns.verdict_of_some(&level.patterns, path, false);
            level.excludes(verdict)
        })
    }

    /// The same for an entry of the index, in the working tree `top`. To patterns, an entry is a directory
    /// if there is one in its place; a cone has files and submodules alike.
    pub(crate) fn excludes_entry(&self, path: &BStr, top: Option<&Path>) -> bool {
        let Some(top) = top.filter(|_| !self.is_cone) else {
            return self.excludes(path);
        };
        let [as_file, as_directory] = self.in_directory_of(path, |level| {
            let verdicts = self.patterns.verdicts_of_some(&level.patterns, path);
            verdicts.map(|verdict| level.excludes(verdict))
        });
        // What patterns do not tell apart needs no look.
        if as_file == as_directory {
            return as_file;
        }
        let found = hedgerow_fs::lstat(&top.join(OsStr::from_bytes(path)));
        match found {
            Ok(Some(stat)) if stat.kind == FileKind::Directory => as_directory,
            _ => as_file,
        }
    }

    /// Calls `decide` with what is known of the directory that `path` is in. Of paths in ascending order, each
    /// directory is matched once.
    fn in_directory_of<T>(&self, path: &BStr, decide: impl FnOnce(&Level) -> T) -> T {
        let mut above = self.above.lock().unwrap_or_else(PoisonError::into_inner);
        let Above {
            path: known,
            levels,
        } = &mut *above;
        let directory = &path[..path.rfind_byte(b'/').map_or(0, |at| at + 1)];
        if known != directory {
            let common = common_len(known, directory);
            levels.retain(|level| level.end <= common);
            while let Some(outer) = levels.last() {
                let Some(at) = directory[outer.end..].find_byte(b'/') else {
                    break;
                };
                let (end, some) = (outer.end + at + 1, &outer.patterns);
                let verdict = self.patterns.verdict_of_some(some, &path[..end - 1], true);
                let inner = Level {
                    end,
                    excluded: outer.excludes(verdict),
                    patterns: self.patterns.narrowed(some, &path[..end]),
                };
                levels.push(inner);
            }
            known.clear();
            known.extend_from_slice(directory);
        }
        decide(levels.last().expect("the top is always known"))
    }
}

impl Level {
    /// What a verdict means for something in the directory.
    fn excludes(&self, verdict: Option<Verdict>) -> bool {
        verdict.map_or(self.excluded, |verdict| verdict == Verdict::Negated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cone_holds_its_parents_files_and_all_below_its_directories() {
        let cone = b"/*\n!/*/\n/a/\n!/a/*/\n/a/b/\n";
        let sparse = SparsePatterns::parse(cone, true, false);
        for (path, excluded) in [
            ("top", false),
            ("other/file", true),
            ("a/file", false),
            ("a/c/file", true),
            ("a/b/file", false),
            ("a/b/c/d/file", false),
        ] {
            assert_eq!(sparse.excludes(path.into()), excluded, "{path}");
        }
    }

    #[test]
    fn patterns_without_a_cone_decide_by_the_last_that_fits() {
        let sparse = SparsePatterns::parse(b"*.c\n!test.c\n/docs/\n", false, false);
        for (path, excluded) in [
            ("a/main.c", false),
            ("a/test.c", true),
            ("a/main.h", true),
            ("docs/a/b.txt", false),
        ] {
            assert_eq!(sparse.excludes(path.into()), excluded, "{path}");
        }
    }
}
