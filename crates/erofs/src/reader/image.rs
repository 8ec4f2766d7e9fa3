use super::decompress::Decoders;
use super::map::Map;
use super::zeros::ZeroClusters;
use super::Inode;
use crate::format::{
    checksum, compat, incompat, Superblock, BLOCK_BITS, CHECKSUM, SUPERBLOCK_BYTES,
    SUPERBLOCK_OFFSET,
};
use hedgerow_fs::ReadFile;
use hedgerow_image::cache::Cache;
use hedgerow_image::{Damage, Error, Part, ReadAt, Result};
use hedgerow_numbers::counted;
use std::path::Path;
use std::sync::OnceLock;

/// Size of the windows in which metadata is read, in bytes.
const WINDOW_BYTES: u64 = 64 << 10;
/// Number of windows in the cache; they take up to 16 MiB.
const WINDOWS: usize = 256;

/// Number of clusters of the packed inode in the cache; they take up to 64 MiB.
const CLUSTERS: usize = 64;

/// An open image. It can be used by any number of threads.
pub struct Image {
    pub(crate) bytes: Bytes,
    pub(crate) superblock: Superblock,
    windows: Cache<Vec<u8>>,
    /// Decompressed clusters of the packed inode, by their positions.
    pub(super) clusters: Cache<Vec<u8>>,
    pub(super) decoders: Decoders,
    pub(super) zeros: ZeroClusters,
    /// The inode that holds parts of other files.
    pub(super) packed: OnceLock<(Inode, Map)>,
    /// The long prefixes of names of attributes.
    pub(super) prefixes: OnceLock<Vec<Vec<u8>>>,
}

impl Image {
    /// Opens the image that starts at `offset` bytes in the file at `path`.
    ///
    /// # Errors
    /// The file cannot be read, is not an image, or needs features that are not supported.
    pub fn open(path: &Path, offset: u64) -> Result<Self> {
        Self::new(Box::new(ReadFile::open(path)?), offset)
    }

    /// Like [`Self::open`], for any source of bytes.
    ///
    /// # Errors
    /// Like [`Self::open`].
    pub fn new(source: Box<dyn ReadAt>, offset: u64) -> Result<Self> {
        let (image, damage) = Self::new_damaged(source, offset)?;
        match damage.into_iter().next() {
            Some(first) => Err(first.into()),
            None => Ok(image),
        }
    }

    /// Like [`Self::new`], but fails only if the superblock cannot be used. Returns what is wrong
    /// with it otherwise.
    pub(crate) fn new_damaged(source: Box<dyn ReadAt>, offset: u64) -> Result<(Self, Vec<Damage>)> {
        let bytes = Bytes {
            length: source.length()?.saturating_sub(offset),
            source,
            offset,
        };
        let superblock = read_superblock(&bytes)?;
        let mut damage = Vec::new();
        if superblock.compat & compat::CHECKSUM != 0 {
            damage.extend(check(&bytes, &superblock)?);
        }
        let image_bytes = u64::from(superblock.blocks) << superblock.block_bits;
        if image_bytes > bytes.length {
            let what = format!(
                "{}, but the file ends after {}",
                counted(image_bytes, "byte"),
                bytes.length
            );
            damage.push(Damage::new(Part::Superblock, SUPERBLOCK_OFFSET, what));
        }
        if superblock.compat & compat::XATTRS_IN_METADATA != 0 {
            let what = "attributes in an inode of metadata, which is not there";
            damage.push(Damage::new(Part::Superblock, SUPERBLOCK_OFFSET, what));
        }
        let image = Image {
            bytes,
            superblock,
            windows: Cache::new(WINDOWS),
            clusters: Cache::new(CLUSTERS),
            decoders: Decoders::default(),
            zeros: ZeroClusters::default(),
            packed: OnceLock::new(),
            prefixes: OnceLock::new(),
        };
        Ok((image, damage))
    }

    /// The superblock.
    pub fn superblock(&self) -> &Superblock {
        &self.superblock
    }

    /// Fills `buffer` from metadata, which is cached.
    pub(crate) fn read_metadata(
        &self,
        part: Part,
        mut position: u64,
        mut buffer: &mut [u8],
    ) -> Result<()> {
        self.bytes.check(part, position, buffer.len() as u64)?;
        while !buffer.is_empty() {
            let start = position - position % WINDOW_BYTES;
            let window = self.windows.get(start, || {
                let length = WINDOW_BYTES.min(self.bytes.length() - start);
                let mut window = vec![0; length as usize];
                self.bytes.read(part, start, &mut window)?;
                Ok::<_, Error>(window)
            })?;
            let rest = window
                .get((position - start) as usize..)
                .unwrap_or_default();
            let count = rest.len().min(buffer.len());
            let (filled, left) = buffer.split_at_mut(count);
            filled.copy_from_slice(rest.get(..count).unwrap_or_default());
            position += count as u64;
            buffer = left;
        }
        Ok(())
    }

    /// Like [`Self::read_metadata`], for an array.
    pub(crate) fn metadata_array<const N: usize>(
        &self,
        part: Part,
        position: u64,
    ) -> Result<[u8; N]> {
        let mut array = [0; N];
        self.read_metadata(part, position, &mut array)?;
        Ok(array)
    }
}

fn read_superblock(bytes: &Bytes) -> Result<Superblock> {
    const NAME: &str = "an EROFS";
    let mut start = [0; SUPERBLOCK_BYTES];
    let found = bytes.read(Part::Superblock, SUPERBLOCK_OFFSET, &mut start);
    found.map_err(|error| match error {
        Error::Damaged(_) => Error::NotAnImage(NAME),
        error => error,
    })?;
    let superblock = Superblock::from_bytes(&start).ok_or(Error::NotAnImage(NAME))?;
    let unsupported = |what: String| Err(Error::Unsupported(what));
    if !BLOCK_BITS.contains(&superblock.block_bits) {
        let what = format!("blocks of 2^{} bytes", superblock.block_bits);
        return Err(Damage::new(Part::Superblock, SUPERBLOCK_OFFSET, what).into());
    }
    if let Some(unknown) = incompat::unknown(superblock.incompat) {
        return unsupported(format!("an EROFS image with {unknown}"));
    }
    if superblock.devices != 0 {
        return unsupported("an EROFS image on several devices".into());
    }
    if superblock.directory_bits != 0 {
        return unsupported("an EROFS image with directory blocks of another size".into());
    }
    Ok(superblock)
}

impl Superblock {
    /// Number of bytes from the superblock on that its checksum covers: to the end of the first block,
    /// or of the one behind small ones.
    pub(crate) fn checksummed_bytes(&self) -> u64 {
        let block = self.block_bytes();
        (SUPERBLOCK_OFFSET / block + 1) * block - SUPERBLOCK_OFFSET
    }
}

/// Compares the checksum of the superblock.
fn check(bytes: &Bytes, superblock: &Superblock) -> Result<Option<Damage>> {
    let mut first = vec![0; superblock.checksummed_bytes() as usize];
    bytes.read(Part::Superblock, SUPERBLOCK_OFFSET, &mut first)?;
    if let Some(place) = first.get_mut(CHECKSUM) {
        place.fill(0);
    }
    let found = checksum(&first);
    let what = "a wrong checksum";
    let damage = Damage::new(Part::Superblock, SUPERBLOCK_OFFSET, what);
    Ok((found != superblock.checksum).then_some(damage))
}

/// What is wrong with so many bytes that are not there.
fn beyond(wanted: u64) -> String {
    let ends = if wanted == 1 { "ends" } else { "end" };
    format!("{} that {ends} beyond the image", counted(wanted, "byte"))
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

    /// Whether so many bytes are there.
    pub fn check(&self, part: Part, position: u64, wanted: u64) -> Result<()> {
        let end = position.checked_add(wanted);
        if end.is_some_and(|end| end <= self.length) {
            return Ok(());
        }
        let what = beyond(wanted);
        Err(Damage::new(part, position, what).into())
    }

    /// Fills `buffer` with the bytes from `position` on.
    pub fn read(&self, part: Part, position: u64, buffer: &mut [u8]) -> Result<()> {
        let wanted = buffer.len() as u64;
        self.check(part, position, wanted)?;
        let from = position.saturating_add(self.offset);
        match self.source.read_at(buffer, from)? {
            count if count == buffer.len() => Ok(()),
            _ => {
                let what = beyond(wanted);
                Err(Damage::new(part, position, what).into())
            }
        }
    }
}
