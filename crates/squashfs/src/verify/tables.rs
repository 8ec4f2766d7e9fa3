//! Checks the superblock and the tables that are indexed by number.

use super::blocks::Blocks;
use super::inodes::Inodes;
use super::{Check, VerifyError};
use crate::format::{flags, METADATA_BYTES, SUPERBLOCK_BYTES, XATTR_HEADER_BYTES};
use crate::reader::{LookupTable, Region};
use crate::{Damage, Part};

/// The metadata blocks of the tables that later checks need.
#[derive(Default)]
pub struct Tables {
    pub directories: Blocks,
    pub xattrs: Blocks,
}

impl Check<'_> {
    pub fn superblock(&mut self) {
        self.cover(Part::Superblock, 0, SUPERBLOCK_BYTES);
        let superblock = self.image.superblock;
        if superblock.has(flags::NO_FRAGMENTS) && superblock.fragment_count > 0 {
            let what = "a flag that contradicts the fragments";
            self.findings.add(Damage::new(Part::Superblock, 24, what));
        }
        if let Ok(Some(block)) = self.image.option_block() {
            self.cover(Part::OptionBlock, 0, 2 + block.len() as u64);
        }
    }

    /// Checks the metadata blocks of all tables.
    pub fn tables(&mut self) -> Result<Tables, VerifyError> {
        let layout = &self.image.layout;
        let positions = self.chain(layout.inodes);
        self.blocks(layout.inodes, positions, None)?;
        let positions = self.chain(layout.directories);
        let directories = self.blocks(layout.directories, positions, None)?;
        let mut xattrs = Blocks::default();
        if let Some(table) = layout.xattr_ids {
            let positions = self.chain(layout.xattrs);
            xattrs = self.blocks(layout.xattrs, positions, None)?;
            self.cover(Part::XattrTable, 0, XATTR_HEADER_BYTES);
            self.lookup_table(table)?;
        }
        let others = [layout.fragments, layout.export, Some(layout.ids)];
        for table in others.into_iter().flatten() {
            self.lookup_table(table)?;
        }
        Ok(Tables {
            directories,
            xattrs,
        })
    }

    fn lookup_table(&mut self, table: LookupTable) -> Result<(), VerifyError> {
        let part = table.part;
        let mut positions = Vec::new();
        for index in 0..table.blocks() {
            let at = table.array_start.saturating_add(index * 8);
            match self.image.bytes.read_array(part, at) {
                Ok(position) => positions.push(u64::from_le_bytes(position)),
                Err(error) => {
                    self.findings.add_error(part, error);
                    break;
                }
            }
        }
        self.cover(part, 0, positions.len() as u64 * 8);
        let Some(start) = positions.first() else {
            return Ok(());
        };
        let region = Region::new(part, *start, table.blocks_end);
        let chain = self.chain(region);
        if chain != positions {
            let what = "metadata blocks that are not where the table says";
            self.findings
                .add(Damage::new(part, table.array_start, what));
        }
        let bytes = table.count * table.entry_bytes;
        let last = (bytes - 1) % METADATA_BYTES as u64 + 1;
        self.blocks(region, positions, Some(last))?;
        Ok(())
    }

    /// Checks that the export table is right for every inode.
    pub fn export(&mut self, inodes: &Inodes) {
        let Some(table) = self.image.layout.export else {
            return;
        };
        for (reference, record) in inodes.iter() {
            let exported = match self.image.exported(record.number) {
                Ok(exported) => exported,
                Err(error) => {
                    self.findings.add_error(Part::ExportTable, error);
                    continue;
                }
            };
            if exported != Some(reference) {
                let what = format!("inode {} is somewhere else", record.number);
                let damage = Damage::new(Part::ExportTable, table.array_start, what);
                self.findings.add_of(record.number, damage);
            }
        }
    }
}
