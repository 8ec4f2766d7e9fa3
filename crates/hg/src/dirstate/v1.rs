//! The first format: two parents of 20 bytes, then records of state, mode, size, time and length
//! of the path, each number in 32 bits and big-endian, and the path, with the path it was copied
//! from after a NUL.

use super::{corrupt, is_inside, Entry, Expected, Mtime, NodeId, Span};
use crate::Result;
use std::path::Path;

const HEADER_BYTES: usize = 40;
const RECORD_BYTES: usize = 17;
/// Bits of a mode: executable by the owner, the mask of the file type, and two file types.
const EXECUTABLE: u32 = 0o100;
const FILE_TYPE: u32 = 0o170_000;
const SYMLINK: u32 = 0o120_000;
const FILE: u32 = 0o100_000;

/// In the size field: the file must be read, or is added or merged.
const UNKNOWN_SIZE: i32 = -1;
/// In the size field: the file came from the second parent.
const FROM_SECOND_PARENT: i32 = -2;
/// In the time field: there is no reliable time.
const UNKNOWN_TIME: i32 = -1;

/// Parses parents and entries; the entries are in file order.
pub(super) fn parse(content: &[u8], path: &Path) -> Result<([NodeId; 2], Vec<Entry>)> {
    if content.is_empty() {
        return Ok(Default::default());
    }
    let Some((header, records)) = content.split_at_checked(HEADER_BYTES) else {
        return Err(corrupt(path, "it ends within the names of the parents"));
    };
    if header.starts_with(b"dirstate-v2\n") {
        let reason = "it is in the second format, but 'requires' does not list 'dirstate-v2'";
        return Err(corrupt(path, reason));
    }
    let mut parents = [NodeId::default(); 2];
    for (parent, bytes) in parents.iter_mut().zip(header.chunks_exact(20)) {
        parent.copy_from_slice(bytes);
    }
    // Paths of five bytes or less are rare, so this is not much more than needed.
    let mut entries = Vec::with_capacity(records.len() / (RECORD_BYTES + 5));
    let mut rest = records;
    while !rest.is_empty() {
        let position = content.len() - rest.len();
        let Some((entry, after)) = record(rest, position) else {
            let reason = format_args!("the record at byte {position} is not one");
            return Err(corrupt(path, reason));
        };
        entries.push(entry);
        rest = after;
    }
    Ok((parents, entries))
}

/// The first record of `bytes`, which start at `position` of the file, and the rest.
fn record(bytes: &[u8], position: usize) -> Option<(Entry, &[u8])> {
    let (fixed, rest) = bytes.split_first_chunk::<RECORD_BYTES>()?;
    let number = |at: usize| Some(i32::from_be_bytes(*fixed.get(at..)?.first_chunk()?));
    let length = usize::try_from(number(13)?).ok()?;
    let (paths, after) = rest.split_at_checked(length)?;

    let start = position + RECORD_BYTES;
    let nul = paths.iter().position(|byte| *byte == 0);
    let (name, source) = match nul {
        None => (paths, None),
        Some(at) => (paths.get(..at)?, paths.get(at + 1..)),
    };
    if !is_inside(name) || source.is_some_and(|source| source.contains(&0)) {
        return None;
    }
    let mut entry = state(fixed[0], number(1)? as u32, number(5)?, number(9)?)?;
    entry.path = Span {
        start: u32::try_from(start).ok()?,
        length: u32::try_from(name.len()).ok()?,
    };
    if let Some(source) = source {
        entry.source = Span {
            start: u32::try_from(start + name.len() + 1).ok()?,
            length: u32::try_from(source.len()).ok()?,
        };
    }
    Some((entry, after))
}

fn state(state: u8, mode: u32, size: i32, time: i32) -> Option<Entry> {
    let mut entry = Entry {
        tracked: state != b'r',
        ..Entry::default()
    };
    match (state, size) {
        (b'a', _) => {}
        (b'm', _) | (b'r', UNKNOWN_SIZE) => {
            entry.in_first_parent = true;
            entry.merged = true;
        }
        (b'n' | b'r', FROM_SECOND_PARENT) => entry.merged = true,
        (b'r', _) | (b'n', UNKNOWN_SIZE) => entry.in_first_parent = true,
        (b'n', _) => {
            entry.in_first_parent = true;
            entry.expected = Some(Expected {
                size: u32::try_from(size).ok()?,
                executable: mode & EXECUTABLE != 0,
                symlink: match mode & FILE_TYPE {
                    SYMLINK => Some(true),
                    FILE => Some(false),
                    _ => None,
                },
            });
            entry.mtime = (time != UNKNOWN_TIME).then_some(Mtime {
                seconds: time as u32 & 0x7fff_ffff,
                nanoseconds: 0,
                ambiguous: false,
            });
        }
        _ => return None,
    }
    Some(entry)
}
