//! Writing images. [`create`] tells the whole story.
//!
//! Two stages run at the same time: contents are read and hashed by as many workers as the file
//! system can use ([`gather`]), and blocks are compressed by as many as there are processors
//! ([`pack`]). Between them a plan is made in the order of the entries ([`plan`]), which is all
//! that decides what goes where; so the image is the same for any number of workers.

mod assemble;
mod attributes;
mod blocks;
mod compress;
mod digest;
mod entry;
mod error;
mod fragments;
mod gather;
mod inode;
mod item;
mod kernel;
mod leaves;
mod metadata;
mod names;
mod output;
mod pack;
mod plan;
mod reuse;
mod runs;
mod slots;
mod tables;
mod tree;
mod xattrs;

pub use error::WriteError;
pub use item::{Item, Role, Treatment};
pub use reuse::{NotReusable, Reuse};
pub use tree::{Clamped, Unstored};

use crate::buffers::Buffers;
use crate::format::{METADATA_RAW, SUPERBLOCK_BYTES};
use digest::LargeFiles;
use gather::{gather, GatherOptions};
use hedgerow_codec::block::{Compressor, Settings};
use hedgerow_engine::{Execution, Jobs, Options, Window};
use hedgerow_fs::threads::start_scoped;
use hedgerow_fs::OutputFile;
use hedgerow_tree::NodeError;
use output::Output;
use pack::{pack, Packing};
use plan::{PlanOptions, Planner};
use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::sync::Arc;
use tree::Tree;

/// Bytes that are under way at each of the two stages, and as many more for each worker.
const WINDOW_BYTES: u64 = 4 << 20;
const WORKER_BYTES: u64 = 1 << 20;
/// Batches of gathered entries that wait for the plan.
const WAITING: usize = 4;

/// What [`CreateOptions::hole_limit_bytes`] is by default, in blocks: inodes list them in 128 MiB.
pub const HOLE_LIMIT_BLOCKS: u64 = 1 << 25;

/// How an image is to be written.
#[derive(Clone, Debug)]
pub struct CreateOptions {
    /// The compressor and its settings.
    pub settings: Settings,
    /// Bytes of a data block: a power of two from 4 KiB to 1 MiB.
    pub block_bytes: u32,
    /// What goes into fragment blocks.
    pub fragments: FragmentPolicy,
    /// Whether equal contents are stored once.
    pub dedup: bool,
    /// Bytes that the holes of files over 1 MiB may have together. A hole takes nothing but four
    /// bytes for each block, but a file can say that it has 2^63 bytes of them.
    pub hole_limit_bytes: u64,
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
    /// Blocks that need not be compressed again.
    pub reuse: Option<Arc<Reuse>>,
    /// How it is run. Contents are read by as many workers as the file system can use, and compressed
    /// by one a processor, unless there is a number for both.
    pub execution: Execution,
}

impl Default for CreateOptions {
    /// Blocks of 128 KiB in zstd, everything stored, by as many workers as are of use.
    fn default() -> Self {
        const BLOCK_BYTES: u32 = 128 << 10;
        CreateOptions {
            settings: Settings::default_for(Compressor::Zstd, BLOCK_BYTES),
            block_bytes: BLOCK_BYTES,
            fragments: FragmentPolicy::Always,
            dedup: true,
            hole_limit_bytes: HOLE_LIMIT_BLOCKS * u64::from(BLOCK_BYTES),
            xattrs: true,
            skip_unreadable: false,
            exportable: false,
            mtime_s: None,
            padding_bytes: 4096,
            replace: false,
            reuse: None,
            execution: Execution::default(),
        }
    }
}

impl CreateOptions {
    /// The workers that read.
    fn readers(&self) -> Options {
        self.execution.options("read")
    }

    /// The workers that compress: more of them than processors would only wait.
    fn packers(&self) -> Options {
        let jobs = Jobs::Fixed(self.execution.threads());
        self.execution.with_jobs(jobs).options("pack")
    }
}

/// What of the files goes into blocks together with parts of other files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FragmentPolicy {
    /// Nothing.
    Never,
    /// Files that do not fill a block.
    SmallFiles,
    /// Of every file, what does not fill a block.
    Always,
}

/// What was written.
#[derive(Debug)]
pub struct Created {
    /// Bytes of the image, padding included.
    pub bytes: u64,
    /// Inodes: hard links count once.
    pub inodes: u32,
    /// Contents of files, each once, without the empty one.
    pub stored_files: u32,
    /// Fragment blocks.
    pub fragments: u32,
    /// Why entries, or something of them, were left out.
    pub skipped: Vec<NodeError>,
    /// Extended attributes that no image can hold.
    pub unstored_xattrs: Unstored,
    /// Times that no image can hold.
    pub clamped_times: Clamped,
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
    // Where tables will be is not known when they are compressed: see [`kernel`].
    let settings = options.settings.without_checksum();
    let packers = options.packers();
    let mut tree = Tree::new(&settings, &packers);
    let packing = store_contents(items, options, &mut output, &mut tree)?;
    if tree.directories.is_empty() {
        return Err(WriteError::Limit {
            reason: "it has no root".into(),
        });
    }
    let mut superblock = tables::superblock(options, option_block.is_some(), &tree, &packing)?;
    let skipped = std::mem::take(&mut tree.skipped);
    let unstored_xattrs = std::mem::take(&mut tree.unstored_xattrs);
    let clamped_times = std::mem::take(&mut tree.clamped_times);
    tables::append(
        &mut superblock,
        tree,
        &packing,
        options,
        &packers,
        &settings,
        &mut output,
    )?;
    superblock.bytes_used = output.position();
    let first = superblock.to_bytes();
    Ok(Created {
        bytes: output.finish(&first, options.padding_bytes.max(1), options.replace)?,
        inodes: superblock.inode_count,
        stored_files: packing.layouts.len() as u32 + packing.tails,
        fragments: superblock.fragment_count,
        skipped,
        unstored_xattrs,
        clamped_times,
    })
}

/// Reads, plans, compresses and stores the contents.
fn store_contents<I: Into<Item>>(
    items: impl Iterator<Item = Result<I, NodeError>> + Send,
    options: &CreateOptions,
    output: &mut Output,
    tree: &mut Tree<'_>,
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
        hole_limit_bytes: options.hole_limit_bytes,
    };
    let large = &LargeFiles::default();
    let buffers = &Buffers::default();
    let (sender, receiver) = sync_channel(WAITING);
    std::thread::scope(|threads| {
        let readers = options.readers();
        let read = move || {
            gather(
                items,
                &readers,
                window(&readers),
                wanted,
                (large, buffers),
                &sender,
            )
        };
        let readers = start_scoped(threads, "gather", read)?;
        let batches = Planner::new(receiver.into_iter().flatten(), large, buffers, plan);
        let packed = pack(batches, options, buffers, output, tree);
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

/// What may be under way at a stage with these workers.
fn window(workers: &Options) -> Window {
    let count = match workers.jobs {
        Jobs::Fixed(count) => count.get() as u64,
        // They wait more than they hold.
        Jobs::Auto => 4,
    };
    Window {
        bytes: WINDOW_BYTES + count.saturating_mul(WORKER_BYTES),
    }
}
