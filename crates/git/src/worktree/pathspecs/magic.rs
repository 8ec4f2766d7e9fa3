//! The magic of a pathspec, given in the pathspec or by the environment: gitglossary(7),
//! "pathspec", and git(1) under `GIT_LITERAL_PATHSPECS`. Errors are in git's words.

use crate::config::PathspecSettings;
use bstr::{BStr, ByteSlice};

/// Magic characters that git reserves.
const RESERVED: &[u8] = b"\"#%&',-;<=>@_`~";

/// How the path of a pathspec is interpreted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Magic {
    /// Relative to the top of the working tree instead of the current directory.
    pub top: bool,
    /// Without wildcards.
    pub literal: bool,
    /// With wildcards that do not match slashes.
    pub glob: bool,
    pub ignore_case: bool,
    pub exclude: bool,
    /// It requires attributes.
    pub attributes: bool,
    /// So many bytes of its path are taken literally: git writes this for commands that it runs at the
    /// top of the working tree.
    pub prefix: Option<usize>,
}

/// The parameter of `prefix`.
fn length(digits: &[u8]) -> Result<usize, String> {
    if digits.is_empty() {
        return Ok(0);
    }
    let number = std::str::from_utf8(digits)
        .ok()
        .and_then(|it| it.parse().ok());
    number.ok_or_else(|| "invalid parameter for pathspec magic 'prefix'".into())
}

/// Parses the magic of `spec`. Returns it and the path after it, or an error message.
pub(super) fn read<'s>(
    spec: &'s BStr,
    settings: &PathspecSettings,
) -> Result<(Magic, &'s BStr), String> {
    let (own, path) = match spec.strip_prefix(b":").filter(|_| !settings.literal) {
        None => (Magic::default(), spec.as_bytes()),
        Some(magic) => match magic.strip_prefix(b"(") {
            Some(words) => of_words(words, spec)?,
            None => of_characters(magic, spec)?,
        },
    };
    let magic = own.with(settings)?;
    if magic.literal && magic.glob {
        return Err(format!("{spec}: 'literal' and 'glob' are incompatible"));
    }
    Ok((magic, path.as_bstr()))
}

impl Magic {
    /// Adds the settings of the environment. The pathspec's own magic takes precedence.
    fn with(self, settings: &PathspecSettings) -> Result<Self, String> {
        if settings.glob && settings.no_glob {
            return Err("global 'glob' and 'noglob' pathspec settings are incompatible".into());
        }
        let glob = settings.glob && !self.literal;
        if settings.literal && (glob || settings.ignore_case) {
            let words = "global 'literal' pathspec setting is incompatible with all other global \
                         pathspec settings";
            return Err(words.into());
        }
        Ok(Magic {
            literal: self.literal || settings.literal || settings.no_glob && !self.glob,
            glob: self.glob || glob,
            ignore_case: self.ignore_case || settings.ignore_case,
            ..self
        })
    }
}

fn of_words<'s>(mut rest: &'s [u8], spec: &BStr) -> Result<(Magic, &'s [u8]), String> {
    let mut magic = Magic::default();
    while !matches!(rest.first(), None | Some(b')')) {
        let (word, after) = rest.split_at(end_of_word(rest));
        match word {
            b"" => {}
            b"top" => magic.top = true,
            b"literal" => magic.literal = true,
            b"glob" => magic.glob = true,
            b"icase" => magic.ignore_case = true,
            b"exclude" => magic.exclude = true,
            word if word.starts_with(b"attr:") => magic.attributes = true,
            word if word.starts_with(b"prefix:") => magic.prefix = Some(length(&word[7..])?),
            word => {
                let word = word.as_bstr();
                return Err(format!("Invalid pathspec magic '{word}' in '{spec}'"));
            }
        }
        rest = after.strip_prefix(b",").unwrap_or(after);
    }
    match rest.strip_prefix(b")") {
        Some(path) => Ok((magic, path)),
        None => {
            let message = format!("Missing ')' at the end of pathspec magic in '{spec}'");
            Err(message)
        }
    }
}

/// The words of the magic of `spec`, which was read without an error, without parentheses around
/// them. There are none if they say no more than where the path starts.
pub(super) fn long_form(spec: &BStr) -> Vec<u8> {
    let Some(text) = spec.strip_prefix(b":") else {
        return Vec::new();
    };
    let Some(words) = text.strip_prefix(b"(") else {
        let magic = of_characters(text, spec).map(|(magic, _)| magic);
        let magic = magic.unwrap_or_default();
        let mut words = Vec::new();
        words.extend(magic.top.then_some(&b"top"[..]));
        words.extend(magic.exclude.then_some(&b"exclude"[..]));
        return bstr::join(",", words);
    };
    let magic = of_words(words, spec).map(|(magic, _)| magic);
    let plain = Magic {
        prefix: magic.as_ref().ok().and_then(|magic| magic.prefix),
        ..Magic::default()
    };
    if magic == Ok(plain) {
        return Vec::new();
    }
    let end = words.find_byte(b')').unwrap_or(words.len());
    words[..end].to_vec()
}

/// The lists of attributes in the magic of `spec`, which was read without an error.
pub(super) fn attributes(spec: &BStr) -> Vec<&[u8]> {
    let mut rest = spec.strip_prefix(b":(").unwrap_or_default();
    let mut found = Vec::new();
    while !matches!(rest.first(), None | Some(b')')) {
        let (word, after) = rest.split_at(end_of_word(rest));
        found.extend(word.strip_prefix(b"attr:"));
        rest = after.strip_prefix(b",").unwrap_or(after);
    }
    found
}

/// The end of a word: a comma or a parenthesis without a backslash before it.
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

fn of_characters<'s>(text: &'s [u8], spec: &BStr) -> Result<(Magic, &'s [u8]), String> {
    let mut magic = Magic::default();
    let mut rest = text;
    while let Some((character, after)) = rest.split_first() {
        match character {
            b'/' => magic.top = true,
            b'!' | b'^' => magic.exclude = true,
            b':' => return Ok((magic, after)),
            reserved if RESERVED.contains(reserved) => {
                let character = char::from(*reserved);
                return Err(format!(
                    "Unimplemented pathspec magic '{character}' in '{spec}'"
                ));
            }
            _ => break,
        }
        rest = after;
    }
    Ok((magic, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn magic_is_split_off() {
        let plain = Magic::default();
        let top = Magic { top: true, ..plain };
        let exclude = Magic {
            exclude: true,
            ..plain
        };
        for (spec, magic, path) in [
            ("plain", plain, "plain"),
            (":", plain, ""),
            (":x", plain, "x"),
            (":/x", top, "x"),
            (":!^:/x", exclude, "/x"),
            // After magic characters, parentheses have no special meaning.
            (":/(icase)x", top, "(icase)x"),
            (":(top,)x", top, "x"),
            (":(exclude)a)", exclude, "a)"),
            (
                ":(attr:a\\,b)x",
                Magic {
                    attributes: true,
                    ..plain
                },
                "x",
            ),
        ] {
            let found = read(spec.into(), &PathspecSettings::default());
            assert_eq!(found, Ok((magic, path.into())), "{spec}");
        }
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (spec, expected) in [
            (
                ":(nonsense)x",
                "Invalid pathspec magic 'nonsense' in ':(nonsense)x'",
            ),
            (":(top,x", "Invalid pathspec magic 'x' in ':(top,x'"),
            (
                ":(top",
                "Missing ')' at the end of pathspec magic in ':(top'",
            ),
            (
                ":(glob,literal)x",
                ":(glob,literal)x: 'literal' and 'glob' are incompatible",
            ),
            (":/-x", "Unimplemented pathspec magic '-' in ':/-x'"),
        ] {
            let found = read(spec.into(), &PathspecSettings::default());
            assert_eq!(found, Err(expected.into()), "{spec}");
        }
    }

    #[test]
    fn the_environment_adds_to_it() {
        let settings = |text: &str| PathspecSettings {
            literal: text.contains('l'),
            glob: text.contains('g'),
            no_glob: text.contains('n'),
            ignore_case: text.contains('i'),
        };
        let shown = |(magic, path): (Magic, &BStr)| {
            let letters = [
                (magic.literal, 'l'),
                (magic.glob, 'g'),
                (magic.ignore_case, 'i'),
            ];
            let letters: String = letters.iter().filter(|it| it.0).map(|it| it.1).collect();
            format!("{letters} {path}")
        };
        let both = "global 'glob' and 'noglob' pathspec settings are incompatible";
        let alone = "global 'literal' pathspec setting is incompatible with all other global \
                     pathspec settings";
        for (variables, spec, expected) in [
            ("l", "x", Ok("l x")),
            ("l", ":(glob)x", Ok("l :(glob)x")),
            ("g", "x", Ok("g x")),
            ("g", ":(literal)x", Ok("l x")),
            ("n", "x", Ok("l x")),
            ("n", ":(glob)x", Ok("g x")),
            ("i", "x", Ok("i x")),
            ("gi", ":(icase)x", Ok("gi x")),
            ("ln", "x", Ok("l x")),
            ("lg", "x", Err(alone)),
            ("li", "x", Err(alone)),
            ("gn", "x", Err(both)),
        ] {
            let found = read(spec.into(), &settings(variables)).map(shown);
            let expected = expected.map(String::from).map_err(String::from);
            assert_eq!(found, expected, "{variables} {spec}");
        }
    }
}
