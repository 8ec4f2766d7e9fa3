//! Writes images; [`create`] is the entry point.
//!
//! Two stages run at the same time: as many workers as the file system can use read and hash
//! contents ([`gather`]), and one worker per processor compresses blocks ([`pack`]). Between them,
//! a plan is made in the order of the entries ([`plan`]). It alone decides the layout, so the image
//! is the same for any number of workers.

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

/// Limit of the data in progress at each of the two stages in bytes: a base, and an addition per
/// worker.
const WINDOW_BYTES: u64 = 4 << 20;
const WORKER_BYTES: u64 = 1 << 20;
/// Number of batches of gathered entries that may wait for the plan.
const WAITING: usize = 4;

/// Default of [`CreateOptions::hole_limit_bytes`] in blocks; inodes list that many holes in 128
/// MiB.
pub const HOLE_LIMIT_BLOCKS: u64 = 1 << 25;

/// How an image is written.
#[derive(Clone, Debug)]
pub struct CreateOptions {
    /// The compressor and its settings.
    pub settings: Settings,
    /// Size of a data block in bytes: a power of two from 4 KiB to 1 MiB.
    pub block_bytes: u32,
    /// Which contents go into fragment blocks.
    pub fragments: FragmentPolicy,
    /// Whether equal contents are stored once.
    pub dedup: bool,
    /// Limit of the holes of all files over 1 MiB together, in bytes. A hole takes only four bytes
    /// per block in the image, but a file can claim to have 2^63 bytes of them.
    pub hole_limit_bytes: u64,
    /// Whether blocks of zeros become holes; if not, they are stored as data.
    pub holes: bool,
    /// Which parts are stored without being compressed.
    pub uncompressed: Uncompressed,
    /// Whether extended attributes are stored.
    pub xattrs: bool,
    /// Whether unreadable entries are left out and reported instead of failing.
    pub skip_unreadable: bool,
    /// Whether to write an export table, which NFS and open_by_handle_at(2) need.
    pub exportable: bool,
    /// The creation time in the superblock, in seconds since the epoch; `None` for the newest time
    /// of an entry.
    pub mtime_s: Option<u32>,
    /// Number of zero bytes in the file before the image.
    pub offset_bytes: u64,
    /// The image is padded to a multiple of this many bytes.
    pub padding_bytes: u64,
    /// Whether an existing file may be replaced.
    pub replace: bool,
    /// An older image whose compressed blocks are reused.
    pub reuse: Option<Arc<Reuse>>,
    /// How it is run. Without a number of workers, as many read contents as the file system can
    /// use, and one per processor compresses; a number applies to both.
    pub execution: Execution,
}

impl Default for CreateOptions {
    /// Blocks of 128 KiB, compressed by zstd; everything is stored; the number of workers is
    /// automatic.
    fn default() -> Self {
        const BLOCK_BYTES: u32 = 128 << 10;
        CreateOptions {
            settings: Settings::default_for(Compressor::Zstd, BLOCK_BYTES),
            block_bytes: BLOCK_BYTES,
            fragments: FragmentPolicy::Always,
            dedup: true,
            hole_limit_bytes: HOLE_LIMIT_BLOCKS * u64::from(BLOCK_BYTES),
            holes: true,
            uncompressed: Uncompressed::default(),
            xattrs: true,
            skip_unreadable: false,
            exportable: false,
            mtime_s: None,
            offset_bytes: 0,
            padding_bytes: 4096,
            replace: false,
            reuse: None,
            execution: Execution::default(),
        }
    }
}

impl CreateOptions {
    /// Options of the workers that read.
    fn readers(&self) -> Options {
        self.execution.options("read")
    }

    /// Options of the workers that compress. More of them than processors would only wait.
    fn packers(&self) -> Options {
        let jobs = Jobs::Fixed(self.execution.threads());
        self.execution.with_jobs(jobs).options("pack")
    }
}

/// Which parts of files are stored in fragment blocks, together with parts of other files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FragmentPolicy {
    /// None.
    Never,
    /// Files smaller than a block.
    SmallFiles,
    /// The tail of every file: the bytes after its last full block.
    Always,
}

/// Parts of an image that are stored as they are, without being compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uncompressed {
    /// The blocks of files.
    pub data: bool,
    /// Fragment blocks, and the table of their positions.
    pub fragments: bool,
    /// Inodes, listings of directories, and the export table.
    pub inodes: bool,
    /// Owners and groups.
    pub ids: bool,
    /// Extended attributes.
    pub xattrs: bool,
}

/// What was written.
#[derive(Debug)]
pub struct Created {
    /// Size of the file in bytes, with the offset and padding.
    pub bytes: u64,
    /// Number of inodes; hard links count once.
    pub inodes: u32,
    /// Number of distinct nonempty contents stored.
    pub stored_files: u32,
    /// Number of fragment blocks.
    pub fragments: u32,
    /// Why entries, or their attributes, were left out.
    pub skipped: Vec<NodeError>,
    /// Extended attributes that the format or the kernel cannot hold.
    pub unstored_xattrs: Unstored,
    /// Times that the format cannot hold.
    pub clamped_times: Clamped,
}

/// Writes an image of `items` to `target`. The file gets its name when it is complete; until then,
/// and if this fails, an existing file stays as it is.
///
/// `items`, or nodes, must come in canonical order, starting with the root, whose path is empty.
///
/// # Errors
/// See [`WriteError`]. Unreadable entries are errors unless [`CreateOptions::skip_unreadable`] is
/// set.
pub fn create<I: Into<Item>>(
    items: impl Iterator<Item = Result<I, NodeError>> + Send,
    target: &Path,
    options: &CreateOptions,
) -> Result<Created, WriteError> {
    create_with_end(items, target, options, None)
}

/// What stands after the image, given the entries that were left out.
pub(crate) type End<'e> = &'e dyn Fn(&[NodeError]) -> Vec<u8>;

/// Like [`create`]; what `end` returns is written after the image, with digests of both.
pub(crate) fn create_with_end<I: Into<Item>>(
    items: impl Iterator<Item = Result<I, NodeError>> + Send,
    target: &Path,
    options: &CreateOptions,
    end: Option<End<'_>>,
) -> Result<Created, WriteError> {
    let mut output = Output::new(OutputFile::create(target)?, options.offset_bytes);
    output.append(&[0; SUPERBLOCK_BYTES as usize])?;
    let option_block = options.settings.option_block(options.block_bytes);
    if let Some(block) = &option_block {
        let header = block.len() as u16 | METADATA_RAW;
        output.append(&header.to_le_bytes())?;
        output.append(block)?;
    }
    // Metadata is compressed before its position is known, on which it depends whether the kernel
    // can read checksums; so it has none. See [`kernel`].
    let settings = options.settings.without_checksum();
    let packers = options.packers();
    let mut tree = Tree::new(&settings, &packers, options.uncompressed);
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
    let end = end.map(|end| end(&skipped));
    let padding = options.padding_bytes.max(1);
    Ok(Created {
        bytes: output.finish(&first, padding, end, options.replace)?,
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
        holes: options.holes,
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
            // If packing fails, the channel closes and the readers end as if cancelled, so the error
            // of packing is the cause.
            (Err(error), _) | (Ok(_), Err(error)) => Err(error),
            (Ok(packing), Ok(())) => Ok(packing),
        }
    })
}

/// The limit of the data in progress at a stage with these workers.
fn window(workers: &Options) -> Window {
    let count = match workers.jobs {
        Jobs::Fixed(count) => count.get() as u64,
        // Automatic workers mostly wait for the file system and hold little data.
        Jobs::Auto => 4,
    };
    Window {
        bytes: WINDOW_BYTES + count.saturating_mul(WORKER_BYTES),
    }
}
