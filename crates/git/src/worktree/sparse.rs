//! Which paths are outside a sparse checkout: git-sparse-checkout(1).

use bstr::{BStr, ByteSlice};
use hedgerow_walk::{Patterns, Verdict};

/// The patterns of `info/sparse-checkout`. Cone mode only restricts their form so that git can
/// match them by hashing; their meaning is the same, so one parser serves both.
#[derive(Debug)]
pub(crate) struct SparsePatterns {
    patterns: Patterns,
}

impl SparsePatterns {
    /// Parses the content of `info/sparse-checkout`.
    pub(crate) fn parse(content: &[u8], ignore_case: bool) -> Self {
        SparsePatterns {
            patterns: Patterns::parse(content).ignoring_case(ignore_case),
        }
    }

    /// Whether the file `path` is left out of the working tree: the last pattern that matches it
    /// decides, or else one that matches the nearest directory above it.
    pub(crate) fn excludes(&self, path: &BStr) -> bool {
        let mut part = path;
        let mut is_directory = false;
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
        let sparse = SparsePatterns::parse(cone, false);
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
        let sparse = SparsePatterns::parse(b"*.c\n!test.c\n/docs/\n", false);
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
