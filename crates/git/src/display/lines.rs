//! Lines with colors, optionally marked as comments.

use super::paint;

/// A text of lines as it grows.
#[derive(Debug)]
pub struct ColoredLines<'a> {
    text: Vec<u8>,
    /// The comment prefix; empty if lines are not comments.
    comment: &'a [u8],
}

impl<'a> ColoredLines<'a> {
    /// No lines yet. `comment` starts each line; it is empty if lines are not comments.
    pub fn new(comment: &'a [u8]) -> Self {
        ColoredLines {
            text: Vec::new(),
            comment,
        }
    }

    /// The finished text.
    pub fn into_text(self) -> Vec<u8> {
        self.text
    }

    /// Appends one or several complete lines in a color.
    pub fn line(&mut self, color: &str, text: impl AsRef<[u8]>) {
        self.marked(color, text.as_ref(), true, true);
        self.text.push(b'\n');
    }

    /// Starts a line.
    pub fn start(&mut self, color: &str, text: &str) {
        self.marked(color, text.as_bytes(), true, false);
    }

    /// Continues a started line.
    pub fn more(&mut self, color: &str, text: impl AsRef<[u8]>) {
        self.marked(color, text.as_ref(), false, false);
    }

    /// Ends a line.
    pub fn end(&mut self) {
        self.text.push(b'\n');
    }

    /// Appends a line without color and comment prefix.
    pub fn plain(&mut self, text: &str) {
        self.text.extend_from_slice(text.as_bytes());
        self.text.push(b'\n');
    }

    /// Appends bytes unchanged.
    pub fn raw(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
    }

    /// Appends a line with the comment prefix and its space inside the color: so git shows the
    /// relation to the upstream.
    pub fn tracking(&mut self, color: &str, line: &str) {
        let mark = match (self.comment.is_empty(), line.is_empty()) {
            (true, _) => Vec::new(),
            (_, true) => self.comment.to_vec(),
            (_, false) => [self.comment, b" "].concat(),
        };
        if !(mark.is_empty() && line.is_empty()) {
            self.colored(color, &[&mark, line.as_bytes()])
        }
        self.text.push(b'\n');
    }

    /// Each line ends its color, and each line of a text with several gets a comment prefix; the
    /// first does so only if `at_start`.
    fn marked(&mut self, color: &str, text: &[u8], at_start: bool, is_whole: bool) {
        let commented = !self.comment.is_empty();
        let comment = self.comment;
        if text.is_empty() {
            // Git writes the prefix even in front of a continuation here; no caller continues with
            // an empty text.
            let space: &[u8] = if is_whole { b"" } else { b" " };
            if commented {
                self.colored(color, &[comment, space])
            } else {
                self.colored(color, &[])
            }
            return;
        }
        let mut lines = text.split(|byte| *byte == b'\n').enumerate().peekable();
        while let Some((number, line)) = lines.next() {
            let is_last = lines.peek().is_none();
            if is_last && number > 0 && line.is_empty() {
                break;
            }
            let marks = commented && (at_start || number > 0);
            let mark: &[u8] = if marks { comment } else { b"" };
            let spaced = marks && !line.is_empty() && !line.starts_with(b"\t");
            let space: &[u8] = if spaced { b" " } else { b"" };
            self.colored(color, &[mark, space, line]);
            if !is_last {
                self.text.push(b'\n');
            }
        }
    }

    fn colored(&mut self, color: &str, parts: &[&[u8]]) {
        paint(&mut self.text, color, parts);
    }
}
