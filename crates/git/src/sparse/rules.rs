//! The rules of a sparse checkout, and the text of the file that holds them.

use crate::worktree::sparse::SparsePatterns;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use std::collections::BTreeSet;

const GLOB_SPECIAL: &[u8] = b"*?[\\";

/// Which files a working tree has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SparseRules {
    /// The files of some directories, of those above them, and all below them.
    Cone(Cone),
    /// What patterns like those of ignore files say.
    Patterns(Vec<BString>),
}

/// Directories of a sparse checkout, each with a `/` before it and none after it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cone {
    /// Everything is there.
    pub full: bool,
    /// Everything below these is there.
    pub recursive: BTreeSet<BString>,
    /// The files right in these are there.
    pub parents: BTreeSet<BString>,
}

impl SparseRules {
    /// The rules in `content`, that of `info/sparse-checkout`. If it does not hold a cone although
    /// `is_cone` says so, its lines are patterns, and git's warnings tell why.
    pub fn parse(content: &[u8], is_cone: bool) -> (Self, Vec<String>) {
        let lines: Vec<BString> = lines(content).collect();
        if !is_cone {
            return (SparseRules::Patterns(lines), Vec::new());
        }
        let mut cone = Cone::default();
        for line in &lines {
            if let Err(warning) = cone.read(line.as_ref()) {
                let warnings = vec![warning, "disabling cone pattern matching".into()];
                return (SparseRules::Patterns(lines), warnings);
            }
        }
        (SparseRules::Cone(cone), Vec::new())
    }

    /// The rules that `words` give: directories for a cone, else patterns.
    ///
    /// # Errors
    /// [`Error::Setup`], in git's words, for a path that leads out of the working tree.
    pub fn of_words(words: &[BString], is_cone: bool) -> Result<Self> {
        if !is_cone {
            return Ok(SparseRules::Patterns(words.to_vec()));
        }
        let mut cone = Cone::default();
        for word in words {
            cone.add(word.as_ref())?;
        }
        Ok(SparseRules::Cone(cone))
    }

    /// The content of `info/sparse-checkout`.
    pub fn to_content(&self) -> BString {
        match self {
            SparseRules::Cone(cone) => cone.to_content(),
            SparseRules::Patterns(lines) => lines
                .iter()
                .flat_map(|line| [&line[..], b"\n"].concat())
                .collect::<Vec<u8>>()
                .into(),
        }
    }

    pub(crate) fn matcher(&self, ignore_case: bool) -> SparsePatterns {
        match self {
            SparseRules::Cone(cone) => SparsePatterns::parse(&cone.to_content(), true, ignore_case),
            // What was given on the command line is no comment, and keeps its spaces, until it is read
            // from its file.
            SparseRules::Patterns(lines) => SparsePatterns::of(lines, ignore_case),
        }
    }

    /// Whether the working tree has the file `path`.
    pub fn includes(&self, path: &BStr, ignore_case: bool) -> bool {
        !self.matcher(ignore_case).excludes(path)
    }
}

/// The lines of a file of patterns that are none of its comments.
fn lines(content: &[u8]) -> impl Iterator<Item = BString> + '_ {
    let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
    let lines = content.split(|byte| *byte == b'\n');
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    lines.map(|line| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let mut end = line.len();
        while end > 0 && line[end - 1] == b' ' && (end < 2 || line[end - 2] != b'\\') {
            end -= 1;
        }
        line[..end].into()
    })
}

impl Cone {
    /// Adds the directory `word`, as a user writes it.
    pub(crate) fn add(&mut self, word: &BStr) -> Result<()> {
        let word = word.trim_ascii();
        let path = normalized(word.as_bstr()).ok_or_else(|| Error::Setup {
            reason: format!("could not normalize path {}", word.as_bstr()),
        })?;
        if !path.is_empty() {
            self.insert([b"/", &path[..]].concat().into());
        }
        Ok(())
    }

    /// Adds everything of `other`.
    pub(crate) fn extend(&mut self, other: Cone) {
        self.full |= other.full;
        for path in other.recursive {
            self.insert(path);
        }
    }

    fn insert(&mut self, path: BString) {
        for parent in above(path.as_ref()) {
            self.parents.insert(parent.to_owned());
        }
        self.recursive.insert(path);
    }

    /// Whether the files right in the directory `path`, which has no slashes around it, are there.
    pub(crate) fn has_directory(&self, path: &BStr) -> bool {
        if self.full {
            return true;
        }
        let path = BString::from([b"/", path.as_bytes()].concat());
        let is_recursive = |path: &BStr| self.recursive.contains(path.as_bytes().as_bstr());
        self.parents.contains(&path)
            || is_recursive(path.as_ref())
            || above(path.as_ref()).any(is_recursive)
    }

    /// Reads a line of the file; fails with git's warning if it is not that of a cone.
    fn read(&mut self, line: &BStr) -> Result<(), String> {
        let (is_negative, rest) = match line.strip_prefix(b"!") {
            Some(rest) => (true, rest),
            None => (false, line.as_bytes()),
        };
        let (is_directory, pattern) = match rest.strip_suffix(b"/") {
            Some(pattern) => (true, pattern),
            None => (false, rest),
        };
        if pattern == b"/*" && is_negative == is_directory {
            self.full = !is_negative;
            return Ok(());
        }
        let shown = pattern.as_bstr();
        let unrecognized = || Err(format!("unrecognized pattern: '{shown}'"));
        let is_rooted = pattern.len() >= 2 && pattern.starts_with(b"/");
        if !is_rooted || pattern.contains_str("**") || !is_directory || has_glob(pattern) {
            return unrecognized();
        }
        let not_negative = || Err(format!("unrecognized negative pattern: '{shown}'"));
        if let Some(parent) = pattern.strip_suffix(b"/*").filter(|it| !it.is_empty()) {
            if !is_negative {
                return unrecognized();
            }
            let parent = unescaped(parent);
            if !self.recursive.remove(&parent) {
                return not_negative();
            }
            self.parents.insert(parent);
            return Ok(());
        }
        if is_negative {
            return not_negative();
        }
        let mut path = unescaped(pattern);
        // As git reads it, also where the wildcard was protected.
        if path.len() > 2 && path.ends_with(b"/*") {
            let kept = path.len() - 2;
            path.truncate(kept);
        }
        if self.parents.contains(&path) {
            return Err(format!(
                "your sparse-checkout file may have issues: pattern '{shown}' is repeated"
            ));
        }
        self.recursive.insert(path);
        Ok(())
    }

    fn to_content(&self) -> BString {
        let is_below = |path: &BString| above(path.as_ref()).any(|it| self.recursive.contains(it));
        let mut content = BString::from("/*\n");
        if self.full {
            return content;
        }
        content.extend_from_slice(b"!/*/\n");
        for path in &self.parents {
            if !self.recursive.contains(path) && !is_below(path) {
                let path = escaped(path);
                content.extend_from_slice(&[&path[..], b"/\n!", &path[..], b"/*/\n"].concat());
            }
        }
        for path in self.recursive.iter().filter(|path| !is_below(path)) {
            content.extend_from_slice(&escaped(path));
            content.extend_from_slice(b"/\n");
        }
        content
    }
}

/// The directories above `path`, which starts with a slash, the top left out.
fn above(path: &BStr) -> impl Iterator<Item = &BStr> {
    let ends = path.rfind_iter("/").filter(|end| *end > 0);
    ends.map(|end| path[..end].as_bstr())
}

/// Whether a wildcard is in `pattern` that is not protected, apart from `/*` at its end.
fn has_glob(pattern: &[u8]) -> bool {
    let is_special = |byte: Option<&u8>| byte.is_some_and(|it| GLOB_SPECIAL.contains(it));
    (1..pattern.len()).any(|at| {
        let (last, byte, next) = (pattern[at - 1], pattern[at], pattern.get(at + 1));
        is_special(Some(&byte))
            && last != b'\\'
            && !(byte == b'\\' && is_special(next))
            && !(last == b'/' && byte == b'*' && next.is_none())
    })
}

fn escaped(path: &[u8]) -> Vec<u8> {
    let mut escaped = Vec::with_capacity(path.len());
    for byte in path {
        if GLOB_SPECIAL.contains(byte) {
            escaped.push(b'\\');
        }
        escaped.push(*byte);
    }
    escaped
}

fn unescaped(pattern: &[u8]) -> BString {
    let mut path = BString::default();
    let mut bytes = pattern.iter();
    while let Some(byte) = bytes.next() {
        match (byte, bytes.clone().next()) {
            (b'\\', Some(next)) => {
                path.push(*next);
                bytes.next();
            }
            _ => path.push(*byte),
        }
    }
    path
}

/// `path` without `.`, `..` and needless slashes; `None` if it leads out.
pub(crate) fn normalized(path: &BStr) -> Option<BString> {
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in path.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(bstr::join("/", parts).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cone_is_written_and_read() {
        let words: Vec<BString> = ["a/b/c", "a/x", "./d//e/", "a/x/y", "w*"]
            .map(BString::from)
            .into();
        let rules = SparseRules::of_words(&words, true).unwrap();
        let content = rules.to_content();
        let expected =
            "/*\n!/*/\n/a/\n!/a/*/\n/a/b/\n!/a/b/*/\n/d/\n!/d/*/\n/a/b/c/\n/a/x/\n/d/e/\n/w\\*/\n";
        assert_eq!(content, expected);
        let (read, warnings) = SparseRules::parse(&content, true);
        assert!(warnings.is_empty(), "{warnings:?}");
        assert_eq!(read.to_content(), expected);
        assert!(SparseRules::of_words(&["../a".into()], true).is_err());
    }

    #[test]
    fn what_is_no_cone_is_told() {
        for (content, warning) in [
            ("*.c\n", "unrecognized pattern: '*.c'"),
            ("/*\n!/*/\n!/a/\n", "unrecognized negative pattern: '/a'"),
            ("/*\n/a\n", "unrecognized pattern: '/a'"),
        ] {
            let (rules, warnings) = SparseRules::parse(content.as_bytes(), true);
            assert_eq!(warnings.first().map(String::as_str), Some(warning));
            assert_eq!(rules.to_content(), content);
        }
    }
}
