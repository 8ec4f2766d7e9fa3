//! Which paths are outside a sparse checkout: git-sparse-checkout(1).

use bstr::{BStr, ByteSlice};
use hedgerow_fs::FileKind;
use hedgerow_walk::{Patterns, Verdict};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The patterns of `info/sparse-checkout`. Cone mode only restricts their form so that git can
/// match them by hashing; their meaning is the same for files, so one parser serves both.
#[derive(Debug)]
pub(crate) struct SparsePatterns {
    patterns: Patterns,
    is_cone: bool,
}

impl SparsePatterns {
    /// Parses the content of `info/sparse-checkout`.
    pub(crate) fn parse(content: &[u8], is_cone: bool, ignore_case: bool) -> Self {
        SparsePatterns {
            patterns: Patterns::parse(content).ignoring_case(ignore_case),
            is_cone,
        }
    }

    /// Whether the file `path` is left out of the working tree: the last pattern that matches it
    /// decides, or else one that matches the nearest directory above it.
    pub(crate) fn excludes(&self, path: &BStr) -> bool {
        self.decide(path, false)
    }

    /// The same for an entry of the index, in the working tree `top`. To patterns, an entry is a directory
    /// if there is one in its place; a cone has files and submodules alike.
    pub(crate) fn excludes_entry(&self, path: &BStr, top: Option<&Path>) -> bool {
        let as_file = self.decide(path, false);
        let Some(top) = top.filter(|_| !self.is_cone) else {
            return as_file;
        };
        let as_directory = self.decide(path, true);
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

    fn decide(&self, path: &BStr, mut is_directory: bool) -> bool {
        let mut part = path;
        loop {
            match self.patterns.verdict(part, is_directory) {
                Some(verdict) => return verdict == Verdict::Negated,
                None => match part.rfind_byte(b'/') {
                    Some(at) => part = part[..at].as_bstr(),
                    None => return true,
                },
            }
            is_directory = true;
        }
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
