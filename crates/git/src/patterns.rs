//! A list of patterns as gitignore(5) and git-sparse-checkout(1) write them.

use bstr::{BStr, ByteSlice};
use gix_glob::pattern::{Case, Mode};
use gix_glob::wildmatch;

/// What the last pattern that fits a path says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The pattern applies.
    Matched,
    /// The pattern begins with `!`.
    Negated,
}

/// Patterns of one file, in its order.
#[derive(Debug)]
pub struct Patterns {
    patterns: Vec<gix_glob::Pattern>,
    case: Case,
}

impl Patterns {
    /// Reads the content of a file of patterns.
    pub fn parse(content: &[u8], ignore_case: bool) -> Self {
        let patterns = gix_ignore::parse(content, false)
            .map(|(pattern, _, _)| pattern)
            .collect();
        let case = if ignore_case {
            Case::Fold
        } else {
            Case::Sensitive
        };
        Patterns { patterns, case }
    }

    /// What the last fitting pattern says of `path`, which is relative to the directory of the
    /// file that the patterns come from.
    pub fn matching(&self, path: &BStr, is_directory: bool) -> Option<Verdict> {
        let basename = path.rfind_byte(b'/').map(|at| at + 1);
        let fits = |pattern: &&gix_glob::Pattern| {
            pattern.matches_repo_relative_path(
                path,
                basename,
                Some(is_directory),
                self.case,
                wildmatch::Mode::NO_MATCH_SLASH_LITERAL,
            )
        };
        let last = self.patterns.iter().rev().find(fits)?;
        if last.mode.contains(Mode::NEGATIVE) {
            Some(Verdict::Negated)
        } else {
            Some(Verdict::Matched)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_fitting_pattern_decides() {
        let patterns = Patterns::parse(b"*.o\n!keep.o\n/top\ndir/\n# comment\n\\#odd\n", false);
        let verdict = |path: &str, directory| patterns.matching(path.into(), directory);
        assert_eq!(verdict("a/b.o", false), Some(Verdict::Matched));
        assert_eq!(verdict("a/keep.o", false), Some(Verdict::Negated));
        assert_eq!(verdict("top", false), Some(Verdict::Matched));
        assert_eq!(verdict("a/top", false), None);
        assert_eq!(verdict("dir", false), None);
        assert_eq!(verdict("a/dir", true), Some(Verdict::Matched));
        assert_eq!(verdict("# comment", false), None);
        assert_eq!(verdict("#odd", false), Some(Verdict::Matched));
        assert_eq!(verdict("A.O", false), None);
    }

    #[test]
    fn case_is_ignored_where_asked() {
        let patterns = Patterns::parse(b"*.o\n", true);
        assert_eq!(
            patterns.matching("A.O".into(), false),
            Some(Verdict::Matched)
        );
    }
}
