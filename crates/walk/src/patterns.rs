//! A list of patterns as gitignore(5) and git-sparse-checkout(1) write them. What they mean is left
//! to the crates of gitoxide, which ask git itself in their tests.

use crate::folding::pattern_for_folding;
use bstr::{BStr, ByteSlice, Finder};
use gix_glob::pattern::{Case, Mode};
use gix_glob::wildmatch;
use std::borrow::Cow;

/// The verdict of the last pattern that matches a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The pattern applies: in an ignore file, the path is excluded.
    Matched,
    /// The pattern begins with `!`.
    Negated,
}

/// A verdict, and of what it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The verdict.
    pub verdict: Verdict,
    /// Whether the pattern has a slash at its end, so that it fits no file.
    pub fits_directories_only: bool,
}

/// The patterns of one file in its order, in the syntax and with the meaning of gitignore(5): the
/// last one that fits decides, `!` negates, `/` at the beginning or in the middle anchors, `/` at
/// the end fits only directories.
#[derive(Clone, Debug, Default)]
pub struct Patterns {
    patterns: Vec<gix_glob::Pattern>,
    /// For each pattern, what every path that it fits contains, where that is worth a look; none if case
    /// is ignored.
    needles: Vec<Option<Finder<'static>>>,
    case: Case,
}

/// A shorter literal part of a pattern is in too many paths.
const SHORTEST_NEEDLE: usize = 2;

impl Patterns {
    /// Upper size limit of a file of patterns, in bytes. Git ignores larger ones, too.
    pub const FILE_LIMIT_BYTES: u64 = 100 << 20;

    /// Reads the content of a file of patterns, one a line. Empty lines and lines that begin with
    /// `#` say nothing.
    pub fn parse(content: &[u8]) -> Self {
        // A last line without an end has one for git, which then takes the CR from it as well.
        let content = if content.ends_with(b"\r") {
            Cow::Owned([content, b"\n"].concat())
        } else {
            Cow::Borrowed(content)
        };
        let patterns = gix_ignore::parse(&content, false);
        Self::new(patterns.map(|(pattern, _, _)| pattern).collect())
    }

    /// Patterns given one by one, as on a command line: none is a comment, and no space is removed.
    pub fn of<'p>(patterns: impl IntoIterator<Item = &'p [u8]>) -> Self {
        let patterns = patterns.into_iter();
        Self::new(patterns.filter_map(gix_glob::Pattern::from_bytes).collect())
    }

    fn new(patterns: Vec<gix_glob::Pattern>) -> Self {
        Patterns {
            needles: patterns.iter().map(needle_of).collect(),
            patterns,
            case: Case::Sensitive,
        }
    }

    /// The same patterns; letters fit their other case too if `ignore_case`, as far as for git.
    pub fn ignoring_case(mut self, ignore_case: bool) -> Self {
        if ignore_case {
            self.patterns.iter_mut().for_each(fold);
        }
        (self.case, self.needles) = if ignore_case {
            (Case::Fold, vec![None; self.patterns.len()])
        } else {
            let needles = self.patterns.iter().map(needle_of);
            (Case::Sensitive, needles.collect())
        };
        self
    }

    /// Whether there are no patterns.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// The patterns as lines of a file of patterns, each in one form however it was given; with
    /// whether letters fit their other case.
    pub fn lines(&self) -> (Vec<Vec<u8>>, bool) {
        let line = |pattern: &gix_glob::Pattern| {
            let has = |mode| pattern.mode.contains(mode);
            let start: &[u8] = match (has(Mode::NEGATIVE), has(Mode::ABSOLUTE)) {
                (true, true) => b"!/",
                (true, false) => b"!",
                (false, true) => b"/",
                (false, false) if matches!(pattern.text.first(), Some(b'!' | b'#')) => b"\\",
                (false, false) => b"",
            };
            let end: &[u8] = if has(Mode::MUST_BE_DIR) { b"/" } else { b"" };
            [start, &pattern.text, end].concat()
        };
        let lines = self.patterns.iter().map(line).collect();
        (lines, self.case == Case::Fold)
    }

    /// Whether they exclude `path`, which is relative to the patterns' directory. Must not be
    /// called for a path below an excluded directory.
    pub fn excludes(&self, path: &[u8], is_directory: bool) -> bool {
        self.verdict(path, is_directory) == Some(Verdict::Matched)
    }

    /// What the last fitting pattern says of `path`, which is relative to the directory that the
    /// patterns are of.
    pub fn verdict(&self, path: &[u8], is_directory: bool) -> Option<Verdict> {
        self.decision(path, is_directory)
            .map(|decision| decision.verdict)
    }

    /// The same, with what the last fitting pattern fits. What a directory gets by a pattern that fits
    /// files, too, or by none, a file of that name gets as well.
    pub fn decision(&self, path: &[u8], is_directory: bool) -> Option<Decision> {
        let basename = path.rfind_byte(b'/').map(|at| at + 1);
        let fits = |at: &usize| self.fits(*at, path, basename, is_directory);
        let last = &self.patterns[(0..self.patterns.len()).rev().find(fits)?];
        Some(Decision {
            verdict: verdict_of(last),
            fits_directories_only: last.mode.contains(Mode::MUST_BE_DIR),
        })
    }

    /// All patterns, to be [narrowed](Self::narrowed).
    pub fn all(&self) -> Vec<u32> {
        (0..self.patterns.len() as u32).collect()
    }

    /// Those of `some` patterns that may fit a path below `directory`, which has a slash at its end.
    pub fn narrowed(&self, some: &[u32], directory: &[u8]) -> Vec<u32> {
        let may_fit = |at: &&u32| {
            let pattern = &self.patterns[**at as usize];
            if is_of_names(pattern) {
                return true;
            }
            let fixed = pattern.first_wildcard_pos.unwrap_or(pattern.text.len());
            let len = fixed.min(directory.len());
            let (ours, theirs) = (&pattern.text[..len], &directory[..len]);
            let is_below = pattern.first_wildcard_pos.is_some() || fixed > directory.len();
            is_below
                && match self.case {
                    Case::Sensitive => ours == theirs,
                    Case::Fold => ours.eq_ignore_ascii_case(theirs),
                }
        };
        some.iter().filter(may_fit).copied().collect()
    }

    /// As [`verdict`](Self::verdict), of those of `some` patterns, which are all that may fit.
    pub fn verdict_of_some(
        &self,
        some: &[u32],
        path: &[u8],
        is_directory: bool,
    ) -> Option<Verdict> {
        let basename = path.rfind_byte(b'/').map(|at| at + 1);
        let mut some = some.iter().rev().map(|at| *at as usize);
        let last = some.find(|at| self.fits(*at, path, basename, is_directory));
        last.map(|at| verdict_of(&self.patterns[at]))
    }

    /// The same, of a file and of a directory at `path`.
    pub fn verdicts_of_some(&self, some: &[u32], path: &[u8]) -> [Option<Verdict>; 2] {
        let basename = path.rfind_byte(b'/').map(|at| at + 1);
        let mut as_directory = None;
        for at in some.iter().rev() {
            let pattern = &self.patterns[*at as usize];
            let is_of_directories = pattern.mode.contains(Mode::MUST_BE_DIR);
            if is_of_directories && as_directory.is_some() {
                continue;
            }
            if self.fits(*at as usize, path, basename, true) {
                as_directory = as_directory.or(Some(verdict_of(pattern)));
                if !is_of_directories {
                    return [Some(verdict_of(pattern)), as_directory];
                }
            }
        }
        [None, as_directory]
    }

    /// Whether the pattern `at` fits.
    fn fits(&self, at: usize, path: &[u8], basename: Option<usize>, is_directory: bool) -> bool {
        let needle = self.needles[at].as_ref();
        if needle.is_some_and(|needle| needle.find(path).is_none()) {
            return false;
        }
        self.patterns[at].matches_repo_relative_path(
            BStr::new(path),
            basename,
            Some(is_directory),
            self.case,
            wildmatch::Mode::NO_MATCH_SLASH_LITERAL,
        )
    }
}

/// Makes a pattern one that ignores case as git does.
fn fold(pattern: &mut gix_glob::Pattern) {
    // No path has an empty part.
    let text = pattern_for_folding(&pattern.text).unwrap_or_else(|| "//".into());
    pattern.first_wildcard_pos = text.find_byteset(b"*?[\\");
    pattern.text = text;
}

/// The longest literal part of `pattern` behind its first wildcard, but for slashes beside wildcards,
/// since those of `**` need not be there. What comes behind a backslash or a bracket is left out, and a
/// pattern like `*.o`, which is matched as fast.
fn needle_of(pattern: &gix_glob::Pattern) -> Option<Finder<'static>> {
    if pattern.mode.contains(Mode::ENDS_WITH) {
        return None;
    }
    let behind = pattern.text.get(pattern.first_wildcard_pos?..)?;
    let end = behind.find_byteset(b"\\[").unwrap_or(behind.len());
    let (parts, is_cut) = (&behind[..end], end < behind.len());
    let mut parts = parts.split(|byte| matches!(byte, b'*' | b'?')).peekable();
    let mut longest: &[u8] = b"";
    while let Some(part) = parts.next() {
        let part = part.strip_prefix(b"/").unwrap_or(part);
        let is_last = parts.peek().is_none() && !is_cut;
        let part = match part.strip_suffix(b"/") {
            Some(trimmed) if !is_last => trimmed,
            _ => part,
        };
        if part.len() > longest.len() {
            longest = part;
        }
    }
    (longest.len() >= SHORTEST_NEEDLE).then(|| Finder::new(longest).into_owned())
}

/// Whether a pattern is matched with the last part of a path alone.
fn is_of_names(pattern: &gix_glob::Pattern) -> bool {
    pattern.mode.contains(Mode::NO_SUB_DIR) && !pattern.mode.contains(Mode::ABSOLUTE)
}

fn verdict_of(pattern: &gix_glob::Pattern) -> Verdict {
    if pattern.mode.contains(Mode::NEGATIVE) {
        Verdict::Negated
    } else {
        Verdict::Matched
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_testkit::Random;

    #[test]
    fn patterns_are_lines_in_one_form() {
        let content = b"*.o\n!keep.o\n/top\n!/a/b\ndir/\n\\#odd\n\\!no\na/**/z\n\xff*\n";
        let patterns = Patterns::parse(content);
        let (lines, ignore_case) = patterns.lines();
        assert!(!ignore_case && patterns.ignoring_case(true).lines().1);
        assert_eq!([lines.join(&b'\n'), b"\n".to_vec()].concat(), content);
        let one_by_one = Patterns::of(lines.iter().map(Vec::as_slice));
        assert_eq!(one_by_one.lines().0, lines);
    }

    #[test]
    fn the_last_fitting_pattern_decides() {
        let patterns =
            Patterns::parse(b"*.o\n!keep.o\n/top\ndir/\n# comment\n\\#odd\na/**/z\n\xff*\n");
        let verdict = |path: &[u8], directory| patterns.verdict(path, directory);
        assert_eq!(verdict(b"a/b.o", false), Some(Verdict::Matched));
        assert_eq!(verdict(b"a/keep.o", false), Some(Verdict::Negated));
        assert_eq!(verdict(b"top", false), Some(Verdict::Matched));
        assert_eq!(verdict(b"a/top", false), None);
        assert_eq!(verdict(b"dir", false), None);
        assert_eq!(verdict(b"a/dir", true), Some(Verdict::Matched));
        assert_eq!(verdict(b"# comment", false), None);
        assert_eq!(verdict(b"#odd", false), Some(Verdict::Matched));
        assert_eq!(verdict(b"A.O", false), None);
        assert_eq!(verdict(b"a/b/c/z", false), Some(Verdict::Matched));
        assert_eq!(verdict(b"\xff\xfe", false), Some(Verdict::Matched));
    }

    /// Only those are asked about a path that may fit it, and they say the same as all.
    #[test]
    fn patterns_are_narrowed_to_those_of_a_directory() {
        let content = b"a\n/a/b/\nb/c\n!/a/*.c\n/a/b/c/*\n!*.o\na**\n/A/b\n\\a/b/d\n";
        for ignore_case in [false, true] {
            let patterns = Patterns::parse(content).ignoring_case(ignore_case);
            let of_a = patterns.narrowed(&patterns.all(), b"a/");
            let narrowed = patterns.narrowed(&of_a, b"a/b/");
            assert_eq!(narrowed, [0, 3, 4, 5, 6, 8]);
            for path in ["a/b/c", "a/b/c.o", "a/b/a", "a/b/C/d", "a/b/x", "a/b/d"] {
                let path = path.as_bytes();
                let both = [false, true].map(|is_directory| {
                    let whole = patterns.verdict(path, is_directory);
                    let some = patterns.verdict_of_some(&narrowed, path, is_directory);
                    assert_eq!(whole, some, "{} {is_directory}", path.as_bstr());
                    whole
                });
                assert_eq!(patterns.verdicts_of_some(&narrowed, path), both);
            }
        }
    }

    /// What a pattern contains literally is looked for first, which changes no verdict.
    #[test]
    fn literal_parts_of_patterns_are_in_all_paths_that_they_fit() {
        let needle = |pattern: &str| {
            let patterns = Patterns::of([pattern.as_bytes()]);
            let needle = patterns.needles[0].as_ref()?;
            Some(needle.needle().to_str().unwrap().to_owned())
        };
        for (pattern, expected) in [
            ("abc", None),
            ("*.o", None),
            ("*.o*", Some(".o")),
            ("a*/**/b12q*", Some("b12q")),
            ("a/**/long/**/b", Some("long")),
            ("a/**", None),
            ("*[abc]def", None),
            ("*ab[abc]def", Some("ab")),
            ("*ab\\*cdef", Some("ab")),
            ("*?ab?cde*", Some("cde")),
        ] {
            assert_eq!(needle(pattern).as_deref(), expected, "{pattern}");
        }
        let mut random = Random::new(3);
        let mut text = |letters: &[&str], count| -> String {
            (0..1 + random.below(count))
                .map(|_| *random.pick(letters))
                .collect()
        };
        let mut fitting = 0;
        for _ in 0..20_000 {
            let pattern = text(
                &["a", "b", "ab", "*", "**", "?", "/", "/**/", "[ab]", "\\a"],
                6,
            );
            let path = text(&["a", "b", "/"], 7);
            let path = path.trim_matches('/').replace("//", "/");
            let with = Patterns::of([pattern.as_bytes()]);
            let mut without = with.clone();
            without.needles.fill(None);
            for is_directory in [false, true] {
                let verdict = without.verdict(path.as_bytes(), is_directory);
                assert_eq!(
                    with.verdict(path.as_bytes(), is_directory),
                    verdict,
                    "{pattern} {path}"
                );
                fitting += usize::from(verdict.is_some());
            }
        }
        assert!(fitting > 1000, "{fitting}");
    }

    #[test]
    fn a_file_gets_what_a_directory_gets_unless_that_is_of_directories_only() {
        let patterns = Patterns::parse(b"*.o\n!keep.o\nd*/\n!deep/\n*.d\n");
        for path in [
            &b"a.o"[..],
            b"keep.o",
            b"d",
            b"deep",
            b"d.o",
            b"d/x.d",
            b"else",
        ] {
            let [file, directory] = [false, true].map(|it| patterns.decision(path, it));
            if directory.is_none_or(|it| !it.fits_directories_only) {
                assert_eq!(file, directory, "{:?}", BStr::new(path));
            }
        }
        let decided = |path: &[u8]| patterns.decision(path, true).unwrap();
        assert!(decided(b"d").fits_directories_only && decided(b"d.o").fits_directories_only);
        assert!(!decided(b"a.o").fits_directories_only);
    }

    #[test]
    fn case_is_ignored_where_asked() {
        let patterns = Patterns::parse(b"*.o\n[B]uild\n\\Keep\nx[!B]\nKept\n").ignoring_case(true);
        let fits = |path: &[u8]| patterns.verdict(path, false).is_some();
        assert!(fits(b"A.O") && fits(b"xb") && fits(b"XB") && fits(b"kEPT"));
        assert!(!fits(b"build") && !fits(b"Build") && !fits(b"keep") && !fits(b"Keep"));
    }

    #[test]
    fn a_last_line_may_end_in_a_carriage_return() {
        let fits = |content: &[u8]| Patterns::parse(content).excludes(b"keep", false);
        assert!(fits(b"keep\r") && fits(b"a\nkeep\r\n") && fits(b"keep"));
        assert!(!fits(b"keep\r\r\n"));
    }
}
