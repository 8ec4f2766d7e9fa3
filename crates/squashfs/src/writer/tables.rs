//! Writes what follows the contents: all tables. Also builds the superblock.

use super::assemble::assemble;
use super::metadata::MetadataTable;
use super::pack::{Fragment, Packing};
use super::tree::Tree;
use super::CreateOptions;
use crate::format::{flags, Reference, SizeWord, Superblock, MAGIC, NO_TABLE, VERSION};
use hedgerow_codec::block::Settings;
use hedgerow_engine::Options;
use hedgerow_image::Output;
use hedgerow_image::{FragmentPolicy, WriteError};

/// A superblock without the positions of the tables.
pub(super) fn superblock(
    options: &CreateOptions,
    has_options: bool,
    tree: &Tree<'_>,
    packing: &Packing,
) -> Result<Superblock, WriteError> {
    let given = |is_set: bool, flag: u16| if is_set { flag } else { 0 };
    Ok(Superblock {
        magic: MAGIC,
        inode_count: tree.count()?,
        mod_time: options.mtime_s.unwrap_or(tree.newest),
        block_size: options.block_bytes,
        fragment_count: packing.fragments.len() as u32,
        compressor: options.settings.compressor().id(),
        block_log: options.block_bytes.ilog2() as u16,
        flags: flags::NO_XATTRS
            | given(options.dedup, flags::DUPLICATES)
            | given(options.uncompressed.data, flags::RAW_DATA)
            | given(options.uncompressed.fragments, flags::RAW_FRAGMENTS)
            | given(options.uncompressed.inodes, flags::RAW_INODES)
            | given(options.uncompressed.ids, flags::RAW_IDS)
            | given(options.uncompressed.xattrs, flags::RAW_XATTRS)
            | given(options.exportable, flags::EXPORTABLE)
            | match options.fragments {
                FragmentPolicy::Never => flags::NO_FRAGMENTS,
                FragmentPolicy::SmallFiles => 0,
                FragmentPolicy::Always => flags::ALWAYS_FRAGMENTS,
            }
            | given(has_options, flags::COMPRESSOR_OPTIONS),
        id_count: tree.ids.all().len() as u16,
        version_major: VERSION.0,
        version_minor: VERSION.1,
        root_inode: Reference::default(),
        bytes_used: 0,
        id_table_start: NO_TABLE,
        xattr_id_table_start: NO_TABLE,
        inode_table_start: NO_TABLE,
        directory_table_start: NO_TABLE,
        fragment_table_start: NO_TABLE,
        export_table_start: NO_TABLE,
    })
}

/// Appends all tables in the order in which the kernel expects them.
pub(super) fn append<'s>(
    superblock: &mut Superblock,
    mut tree: Tree<'s>,
    packing: &Packing,
    options: &CreateOptions,
    packers: &'s Options,
    settings: &'s Settings,
    output: &mut Output,
) -> Result<(), WriteError> {
    let tables = assemble(&mut tree, options, settings, packers)?;
    superblock.root_inode = tables.root;
    superblock.inode_table_start = output.position();
    output.append(&tables.inodes)?;
    superblock.directory_table_start = output.position();
    output.append(&tables.directories)?;
    let raw = options.uncompressed;
    let table = |entries: &mut dyn Iterator<Item = u8>, is_raw: bool, output: &mut Output| {
        let mut table = MetadataTable::new(settings, packers).raw(is_raw);
        table.append(&entries.collect::<Vec<u8>>());
        append_table(table, output)
    };
    if !packing.fragments.is_empty() {
        let mut entries = packing.fragments.iter().flat_map(fragment_entry);
        let starts = table(&mut entries, raw.fragments, output)?;
        superblock.fragment_table_start = append_array(&starts, output)?;
    }
    if options.exportable {
        let references = tables.references.iter();
        let mut entries = references.flat_map(|reference| reference.0.to_le_bytes());
        let starts = table(&mut entries, raw.inodes, output)?;
        superblock.export_table_start = append_array(&starts, output)?;
    }
    let mut ids = tree.ids.all().iter().flat_map(|id| id.to_le_bytes());
    let starts = table(&mut ids, raw.inodes || raw.ids, output)?;
    superblock.id_table_start = append_array(&starts, output)?;
    if let Some(xattrs) = tree.xattrs.finish()? {
        superblock.flags &= !flags::NO_XATTRS;
        let start = output.position();
        output.append(&xattrs.pairs)?;
        let starts = table(&mut xattrs.sets.into_iter(), raw.xattrs, output)?;
        superblock.xattr_id_table_start = output.position();
        output.append(&start.to_le_bytes())?;
        output.append(&xattrs.count.to_le_bytes())?;
        output.append(&[0; 4])?;
        append_array(&starts, output)?;
    }
    Ok(())
}

fn fragment_entry((start, SizeWord(word)): &Fragment) -> impl Iterator<Item = u8> {
    let words = [*start, u64::from(*word)];
    words.into_iter().flat_map(u64::to_le_bytes)
}

/// Appends metadata blocks. Returns their positions.
fn append_table(table: MetadataTable<'_>, output: &mut Output) -> Result<Vec<u64>, WriteError> {
    let start = output.position();
    let (blocks, starts) = table.finish()?;
    output.append(&blocks)?;
    Ok(starts.into_iter().map(|block| start + block).collect())
}

/// Appends an array of positions. Returns its own position.
fn append_array(positions: &[u64], output: &mut Output) -> Result<u64, WriteError> {
    let array = output.position();
    for position in positions {
        output.append(&position.to_le_bytes())?;
    }
    Ok(array)
}
