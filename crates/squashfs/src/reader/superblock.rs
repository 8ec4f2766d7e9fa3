//! The superblock and the positions of the tables, with the checks that the kernel makes when it
//! mounts an image.

use super::image::Bytes;
use super::Region;
use crate::format::BLOCK_BYTES;
use crate::format::{flags, *};
use crate::{Damage, Error, Part, Result};
use hedgerow_codec::block::Compressor;

/// Maximum size of a stored metadata block with its header, in bytes.
const STORED_METADATA_BYTES: u64 = METADATA_BYTES as u64 + METADATA_HEADER_BYTES;
/// Offsets of superblock fields, for the positions of damage.
const BLOCK_SIZE_AT: u64 = 12;
const ROOT_INODE_AT: u64 = 32;
const BYTES_USED_AT: u64 = 40;

impl Superblock {
    /// Decodes the superblock. Fails if it is not one, or if it is too wrong to check anything
    /// else.
    pub(super) fn read(bytes: &[u8]) -> Result<(Self, Compressor)> {
        let Some(bytes) = bytes.first_chunk() else {
            return Err(Error::NotAnImage("a SquashFS"));
        };
        let superblock = Superblock::from_bytes(bytes);
        if superblock.magic != MAGIC {
            return Err(Error::NotAnImage("a SquashFS"));
        }
        let (major, minor) = (superblock.version_major, superblock.version_minor);
        if (major, minor) != VERSION {
            return Err(Error::Version { major, minor });
        }
        let compressor = Compressor::from_id(superblock.compressor);
        let compressor = compressor.ok_or(Error::Compressor(superblock.compressor))?;
        let size = superblock.block_size;
        let logarithm = u32::from(superblock.block_log);
        if !BLOCK_BYTES.contains(&size) || 1u32.checked_shl(logarithm) != Some(size) {
            let what = format!("blocks of {size} bytes, with {logarithm} for a logarithm");
            return Err(Damage::new(Part::Superblock, BLOCK_SIZE_AT, what).into());
        }
        Ok((superblock, compressor))
    }
}

/// A table of fixed-size entries in metadata blocks, with an array of the blocks' positions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LookupTable {
    pub part: Part,
    /// Number of entries.
    pub count: u64,
    /// Size of an entry in bytes, a power of two.
    pub entry_bytes: u64,
    /// Start of the array of positions.
    pub array_start: u64,
    /// End of the metadata blocks.
    pub blocks_end: u64,
}

impl LookupTable {
    /// Number of metadata blocks.
    pub fn blocks(&self) -> u64 {
        (self.count * self.entry_bytes).div_ceil(METADATA_BYTES as u64)
    }

    /// End of the array of positions.
    pub fn array_end(&self) -> u64 {
        self.array_start.saturating_add(self.blocks() * 8)
    }

    /// The index of the metadata block that holds the entry `index`, and the offset in that block.
    pub fn place(&self, index: u64) -> (u64, u16) {
        let at = index * self.entry_bytes;
        let offset = at % METADATA_BYTES as u64;
        (at / METADATA_BYTES as u64, offset as u16)
    }
}

/// The positions of all tables.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub inodes: Region,
    pub directories: Region,
    pub fragments: Option<LookupTable>,
    pub export: Option<LookupTable>,
    pub ids: LookupTable,
    pub xattr_ids: Option<LookupTable>,
    /// Names and values of extended attributes.
    pub xattrs: Region,
}

impl Layout {
    /// Reads the positions of the tables. Problems are added to `damage`; the layout is then a
    /// guess, and later reads must expect it to be wrong.
    pub fn read(bytes: &Bytes, superblock: &Superblock, damage: &mut Vec<Damage>) -> Self {
        let mut at_superblock = |at: u64, what: String| {
            damage.push(Damage::new(Part::Superblock, at, what));
        };
        let end = superblock.bytes_used;
        if end < SUPERBLOCK_BYTES || end > bytes.length() {
            let length = bytes.length();
            let what = format!("an image of {end} bytes in a file that has {length}");
            at_superblock(BYTES_USED_AT, what);
        }
        if usize::from(superblock.root_inode.offset()) >= METADATA_BYTES {
            let what = "the root lies beyond the end of its metadata block";
            at_superblock(ROOT_INODE_AT, what.into());
        }
        if superblock.inode_count == 0 {
            at_superblock(4, "an image without inodes".into());
        }
        if superblock.id_count == 0 {
            at_superblock(26, "an image without owners".into());
        }
        flags_fit(superblock, &mut at_superblock);
        let table = |part, count: u32, entry_bytes, array_start| LookupTable {
            part,
            count: count.into(),
            entry_bytes,
            array_start,
            blocks_end: array_start,
        };
        let present = |start: u64, count: u32| start != NO_TABLE && count > 0;
        let (fragments, export) = (
            superblock.fragment_table_start,
            superblock.export_table_start,
        );
        let fragment_count = superblock.fragment_count;
        let mut layout = Layout {
            inodes: Region::new(
                Part::InodeTable,
                superblock.inode_table_start,
                superblock.directory_table_start,
            ),
            directories: Region::new(Part::DirectoryTable, superblock.directory_table_start, end),
            fragments: (fragment_count > 0).then(|| {
                let bytes = FRAGMENT_ENTRY_BYTES;
                table(Part::FragmentTable, fragment_count, bytes, fragments)
            }),
            export: present(export, superblock.inode_count).then(|| {
                let bytes = EXPORT_ENTRY_BYTES;
                table(Part::ExportTable, superblock.inode_count, bytes, export)
            }),
            ids: table(
                Part::IdTable,
                superblock.id_count.into(),
                ID_ENTRY_BYTES,
                superblock.id_table_start,
            ),
            xattr_ids: None,
            xattrs: Region::new(Part::XattrTable, end, end),
        };
        if superblock.xattr_id_table_start != NO_TABLE {
            layout.read_xattr_header(bytes, superblock, damage);
        }
        layout.check_order(bytes, superblock, damage);
        layout
    }

    fn read_xattr_header(
        &mut self,
        bytes: &Bytes,
        superblock: &Superblock,
        damage: &mut Vec<Damage>,
    ) {
        let start = superblock.xattr_id_table_start;
        let header = bytes.read_array::<{ XATTR_HEADER_BYTES as usize }>(Part::XattrTable, start);
        let header = match header {
            Ok(header) => u128::from_le_bytes(header),
            Err(error) => return damage.extend(damage_of(error)),
        };
        let (values, count, unused) = (header as u64, (header >> 64) as u32, header >> 96);
        if count == 0 || unused != 0 {
            let what = "a bad header of the table of attributes";
            damage.push(Damage::new(Part::XattrTable, start, what));
        }
        let table = LookupTable {
            part: Part::XattrTable,
            count: count.into(),
            entry_bytes: XATTR_ID_ENTRY_BYTES,
            array_start: start.saturating_add(XATTR_HEADER_BYTES),
            blocks_end: start,
        };
        let first = bytes.read_array::<8>(Part::XattrTable, table.array_start);
        let first = first.map_or(start, u64::from_le_bytes);
        if values >= first || first >= start {
            let what = "attributes that do not stand before their table";
            damage.push(Damage::new(Part::XattrTable, start, what));
        }
        self.xattrs = Region::new(Part::XattrTable, values, first);
        self.xattr_ids = Some(table);
    }

    /// Checks from the end of the image to its start that each table ends where the next one
    /// begins. Sets the end of the directory table accordingly.
    fn check_order(&mut self, bytes: &Bytes, superblock: &Superblock, damage: &mut Vec<Damage>) {
        let mut next = superblock.bytes_used;
        if let Some(table) = &self.xattr_ids {
            check_array(bytes, table, next, true, damage);
            next = self.xattrs.start;
        }
        next = check_array(bytes, &self.ids, next, true, damage).unwrap_or(next);
        if let Some(table) = &self.export {
            next = check_array(bytes, table, next, true, damage).unwrap_or(next);
        }
        if let Some(table) = &self.fragments {
            next = check_array(bytes, table, next, false, damage).unwrap_or(next);
        }
        let tables = [
            SUPERBLOCK_BYTES,
            superblock.inode_table_start,
            superblock.directory_table_start,
            next,
        ];
        if !tables.is_sorted() || self.inodes.start >= self.inodes.end {
            let what = "tables that are not in order";
            damage.push(Damage::new(Part::Superblock, 64, what));
        }
        self.directories = Region::new(Part::DirectoryTable, self.directories.start, next);
    }
}

fn flags_fit(superblock: &Superblock, damaged: &mut impl FnMut(u64, String)) {
    let (export, xattrs) = (
        superblock.export_table_start,
        superblock.xattr_id_table_start,
    );
    for (flag, present, words) in [
        (flags::EXPORTABLE, export == NO_TABLE, "export table"),
        (flags::NO_XATTRS, xattrs != NO_TABLE, "extended attributes"),
    ] {
        // `NO_XATTRS` says that there are none, so it contradicts a table that exists.
        if superblock.has(flag) && present {
            damaged(24, format!("a flag that contradicts the {words}"));
        }
    }
}

/// Checks the positions of a table's blocks against `next`, the start of the next table. If
/// `exact`, the array must end there. Returns the position of the first block if it is plausible.
fn check_array(
    bytes: &Bytes,
    table: &LookupTable,
    next: u64,
    exact: bool,
    damage: &mut Vec<Damage>,
) -> Option<u64> {
    let (part, start) = (table.part, table.array_start);
    let mut wrong = |what: &str| damage.push(Damage::new(part, start, what));
    let end = table.array_end();
    if end > next || exact && end != next {
        wrong("a table that does not end where the next one begins");
    }
    if table.count == 0 || end > bytes.length() {
        return None;
    }
    let (mut first, mut previous) = (None, None);
    // Read in pieces: the array can be as long as the image.
    let mut position = start;
    while position < end {
        let mut buffer = [0; 4096];
        let wanted = (end - position).min(buffer.len() as u64);
        let piece = buffer.get_mut(..wanted as usize)?;
        if let Err(error) = bytes.read(part, position, piece) {
            damage.extend(damage_of(error));
            return first;
        }
        for word in piece.as_chunks::<8>().0 {
            let block = u64::from_le_bytes(*word);
            let follows = previous.is_none_or(|previous: u64| {
                block > previous && block - previous <= STORED_METADATA_BYTES
            });
            if !follows || block >= table.blocks_end {
                damage.push(Damage::new(part, position, "positions that do not ascend"));
                return first;
            }
            first.get_or_insert(block);
            previous = Some(block);
        }
        position += wanted;
    }
    if previous.is_none_or(|last| table.blocks_end - last > STORED_METADATA_BYTES) {
        let what = "a gap behind the last metadata block";
        damage.push(Damage::new(part, start, what));
    }
    first
}

/// Turns an error into damage.
pub(super) fn damage_of(error: Error) -> Option<Damage> {
    Some(match error {
        Error::Damaged(damage) => damage,
        error => Damage::new(Part::Superblock, 0, error.to_string()),
    })
}
