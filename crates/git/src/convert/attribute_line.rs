//! One line of an attributes file, as gitattributes(5) describes it.

use crate::display::unquoted_start;
use bstr::{BStr, BString, ByteSlice};

/// Lines this long or longer are ignored, as git has done since CVE-2022-23521.
const MAX_LINE_BYTES: usize = 2048;

const BLANK: &[u8] = b" \t\r";
const MACRO_PREFIX: &[u8] = b"[attr]";

/// The state that a line gives an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineState<'a> {
    /// `name`
    Set,
    /// `-name`
    Unset,
    /// `!name`
    Unspecified,
    /// `name=value`
    Value(&'a BStr),
}

/// A line with assignments.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    pub(super) subject: Subject<'a>,
    pub(super) assignments: Vec<(&'a BStr, LineState<'a>)>,
}

/// The paths or the macro that the assignments of a line apply to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Subject<'a> {
    /// The paths a pattern matches; the pattern is unquoted.
    Pattern(BString),
    /// A macro: everything that has this attribute set.
    Macro(&'a BStr),
}

/// Parses one line without its line feed. `Ok(None)` is a comment or an empty line; `Err` is a line
/// that git would complain about and ignore.
pub(super) fn parse(line: &[u8]) -> Result<Option<Line<'_>>, &'static str> {
    // git reads lines as C strings.
    let line = line.split_once_str(b"\0").map_or(line, |(head, _)| head);
    let text = skip_blank(line);
    if text.is_empty() || text.starts_with(b"#") {
        return Ok(None);
    }
    if line.len() >= MAX_LINE_BYTES {
        return Err("overly long line");
    }
    let (name, states) = match unquoted_start(text) {
        Some((name, rest)) => (name, rest),
        None => {
            let (name, rest) = split_word(text);
            (name.into(), rest)
        }
    };
    let is_macro = name.len() > MACRO_PREFIX.len() && name.starts_with(MACRO_PREFIX);
    let (subject, states) = if is_macro {
        macro_subject(text, states)?
    } else if name.starts_with(b"!") {
        return Err("negative pattern");
    } else {
        (Subject::Pattern(name), states)
    };
    Ok(Some(Line {
        subject,
        assignments: parse_assignments(states)?,
    }))
}

/// The name of a macro line. Quoted macro names do not exist.
fn macro_subject<'a>(
    text: &'a [u8],
    states: &'a [u8],
) -> Result<(Subject<'a>, &'a [u8]), &'static str> {
    let Some(rest) = text.strip_prefix(MACRO_PREFIX) else {
        return Err("quoted macro name");
    };
    let (name, _) = split_word(rest);
    if !is_valid_name(name) {
        return Err("invalid attribute name");
    }
    Ok((Subject::Macro(name.as_bstr()), states))
}

/// Parses the words after the pattern. One invalid name invalidates the line.
fn parse_assignments(mut states: &[u8]) -> Result<Vec<(&BStr, LineState<'_>)>, &'static str> {
    let mut assignments = Vec::new();
    loop {
        let (word, rest) = split_word(skip_blank(states));
        if word.is_empty() {
            return Ok(assignments);
        }
        states = rest;
        let (name, value) = match word.split_once_str(b"=") {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        let (name, state) = match (name.first(), value) {
            (Some(b'-'), _) => (&name[1..], LineState::Unset),
            (Some(b'!'), _) => (&name[1..], LineState::Unspecified),
            (_, Some(value)) => (name, LineState::Value(value.as_bstr())),
            (_, None) => (name, LineState::Set),
        };
        if !is_valid_name(name) || name.starts_with(b"builtin_") {
            return Err("invalid attribute name");
        }
        assignments.push((name.as_bstr(), state));
    }
}

fn is_valid_name(name: &[u8]) -> bool {
    let is_name_byte = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._".contains(byte);
    !name.is_empty() && !name.starts_with(b"-") && name.iter().all(is_name_byte)
}

fn skip_blank(text: &[u8]) -> &[u8] {
    let start = text.find_not_byteset(BLANK).unwrap_or(text.len());
    &text[start..]
}

/// The first word, and what follows it.
fn split_word(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.find_byteset(BLANK).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern_of(line: &str) -> String {
        match parse(line.as_bytes()).unwrap().unwrap().subject {
            Subject::Pattern(pattern) => pattern.to_string(),
            Subject::Macro(name) => format!("macro {name}"),
        }
    }

    #[test]
    fn assignments_have_four_forms() {
        let line = parse(b" *.c\ttext -diff !eol filter=x=y\r")
            .unwrap()
            .unwrap();
        assert_eq!(line.subject, Subject::Pattern("*.c".into()));
        assert_eq!(
            line.assignments,
            [
                ("text".into(), LineState::Set),
                ("diff".into(), LineState::Unset),
                ("eol".into(), LineState::Unspecified),
                ("filter".into(), LineState::Value("x=y".into())),
            ]
        );
    }

    #[test]
    fn quoted_patterns_are_unescaped() {
        assert_eq!(pattern_of(r#""a b\t\303\244\"" text"#), "a b\tä\"");
        assert_eq!(pattern_of(r#""unfinished text"#), "\"unfinished");
        assert_eq!(pattern_of(r#""\9" text"#), r#""\9""#);
        assert_eq!(pattern_of("[attr]mine text"), "macro mine");
        assert_eq!(pattern_of("[attr] text"), "[attr]");
    }

    #[test]
    fn what_git_ignores_is_ignored() {
        assert_eq!(parse(b"").unwrap(), None);
        assert_eq!(parse(b" \t# text").unwrap(), None);
        for bad in [
            "!a text",
            "a te/xt",
            "a -",
            "a =v",
            "a builtin_x",
            "[attr]-x text",
        ] {
            assert!(parse(bad.as_bytes()).is_err(), "{bad}");
        }
        let long = format!("a text {}", "x".repeat(2041));
        assert_eq!(long.len(), 2048);
        assert!(parse(long.as_bytes()).is_err());
        assert!(parse(&long.as_bytes()[..2047]).is_ok());
    }
}
