use super::Image;
use crate::format::{Reference, METADATA_BYTES, METADATA_HEADER_BYTES, METADATA_RAW};
use crate::{Damage, Part, Result};
use std::sync::Arc;

/// A sequence of adjacent metadata blocks, from the header of the first to the end of the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    pub part: Part,
    pub start: u64,
    pub end: u64,
}

impl Region {
    pub fn new(part: Part, start: u64, end: u64) -> Self {
        Region { part, start, end }
    }

    /// Upper limit of the decompressed size of all blocks; each takes at least 3 bytes.
    pub fn most_bytes(&self) -> u64 {
        let blocks = self.end.saturating_sub(self.start) / 3 + 1;
        blocks.saturating_mul(METADATA_BYTES as u64)
    }
}

/// A decompressed metadata block.
pub(crate) struct MetadataBlock {
    pub bytes: Box<[u8]>,
    /// The position of the next block.
    pub next: u64,
}

impl Image {
    /// The metadata block whose header is at `position`, from the cache or from the image.
    pub(crate) fn metadata_block(
        &self,
        region: Region,
        position: u64,
    ) -> Result<Arc<MetadataBlock>> {
        let outside = || {
            let what = "a metadata block that ends outside its table";
            Damage::new(region.part, position, what)
        };
        if position < region.start || position >= region.end {
            return Err(outside().into());
        }
        let block = self
            .metadata
            .get(position, || self.read_metadata_block(region, position))?;
        if block.next <= region.end {
            Ok(block)
        } else {
            Err(outside().into())
        }
    }

    fn read_metadata_block(&self, region: Region, position: u64) -> Result<MetadataBlock> {
        let part = region.part;
        let mut stored = [0; METADATA_BYTES];
        let (stored, raw) = self.stored_metadata_block(region, position, &mut stored)?;
        let bytes: Box<[u8]> = if raw {
            stored.into()
        } else {
            let mut output = [0; METADATA_BYTES];
            let length = self.decompress(part, position, stored, &mut output)?;
            output.get(..length).unwrap_or_default().into()
        };
        Ok(MetadataBlock {
            next: position + METADATA_HEADER_BYTES + stored.len() as u64,
            bytes,
        })
    }

    /// Reads the metadata block whose header is at `position` as it is stored. Also returns whether
    /// it is uncompressed.
    pub(crate) fn stored_metadata_block<'b>(
        &self,
        region: Region,
        position: u64,
        buffer: &'b mut [u8; METADATA_BYTES],
    ) -> Result<(&'b [u8], bool)> {
        let header = u16::from_le_bytes(self.bytes.read_array(region.part, position)?);
        let length = usize::from(header & !METADATA_RAW);
        let start = position + METADATA_HEADER_BYTES;
        let fits = start.saturating_add(length as u64) <= region.end;
        let stored = buffer
            .get_mut(..length)
            .filter(|stored| !stored.is_empty() && fits);
        let Some(stored) = stored else {
            let what = format!("a metadata block of {length} bytes");
            return Err(Damage::new(region.part, position, what).into());
        };
        self.bytes.read(region.part, start, stored)?;
        Ok((stored, header & METADATA_RAW != 0))
    }
}

/// Reads a table from a given place on, across block boundaries.
#[derive(Clone)]
pub(crate) struct MetadataReader<'i> {
    image: &'i Image,
    region: Region,
    block: Arc<MetadataBlock>,
    /// The position of `block`.
    position: u64,
    offset: usize,
}

impl<'i> MetadataReader<'i> {
    /// A reader that starts at `reference` in `region`.
    pub fn new(image: &'i Image, region: Region, reference: Reference) -> Result<Self> {
        let position = region.start.saturating_add(reference.block());
        let block = image.metadata_block(region, position)?;
        let offset = usize::from(reference.offset());
        if offset > block.bytes.len() {
            let what = format!(
                "offset {offset} in a metadata block of {}",
                block.bytes.len()
            );
            return Err(Damage::new(region.part, position, what).into());
        }
        Ok(MetadataReader {
            image,
            region,
            block,
            position,
            offset,
        })
    }

    /// The current place.
    pub fn place(&self) -> Reference {
        let block = self.position.saturating_sub(self.region.start);
        Reference::new(block, self.offset as u16)
    }

    /// The current place, in the block of the next byte rather than at the end of the block before
    /// it.
    pub fn settled_place(&mut self) -> Result<Reference> {
        self.available()?;
        Ok(self.place())
    }

    /// Damage in the block that was read last.
    pub fn damage(&self, what: impl Into<String>) -> Damage {
        Damage::new(self.region.part, self.position, what)
    }

    /// Whether the end of the region is reached.
    pub fn is_at_end(&self) -> bool {
        self.offset == self.block.bytes.len() && self.block.next == self.region.end
    }

    /// Upper limit of the bytes that can follow.
    pub fn most_bytes_left(&self) -> u64 {
        let rest = Region::new(self.region.part, self.position, self.region.end);
        rest.most_bytes()
    }

    /// Reads exactly as many bytes as `buffer` holds.
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<()> {
        let mut rest = buffer;
        while !rest.is_empty() {
            let available = self.available()?;
            let count = available.len().min(rest.len());
            let (filled, unfilled) = rest.split_at_mut(count);
            for (to, from) in filled.iter_mut().zip(available) {
                *to = *from;
            }
            self.offset += count;
            rest = unfilled;
        }
        Ok(())
    }

    /// Skips `count` bytes.
    pub fn skip(&mut self, mut count: u64) -> Result<()> {
        while count > 0 {
            let step = count.min(self.available()?.len() as u64);
            self.offset += step as usize;
            count -= step;
        }
        Ok(())
    }

    /// The rest of the current block, or the next block if nothing is left.
    fn available(&mut self) -> Result<&[u8]> {
        while self.offset >= self.block.bytes.len() {
            let next = self.block.next;
            self.block = self.image.metadata_block(self.region, next)?;
            (self.position, self.offset) = (next, 0);
        }
        Ok(self.block.bytes.get(self.offset..).unwrap_or_default())
    }

    /// Reads `count` bytes. The caller has checked `count` against what can follow.
    pub fn bytes(&mut self, count: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; count];
        self.read(&mut bytes)?;
        Ok(bytes)
    }

    pub fn u16(&mut self) -> Result<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        self.read(&mut array)?;
        Ok(array)
    }
}
