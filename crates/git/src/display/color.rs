//! Colors: git-config(1), section "color" of "Values".

use crate::config::Config;
use crate::{Error, Result};
use bstr::{BStr, ByteSlice};

const ATTRIBUTES: [(&str, u32, u32); 7] = [
    ("bold", 1, 22),
    ("dim", 2, 22),
    ("italic", 3, 23),
    ("ul", 4, 24),
    ("blink", 5, 25),
    ("reverse", 7, 27),
    ("strike", 9, 29),
];

/// The escape sequence after a colored text.
pub const RESET: &str = "\x1b[m";

const NAMES: [&str; 8] = [
    "black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
];

/// The escape sequence for `words` such as `red bold` or `normal #00ff00 ul`; `None` if one of them
/// is not a color or attribute, or if there are more than two colors.
fn sequence(words: &BStr) -> Option<String> {
    let mut has_reset = false;
    let mut colors = Vec::new();
    let mut attributes = 0_u32;
    let is_space = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0b;
    for word in words.split(is_space).filter(|word| !word.is_empty()) {
        if word.eq_ignore_ascii_case(b"reset") {
            has_reset = true;
        } else if let Some(color) = Color::parse(word) {
            colors.push(color);
        } else {
            attributes |= 1 << attribute(word)?;
        }
    }
    if colors.len() > 2 {
        return None;
    }
    let mut parts: Vec<String> = has_reset.then(String::new).into_iter().collect();
    let set = (0..u32::BITS).filter(|bit| attributes >> bit & 1 == 1);
    parts.extend(set.map(|bit| bit.to_string()));
    let places = [0, 10].into_iter().zip(&colors);
    parts.extend(places.filter_map(|(offset, color)| color.parameters(offset)));
    if parts.is_empty() {
        Some(String::new())
    } else {
        Some(format!("\x1b[{}m", parts.join(";")))
    }
}

/// The escape sequence for the value of `key`; `None` if it is not set.
///
/// Fails if the value is not a color.
pub fn color_of_key(config: &Config, key: &str) -> Result<Option<String>> {
    let Some(words) = config.text(key)? else {
        return Ok(None);
    };
    let sequence = sequence(words.as_ref()).ok_or_else(|| Error::Config {
        reason: format!("invalid color value: {words}"),
    })?;
    Ok(Some(sequence))
}

/// Appends a text in a color; an empty color leaves it plain.
pub fn paint(text: &mut Vec<u8>, color: &str, parts: &[&[u8]]) {
    text.extend_from_slice(color.as_bytes());
    parts.iter().for_each(|part| text.extend_from_slice(part));
    if !color.is_empty() {
        text.extend_from_slice(RESET.as_bytes());
    }
}

fn attribute(word: &[u8]) -> Option<u32> {
    let (word, negated) = match word.strip_prefix(b"no") {
        Some(rest) => (rest.strip_prefix(b"-").unwrap_or(rest), true),
        None => (word, false),
    };
    let (_, set, unset) = ATTRIBUTES
        .iter()
        .find(|(name, ..)| name.as_bytes() == word)?;
    Some(if negated { *unset } else { *set })
}

/// A foreground or background color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Color {
    /// Unchanged.
    Normal,
    /// The ECMA-48 parameter for a foreground color: 30 to 37, 39, 90 to 97.
    Ansi(u32),
    /// One of the 256 palette colors.
    Palette(u32),
    Rgb(u8, u8, u8),
}

impl Color {
    fn parse(word: &[u8]) -> Option<Self> {
        if word.eq_ignore_ascii_case(b"normal") {
            return Some(Color::Normal);
        }
        if let Some(color) = word.strip_prefix(b"#").and_then(rgb) {
            return Some(color);
        }
        Color::named(word).or_else(|| Color::numbered(word))
    }

    fn named(word: &[u8]) -> Option<Self> {
        if word.eq_ignore_ascii_case(b"default") {
            return Some(Color::Ansi(39));
        }
        let (name, base) = match word.split_at_checked(6) {
            Some((start, name)) if start.eq_ignore_ascii_case(b"bright") => (name, 90),
            _ => (word, 30),
        };
        let found = NAMES
            .iter()
            .zip(base..)
            .find(|(known, _)| name.eq_ignore_ascii_case(known.as_bytes()));
        found.map(|(_, number)| Color::Ansi(number))
    }

    fn numbered(word: &[u8]) -> Option<Self> {
        let number: i64 = word.to_str().ok()?.parse().ok()?;
        match u32::try_from(number) {
            Err(_) if number == -1 => Some(Color::Normal),
            Ok(number @ 0..=7) => Some(Color::Ansi(30 + number)),
            Ok(number @ 8..=15) => Some(Color::Ansi(90 + number - 8)),
            Ok(number @ 16..=255) => Some(Color::Palette(number)),
            _ => None,
        }
    }

    /// The parameters of the sequence; `offset` is 10 for a background color.
    fn parameters(self, offset: u32) -> Option<String> {
        let extended = 38 + offset;
        match self {
            Color::Normal => None,
            Color::Ansi(number) => Some((number + offset).to_string()),
            Color::Palette(number) => Some(format!("{extended};5;{number}")),
            Color::Rgb(red, green, blue) => Some(format!("{extended};2;{red};{green};{blue}")),
        }
    }
}

/// Two hexadecimal digits per component, or one that is doubled.
fn rgb(digits: &[u8]) -> Option<Color> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).map(|value| value as u8);
    let values: Vec<u8> = digits.iter().map(digit).collect::<Option<_>>()?;
    match values.as_slice() {
        [r, g, b] => Some(Color::Rgb(r * 17, g * 17, b * 17)),
        [r, r2, g, g2, b, b2] => Some(Color::Rgb(r << 4 | r2, g << 4 | g2, b << 4 | b2)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_sequences() {
        for (words, expected) in [
            ("", Some("")),
            ("normal", Some("")),
            ("red", Some("\x1b[31m")),
            ("bold red blue", Some("\x1b[1;31;44m")),
            ("reset no-bold UL", None),
            ("reset nobold ul", Some("\x1b[;4;22m")),
            ("brightcyan default", Some("\x1b[96;49m")),
            ("9 200", Some("\x1b[91;48;5;200m")),
            ("normal #f80", Some("\x1b[48;2;255;136;0m")),
            ("256", None),
            ("red green blue", None),
            ("nonsense", None),
        ] {
            assert_eq!(sequence(words.into()).as_deref(), expected, "{words}");
        }
    }
}
