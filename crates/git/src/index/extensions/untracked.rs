//! `UNTR`: what Git found untracked, directory by directory. It stays true as long as the set of
//! tracked paths does; when that changes, the directories are forgotten and the head is kept,
//! so that Git goes on keeping such a cache.

use super::super::cursor::{push_varint, Cursor};
use gix_hash::Kind;

/// Two exclude files' stat data of nine numbers each, and 32 bits of flags.
const FIXED_BYTES: usize = 36 * 2 + 4;

/// The extension `data` without its directories, or `None` if it is broken.
pub(in super::super) fn emptied(data: &[u8], hash: Kind) -> Option<Vec<u8>> {
    let mut cursor = Cursor::new(data);
    let identity = cursor.varint()?;
    cursor.take(identity)?;
    cursor.take(FIXED_BYTES + 2 * hash.len_in_bytes())?;
    cursor.until(0)?;
    let head = data.len() - cursor.rest().len();
    let mut emptied = data.get(..head)?.to_owned();
    push_varint(&mut emptied, 0);
    emptied.push(0);
    Some(emptied)
}
