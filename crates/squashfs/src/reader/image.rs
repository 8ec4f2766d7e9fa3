use super::metadata::MetadataBlock;
use super::superblock::{damage_of, Layout};
use crate::format::{flags, Superblock, METADATA_RAW, SUPERBLOCK_BYTES};
use crate::{Damage, Error, Part, Result};
use hedgerow_codec::block::{BlockDecompressor, BlockError, Compressor, Settings};
use hedgerow_fs::ReadFile;
use hedgerow_image::buffers::{Buffer, Buffers};
use hedgerow_image::cache::Cache;
use hedgerow_image::ReadAt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Number of metadata blocks in the cache; they take up to 8 MiB.
const METADATA_BLOCKS: usize = 1024;
/// Size of the cache of fragment blocks, in bytes.
const FRAGMENT_BYTES: u32 = 8 << 20;

/// An open image. It can be used by any number of threads.
pub struct Image {
    pub(crate) bytes: Bytes,
    pub(crate) superblock: Superblock,
    pub(crate) compressor: Compressor,
    pub(crate) layout: Layout,
    pub(super) metadata: Cache<MetadataBlock>,
    pub(super) fragments: Cache<Buffer>,
    pub(super) buffers: Buffers,
    ids: Vec<u32>,
    decompressors: Mutex<Vec<BlockDecompressor>>,
}

impl Image {
    /// Opens the image that starts at `offset` bytes in the file at `path`.
    ///
    /// # Errors
    /// The file cannot be read, is not an image, or is one that the kernel refuses to mount.
    pub fn open(path: &Path, offset: u64) -> Result<Self> {
        Self::new(Box::new(ReadFile::open(path)?), offset)
    }

    /// Like [`Self::open`], for any source of bytes.
    pub fn new(source: Box<dyn ReadAt>, offset: u64) -> Result<Self> {
        let (image, damage) = Self::new_damaged(source, offset)?;
        match damage.into_iter().next() {
            Some(first) => Err(first.into()),
            None => Ok(image),
        }
    }

    /// Like [`Self::new`], but fails only if the superblock itself is unusable. Returns the damage
    /// of the table positions, the id table and the compressor options with the image.
    pub(crate) fn new_damaged(source: Box<dyn ReadAt>, offset: u64) -> Result<(Self, Vec<Damage>)> {
        let mut bytes = Bytes {
            length: source.length()?.saturating_sub(offset),
            source,
            offset,
        };
        let mut start = [0; SUPERBLOCK_BYTES as usize];
        let count = bytes.source.read_at(&mut start, offset)?;
        let start = start.get(..count).unwrap_or_default();
        let (superblock, compressor) = Superblock::read(start)?;
        let mut damage = Vec::new();
        let layout = Layout::read(&bytes, &superblock, &mut damage);
        bytes.length = bytes.length.min(superblock.bytes_used);
        let mut image = Image {
            bytes,
            fragments: Cache::new((FRAGMENT_BYTES / superblock.block_size) as usize),
            superblock,
            compressor,
            layout,
            metadata: Cache::new(METADATA_BLOCKS),
            buffers: Buffers::default(),
            ids: Vec::new(),
            decompressors: Mutex::default(),
        };
        match image.read_ids() {
            Ok(ids) => image.ids = ids,
            Err(error) => damage.extend(damage_of(error)),
        }
        if let Err(error) = image.settings() {
            damage.extend(damage_of(error));
        }
        Ok((image, damage))
    }

    /// Owners and groups by index in the id table.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// The superblock.
    pub fn superblock(&self) -> &Superblock {
        &self.superblock
    }

    /// The compressor and its settings, as far as the image records them.
    pub fn settings(&self) -> Result<Settings> {
        let block = self.option_block()?;
        let settings = Settings::from_option_block(
            self.compressor,
            self.superblock.block_size,
            block.as_deref(),
        );
        settings.map_err(|error| {
            Damage::new(Part::OptionBlock, SUPERBLOCK_BYTES, error.to_string()).into()
        })
    }

    /// The option block without its header, if there is one.
    pub(crate) fn option_block(&self) -> Result<Option<Vec<u8>>> {
        if !self.superblock.has(flags::COMPRESSOR_OPTIONS) {
            return Ok(None);
        }
        let header = self
            .bytes
            .read_array::<2>(Part::OptionBlock, SUPERBLOCK_BYTES)?;
        let header = u16::from_le_bytes(header);
        let length = usize::from(header & !METADATA_RAW);
        if header & METADATA_RAW == 0 || length == 0 || length > 64 {
            let what = format!("a bad header: {header:#06x}");
            return Err(Damage::new(Part::OptionBlock, SUPERBLOCK_BYTES, what).into());
        }
        let mut block = vec![0; length];
        self.bytes
            .read(Part::OptionBlock, SUPERBLOCK_BYTES + 2, &mut block)?;
        Ok(Some(block))
    }

    /// Decompresses `stored`, the block at `position`, into `output`. Returns the decompressed
    /// length.
    pub(crate) fn decompress(
        &self,
        part: Part,
        position: u64,
        stored: &[u8],
        output: &mut [u8],
    ) -> Result<usize> {
        let lock = || {
            let decompressors = self.decompressors.lock();
            decompressors.unwrap_or_else(PoisonError::into_inner)
        };
        let waiting = lock().pop();
        let mut decompressor = match waiting {
            Some(decompressor) => decompressor,
            None => BlockDecompressor::new(self.compressor).map_err(Error::Codec)?,
        };
        let length = decompressor.decompress(stored, output);
        lock().push(decompressor);
        length.map_err(|error| match error {
            BlockError::OutOfMemory(_) => Error::Codec(error),
            error => Damage::new(part, position, error.to_string()).into(),
        })
    }
}

/// The bytes of an image, addressed from its start.
pub(crate) struct Bytes {
    source: Box<dyn ReadAt>,
    offset: u64,
    length: u64,
}

impl Bytes {
    /// Number of bytes that can be read.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Fills `buffer` with the bytes from `position` on.
    pub fn read(&self, part: Part, position: u64, buffer: &mut [u8]) -> Result<()> {
        let wanted = buffer.len() as u64;
        let beyond = || {
            let what = format!("{wanted} bytes that end beyond the image");
            Err(Damage::new(part, position, what).into())
        };
        if position
            .checked_add(wanted)
            .is_none_or(|end| end > self.length)
        {
            return beyond();
        }
        match self
            .source
            .read_at(buffer, position.saturating_add(self.offset))?
        {
            count if count == buffer.len() => Ok(()),
            _ => beyond(),
        }
    }

    /// Like [`Self::read`], for an array.
    pub fn read_array<const N: usize>(&self, part: Part, position: u64) -> Result<[u8; N]> {
        let mut array = [0; N];
        self.read(part, position, &mut array)?;
        Ok(array)
    }
}
