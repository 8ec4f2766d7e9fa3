//! `FSMN`: the entries that a file system monitor vouches for, and up to which moment.

use super::super::cursor::Cursor;
use super::super::entry::{Entry, Mode};
use hedgerow_object::ewah::encode_positions;

/// The extension as stored in a file.
pub(in super::super) struct Fsmonitor<'a> {
    /// The token to ask the monitor for changes since.
    pub(in super::super) token: Vec<u8>,
    bitmap: &'a [u8],
}

impl<'a> Fsmonitor<'a> {
    /// Parses the extension `data`; `None` if it is broken or of an unknown version.
    pub(in super::super) fn parse(data: &'a [u8]) -> Option<Self> {
        let mut cursor = Cursor::new(data);
        let token = match cursor.be32()? {
            // Version 1 had a time in nanoseconds; as a token of version 2 it is in decimal.
            1 => cursor.be64()?.to_string().into_bytes(),
            2 => cursor.until(0)?.to_owned(),
            _ => return None,
        };
        let size = usize::try_from(cursor.be32()?).ok()?;
        let bitmap = cursor.take(size)?;
        cursor.is_empty().then_some(Fsmonitor { token, bitmap })
    }

    /// Sets the flag of each of the `entries`. Returns whether the bitmap was valid; if not, no
    /// entry is vouched for. Submodules never are.
    pub(in super::super) fn apply(&self, entries: &mut [Entry]) -> bool {
        let dirty = Cursor::new(self.bitmap).bitmap(entries.len());
        let Ok(dirty) = dirty else { return false };
        for entry in entries.iter_mut() {
            entry.flags.fsmonitor_valid = entry.mode != Mode::Gitlink;
        }
        for position in dirty {
            if let Some(entry) = entries.get_mut(position as usize) {
                entry.flags.fsmonitor_valid = false;
            }
        }
        true
    }
}

/// The extension of a monitor that vouches as of `token` for all entries but those of the bitmap
/// `dirty`.
pub(in super::super) fn serialize(token: &[u8], dirty: &[u8]) -> Vec<u8> {
    let mut out = 2u32.to_be_bytes().to_vec();
    out.extend_from_slice(token);
    out.push(0);
    out.extend_from_slice(&(dirty.len() as u32).to_be_bytes());
    out.extend_from_slice(dirty);
    out
}

/// The bitmap of those `entries` that the monitor does not vouch for.
pub(in super::super) fn dirty(entries: &[Entry]) -> Vec<u8> {
    let positions = (0u32..).zip(entries);
    let dirty = positions.filter(|(_, entry)| !entry.flags.fsmonitor_valid);
    encode_positions(dirty.map(|(position, _)| position))
}
