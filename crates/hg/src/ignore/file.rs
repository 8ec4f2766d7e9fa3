//! Parsing an ignore file: `hg help hgignore`.

use super::kind::{split, Kind};
use bstr::{BStr, BString, ByteSlice};

/// A pattern of an ignore file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Line number in the file, from 1.
    pub number: usize,
    /// The kind of the pattern.
    pub kind: Kind,
    /// The pattern, without its kind and without comments.
    pub pattern: BString,
}

/// A `syntax:` line with an unknown name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UnknownSyntax {
    /// The unknown name.
    pub name: BString,
}

/// The prefix that Mercurial adds to a line, by the name of a syntax. The last two prefixes lack
/// their colon, so every line that starts with these words is taken for one of these, even if it is
/// meant as a glob.
const SYNTAXES: [(&[u8], &[u8]); 6] = [
    (b"re", b"relre:"),
    (b"regexp", b"relre:"),
    (b"glob", b"relglob:"),
    (b"rootglob", b"rootglob:"),
    (b"include", b"include"),
    (b"subinclude", b"subinclude"),
];

/// The patterns of a file, and the names of unknown syntaxes.
pub(super) fn parse(content: &[u8]) -> (Vec<Line>, Vec<UnknownSyntax>) {
    let mut lines = Vec::new();
    let mut unknown = Vec::new();
    let mut syntax: &[u8] = b"relre:";
    for (index, line) in content.split(|byte| *byte == b'\n').enumerate() {
        let line = without_comment(line);
        let line = line.trim_end_with(is_space);
        if line.is_empty() {
            continue;
        }
        if let Some(name) = line.strip_prefix(b"syntax:") {
            let name = name.trim_with(is_space);
            match SYNTAXES.iter().find(|(known, _)| *known == name) {
                Some((_, prefix)) => syntax = prefix,
                None => unknown.push(UnknownSyntax { name: name.into() }),
            }
            continue;
        }
        let (prefix, rest) = own_syntax(line).unwrap_or((syntax, line));
        let (kind, pattern) = split(&[prefix, rest].concat());
        lines.push(Line {
            number: index + 1,
            kind,
            pattern,
        });
    }
    (lines, unknown)
}

/// The syntax given by a prefix of the line, and the rest of the line.
fn own_syntax(line: &[u8]) -> Option<(&'static [u8], &[u8])> {
    SYNTAXES.iter().find_map(|(name, prefix)| {
        let long = || line.strip_prefix(*prefix);
        let short = || line.strip_prefix(*name)?.strip_prefix(b":");
        Some((*prefix, long().or_else(short)?))
    })
}

/// The line up to a `#` that is not preceded by an odd number of backslashes; `\#` is replaced by
/// `#`.
fn without_comment(line: &[u8]) -> BString {
    let is_comment = |at: &usize| {
        let before = line.get(..*at).unwrap_or_default();
        let backslashes = before.iter().rev().take_while(|byte| **byte == b'\\');
        backslashes.count() % 2 == 0
    };
    let mut marks = line.find_iter(b"#").peekable();
    if marks.peek().is_none() {
        return line.into();
    }
    let end = marks.find(is_comment).unwrap_or(line.len());
    let line = line.get(..end).unwrap_or_default();
    BStr::new(line).replace(b"\\#", b"#").into()
}

fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Vec<(usize, Kind, String)> {
        let (lines, _) = parse(text.as_bytes());
        let shown = |line: Line| (line.number, line.kind, line.pattern.to_string());
        lines.into_iter().map(shown).collect()
    }

    #[test]
    fn lines_take_the_syntax_above_or_their_own() {
        let text = "a$\n\nsyntax: glob\n*.o  \nre:^x\nrootglob:y\nrelglob:z\nsyntax:rootglob\nq\n\
                    syntax: regexp\nglob:*.c\ninclude:more\nsubinclude:sub/.hgignore\n";
        let expected = [
            (1, Kind::RelativeRegex, "a$"),
            (4, Kind::RelativeGlob, "*.o"),
            (5, Kind::RelativeRegex, "^x"),
            (6, Kind::RootGlob, "y"),
            (7, Kind::RelativeGlob, "z"),
            (9, Kind::RootGlob, "q"),
            (11, Kind::RelativeGlob, "*.c"),
            (12, Kind::Include, "more"),
            (13, Kind::SubInclude, "sub/.hgignore"),
        ];
        let expected = expected.map(|(line, kind, text)| (line, kind, text.to_owned()));
        assert_eq!(parsed(text), expected);
    }

    #[test]
    fn a_line_that_begins_like_an_include_is_a_glob() {
        assert_eq!(
            parsed("includes/a*\n"),
            [(1, Kind::RootGlob, "includes/a*".to_owned())]
        );
    }

    #[test]
    fn comments_end_at_the_line_and_may_be_escaped() {
        let text = "# all\na # b\nc\\#d\ne\\\\#f\n\\#g # h\n";
        let lines = parsed(text);
        let texts: Vec<&str> = lines.iter().map(|(_, _, text)| text.as_str()).collect();
        assert_eq!(texts, ["a", "c#d", "e\\\\", "#g"]);
    }

    #[test]
    fn an_unknown_syntax_changes_nothing_and_is_told() {
        let (lines, unknown) = parse(b"syntax: glob\nsyntax: perl\nx\n");
        assert_eq!(lines[0].kind, Kind::RelativeGlob);
        assert_eq!(unknown[0].name, "perl");
    }
}
