//! Reuses compressed blocks of an older image, if the compressor would produce the same bytes
//! again.

use crate::format::SizeWord;
use crate::reader::data::Stored;
use crate::reader::{Body, Image, ImageSource};
use crate::{Damage, Part, Result};
use hedgerow_codec::block::{BlockCompressor, BlockError, Compressor, Settings};
use hedgerow_engine::{run_ordered, Execution, Jobs, Window};
use hedgerow_image::WriteError;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::ControlFlow;

/// Limit of the blocks in progress, in bytes.
const WINDOW: Window = Window { bytes: 16 << 20 };
/// Number of blocks in a batch of a worker.
const BATCH: usize = 8;
/// Number of blocks that are recompressed to check that the result is the same.
const SAMPLES: usize = 16;
/// One in this many blocks that are reused, selected by its hash, is recompressed too.
const LATER_SAMPLES: u16 = 1024;

/// The error if a block of the older image cannot be used while the new one is written.
fn unusable(reason: NotReusable) -> WriteError {
    WriteError::Reuse(Box::new(reason))
}

/// The blocks of older images by the hash of their content.
pub struct Reuse {
    images: Vec<Image>,
    /// Each with the number of its image.
    blocks: HashMap<[u8; 32], (u32, Extent)>,
}

/// The place of a block and how it is stored.
#[derive(Clone, Copy, Debug)]
struct Extent {
    part: Part,
    position: u64,
    word: SizeWord,
}

/// Why an older image cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NotReusable {
    /// It was made with another compressor or other settings.
    #[error("it was made with another compressor or with other settings")]
    Settings,
    /// Its block size is different.
    #[error("its blocks have another size")]
    BlockSize,
    /// The compressor of this program produces other bytes for the same content.
    #[error("it was made by another version of the compressor, or with other settings")]
    Encoder,
    /// It cannot be read.
    #[error(transparent)]
    Damaged(#[from] crate::Error),
    /// The compressor failed.
    #[error(transparent)]
    Compress(#[from] BlockError),
    /// Reading it was cancelled, or a worker panicked.
    #[error(transparent)]
    Failed(Box<WriteError>),
}

impl fmt::Debug for Reuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let blocks = self.blocks.len();
        f.debug_struct("Reuse").field("blocks", &blocks).finish()
    }
}

impl Reuse {
    /// Reads and hashes all blocks of `image`. Recompresses some of them with `settings`, to check
    /// that the result is the same.
    pub fn of(
        image: Image,
        settings: &Settings,
        block_bytes: u32,
        execution: &Execution,
    ) -> std::result::Result<Self, NotReusable> {
        if image.superblock().block_size != block_bytes {
            return Err(NotReusable::BlockSize);
        }
        let own = image.settings()?;
        if own.compressor() != settings.compressor()
            || own.option_block(block_bytes) != settings.option_block(block_bytes)
        {
            return Err(NotReusable::Settings);
        }
        let extents = extents(&image)?;
        let every = extents.len().div_ceil(SAMPLES).max(1);
        let batches = extents.chunks(BATCH).zip(0..).map(|(batch, number)| {
            let bytes = batch.len() as u64 * u64::from(block_bytes);
            Ok(((batch, number * BATCH), bytes))
        });
        let mut blocks = HashMap::with_capacity(extents.len());
        let has_checksums = settings.without_checksum() != *settings;
        let worker = |_| {
            BlockCompressor::new(settings).map(|compressor| Reader {
                image: &image,
                compressor,
                block_bytes,
                has_checksums,
            })
        };
        let work = |reader: &mut std::result::Result<Reader<'_>, BlockError>,
                    (batch, first): (&[Extent], usize)| {
            let Ok(reader) = reader else {
                return Err(NotReusable::Settings);
            };
            let mut found = Vec::with_capacity(batch.len());
            for (number, extent) in (first..).zip(batch) {
                let digest = reader.digest(*extent, number.is_multiple_of(every))?;
                found.extend(digest.map(|digest| (digest, *extent)));
            }
            Ok(found)
        };
        let workers = execution
            .with_jobs(Jobs::Fixed(execution.threads()))
            .options("reuse");
        let read = run_ordered(&workers, WINDOW, batches, worker, work, |_, found| {
            let found = found.into_iter();
            blocks.extend(found.map(|(digest, extent)| (digest, (0, extent))));
            Ok(())
        });
        match read {
            Ok(_) => Ok(Reuse {
                images: vec![image],
                blocks,
            }),
            Err(hedgerow_engine::Failure::Failed(error)) => Err(error),
            Err(hedgerow_engine::Failure::Cancelled) => {
                Err(NotReusable::Failed(Box::new(WriteError::Cancelled)))
            }
            Err(hedgerow_engine::Failure::Panicked(message)) => {
                Err(NotReusable::Failed(Box::new(WriteError::Panicked(message))))
            }
        }
    }

    /// The same with several images.
    pub(crate) fn of_all(
        images: Vec<Image>,
        settings: &Settings,
        block_bytes: u32,
        execution: &Execution,
    ) -> std::result::Result<Self, NotReusable> {
        let mut all = Reuse {
            images: Vec::new(),
            blocks: HashMap::new(),
        };
        for (number, image) in (0..).zip(images) {
            let mut one = Reuse::of(image, settings, block_bytes, execution)?;
            all.images.append(&mut one.images);
            for (digest, (_, extent)) in one.blocks {
                all.blocks.entry(digest).or_insert((number, extent));
            }
        }
        Ok(all)
    }

    /// Copies the stored form of `block` to the start of `room`, if the older image has that block.
    /// `room` is as large as the block.
    pub(super) fn find(
        &self,
        block: &[u8],
        compressor: &mut BlockCompressor,
        room: &mut [u8],
    ) -> std::result::Result<Option<SizeWord>, WriteError> {
        let digest = blake3::hash(block);
        let Some((image, extent)) = self.blocks.get(digest.as_bytes()) else {
            return Ok(None);
        };
        let image = self.images.get(*image as usize);
        let image = image.expect("a block is in one of the images");
        let read = image.read_stored(extent.part, extent.position, extent.word);
        let read = read.map_err(|error| unusable(error.into()))?;
        let [.., high, low] = digest.as_bytes();
        let is_sample = u16::from_le_bytes([*high, *low]).is_multiple_of(LATER_SAMPLES);
        if is_sample && !is_same(compressor, block, extent.word, &read)? {
            return Err(unusable(NotReusable::Encoder));
        }
        match room.get_mut(..read.len()) {
            Some(room) => room.copy_from_slice(&read),
            // The stored form is larger than the block itself.
            None => return Ok(None),
        }
        Ok(Some(extent.word))
    }
}

/// All data blocks and fragment blocks, each once, by position.
fn extents(image: &Image) -> Result<Vec<Extent>> {
    let mut extents = Vec::new();
    let (mut files, mut positions) = (HashSet::new(), HashSet::new());
    let mut failed = None;
    let most = image.superblock().bytes_used;
    let omissions = ImageSource::new(image)?.entries(&mut |entry| {
        let Body::File(file) = &entry.inode.body else {
            return ControlFlow::Continue(());
        };
        // Files may share their first blocks only, so runs of different lengths are different.
        let run = (file.blocks_start, file.block_count);
        if file.block_count == 0 || !files.insert(run) {
            return ControlFlow::Continue(());
        }
        let pieces = image.pieces(file).map(|pieces| {
            pieces.map(|piece| {
                if let Stored::Block { position, word } = piece?.stored {
                    if !positions.insert(position) {
                        return Ok(());
                    }
                    // Each block takes at least a byte, unless files overlap at odd positions.
                    if extents.len() as u64 >= most {
                        let what = "more blocks than it has bytes";
                        return Err(Damage::new(Part::Data, position, what).into());
                    }
                    extents.push(Extent {
                        part: Part::Data,
                        position,
                        word,
                    });
                }
                Ok(())
            })
        });
        match pieces.and_then(|mut pieces| pieces.try_for_each(|piece| piece)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        }
    });
    if let Some(error) = failed {
        return Err(error);
    }
    if let Some(omission) = omissions.into_iter().next() {
        return Err(crate::Error::Fs(hedgerow_fs::Error::new(
            omission.operation,
            String::from_utf8_lossy(&omission.path).into_owned(),
            omission.source,
        )));
    }
    for index in 0..image.superblock().fragment_count {
        let block = image.fragment_block(index)?;
        extents.push(Extent {
            part: Part::Fragments,
            position: block.position,
            word: block.word,
        });
    }
    extents.sort_by_key(|extent| extent.position);
    extents.dedup_by_key(|extent| extent.position);
    Ok(extents)
}

/// Reads and checks old blocks.
struct Reader<'r> {
    image: &'r Image,
    compressor: BlockCompressor,
    block_bytes: u32,
    /// Whether the compressor writes checksums, which are omitted at some positions.
    has_checksums: bool,
}

impl Reader<'_> {
    /// The hash of a block's content; `None` if the stored form depends on its position: see
    /// [`kernel`](super::kernel). If `is_sample`, the block is recompressed.
    fn digest(
        &mut self,
        extent: Extent,
        is_sample: bool,
    ) -> std::result::Result<Option<[u8; 32]>, NotReusable> {
        let Extent {
            part,
            position,
            word,
        } = extent;
        let stored = self.image.read_stored(part, position, word)?;
        let mut content = Vec::new();
        let content = if word.is_raw() {
            &stored
        } else {
            let compressor = self.image.superblock().compressor;
            let compressor = Compressor::from_id(compressor);
            let has_checksum = compressor.is_some_and(|own| own.has_checksum(&stored));
            if self.has_checksums && !has_checksum {
                return Ok(None);
            }
            content.resize(self.block_bytes as usize, 0);
            let count = self
                .image
                .decompress(part, position, &stored, &mut content)?;
            content.truncate(count);
            &content
        };
        if is_sample && !is_same(&mut self.compressor, content, word, &stored)? {
            return Err(NotReusable::Encoder);
        }
        Ok(Some(*blake3::hash(content).as_bytes()))
    }
}

fn is_same(
    compressor: &mut BlockCompressor,
    content: &[u8],
    word: SizeWord,
    stored: &[u8],
) -> std::result::Result<bool, BlockError> {
    let mut room = vec![0; content.len()];
    Ok(match compressor.compress(content, &mut room)? {
        None => word.is_raw(),
        Some(bytes) => !word.is_raw() && room.get(..bytes) == Some(stored),
    })
}
