//! Why the magic of a pathspec is refused, in git's words: gitglossary(7), "pathspec".

use bstr::{BStr, ByteSlice};

/// Magic characters that mean something, and those that git keeps for later.
const SHORT: &[u8] = b"/!^";
const RESERVED: &[u8] = b"\"#%&',-;<=>@_`~";
const LONG: [&str; 5] = ["top", "literal", "glob", "icase", "exclude"];

/// What git says of a pathspec that cannot be read; `None` if its magic is in order.
pub(super) fn refusal(spec: &BStr) -> Option<String> {
    let magic = spec.strip_prefix(b":")?;
    match magic.strip_prefix(b"(") {
        Some(words) => of_words(words, spec),
        None => of_characters(magic, spec),
    }
}

fn of_words(mut rest: &[u8], spec: &BStr) -> Option<String> {
    let mut seen = Vec::new();
    while !matches!(rest.first(), None | Some(b')')) {
        let end = end_of_word(rest);
        let word = rest[..end].as_bstr();
        let is_known = LONG.iter().any(|known| word == known);
        if !is_known && !word.is_empty() && !word.starts_with(b"attr:") {
            return Some(format!("Invalid pathspec magic '{word}' in '{spec}'"));
        }
        seen.push(word);
        let after = &rest[end..];
        rest = after.strip_prefix(b",").unwrap_or(after);
    }
    let has = |word: &str| seen.iter().any(|seen| *seen == word);
    if rest.is_empty() {
        let message = format!("Missing ')' at the end of pathspec magic in '{spec}'");
        return Some(message);
    }
    (has("literal") && has("glob"))
        .then(|| format!("{spec}: 'literal' and 'glob' are incompatible"))
}

/// Where a word ends: at a comma or a parenthesis that has no backslash before it.
fn end_of_word(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' if at + 1 < text.len() => at += 2,
            b',' | b')' => break,
            _ => at += 1,
        }
    }
    at.min(text.len())
}

fn of_characters(magic: &[u8], spec: &BStr) -> Option<String> {
    let unread = magic.iter().find(|byte| !SHORT.contains(byte))?;
    let character = char::from(*unread);
    RESERVED
        .contains(unread)
        .then(|| format!("Unimplemented pathspec magic '{character}' in '{spec}'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_told() {
        for (spec, expected) in [
            ("plain", None),
            (":/x", None),
            (":!^/:x", None),
            (":(top,,icase)x", None),
            (":(attr:a\\,b)x", None),
            (
                ":(nonsense)x",
                Some("Invalid pathspec magic 'nonsense' in ':(nonsense)x'"),
            ),
            (":(top,x", Some("Invalid pathspec magic 'x' in ':(top,x'")),
            (
                ":(top",
                Some("Missing ')' at the end of pathspec magic in ':(top'"),
            ),
            (
                ":(glob,literal)x",
                Some(":(glob,literal)x: 'literal' and 'glob' are incompatible"),
            ),
            (":/-x", Some("Unimplemented pathspec magic '-' in ':/-x'")),
        ] {
            assert_eq!(refusal(spec.into()).as_deref(), expected, "{spec}");
        }
    }
}
