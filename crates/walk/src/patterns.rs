//! A list of patterns in the syntax of gitignore(5). Matching is done by the gitoxide crates, which
//! are tested against git.

use bstr::{BStr, ByteSlice};
use gix_glob::pattern::{Case, Mode};
use gix_glob::wildmatch;

/// The verdict of the last pattern that matches a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Excluded,
    /// The pattern starts with `!`.
    Included,
}

/// Patterns that exclude entries, as in gitignore(5): the last match decides, `!` includes again,
/// `/` at the start or in the middle anchors the pattern, `/` at the end matches only directories.
#[derive(Clone, Debug, Default)]
pub struct Patterns {
    patterns: Vec<gix_glob::Pattern>,
}

impl Patterns {
    /// Parses the content of a pattern file, one pattern per line. Empty lines and lines that start
    /// with `#` are ignored.
    pub fn parse(content: &[u8]) -> Self {
        let patterns = gix_ignore::parse(content, false);
        let patterns = patterns.map(|(pattern, _, _)| pattern).collect();
        Patterns { patterns }
    }

    /// Whether there are no patterns.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Whether they exclude `path`, which is relative to the patterns' directory. Must not be
    /// called for a path below an excluded directory.
    pub fn excludes(&self, path: &[u8], is_directory: bool) -> bool {
        self.verdict(path, is_directory) == Some(Verdict::Excluded)
    }

    /// The verdict of the last matching pattern on `path`, which is relative to the patterns'
    /// directory.
    pub(crate) fn verdict(&self, path: &[u8], is_directory: bool) -> Option<Verdict> {
        let basename = path.rfind_byte(b'/').map(|at| at + 1);
        let fits = |pattern: &&gix_glob::Pattern| {
            pattern.matches_repo_relative_path(
                BStr::new(path),
                basename,
                Some(is_directory),
                Case::Sensitive,
                wildmatch::Mode::NO_MATCH_SLASH_LITERAL,
            )
        };
        let last = self.patterns.iter().rev().find(fits)?;
        if last.mode.contains(Mode::NEGATIVE) {
            Some(Verdict::Included)
        } else {
            Some(Verdict::Excluded)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_fitting_pattern_decides() {
        let patterns = Patterns::parse(b"*.o\n!keep.o\n/top\ndir/\n# comment\na/**/z\n\xff*\n");
        let verdict = |path: &[u8], directory| patterns.verdict(path, directory);
        assert_eq!(verdict(b"a/b.o", false), Some(Verdict::Excluded));
        assert_eq!(verdict(b"a/keep.o", false), Some(Verdict::Included));
        assert_eq!(verdict(b"top", false), Some(Verdict::Excluded));
        assert_eq!(verdict(b"a/top", false), None);
        assert_eq!(verdict(b"dir", false), None);
        assert_eq!(verdict(b"a/dir", true), Some(Verdict::Excluded));
        assert_eq!(verdict(b"# comment", false), None);
        assert_eq!(verdict(b"a/b/c/z", false), Some(Verdict::Excluded));
        assert_eq!(verdict(b"\xff\xfe", false), Some(Verdict::Excluded));
    }
}
