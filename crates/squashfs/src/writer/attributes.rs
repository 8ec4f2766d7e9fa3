//! Owners and groups, and what all inodes tell.

use super::entry::Entry;
use super::WriteError;
use hedgerow_tree::NodeKind;
use std::collections::HashMap;

/// Ids are numbered by two bytes, and none may have the last number.
const IDS_LIMIT: usize = 65_535;

/// What all inodes tell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attributes {
    pub kind: NodeKind,
    pub mode: u16,
    /// Positions in [`Ids`].
    pub uid: u16,
    pub gid: u16,
    /// Seconds since the epoch.
    pub mtime: u32,
    /// The number of the extended attributes.
    pub xattrs: u32,
}

impl Attributes {
    pub(super) fn of(entry: &Entry, ids: &mut Ids, xattrs: u32) -> Result<Self, WriteError> {
        Ok(Attributes {
            kind: entry.kind,
            mode: entry.mode,
            uid: ids.number(entry.uid)?,
            gid: ids.number(entry.gid)?,
            mtime: entry.mtime,
            xattrs,
        })
    }
}

/// Users and groups, in the order of their first use.
#[derive(Default)]
pub(super) struct Ids {
    ids: Vec<u32>,
    numbers: HashMap<u32, u16>,
}

impl Ids {
    pub(super) fn all(&self) -> &[u32] {
        &self.ids
    }

    fn number(&mut self, id: u32) -> Result<u16, WriteError> {
        if let Some(number) = self.numbers.get(&id) {
            return Ok(*number);
        }
        let number = self.ids.len();
        if number >= IDS_LIMIT {
            return Err(WriteError::Limit {
                reason: "it has more than 65,535 owners and groups".into(),
            });
        }
        self.ids.push(id);
        self.numbers.insert(id, number as u16);
        Ok(number as u16)
    }
}
