//! Writes images; [`create`] is the entry point.
//!
//! Contents are read, planned and packed as [`hedgerow_image`] describes.

mod assemble;
mod attributes;
mod blocks;
mod compress;
mod inode;
mod kernel;
mod leaves;
mod metadata;
mod pack;
mod reuse;
mod slots;
mod tables;
mod tree;
mod xattrs;

pub use reuse::{NotReusable, Reuse};

use crate::format::{METADATA_RAW, SUPERBLOCK_BYTES};
use crate::parts::sealed;
use hedgerow_codec::block::{Compressor, Settings};
use hedgerow_engine::{Execution, Jobs, Options};
use hedgerow_fs::OutputFile;
use hedgerow_image::buffers::Buffers;
use hedgerow_image::gather::GatherOptions;
use hedgerow_image::plan::PlanOptions;
use hedgerow_image::verity::{self, Verity, VerityOptions};
use hedgerow_image::{stages, Created, FragmentPolicy, Item, Output, WriteError};
use hedgerow_tree::NodeError;
use pack::{pack, Packing};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use tree::Tree;

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
    /// Whether hard links stay together. If not, each name gets an inode of its own.
    pub hard_links: bool,
    /// Whether unreadable entries are left out and reported instead of failing.
    pub skip_unreadable: bool,
    /// Whether to write an export table, which NFS and open_by_handle_at(2) need.
    pub exportable: bool,
    /// The creation time in the superblock, in seconds since the epoch; `None` for the newest time
    /// of an entry.
    pub mtime_s: Option<u32>,
    /// Number of zero bytes in the file before the image.
    pub offset_bytes: u64,
    /// The image is padded to a multiple of this many bytes, if no hash tree stands behind it.
    pub padding_bytes: u64,
    /// How a hash tree of dm-verity is written behind the image; `None` for no tree.
    pub verity: Option<VerityOptions>,
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
            hard_links: true,
            skip_unreadable: false,
            exportable: false,
            mtime_s: None,
            offset_bytes: 0,
            padding_bytes: 4096,
            verity: None,
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
    if tree.directories.all().is_empty() {
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
    let note = end.map(|end| end(&skipped));
    // A part is not used before it is merged: the merged image has a tree.
    let verity = options.verity.as_ref().filter(|_| note.is_none());
    let after = |file: &OutputFile, image: Range<u64>| append(file, image, note, verity, options);
    let padding = match verity {
        None => options.padding_bytes.max(1),
        Some(_) => verity::BLOCK_BYTES,
    };
    let (bytes, verity) = output.finish_with(&first, padding, options.replace, after)?;
    Ok(Created {
        bytes,
        inodes: superblock.inode_count,
        stored_files: packing.layouts.len() as u32 + packing.tails,
        fragments: superblock.fragment_count,
        skipped,
        unstored_xattrs,
        clamped_times,
        verity,
    })
}

/// Writes what stands after the image: the note of a part, or a hash tree. Returns where that ends.
fn append(
    file: &OutputFile,
    image: Range<u64>,
    note: Option<Vec<u8>>,
    verity: Option<&VerityOptions>,
    options: &CreateOptions,
) -> Result<(u64, Option<Verity>), WriteError> {
    if let Some(note) = note {
        let note = sealed(note, image.end, |buffer, position| {
            file.read_exact_at(buffer, position)?;
            Ok(buffer.len())
        })?;
        file.write_at(&note, image.end)?;
        return Ok((image.end + note.len() as u64, None));
    }
    let Some(verity) = verity else {
        return Ok((image.end, None));
    };
    let (end, verity) = verity::append(file, image, verity, &options.execution)?;
    Ok((end, Some(verity)))
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
        fragment_unit_bytes: 1,
        inline_bytes: 0,
        shared_blocks: 0,
        dedup: options.dedup,
    };
    let wanted = GatherOptions {
        block_bytes: plan.block_bytes,
        xattrs: options.xattrs,
        hard_links: options.hard_links,
        rereads: false,
        dedup: options.dedup,
        holes: options.holes,
        skip_unreadable: options.skip_unreadable,
        hole_limit_bytes: options.hole_limit_bytes,
    };
    let buffers = &Buffers::default();
    stages::store_contents(
        items,
        &options.readers(),
        (wanted, plan),
        buffers,
        &options.execution.progress,
        |batches| pack(batches, options, buffers, output, tree),
    )
}
