//! Writes images; [`create`] is the entry point.
//!
//! Contents are read and planned as [`hedgerow_image`] describes. Contents and regions of inodes
//! alternate in the image; directories, which refer to inodes, come at its end.

mod directory;
mod extents;
mod finish;
mod inode;
mod metadata;
mod store;
mod tree;
mod xattrs;

use finish::ROOT;
use hedgerow_engine::{Execution, Options};
use hedgerow_fs::OutputFile;
use hedgerow_image::buffers::Buffers;
use hedgerow_image::gather::GatherOptions;
use hedgerow_image::plan::PlanOptions;
use hedgerow_image::{stages, Created, FragmentPolicy, Item, Output, WriteError};
use hedgerow_tree::NodeError;
use std::path::Path;
use store::Contents;
use tree::Tree;

/// Default of [`CreateOptions::hole_limit_bytes`]: 2^42 bytes. Each hole takes a few bytes in the
/// image.
pub const HOLE_LIMIT_BYTES: u64 = 1 << 42;

/// How an image is written.
#[derive(Clone, Debug)]
pub struct CreateOptions {
    /// Size of a block in bytes: a power of two from 4 KiB to 64 KiB. The kernel takes blocks up to
    /// the size of its pages.
    pub block_bytes: u32,
    /// Whether the ends of files are stored with their inodes.
    pub inline: bool,
    /// Whether equal contents are stored once.
    pub dedup: bool,
    /// Whether blocks of zeros become holes; if not, they are stored as data.
    pub holes: bool,
    /// Limit of the holes of all files over 1 MiB together, in bytes.
    pub hole_limit_bytes: u64,
    /// Whether extended attributes are stored.
    pub xattrs: bool,
    /// Whether hard links stay together. If not, each name gets an inode of its own.
    pub hard_links: bool,
    /// Whether unreadable entries are left out and reported instead of failing.
    pub skip_unreadable: bool,
    /// The time in the superblock, in seconds since the epoch; `None` for that of the root. Inodes
    /// with this time are smaller.
    pub mtime_s: Option<i64>,
    /// The identifier of the image; `None` for one that is computed from all that is in it.
    pub uuid: Option<[u8; 16]>,
    /// The name of the image, padded with zeros.
    pub name: [u8; 16],
    /// Number of zero bytes in the file before the image.
    pub offset_bytes: u64,
    /// Whether an existing file may be replaced.
    pub replace: bool,
    /// How it is run.
    pub execution: Execution,
}

impl Default for CreateOptions {
    /// Blocks of 4 KiB; everything is stored; the number of workers is automatic.
    fn default() -> Self {
        CreateOptions {
            block_bytes: 4096,
            inline: true,
            dedup: true,
            holes: true,
            hole_limit_bytes: HOLE_LIMIT_BYTES,
            xattrs: true,
            hard_links: true,
            skip_unreadable: false,
            mtime_s: None,
            uuid: None,
            name: [0; 16],
            offset_bytes: 0,
            replace: false,
            execution: Execution::default(),
        }
    }
}

impl CreateOptions {
    /// Options of the workers that read.
    fn readers(&self) -> Options {
        self.execution.options("read")
    }
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
    create_numbered(items, target, options, &mut |_, _| {})
}

/// Like [`create`]; when the image is complete, but before it gets its name, calls `tell` with the
/// path and the inode number of every entry, in canonical order. It is the number that stat(2)
/// tells where the image is mounted.
///
/// # Errors
/// Like [`create`].
pub fn create_numbered<I: Into<Item>>(
    items: impl Iterator<Item = Result<I, NodeError>> + Send,
    target: &Path,
    options: &CreateOptions,
    tell: &mut dyn FnMut(&[u8], u64),
) -> Result<Created, WriteError> {
    let block_bytes = options.block_bytes as usize;
    if !options.block_bytes.is_power_of_two() || !(4096..=65536).contains(&block_bytes) {
        return Err(WriteError::Limit {
            reason: format!("blocks of {block_bytes} bytes are not supported"),
        });
    }
    let mut output = Output::new(OutputFile::create(target)?, options.offset_bytes);
    let mut tree = Tree::new(options);
    let mut head_blocks = 0;
    let contents = store_contents(items, options, &mut output, &mut tree, &mut head_blocks)?;
    if tree.directories.all().is_empty() {
        return Err(WriteError::Limit {
            reason: "it has no root".into(),
        });
    }
    let (finished, first) = finish::finish(tree, options, head_blocks, &mut output)?;
    finished.numbers(tell);
    let inodes = u32::try_from(finished.inodes()).map_err(|_| WriteError::Limit {
        reason: "it has more than 4,294,967,295 entries".into(),
    })?;
    let tree = finished.into_tree();
    Ok(Created {
        bytes: output.finish(&first, block_bytes as u64, options.replace)?,
        inodes,
        stored_files: contents.len() as u32,
        fragments: 0,
        skipped: tree.skipped,
        unstored_xattrs: tree.unstored_xattrs,
        clamped_times: Default::default(),
    })
}

/// Reads, plans and stores the contents. The first blocks are reserved for the superblock and the
/// inode of the root; their number goes to `head_blocks`.
fn store_contents<I: Into<Item>>(
    items: impl Iterator<Item = Result<I, NodeError>> + Send,
    options: &CreateOptions,
    output: &mut Output,
    tree: &mut Tree,
    head_blocks: &mut u64,
) -> Result<Contents, WriteError> {
    let block_bytes = options.block_bytes as usize;
    let plan = PlanOptions {
        block_bytes,
        fragments: FragmentPolicy::Never,
        inline_bytes: if options.inline { block_bytes } else { 0 },
        scattered: true,
        dedup: options.dedup,
    };
    let wanted = GatherOptions {
        block_bytes,
        xattrs: options.xattrs,
        hard_links: options.hard_links,
        rereads: options.inline,
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
        |batches| {
            let mut contents = Contents::default();
            for batch in batches {
                if *head_blocks == 0 {
                    *head_blocks = head(&batch.events, block_bytes);
                    output.append(&vec![0; *head_blocks as usize * block_bytes])?;
                }
                contents.store(batch, options, output, tree)?;
            }
            Ok(contents)
        },
    )
}

/// The number of blocks that the superblock and the inode of the root take. The root is the first
/// entry.
fn head<B>(events: &[hedgerow_image::plan::Event<B>], block_bytes: usize) -> u64 {
    let xattrs = match events.first() {
        Some(hedgerow_image::plan::Event::Other(root)) => root.xattrs.as_slice(),
        _ => &[],
    };
    let xattrs = xattrs.iter();
    let xattrs = xattrs.map(|xattr| 8 + xattr.name.len() + xattr.value.len());
    let bytes = ROOT as usize + crate::format::EXTENDED_BYTES + 16 + xattrs.sum::<usize>();
    bytes.div_ceil(block_bytes) as u64
}

/// The number of the block at a position.
fn block_number(position: u64, block_bytes: usize) -> Result<u32, WriteError> {
    let number = u32::try_from(position / block_bytes as u64).ok();
    number
        .filter(|number| *number < extents::HOLE)
        .ok_or_else(|| WriteError::Limit {
            reason: "it has more than 2^32 blocks".into(),
        })
}
