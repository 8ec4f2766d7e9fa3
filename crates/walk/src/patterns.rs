//! A list of patterns as gitignore(5) writes them. What they mean is left to the crates of
//! gitoxide, which ask git itself in their tests.

use bstr::{BStr, ByteSlice};
use gix_glob::pattern::{Case, Mode};
use gix_glob::wildmatch;

/// What the last pattern that fits a path says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Excluded,
    /// The pattern begins with `!`.
    Included,
}

/// Patterns that exclude entries, in the syntax and with the meaning of gitignore(5): the last one
/// that fits decides, `!` includes again, `/` at the beginning or in the middle anchors, `/` at the
/// end fits only directories.
#[derive(Clone, Debug, Default)]
pub struct Patterns {
    patterns: Vec<gix_glob::Pattern>,
}

impl Patterns {
    /// Reads the content of a file of patterns, one a line. Empty lines and lines that begin with
    /// `#` say nothing.
    pub fn parse(content: &[u8]) -> Self {
        let patterns = gix_ignore::parse(content, false);
        let patterns = patterns.map(|(pattern, _, _)| pattern).collect();
        Patterns { patterns }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Whether they exclude `path`, which is relative to the directory that they are of. Of what is
    /// below an excluded directory that must not be asked.
    pub fn excludes(&self, path: &[u8], is_directory: bool) -> bool {
        self.verdict(path, is_directory) == Some(Verdict::Excluded)
    }

    /// What the last fitting pattern says of `path`, which is relative to the directory that the
    /// patterns are of.
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
