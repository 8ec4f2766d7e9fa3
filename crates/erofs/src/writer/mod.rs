//! Writes images; [`create`] is the entry point.
//!
//! Contents are read and planned as [`hedgerow_image`] describes. Contents and regions of inodes
//! alternate in the image; directories, which refer to inodes, come at its end.

mod directory;
mod extents;
mod finish;
mod index;
mod inode;
mod metadata;
mod settings;
mod squeeze;
mod store;
mod tree;
mod xattrs;

use finish::root_position;
use hedgerow_codec::cluster::ClusterSettings;
use hedgerow_engine::{run_ordered, Execution, Jobs, Options, Stage};
use hedgerow_fs::OutputFile;
use hedgerow_image::buffers::Buffers;
use hedgerow_image::gather::GatherOptions;
use hedgerow_image::plan::{Event, PlanOptions};
use hedgerow_image::verity::{self, VerityOptions};
use hedgerow_image::{stages, Created, FragmentPolicy, Item, Output, WriteError};
use hedgerow_tree::NodeError;
use squeeze::Worker;
use std::ops::Range;
use std::path::Path;
use store::Contents;
use tree::Tree;

/// In an image that is not compressed, so many blocks one behind the other may be shared with those
/// of a file that is not the same.
const SHARED_BLOCKS: usize = 8;

/// Default of [`CreateOptions::hole_limit_bytes`]: 2^42 bytes. Each hole takes a few bytes in the
/// image.
pub const HOLE_LIMIT_BYTES: u64 = 1 << 42;
const COMPRESSED_HOLES_BYTES: u64 = 1 << 36;

/// How contents are compressed.
#[derive(Clone, Copy, Debug)]
pub struct Compression {
    /// The compressor.
    pub settings: ClusterSettings,
    /// Maximum size of a cluster in bytes, compressed: a multiple of the block size, at most 1 MiB.
    /// To read a byte, the kernel reads and decompresses a cluster up to that byte.
    pub cluster_bytes: u32,
    /// Size of the pieces in which contents are compressed, in bytes: a power of two from 64 KiB to
    /// 1 MiB. Equal pieces are stored once.
    pub segment_bytes: u32,
    /// Which parts of files are compressed together with parts of other files.
    pub fragments: FragmentPolicy,
}

impl Default for Compression {
    /// LZ4, with clusters of up to 64 KiB.
    fn default() -> Self {
        Compression {
            settings: ClusterSettings::Lz4,
            cluster_bytes: 64 << 10,
            segment_bytes: 1 << 20,
            fragments: FragmentPolicy::Always,
        }
    }
}

/// How an image is written.
#[derive(Clone, Debug)]
pub struct CreateOptions {
    /// Size of a block in bytes: a power of two from 4 KiB to 64 KiB. The kernel takes blocks up to
    /// the size of its pages.
    pub block_bytes: u32,
    /// How contents are compressed; `None` if they are not.
    pub compression: Option<Compression>,
    /// Whether the ends of files that are not compressed are stored with their inodes.
    pub inline: bool,
    /// Whether equal contents are stored once.
    pub dedup: bool,
    /// Whether blocks of zeros become holes; if not, they are stored as data.
    pub holes: bool,
    /// Limit of the holes of all files over 1 MiB together, in bytes; by default
    /// [`HOLE_LIMIT_BYTES`], or 2^36 where contents are compressed: there, a hole takes two bytes per
    /// KiB.
    pub hole_limit_bytes: Option<u64>,
    /// Whether extended attributes are stored.
    pub xattrs: bool,
    /// Whether hard links stay together. If not, each name gets an inode of its own.
    pub hard_links: bool,
    /// Whether unreadable entries are left out and reported instead of failing.
    pub skip_unreadable: bool,
    /// The time in the superblock, in seconds since the epoch; `None` for that of the first entry that
    /// has one, which mostly is the root. Inodes with this time are smaller.
    pub mtime_s: Option<i64>,
    /// The identifier of the image; `None` for one that is computed from all that is in it.
    pub uuid: Option<[u8; 16]>,
    /// The name of the image, padded with zeros.
    pub name: [u8; 16],
    /// How a hash tree of dm-verity is written behind the image; `None` for no tree.
    pub verity: Option<VerityOptions>,
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
            compression: None,
            inline: true,
            dedup: true,
            holes: true,
            hole_limit_bytes: None,
            xattrs: true,
            hard_links: true,
            skip_unreadable: false,
            mtime_s: None,
            uuid: None,
            name: [0; 16],
            verity: None,
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

    /// Options of the workers that compress. More of them than processors would only wait.
    fn packers(&self) -> Options {
        let jobs = Jobs::Fixed(self.execution.threads());
        self.execution.with_jobs(jobs).options("pack")
    }

    /// Size of the blocks of the plan in bytes.
    fn segment_bytes(&self) -> u64 {
        let compression = self.compression;
        compression
            .map_or(self.block_bytes, |compression| compression.segment_bytes)
            .into()
    }

    /// Refuses what the format or the kernel has no room for.
    fn check(&self) -> Result<(), WriteError> {
        let refused = |reason: String| Err(WriteError::Limit { reason });
        let block_bytes = self.block_bytes;
        if !block_bytes.is_power_of_two() || !(4096..=65_536).contains(&block_bytes) {
            return refused(format!("blocks of {block_bytes} bytes are not supported"));
        }
        let Some(compression) = self.compression else {
            return Ok(());
        };
        let (cluster, segment) = (compression.cluster_bytes, compression.segment_bytes);
        if cluster < block_bytes {
            return refused(format!(
                "a cluster has at least one block: {cluster} bytes are less than {block_bytes}"
            ));
        }
        if !cluster.is_multiple_of(block_bytes) || cluster > 1 << 20 {
            return refused(format!("clusters of {cluster} bytes are not supported"));
        }
        if !segment.is_power_of_two() || !(1 << 16..=1 << 20).contains(&segment) {
            return refused(format!("segments of {segment} bytes are not supported"));
        }
        Ok(())
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
    options.check()?;
    let block_bytes = options.block_bytes.into();
    let mut output = Output::new(OutputFile::create(target)?, options.offset_bytes);
    let mut tree = Tree::new(options);
    let mut head_blocks = 0;
    let contents = store_contents(items, options, &mut output, &mut tree, &mut head_blocks)?;
    if tree.directories.all().is_empty() {
        return Err(WriteError::Limit {
            reason: "it has no root".into(),
        });
    }
    let (finished, first) = finish::finish(tree, &contents, options, head_blocks, &mut output)?;
    finished.numbers(tell);
    let inodes = u32::try_from(finished.inodes()).map_err(|_| WriteError::Limit {
        reason: "it has more than 4,294,967,295 entries".into(),
    })?;
    let tree = finished.into_tree();
    let after = |file: &OutputFile, image: Range<u64>| match &options.verity {
        None => Ok((image.end, None)),
        Some(verity) => {
            let (end, verity) = verity::append(file, image, verity, &options.execution)?;
            Ok((end, Some(verity)))
        }
    };
    let (bytes, verity) = output.finish_with(&first, block_bytes, options.replace, after)?;
    Ok(Created {
        bytes,
        inodes,
        stored_files: contents.len(),
        fragments: 0,
        skipped: tree.skipped,
        unstored_xattrs: tree.unstored_xattrs,
        clamped_times: Default::default(),
        verity,
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
    let compression = options.compression;
    let inline = options.inline && compression.is_none();
    let segment_bytes = options.segment_bytes() as usize;
    let plan = PlanOptions {
        block_bytes: segment_bytes,
        fragments: compression.map_or(FragmentPolicy::Never, |with| with.fragments),
        // Each segment begins at a block.
        fragment_unit_bytes: block_bytes,
        inline_bytes: if inline { block_bytes } else { 0 },
        // A few blocks are not worth chunks with an address each, a segment is.
        shared_blocks: if compression.is_some() {
            1
        } else {
            SHARED_BLOCKS
        },
        dedup: options.dedup,
    };
    let wanted = GatherOptions {
        block_bytes: segment_bytes,
        xattrs: options.xattrs,
        hard_links: options.hard_links,
        rereads: inline,
        dedup: options.dedup,
        holes: options.holes,
        skip_unreadable: options.skip_unreadable,
        hole_limit_bytes: options.hole_limit_bytes.unwrap_or(match compression {
            Some(_) => COMPRESSED_HOLES_BYTES,
            None => HOLE_LIMIT_BYTES,
        }),
    };
    let buffers = &Buffers::default();
    let (mut contents, readers) = (Contents::default(), options.readers());
    let progress = &options.execution.progress;
    let stored = progress.stage(Stage::Contents);
    let wanted = (wanted, plan);
    stages::store_contents(items, &readers, wanted, buffers, progress, |mut batches| {
        // The first entry of the first batch is the root.
        let mut batches = batches.by_ref().peekable();
        let Some(first) = batches.peek() else {
            return Ok(());
        };
        *head_blocks = head(&first.events, options);
        output.append(&vec![0; *head_blocks as usize * block_bytes])?;
        let Some(compression) = compression else {
            for batch in batches {
                contents.store(batch.events, options, output, tree)?;
                stored.step(batch.gathered_bytes);
            }
            return Ok(());
        };
        let packers = options.packers();
        run_ordered(
            &packers,
            stages::window(&packers),
            batches.map(|batch| {
                let bytes = batch.bytes as u64;
                Ok((batch, bytes))
            }),
            |_| Worker::new(compression, block_bytes, buffers),
            |worker: &mut Worker, batch| {
                let gathered_bytes = batch.gathered_bytes;
                let events = worker.work(batch);
                stored.step(gathered_bytes);
                events
            },
            |_, events| contents.store(events, options, output, tree),
        )?;
        Ok(())
    })?;
    Ok(contents)
}

/// The number of blocks that the superblock and the inode of the root take. The root is the first
/// entry.
fn head<B>(events: &[Event<B>], options: &CreateOptions) -> u64 {
    let xattrs = match events.first() {
        Some(Event::Other(root)) => root.xattrs.as_slice(),
        _ => &[],
    };
    let xattrs = xattrs.iter();
    let xattrs = xattrs.map(|xattr| 8 + xattr.name.len() + xattr.value.len());
    let bytes = root_position(options) as usize
        + crate::format::EXTENDED_BYTES
        + 16
        + xattrs.sum::<usize>();
    bytes.div_ceil(options.block_bytes as usize) as u64
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
