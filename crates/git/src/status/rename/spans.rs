//! What a content consists of: how many bytes are in spans of which hash.
//!
//! A span is a line, or 64 bytes of a longer one. Two contents have as many bytes in common as
//! their spans of equal hashes have, whatever their order. The hash is git's, since the scores
//! have to be: 64 bits that are rotated by 7 before a byte is added to the lower half, without
//! carrying into the upper half; then both halves make one number below [`HASHES`].

use super::{Contents, Side};
use crate::Result;

/// How many hashes there are.
pub(super) const HASHES: usize = 107_927;
/// The longest span.
const SPAN_BYTES: u32 = 64;
/// A content that has a NUL among this many first bytes is binary.
const BINARY_BYTES: usize = 8000;

/// The spans of one content: hash and bytes, each hash once.
pub(super) type Spans = Vec<(u32, u32)>;

/// A table to count spans in, for one content after the other.
pub(super) struct Tally {
    bytes: Vec<u32>,
    /// The hashes that have bytes, in order of their first span.
    seen: Vec<u32>,
}

impl Tally {
    pub fn new() -> Self {
        Tally {
            bytes: vec![0; HASHES],
            seen: Vec::new(),
        }
    }

    /// Counts the spans of the content of `side`, and forgets those of the content before.
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

    /// What was counted.
    pub fn spans(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.seen
            .iter()
            .map(|hash| (*hash, self.bytes[*hash as usize]))
    }

    /// How many bytes `spans` have in common with what was counted.
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

/// Cuts a content that comes in pieces into spans.
struct Splitter<'t> {
    tally: &'t mut Tally,
    /// In text, a carriage return before a line end does not count. `None` as long as that is not
    /// known, for which the first bytes are kept in `start`.
    is_text: Option<bool>,
    start: Vec<u8>,
    span: Span,
    /// The carriage return at the end of the piece before, which may be one before a line end.
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
        // Held apart from what is behind a reference, these two stay in registers.
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

/// A span that grows.
#[derive(Clone, Copy, Default)]
struct Span {
    state: u64,
    len: u32,
}

impl Span {
    /// Adds a byte; says whether that was the last one.
    fn add(&mut self, byte: u8) -> bool {
        let rotated = self.state.rotate_left(7);
        let low = (rotated as u32).wrapping_add(u32::from(byte));
        self.state = rotated >> 32 << 32 | u64::from(low);
        self.len += 1;
        self.len == SPAN_BYTES || byte == b'\n'
    }

    /// Its hash and length; then it begins anew.
    fn end(&mut self) -> (u32, u32) {
        let Span { state, len } = std::mem::take(self);
        let (low, high) = (state as u32, (state >> 32) as u32);
        let hash = low.wrapping_add(high.wrapping_mul(0x61)) % HASHES as u32;
        (hash, len)
    }
}
