//! Looks up entries of the tables by index.

use super::{Image, LookupTable, MetadataReader, Region};
use crate::format::{Reference, SizeWord};
use crate::{Damage, Part, Result};

/// Where a fragment block is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FragmentBlock {
    pub position: u64,
    pub word: SizeWord,
    /// Reserved; must be 0.
    pub unused: u32,
}

impl Image {
    /// Reads all owners and groups, at most 256 KiB.
    pub(super) fn read_ids(&self) -> Result<Vec<u32>> {
        let count = self.layout.ids.count;
        let ids = (0..count).map(|index| {
            self.entry(Some(self.layout.ids), index, Part::IdTable)?
                .u32()
        });
        ids.collect()
    }

    /// The owner or group at `index` in the id table.
    pub fn id(&self, index: u16) -> Result<u32> {
        let ids = self.ids();
        ids.get(usize::from(index)).copied().ok_or_else(|| {
            let what = format!("entry {index} of {}", ids.len());
            Damage::new(Part::IdTable, self.layout.ids.array_start, what).into()
        })
    }

    /// The reference to the inode with this number, from the export table; `None` if there is no
    /// such table.
    pub fn exported(&self, number: u32) -> Result<Option<Reference>> {
        let Some(table) = self.layout.export else {
            return Ok(None);
        };
        let index = u64::from(number).wrapping_sub(1);
        let reference = self.entry(Some(table), index, Part::ExportTable)?.u64()?;
        Ok(Some(Reference(reference)))
    }

    pub(crate) fn fragment_block(&self, index: u32) -> Result<FragmentBlock> {
        let mut entry = self.entry(self.layout.fragments, index.into(), Part::FragmentTable)?;
        Ok(FragmentBlock {
            position: entry.u64()?,
            word: SizeWord(entry.u32()?),
            unused: entry.u32()?,
        })
    }

    /// A metadata reader that starts at the entry `index` of a table.
    pub(crate) fn entry(
        &self,
        table: Option<LookupTable>,
        index: u64,
        part: Part,
    ) -> Result<MetadataReader<'_>> {
        let Some(table) = table.filter(|table| index < table.count) else {
            let count = table.map_or(0, |table| table.count);
            let what = format!("entry {index} of {count}");
            let position = table.map_or(0, |table| table.array_start);
            return Err(Damage::new(part, position, what).into());
        };
        let (block, offset) = table.place(index);
        let at = table.array_start.saturating_add(block * 8);
        let position = u64::from_le_bytes(self.bytes.read_array(part, at)?);
        // The size of an entry is a power of two, so entries do not straddle blocks.
        let region = Region::new(part, position, table.blocks_end);
        MetadataReader::new(self, region, Reference::new(0, offset))
    }
}
