//! Fingerprint of a content: the number of bytes in spans, by the spans' hash.
//!
//! A span is a line, or 64 bytes of a longer one. The bytes that two contents have in common are
//! those of their spans with equal hashes, whatever the order. The hash must be git's to give git's
//! scores: 64 bits that are rotated by 7 before a byte is added to the lower half, without carrying
//! into the upper half; then both halves are combined into a number below [`HASHES`].

use super::{Contents, Side};
use crate::Result;

/// Number of different hashes.
pub(super) const HASHES: usize = 107_927;
/// Length of the longest span, in bytes.
const SPAN_BYTES: u32 = 64;
/// A content with a NUL among this many first bytes is binary.
const BINARY_BYTES: usize = 8000;

/// The spans of one content: hash and number of bytes, each hash once.
pub(super) type Spans = Vec<(u32, u32)>;

/// A table to count spans in, reused for one content after another.
pub(super) struct Tally {
    bytes: Vec<u32>,
    /// The hashes with a count, in order of their first span.
    seen: Vec<u32>,
}

impl Tally {
    pub fn new() -> Self {
        Tally {
            bytes: vec![0; HASHES],
            seen: Vec::new(),
        }
    }

    /// Counts the spans of the content of `side`, replacing those of the previous content.
    pub fn count<C: Contents>(
        &mut self,
        contents: &C,
        worker: &mut C::Worker,
        side: &Side,
    ) -> Result<()> {
        for hash in self.seen.drain(..) {
            self.bytes[hash as usize] = 0;
        }
        let mut splitter = Splitter {
            tally: self,
            is_text: contents.is_text(side)?,
            start: Vec::new(),
            span: Span::default(),
            held_return: false,
        };
        contents.read(worker, side, &mut |piece| splitter.push(piece))?;
        splitter.finish();
        Ok(())
    }

    /// The hashes and their byte counts.
    pub fn spans(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.seen
            .iter()
            .map(|hash| (*hash, self.bytes[*hash as usize]))
    }

    /// Number of bytes that `spans` share with the counted content.
    pub fn common_bytes(&self, spans: &Spans) -> u64 {
        let common = |(hash, bytes): &(u32, u32)| u64::from(self.bytes[*hash as usize].min(*bytes));
        spans.iter().map(common).sum()
    }

    fn add(&mut self, (hash, len): (u32, u32)) {
        let bytes = &mut self.bytes[hash as usize];
        if *bytes == 0 {
            self.seen.push(hash);
        }
        *bytes = bytes.saturating_add(len);
    }
}

/// Splits a content that arrives in pieces into spans.
struct Splitter<'t> {
    tally: &'t mut Tally,
    /// In text, a carriage return before a line feed is skipped. `None` until that is known; the
    /// first bytes are kept in `start` until then.
    is_text: Option<bool>,
    start: Vec<u8>,
    span: Span,
    /// The previous piece ended with a carriage return, which may precede a line feed.
    held_return: bool,
}

impl Splitter<'_> {
    fn push(&mut self, piece: &[u8]) {
        match self.is_text {
            Some(is_text) => self.split(piece, is_text),
            None if self.start.is_empty() && piece.len() >= BINARY_BYTES => {
                let is_text = self.decide(piece);
                self.split(piece, is_text);
            }
            None => {
                self.start.extend_from_slice(piece);
                if self.start.len() >= BINARY_BYTES {
                    self.split_start();
                }
            }
        }
    }

    fn split_start(&mut self) {
        let start = std::mem::take(&mut self.start);
        let is_text = self.decide(&start);
        self.split(&start, is_text);
    }

    fn decide(&mut self, start: &[u8]) -> bool {
        let is_text = !start.iter().take(BINARY_BYTES).any(|byte| *byte == 0);
        *self.is_text.insert(is_text)
    }

    fn split(&mut self, piece: &[u8], is_text: bool) {
        // Local copies of these two stay in registers; behind a reference they would not.
        let mut span = self.span;
        let mut held_return = self.held_return;
        for byte in piece {
            if held_return {
                held_return = false;
                if *byte != b'\n' && span.add(b'\r') {
                    self.tally.add(span.end());
                }
            }
            if is_text && *byte == b'\r' {
                held_return = true;
            } else if span.add(*byte) {
                self.tally.add(span.end());
            }
        }
        self.span = span;
        self.held_return = held_return;
    }

    fn finish(mut self) {
        if self.is_text.is_none() {
            self.split_start();
        }
        if self.held_return && self.span.add(b'\r') {
            self.tally.add(self.span.end());
        }
        if self.span.len > 0 {
            self.tally.add(self.span.end());
        }
    }
}

/// A growing span.
#[derive(Clone, Copy, Default)]
struct Span {
    state: u64,
    len: u32,
}

impl Span {
    /// Adds a byte; returns whether it was the span's last.
    fn add(&mut self, byte: u8) -> bool {
        let rotated = self.state.rotate_left(7);
        let low = (rotated as u32).wrapping_add(u32::from(byte));
        self.state = rotated >> 32 << 32 | u64::from(low);
        self.len += 1;
        self.len == SPAN_BYTES || byte == b'\n'
    }

    /// Its hash and length; resets the span.
    fn end(&mut self) -> (u32, u32) {
        let Span { state, len } = std::mem::take(self);
        let (low, high) = (state as u32, (state >> 32) as u32);
        let hash = low.wrapping_add(high.wrapping_mul(0x61)) % HASHES as u32;
        (hash, len)
    }
}
