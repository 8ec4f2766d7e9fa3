//! Whether a configuration file is well-formed by git's rules: git-config(1) under "SYNTAX". The parser that reads
//! the values takes some lines for others that git refuses to read at all.

/// The number of the first line that git refuses, counted from 1.
pub(super) fn bad_line(content: &[u8]) -> Option<usize> {
    let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
    let mut text = Text {
        rest: content,
        line: 1,
    };
    match text.lines() {
        Some(()) => None,
        None => Some(text.line),
    }
}

/// What is left of a file. Its methods give `None` where git gives up.
struct Text<'a> {
    rest: &'a [u8],
    /// The number of the line; git counts on when it has read a line end, also that of the file.
    line: usize,
}

impl Text<'_> {
    /// The next byte; a line end at the end of the file.
    fn peek(&self) -> u8 {
        match self.rest {
            [b'\r', b'\n', ..] | [] => b'\n',
            [byte, ..] => *byte,
        }
    }

    fn take(&mut self) -> u8 {
        let byte = self.peek();
        let length = 1 + usize::from(self.rest.starts_with(b"\r\n"));
        self.rest = self.rest.get(length..).unwrap_or_default();
        self.line += usize::from(byte == b'\n');
        byte
    }

    fn skip(&mut self, is_skipped: impl Fn(u8) -> bool) {
        while !self.rest.is_empty() && is_skipped(self.peek()) {
            self.take();
        }
    }

    fn lines(&mut self) -> Option<()> {
        while !self.rest.is_empty() {
            match self.peek() {
                byte if is_space(byte) => {
                    self.take();
                }
                b'#' | b';' => self.skip(|byte| byte != b'\n'),
                b'[' => self.header()?,
                byte if byte.is_ascii_alphabetic() => self.setting()?,
                _ => return None,
            }
        }
        Some(())
    }

    /// `[section]` or `[section "subsection"]`.
    fn header(&mut self) -> Option<()> {
        self.take();
        self.skip(|byte| is_of_key(byte) || byte == b'.');
        if !self.rest.is_empty() && is_space(self.peek()) {
            self.skip(|byte| is_space(byte) && byte != b'\n');
            if self.inside_line()? != b'"' {
                return None;
            }
            loop {
                match self.inside_line()? {
                    b'"' => break,
                    b'\\' => self.inside_line()?,
                    _ => continue,
                };
            }
        }
        (self.take() == b']').then_some(())
    }

    /// `name` or `name = value`.
    fn setting(&mut self) -> Option<()> {
        self.skip(is_of_key);
        self.skip(|byte| byte == b' ' || byte == b'\t');
        match self.peek() {
            b'\n' => Some(()),
            b'=' => self.value(),
            _ => None,
        }
    }

    fn value(&mut self) -> Option<()> {
        self.take();
        let mut is_quoted = false;
        loop {
            match self.peek() {
                b'\n' if is_quoted => return None,
                b'\n' => return Some(()),
                b'#' | b';' if !is_quoted => {
                    self.skip(|byte| byte != b'\n');
                    return Some(());
                }
                b'\\' => {
                    self.take();
                    match self.peek() {
                        b'\n' | b't' | b'b' | b'n' | b'\\' | b'"' => self.take(),
                        _ => return None,
                    };
                }
                byte => {
                    is_quoted ^= byte == b'"';
                    self.take();
                }
            }
        }
    }

    /// The next byte, which must not end the line.
    fn inside_line(&mut self) -> Option<u8> {
        (self.peek() != b'\n').then(|| self.take())
    }
}

/// What git's `isspace` takes for one.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

fn is_of_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}
