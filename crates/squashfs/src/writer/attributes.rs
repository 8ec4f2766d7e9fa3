//! The attributes common to all inodes, and the owners and groups they refer to.

use hedgerow_image::Entry;
use hedgerow_image::WriteError;
use hedgerow_tree::NodeKind;
use std::collections::HashMap;

/// Maximum number of owners and groups: the superblock counts them in two bytes.
const IDS_LIMIT: usize = 65_535;

/// The attributes common to all inodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attributes {
    pub kind: NodeKind,
    pub mode: u16,
    /// Indexes in [`Ids`].
    pub uid: u16,
    pub gid: u16,
    /// Seconds since the epoch.
    pub mtime: u32,
    /// Index of the set of extended attributes.
    pub xattrs: u32,
}

impl Attributes {
    pub(super) fn of(
        entry: &Entry,
        mtime: u32,
        ids: &mut Ids,
        xattrs: u32,
    ) -> Result<Self, WriteError> {
        Ok(Attributes {
            kind: entry.kind,
            mode: entry.mode,
            uid: ids.number(entry.uid)?,
            gid: ids.number(entry.gid)?,
            mtime,
            xattrs,
        })
    }
}

/// Owners and groups in the order of their first use.
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
