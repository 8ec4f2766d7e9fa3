//! Character classes (in brackets).

use super::{write_literal, write_set, Last, Translator};

enum Item {
    Byte(u8),
    /// A predefined set, given by its letter.
    Set(u8),
}

impl Translator<'_> {
    /// Translates a class after its `[`.
    pub(super) fn class(&mut self) -> Result<(), String> {
        const ENDLESS: &str = "unterminated character set";
        self.regex.push('[');
        if self.takes(b"^") {
            self.regex.push('^');
        }
        let mut is_first = true;
        loop {
            let byte = self.next().ok_or(ENDLESS)?;
            if byte == b']' && !is_first {
                break;
            }
            is_first = false;
            let low = self.class_item(byte)?;
            let is_range = self.rest.first() == Some(&b'-') && self.rest.get(1) != Some(&b']');
            if !is_range {
                match low {
                    Item::Byte(byte) => write_literal(&mut self.regex, byte),
                    Item::Set(letter) => write_set(&mut self.regex, letter),
                }
                continue;
            }
            self.next();
            let byte = self.next().ok_or(ENDLESS)?;
            match (low, self.class_item(byte)?) {
                (Item::Byte(low), Item::Byte(high)) if low <= high => {
                    write_literal(&mut self.regex, low);
                    self.regex.push('-');
                    write_literal(&mut self.regex, high);
                }
                _ => return Err("bad character range".into()),
            }
        }
        self.push("]", Last::Repeatable);
        Ok(())
    }

    fn class_item(&mut self, byte: u8) -> Result<Item, String> {
        if byte != b'\\' {
            return Ok(Item::Byte(byte));
        }
        let byte = self.next().ok_or("unterminated character set")?;
        Ok(match byte {
            b'd' | b'D' | b's' | b'S' | b'w' | b'W' => Item::Set(byte),
            b'b' => Item::Byte(0x08),
            b'0'..=b'7' => Item::Byte(self.octal(byte)?),
            b'8' | b'9' => return Err(format!("bad escape \\{}", char::from(byte))),
            byte => Item::Byte(self.escaped(byte)?),
        })
    }
}
