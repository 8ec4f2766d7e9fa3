//! Writing images. [`create`] tells the whole story.
//!
//! Two stages run at the same time: contents are read and hashed by as many workers as the file
//! system can use ([`gather`]), and blocks are compressed by as many as there are processors
//! ([`pack`]). Between them a plan is made in the order of the entries ([`plan`]), which is all
//! that decides what goes where; so the image is the same for any number of workers.

mod assemble;
mod entry;
mod error;
mod fragments;
mod gather;
mod inode;
mod item;
mod kernel;
mod metadata;
mod output;
mod pack;
mod plan;
mod tree;

pub use error::WriteError;
pub use item::{Item, Role, Treatment};

use crate::format::{
    flags, Reference, SizeWord, Superblock, MAGIC, METADATA_RAW, NO_TABLE, SUPERBLOCK_BYTES,
    VERSION,
};
use assemble::{assemble, Assembled};
use gather::{gather, GatherOptions};
use hedgerow_codec::block::Settings;
use hedgerow_engine::{Options, Window};
use hedgerow_fs::OutputFile;
use hedgerow_tree::NodeError;
use metadata::MetadataTable;
use output::Output;
use pack::{pack, Fragment, Packing};
use plan::{PlanOptions, Planner};
use std::path::Path;
use std::sync::mpsc::sync_channel;
use tree::Tree;

/// Contents that are read and not yet compressed, at each of the two stages.
const WINDOW: Window = Window { bytes: 16 << 20 };
/// Gathered entries that wait for the plan.
const WAITING: usize = 16;

/// How an image is to be written.
#[derive(Clone, Debug)]
pub struct CreateOptions {
    /// The compressor and its settings.
    pub settings: Settings,
    /// Bytes of a data block: a power of two from 4 KiB to 1 MiB.
    pub block_bytes: u32,
    /// Whether what does not fill a block is stored together with others of its kind.
    pub fragments: bool,
    /// Whether equal contents are stored once.
    pub dedup: bool,
    /// Whether extended attributes are stored.
    pub xattrs: bool,
    /// Whether what cannot be read is left out and told of, instead of failing.
    pub skip_unreadable: bool,
    /// Whether there is a table by inode numbers, for NFS and open_by_handle_at(2).
    pub exportable: bool,
    /// The time of the image in seconds since the epoch; without it, the newest of its entries.
    pub mtime_s: Option<u32>,
    /// The file is padded to a multiple of so many bytes.
    pub padding_bytes: u64,
    /// Whether a file that is there may be replaced.
    pub replace: bool,
    /// The workers that read.
    pub readers: Options,
    /// The workers that compress.
    pub packers: Options,
}

/// What was written.
#[derive(Debug)]
pub struct Created {
    /// Bytes of the image, padding included.
    pub bytes: u64,
    /// Inodes: hard links count once.
    pub inodes: u32,
    /// Files with blocks of their own.
    pub stored_files: u32,
    /// Fragment blocks.
    pub fragments: u32,
    /// Why entries, or something of them, were left out.
    pub skipped: Vec<NodeError>,
}

/// Writes an image of `items` to `target`. It gets its name when it is whole; until then, and if
/// this fails, a file that is there stays as it is.
///
/// `items`, or nodes, come in canonical order, the root first, with an empty path.
pub fn create<I: Into<Item>>(
    items: impl Iterator<Item = Result<I, NodeError>> + Send,
    target: &Path,
    options: &CreateOptions,
) -> Result<Created, WriteError> {
    let mut output = Output::new(OutputFile::create(target)?);
    output.append(&[0; SUPERBLOCK_BYTES as usize])?;
    let option_block = options.settings.option_block(options.block_bytes);
    if let Some(block) = &option_block {
        let header = block.len() as u16 | METADATA_RAW;
        output.append(&header.to_le_bytes())?;
        output.append(block)?;
    }
    let mut tree = Tree::default();
    let packing = store_contents(items, options, &mut output, &mut tree)?;
    if tree.directories.is_empty() {
        return Err(WriteError::Limit {
            reason: "it has no root".into(),
        });
    }
    // Where tables will be is not known when they are compressed: see [`kernel`].
    let settings = options.settings.without_checksum();
    let tables = assemble(&tree, &packing.layouts, &settings, &options.packers)?;
    let mut superblock = superblock(options, option_block.is_some(), &tree, &packing);
    superblock.root_inode = tables.root;
    append_tables(
        &mut superblock,
        tables,
        &tree,
        &packing,
        options,
        &mut output,
    )?;
    superblock.bytes_used = output.position();
    let first = superblock.to_bytes();
    Ok(Created {
        bytes: output.finish(&first, options.padding_bytes.max(1), options.replace)?,
        inodes: superblock.inode_count,
        stored_files: packing.layouts.len() as u32,
        fragments: superblock.fragment_count,
        skipped: tree.skipped,
    })
}

/// Reads, plans, compresses and stores the contents.
fn store_contents<I: Into<Item>>(
    items: impl Iterator<Item = Result<I, NodeError>> + Send,
    options: &CreateOptions,
    output: &mut Output,
    tree: &mut Tree,
) -> Result<Packing, WriteError> {
    let plan = PlanOptions {
        block_bytes: options.block_bytes as usize,
        fragments: options.fragments,
        dedup: options.dedup,
    };
    let wanted = GatherOptions {
        block_bytes: plan.block_bytes,
        xattrs: options.xattrs,
        dedup: options.dedup,
        skip_unreadable: options.skip_unreadable,
    };
    let nodes = items.map(|item| item.map(|item| item.into().node));
    let (sender, receiver) = sync_channel(WAITING);
    std::thread::scope(|threads| {
        let readers =
            threads.spawn(move || gather(nodes, &options.readers, WINDOW, wanted, &sender));
        let batches = Planner::new(receiver.into_iter(), plan);
        let packed = pack(
            batches,
            &options.settings,
            &options.packers,
            WINDOW,
            output,
            tree,
        );
        let gathered = readers
            .join()
            .unwrap_or_else(|_| Err(WriteError::Panicked("while contents were read".into())));
        match (packed, gathered) {
            // Whoever reads is told to stop when nobody packs any more.
            (Err(error), _) | (Ok(_), Err(error)) => Err(error),
            (Ok(packing), Ok(())) => Ok(packing),
        }
    })
}

fn superblock(
    options: &CreateOptions,
    has_options: bool,
    tree: &Tree,
    packing: &Packing,
) -> Superblock {
    let leaves = tree.leaves.iter().map(|leaf| leaf.attributes.mtime);
    let directories = tree.directories.iter().map(|own| own.attributes.mtime);
    let newest = leaves.chain(directories).max().unwrap_or_default();
    let given = |is_set: bool, flag: u16| if is_set { flag } else { 0 };
    Superblock {
        magic: MAGIC,
        inode_count: (tree.leaves.len() + tree.directories.len()) as u32,
        mod_time: options.mtime_s.unwrap_or(newest),
        block_size: options.block_bytes,
        fragment_count: packing.fragments.len() as u32,
        compressor: options.settings.compressor().id(),
        block_log: options.block_bytes.ilog2() as u16,
        flags: flags::NO_XATTRS
            | given(options.dedup, flags::DUPLICATES)
            | given(options.exportable, flags::EXPORTABLE)
            | given(!options.fragments, flags::NO_FRAGMENTS)
            | given(options.fragments, flags::ALWAYS_FRAGMENTS)
            | given(has_options, flags::COMPRESSOR_OPTIONS),
        id_count: tree.ids.len() as u16,
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
    }
}

/// Appends all tables in the order in which the kernel looks for them.
fn append_tables(
    superblock: &mut Superblock,
    tables: Assembled,
    tree: &Tree,
    packing: &Packing,
    options: &CreateOptions,
    output: &mut Output,
) -> Result<(), WriteError> {
    superblock.inode_table_start = output.position();
    output.append(&tables.inodes)?;
    superblock.directory_table_start = output.position();
    output.append(&tables.directories)?;
    if !packing.fragments.is_empty() {
        let entries = packing.fragments.iter().flat_map(fragment_entry);
        superblock.fragment_table_start = append_table(entries, options, output)?;
    }
    if options.exportable {
        let entries = tables.references.iter();
        let entries = entries.flat_map(|reference| reference.0.to_le_bytes());
        superblock.export_table_start = append_table(entries, options, output)?;
    }
    let ids = tree.ids.iter().flat_map(|id| id.to_le_bytes());
    superblock.id_table_start = append_table(ids, options, output)?;
    Ok(())
}

fn fragment_entry((start, SizeWord(word)): &Fragment) -> impl Iterator<Item = u8> {
    let words = [*start, u64::from(*word)];
    words.into_iter().flat_map(u64::to_le_bytes)
}

/// Appends metadata blocks and the array of their positions; returns where that begins.
fn append_table(
    entries: impl Iterator<Item = u8>,
    options: &CreateOptions,
    output: &mut Output,
) -> Result<u64, WriteError> {
    let settings = options.settings.without_checksum();
    let mut table = MetadataTable::new(&settings, &options.packers);
    table.append(&entries.collect::<Vec<u8>>());
    let start = output.position();
    let (blocks, starts) = table.finish()?;
    output.append(&blocks)?;
    let array = output.position();
    for block in starts {
        output.append(&(start + block).to_le_bytes())?;
    }
    Ok(array)
}
