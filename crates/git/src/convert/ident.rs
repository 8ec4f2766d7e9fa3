//! `$Id$` and its expansion.
//!
//! git has two implementations that differ on unusual input: [`IdentStream`] for files whose
//! conversion does not need the whole content, and [`expand`] for the rest. Both are reproduced,
//! because the bytes of a checkout depend on it.

use bstr::ByteSlice;
use gix_hash::ObjectId;

/// The start of a keyword.
const HEAD: &[u8] = b"$Id";

/// Expands `$Id$` piece by piece.
#[derive(Debug)]
pub(super) struct IdentStream {
    expansion: Vec<u8>,
    state: StreamState,
    /// The bytes read of a possible keyword, from its first dollar sign.
    held: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StreamState {
    /// This many bytes of `$Id` were seen.
    Head(usize),
    /// After `$Id:`, until a dollar sign or the end of the line.
    Value,
}

impl IdentStream {
    pub(super) fn new(id: &ObjectId) -> IdentStream {
        IdentStream {
            expansion: format!("$Id: {} $", id.to_hex()).into_bytes(),
            state: StreamState::Head(0),
            held: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, content: &[u8], out: &mut Vec<u8>) {
        let mut rest = content;
        loop {
            if self.state == StreamState::Head(0) {
                let plain = rest.find_byte(b'$').unwrap_or(rest.len());
                out.extend_from_slice(&rest[..plain]);
                rest = &rest[plain..];
            }
            let Some((&byte, tail)) = rest.split_first() else {
                return;
            };
            rest = tail;
            self.step(byte, out);
        }
    }

    fn step(&mut self, byte: u8, out: &mut Vec<u8>) {
        self.held.push(byte);
        self.state = match self.state {
            StreamState::Head(seen) if HEAD.get(seen) == Some(&byte) => StreamState::Head(seen + 1),
            // git compares with the head as a C string, so a NUL byte matches its end.
            StreamState::Head(3) if byte == 0 => StreamState::Head(4),
            StreamState::Head(3) if byte == b':' => StreamState::Value,
            StreamState::Head(3) if byte == b'$' => self.replace(out),
            // A dollar sign that breaks a head does not start another.
            StreamState::Head(_) => self.release(out),
            StreamState::Value if byte == b'$' && !is_foreign(&self.held) => self.replace(out),
            StreamState::Value if byte == b'$' || byte == b'\n' => self.release(out),
            StreamState::Value => StreamState::Value,
        };
    }

    fn replace(&mut self, out: &mut Vec<u8>) -> StreamState {
        out.extend_from_slice(&self.expansion);
        self.held.clear();
        StreamState::Head(0)
    }

    fn release(&mut self, out: &mut Vec<u8>) -> StreamState {
        out.append(&mut self.held);
        StreamState::Head(0)
    }

    pub(super) fn finish(&mut self, out: &mut Vec<u8>) {
        self.state = self.release(out);
    }
}

/// Appends `content` to `out`, with its keywords expanded as by [`IdentStream`]; false if it
/// contains no start of a keyword.
pub(super) fn expand_stream(content: &[u8], id: &ObjectId, out: &mut Vec<u8>) -> bool {
    if content.find(HEAD).is_none() {
        return false;
    }
    let mut stream = IdentStream::new(id);
    stream.push(content, out);
    stream.finish(out);
    true
}

/// Whether a keyword has white space where git's own expansion has none: then another version
/// control system wrote it, and it is kept.
fn is_foreign(keyword: &[u8]) -> bool {
    let Some(value) = keyword.strip_prefix(b"$Id: ") else {
        return false;
    };
    let value = value.split(|byte| *byte == 0).next().unwrap_or_default();
    let is_space = |byte: u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    value
        .iter()
        .enumerate()
        .any(|(at, byte)| is_space(*byte) && value.get(at + 1) != Some(&b'$'))
}

/// Appends `content` to `out` with its keywords expanded; false if there are none.
pub(super) fn expand(content: &[u8], id: &ObjectId, out: &mut Vec<u8>) -> bool {
    if !has_keyword(content) {
        return false;
    }
    let expansion = format!("Id: {} $", id.to_hex());
    let mut rest = content;
    while let Some(dollar) = rest.find_byte(b'$') {
        out.extend_from_slice(&rest[..=dollar]);
        rest = &rest[dollar + 1..];
        match keyword_length(rest) {
            Keyword::Length(length) => {
                out.extend_from_slice(expansion.as_bytes());
                rest = &rest[length..];
            }
            Keyword::No => {}
            Keyword::Unfinished => break,
        }
    }
    out.extend_from_slice(rest);
    true
}

enum Keyword {
    No,
    /// A value without a closing dollar sign, so that no keyword can follow it either.
    Unfinished,
    Length(usize),
}

/// Looks for a keyword at the start of `rest`, which follows a dollar sign.
fn keyword_length(rest: &[u8]) -> Keyword {
    if rest.starts_with(b"Id$") {
        return Keyword::Length(3);
    }
    let Some(value) = rest.strip_prefix(b"Id:") else {
        return Keyword::No;
    };
    let Some(end) = value.find_byte(b'$') else {
        return Keyword::Unfinished;
    };
    let value = &value[..end];
    let space = value.get(1..).and_then(|tail| tail.find_byte(b' '));
    let foreign = space.is_some_and(|at| at + 1 < end - 1);
    if value.contains(&b'\n') || foreign {
        return Keyword::No;
    }
    Keyword::Length(3 + end + 1)
}

/// Appends `content` to `out` with its keywords collapsed to `$Id$`; false if there are none.
pub(super) fn collapse(content: &[u8], out: &mut Vec<u8>) -> bool {
    if !has_keyword(content) {
        return false;
    }
    let mut rest = content;
    while let Some(dollar) = rest.find_byte(b'$') {
        out.extend_from_slice(&rest[..=dollar]);
        rest = &rest[dollar + 1..];
        let Some(value) = rest.strip_prefix(b"Id:").filter(|value| !value.is_empty()) else {
            continue;
        };
        let Some(end) = value.find_byte(b'$') else {
            break;
        };
        if !value[..end].contains(&b'\n') {
            out.extend_from_slice(b"Id$");
            rest = &value[end + 1..];
        }
    }
    out.extend_from_slice(rest);
    true
}

/// Whether there is a keyword by git's first, coarser check, which decides whether the finer
/// replacement is attempted at all.
fn has_keyword(content: &[u8]) -> bool {
    let mut rest = content;
    while let Some(dollar) = rest.find_byte(b'$') {
        rest = &rest[dollar + 1..];
        if rest.starts_with(b"Id$") {
            return true;
        }
        let Some(value) = rest.strip_prefix(b"Id:") else {
            continue;
        };
        let Some(end) = value.find_byteset(b"$\n") else {
            return false;
        };
        if value[end] == b'$' {
            return true;
        }
        rest = &value[end + 1..];
    }
    false
}
