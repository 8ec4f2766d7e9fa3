//! A JSON object on a line of its own, for output that streams.

use bstr::ByteSlice;

/// Appends an object to a buffer, field by field.
pub struct Document<'b> {
    buffer: &'b mut Vec<u8>,
}

impl<'b> Document<'b> {
    /// Begins the object with the name of its schema.
    pub fn begin(buffer: &'b mut Vec<u8>, schema: &str) -> Self {
        buffer.extend_from_slice(b"{\"schema\":");
        push_text(buffer, schema);
        Document { buffer }
    }

    /// A string that is UTF-8.
    pub fn text(&mut self, name: &str, text: &str) -> &mut Self {
        self.name(name);
        push_text(self.buffer, text);
        self
    }

    /// A name of any bytes: a string, or an object with the bytes if they are not UTF-8.
    pub fn bytes(&mut self, name: &str, bytes: &[u8]) -> &mut Self {
        self.name(name);
        match bytes.to_str() {
            Ok(text) => push_text(self.buffer, text),
            Err(_) => {
                let numbers: Vec<String> = bytes.iter().map(u8::to_string).collect();
                let object = format!("{{\"bytes\":[{}]}}", numbers.join(","));
                self.buffer.extend_from_slice(object.as_bytes());
            }
        }
        self
    }

    /// A number.
    pub fn number(&mut self, name: &str, number: u64) -> &mut Self {
        self.name(name);
        self.buffer.extend_from_slice(number.to_string().as_bytes());
        self
    }

    /// A field that says that something is so; where it is not, the field is left out.
    pub fn flag(&mut self, name: &str, is_so: bool) -> &mut Self {
        if is_so {
            self.name(name);
            self.buffer.extend_from_slice(b"true");
        }
        self
    }

    /// A list of strings that are UTF-8.
    pub fn texts(&mut self, name: &str, texts: impl Iterator<Item = String>) -> &mut Self {
        self.name(name);
        self.buffer.push(b'[');
        for (number, text) in texts.enumerate() {
            if number > 0 {
                self.buffer.push(b',');
            }
            push_text(self.buffer, &text);
        }
        self.buffer.push(b']');
        self
    }

    /// Ends the object, not its line.
    pub fn end(&mut self) {
        self.buffer.push(b'}');
    }

    /// Ends the object and its line.
    pub fn end_line(&mut self) {
        self.buffer.extend_from_slice(b"}\n");
    }

    fn name(&mut self, name: &str) {
        self.buffer.push(b',');
        push_text(self.buffer, name);
        self.buffer.push(b':');
    }
}

/// A string in quotes: RFC 8259, section 7.
fn push_text(buffer: &mut Vec<u8>, text: &str) {
    buffer.push(b'"');
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => buffer.extend_from_slice(&[b'\\', byte]),
            b'\n' => buffer.extend_from_slice(b"\\n"),
            0..0x20 => buffer.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => buffer.push(byte),
        }
    }
    buffer.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_field_is_written() {
        let mut buffer = b"before ".to_vec();
        Document::begin(&mut buffer, "hedgerow.x.v1")
            .text("quoted", "a \"b\" \\ \n\t\u{1}\u{7f}\u{e4}")
            .bytes("path", b"a/\xc3\xa4")
            .bytes("odd", b"\xe4\"")
            .number("number", u64::MAX)
            .flag("set", true)
            .flag("unset", false)
            .texts("none", std::iter::empty())
            .texts("two", ["a", "b"].map(str::to_owned).into_iter())
            .end();
        let expected = concat!(
            "before {\"schema\":\"hedgerow.x.v1\",",
            "\"quoted\":\"a \\\"b\\\" \\\\ \\n\\u0009\\u0001\u{7f}\u{e4}\",",
            "\"path\":\"a/\u{e4}\",\"odd\":{\"bytes\":[228,34]},",
            "\"number\":18446744073709551615,\"set\":true,\"none\":[],\"two\":[\"a\",\"b\"]}"
        );
        assert_eq!(String::from_utf8(buffer).unwrap(), expected);
    }
}
