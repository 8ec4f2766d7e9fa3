//! Makes deltas: finds what an object has in common with another (gitformat-pack, "deltified
//! representation").
//!
//! Blocks of [`BLOCK`] bytes of the base are indexed by a hash of their content. The target is
//! gone through byte by byte; where the next block of it is one of the base's, the longest such
//! match is taken, extended to both sides, and what lies between matches is inserted literally.

use super::apply::LEAST_BYTES;
use super::blocks::{hash, word, Blocks, BLOCK};

/// A match as long as this is good enough not to look for a longer one.
const GOOD_MATCH: usize = 4096;
/// Copies reach as far into the base as this; what is further is not used.
const REACH: usize = u32::MAX as usize;
/// The most bytes that one instruction inserts.
const MAX_INSERT: usize = 0x7f;
/// The most bytes that one instruction copies: three bytes of length would allow more, but version
/// 2 of the format does not.
const MAX_COPY: usize = 0x10000;

/// An index of one base, with which deltas of any number of targets against it are made.
#[derive(Debug)]
pub struct DeltaIndex {
    blocks: Blocks,
}

impl DeltaIndex {
    /// Indexes `base`. It is not kept: each [`DeltaIndex::encode`] is given it again.
    pub fn new(base: &[u8]) -> Self {
        DeltaIndex {
            blocks: Blocks::new(base.get(..REACH).unwrap_or(base)),
        }
    }

    /// The memory that the index takes, in bytes.
    pub fn size_bytes(&self) -> usize {
        self.blocks.size_bytes()
    }

    /// Replaces `delta` by one that makes `target` out of `base`, the same for the same input.
    /// Returns whether it is at most `max_bytes` long; if not, `delta` is of no use. That is found
    /// out early, as soon as so much does not match. There is no delta to an empty `target`.
    pub fn encode(
        &self,
        base: &[u8],
        target: &[u8],
        max_bytes: usize,
        delta: &mut Vec<u8>,
    ) -> bool {
        let mut out = Instructions::start(delta, base.len(), target.len());
        let base = base.get(..REACH).unwrap_or(base);
        let mut done = 0_usize;
        while let Some(room) = max_bytes.checked_sub(out.len()) {
            // A match that begins later would be preceded by more literals than there is room for,
            // but for those that extending it backwards takes away.
            let last = done.saturating_add(room).saturating_add(BLOCK);
            let Some(found) = self.next_match(base, target, done, last) else {
                break;
            };
            out.insert(&target[done..found.target]);
            out.copy(found.base, found.length);
            done = found.target + found.length;
        }
        out.insert(&target[done..]);
        (LEAST_BYTES..=max_bytes).contains(&out.len())
    }

    /// The first match in `target` from `done` on, and no further than `last`.
    fn next_match(&self, base: &[u8], target: &[u8], done: usize, last: usize) -> Option<Match> {
        let rest = target.get(done..)?;
        let windows = rest
            .windows(BLOCK)
            .take(last.saturating_sub(done).saturating_add(1));
        for (skipped, window) in windows.enumerate() {
            let hash = hash(window);
            if !self.blocks.may_have(hash) {
                continue;
            }
            let (before, tail) = rest.split_at(skipped);
            if let Some((at, length)) = self.longest(base, tail, hash) {
                let back = common_end(&base[..at], before);
                return Some(Match {
                    base: at - back,
                    target: done + skipped - back,
                    length: length + back,
                });
            }
        }
        None
    }

    /// Where in `base` the longest match with the start of `tail` is, and how long, among the
    /// blocks of that `hash`.
    #[inline(never)]
    fn longest(&self, base: &[u8], tail: &[u8], hash: u32) -> Option<(usize, usize)> {
        let mut best: Option<(usize, usize)> = None;
        for at in self.blocks.of(hash) {
            let candidate = &base[at..];
            let longest = best.map_or(BLOCK - 1, |(_, length)| length);
            // Later blocks have less of the base left.
            if candidate.len() <= longest {
                break;
            }
            let length = common_start(candidate, tail);
            if length > longest {
                best = Some((at, length));
                if length >= GOOD_MATCH {
                    break;
                }
            }
        }
        best
    }
}

/// What base and target have in common.
struct Match {
    base: usize,
    target: usize,
    length: usize,
}

/// How many bytes `a` and `b` start with in common.
fn common_start(a: &[u8], b: &[u8]) -> usize {
    const WORD: usize = 8;
    let words = a.chunks_exact(WORD).zip(b.chunks_exact(WORD));
    let mut same = 0;
    for (x, y) in words {
        let (x, y) = (word(x), word(y));
        if x != y {
            return same + ((x ^ y).trailing_zeros() / 8) as usize;
        }
        same += WORD;
    }
    let rest = a.iter().zip(b).skip(same);
    same + rest.take_while(|(x, y)| x == y).count()
}

/// How many bytes `a` and `b` end with in common.
fn common_end(a: &[u8], b: &[u8]) -> usize {
    let pairs = a.iter().rev().zip(b.iter().rev());
    pairs.take_while(|(x, y)| x == y).count()
}

/// A delta that is being written.
struct Instructions<'d> {
    delta: &'d mut Vec<u8>,
}

impl<'d> Instructions<'d> {
    fn start(delta: &'d mut Vec<u8>, base_bytes: usize, target_bytes: usize) -> Self {
        delta.clear();
        for mut length in [base_bytes, target_bytes] {
            while length >= 0x80 {
                delta.push(length as u8 | 0x80);
                length >>= 7;
            }
            delta.push(length as u8);
        }
        Instructions { delta }
    }

    fn len(&self) -> usize {
        self.delta.len()
    }

    fn insert(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(MAX_INSERT) {
            self.delta.push(piece.len() as u8);
            self.delta.extend_from_slice(piece);
        }
    }

    /// Copies `length` bytes at `at`, which is below 4 GiB.
    fn copy(&mut self, mut at: usize, mut length: usize) {
        while length > 0 {
            let size = length.min(MAX_COPY);
            let code_at = self.delta.len();
            self.delta.push(0);
            let mut code = 0x80;
            // The number 0x10000 is written as none.
            for (number, bytes, first_bit) in [(at, 4, 0), (size & 0xffff, 2, 4)] {
                for byte in 0..bytes {
                    let value = (number >> (byte * 8)) as u8;
                    if value != 0 {
                        self.delta.push(value);
                        code |= 1 << (first_bit + byte);
                    }
                }
            }
            self.delta[code_at] = code;
            at += size;
            length -= size;
        }
    }
}
