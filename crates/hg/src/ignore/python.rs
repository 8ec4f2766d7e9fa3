//! Translates regular expressions from Python's syntax for bytes to the syntax of the regex crates:
//! <https://docs.python.org/3/library/re.html#regular-expression-syntax>.
//!
//! Nothing is copied unchanged: every element is parsed and written again, so that an expression
//! either has the same meaning here or is refused.

mod class;

use std::fmt::Write;

/// The target syntax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// The crate `regex`, for bytes, in linear time.
    Linear,
    /// The crate `fancy-regex`, for bytes too, which supports look-around and back-references: groups
    /// capture.
    Backtracking,
}

/// A translated expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Translation {
    /// The expression.
    pub regex: String,
    /// It uses look-around, back-references or atomic matching, which only
    /// [`Dialect::Backtracking`] supports.
    pub needs_backtracking: bool,
}

/// Translates `pattern` to a dialect, or returns a short reason why that is impossible.
pub(super) fn translate(pattern: &[u8], dialect: Dialect) -> Result<Translation, String> {
    let mut translator = Translator {
        rest: pattern,
        dialect,
        regex: String::with_capacity(2 * pattern.len()),
        needs_backtracking: false,
        last: Last::Nothing,
        groups: Vec::new(),
        names: Vec::new(),
        captures: 0,
        verbose: false,
    };
    while let Some((byte, rest)) = translator.rest.split_first() {
        translator.rest = rest;
        translator.element(*byte)?;
    }
    if translator.groups.is_empty() {
        Ok(Translation {
            regex: translator.regex,
            needs_backtracking: translator.needs_backtracking,
        })
    } else {
        Err("missing ), unterminated subpattern".into())
    }
}

struct Translator<'pattern> {
    rest: &'pattern [u8],
    dialect: Dialect,
    regex: String,
    needs_backtracking: bool,
    /// The element that a repetition would apply to.
    last: Last,
    groups: Vec<Group>,
    names: Vec<(&'pattern [u8], u32)>,
    /// Number of capturing groups opened so far.
    captures: u32,
    /// Spaces and comments are ignored.
    verbose: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// The start of an alternative, or an assertion such as `^`.
    Nothing,
    Repeatable,
    Repetition,
}

/// An open group.
struct Group {
    /// Its number, if it captures.
    capture: Option<u32>,
    verbose_outside: bool,
}

impl<'pattern> Translator<'pattern> {
    fn element(&mut self, byte: u8) -> Result<(), String> {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c if self.verbose => {}
            b'#' if self.verbose => {
                let end = self.rest.iter().position(|byte| *byte == b'\n');
                self.rest = end.and_then(|end| self.rest.get(end..)).unwrap_or_default();
            }
            b'\\' => self.escape()?,
            b'[' => self.class()?,
            b'(' => self.open()?,
            b')' => self.close()?,
            b'|' => self.push("|", Last::Nothing),
            b'^' => self.push("^", Last::Nothing),
            b'$' => self.push("$", Last::Nothing),
            b'.' => self.push(".", Last::Repeatable),
            b'*' | b'+' | b'?' => self.repeat(&char::from(byte).to_string())?,
            b'{' => match self.counts()? {
                Some(counts) => self.repeat(&counts)?,
                None => self.literal(b'{'),
            },
            byte => self.literal(byte),
        }
        Ok(())
    }

    fn push(&mut self, text: &str, last: Last) {
        self.regex.push_str(text);
        self.last = last;
    }

    fn literal(&mut self, byte: u8) {
        write_literal(&mut self.regex, byte);
        self.last = Last::Repeatable;
    }

    fn next(&mut self) -> Option<u8> {
        let (byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*byte)
    }

    fn takes(&mut self, text: &[u8]) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// The text up to `end`, which is consumed too.
    fn until(&mut self, end: u8) -> Option<&'pattern [u8]> {
        let at = self.rest.iter().position(|byte| *byte == end)?;
        let (inside, rest) = self.rest.split_at_checked(at)?;
        self.rest = rest.get(1..).unwrap_or_default();
        Some(inside)
    }

    /// Parses the counts of a repetition after a `{`; `None` if it is a literal brace.
    fn counts(&mut self) -> Result<Option<String>, String> {
        let Some(end) = self.rest.iter().position(|byte| *byte == b'}') else {
            return Ok(None);
        };
        let inside = self.rest.get(..end).unwrap_or_default();
        let (low, high) = match inside.iter().position(|byte| *byte == b',') {
            Some(comma) => (inside.get(..comma), inside.get(comma + 1..)),
            None => (Some(inside), None),
        };
        let low = low.unwrap_or_default();
        let are_digits = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
        let is_empty = low.is_empty() && high.is_none();
        if is_empty || !are_digits(low) || !high.is_none_or(are_digits) {
            return Ok(None);
        }
        self.rest = self.rest.get(end + 1..).unwrap_or_default();
        let low = number(low)?.unwrap_or(0);
        let high = match high {
            Some(high) => number(high)?,
            None => Some(low),
        };
        match high {
            Some(high) if high < low => Err("min repeat greater than max repeat".into()),
            Some(high) => Ok(Some(format!("{{{low},{high}}}"))),
            None => Ok(Some(format!("{{{low},}}"))),
        }
    }

    fn repeat(&mut self, counts: &str) -> Result<(), String> {
        match self.last {
            Last::Nothing => return Err("nothing to repeat".into()),
            Last::Repetition => return Err("multiple repeat".into()),
            Last::Repeatable => {}
        }
        self.push(counts, Last::Repetition);
        if self.takes(b"?") {
            self.regex.push('?');
        } else if self.takes(b"+") {
            self.needs_backtracking = true;
            self.regex.push('+');
        }
        Ok(())
    }

    /// Translates a backslash sequence outside a class.
    fn escape(&mut self) -> Result<(), String> {
        let byte = self.next().ok_or("bad escape (end of pattern)")?;
        match byte {
            b'A' => self.push(r"\A", Last::Nothing),
            b'Z' => self.push(r"\z", Last::Nothing),
            b'b' => self.push(r"\b", Last::Nothing),
            b'B' => self.push(r"\B", Last::Nothing),
            b'd' | b'D' | b's' | b'S' | b'w' | b'W' => {
                write_set(&mut self.regex, byte);
                self.last = Last::Repeatable;
            }
            b'0'..=b'9' => self.digits(byte)?,
            byte => {
                let byte = self.escaped(byte)?;
                self.literal(byte);
            }
        }
        Ok(())
    }

    /// Translates a backslash and a digit: a byte in octal, or a back-reference.
    fn digits(&mut self, first: u8) -> Result<(), String> {
        let octal = |byte: Option<&u8>| byte.is_some_and(|byte| matches!(byte, b'0'..=b'7'));
        let follow = octal(self.rest.first()) && octal(self.rest.get(1));
        if first == b'0' || matches!(first, b'1'..=b'7') && follow {
            let byte = self.octal(first)?;
            self.literal(byte);
            return Ok(());
        }
        let mut group = u32::from(first - b'0');
        if let Some(digit) = self.rest.first().filter(|byte| byte.is_ascii_digit()) {
            group = group * 10 + u32::from(digit - b'0');
            self.next();
        }
        self.back_reference(group)
    }

    /// A byte of up to three octal digits; the first was already consumed.
    fn octal(&mut self, first: u8) -> Result<u8, String> {
        let mut value = u32::from(first - b'0');
        for _ in 0..2 {
            let Some(digit) = self.rest.first().filter(|byte| matches!(byte, b'0'..=b'7')) else {
                break;
            };
            value = value * 8 + u32::from(digit - b'0');
            self.next();
        }
        u8::try_from(value).map_err(|_| "octal escape value outside of range 0-0o377".into())
    }

    fn back_reference(&mut self, group: u32) -> Result<(), String> {
        let is_open = self.groups.iter().any(|open| open.capture == Some(group));
        if group == 0 || group > self.captures {
            return Err(format!("invalid group reference {group}"));
        }
        if is_open {
            return Err("cannot refer to an open group".into());
        }
        self.needs_backtracking = true;
        self.push(&format!("(?:\\{group})"), Last::Repeatable);
        Ok(())
    }

    /// The byte that an escape stands for, inside or outside a class.
    fn escaped(&mut self, byte: u8) -> Result<u8, String> {
        Ok(match byte {
            b'a' => 0x07,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 0x0b,
            b'x' => {
                let digits = self
                    .rest
                    .get(..2)
                    .and_then(|two| std::str::from_utf8(two).ok());
                let digits = digits.filter(|two| !two.starts_with('+'));
                let value = digits.and_then(|two| u8::from_str_radix(two, 16).ok());
                let value = value.ok_or("incomplete escape \\x")?;
                self.rest = self.rest.get(2..).unwrap_or_default();
                value
            }
            byte if byte.is_ascii_alphabetic() => {
                return Err(format!("bad escape \\{}", char::from(byte)));
            }
            byte => byte,
        })
    }

    /// Translates a group after its `(`.
    fn open(&mut self) -> Result<(), String> {
        if !self.takes(b"?") {
            return self.open_capture(None);
        }
        for (text, is_fancy) in [
            ("?:", false),
            ("?=", true),
            ("?!", true),
            ("?<=", true),
            ("?<!", true),
            ("?>", true),
        ] {
            if self.takes(&text.as_bytes()[1..]) {
                self.needs_backtracking |= is_fancy;
                self.open_group(text, None, self.verbose);
                return Ok(());
            }
        }
        if self.takes(b"#") {
            let comment = self.until(b')');
            return comment
                .map(|_| ())
                .ok_or_else(|| "missing ), unterminated comment".into());
        }
        if self.takes(b"P<") {
            let name = self.until(b'>').ok_or("missing >, unterminated name")?;
            return self.open_capture(Some(name));
        }
        if self.takes(b"P=") {
            let name = self.until(b')').ok_or("missing ), unterminated name")?;
            let known = self.names.iter().find(|(known, _)| *known == name);
            let group = known.map(|(_, group)| *group).ok_or("unknown group name")?;
            return self.back_reference(group);
        }
        if self.takes(b"(") {
            return Err("a group that depends on another is not supported".into());
        }
        self.flags()
    }

    fn open_capture(&mut self, name: Option<&'pattern [u8]>) -> Result<(), String> {
        self.captures += 1;
        if let Some(name) = name {
            if name.is_empty() || self.names.iter().any(|(known, _)| *known == name) {
                return Err("bad or repeated group name".into());
            }
            self.names.push((name, self.captures));
        }
        // Captures without back-references are not needed.
        let text = match self.dialect {
            Dialect::Linear => "?:",
            Dialect::Backtracking => "",
        };
        self.open_group(text, Some(self.captures), self.verbose);
        Ok(())
    }

    fn open_group(&mut self, text: &str, capture: Option<u32>, verbose: bool) {
        self.groups.push(Group {
            capture,
            verbose_outside: self.verbose,
        });
        self.verbose = verbose;
        self.regex.push('(');
        self.push(text, Last::Nothing);
    }

    /// Translates a `(?` with flags for the content of the group.
    fn flags(&mut self) -> Result<(), String> {
        let mut text = String::from("?");
        let mut verbose = self.verbose;
        let mut turns_on = true;
        loop {
            let byte = self.next().ok_or("missing ), unterminated subpattern")?;
            match byte {
                b'i' | b'm' | b's' => text.push(char::from(byte)),
                b'x' => verbose = turns_on,
                // Bytes patterns are always ASCII unless a locale is set, which Mercurial does not
                // do.
                b'a' | b'L' if turns_on => {}
                b'-' if turns_on => {
                    turns_on = false;
                    text.push('-');
                }
                b':' => break,
                b')' => return Err("global flags not at the start of the expression".into()),
                byte => {
                    let shown = char::from(byte).escape_default();
                    return Err(format!("unknown extension ?{shown}"));
                }
            }
        }
        let text = format!("{}:", text.trim_end_matches('-'));
        self.open_group(&text, None, verbose);
        Ok(())
    }

    fn close(&mut self) -> Result<(), String> {
        let group = self.groups.pop().ok_or("unbalanced parenthesis")?;
        self.verbose = group.verbose_outside;
        self.push(")", Last::Repeatable);
        Ok(())
    }
}

fn number(digits: &[u8]) -> Result<Option<u32>, String> {
    if digits.is_empty() {
        return Ok(None);
    }
    let text = std::str::from_utf8(digits).unwrap_or_default();
    let value = text
        .parse()
        .map_err(|_| "the repetition number is too large");
    Ok(Some(value?))
}

/// Writes a literal byte, inside or outside a class. Only characters without any special meaning
/// are written unescaped.
fn write_literal(regex: &mut String, byte: u8) {
    match byte {
        b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'/' => regex.push(char::from(byte)),
        // Writing to a string does not fail.
        byte => drop(write!(regex, "\\x{byte:02x}")),
    }
}

/// Writes a predefined set, given by its letter, inside or outside a class.
fn write_set(regex: &mut String, letter: u8) {
    regex.push('\\');
    regex.push(char::from(letter));
}

#[cfg(test)]
mod tests;
