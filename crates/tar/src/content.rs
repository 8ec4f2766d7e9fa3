//! The content of the current member while it is read.

use crate::error::Result;
use crate::input::Input;
use crate::sparse::SparseMap;
use std::io::Read;

/// The unread rest of the current member's content.
pub(crate) struct Content {
    map: SparseMap,
    /// Index of the segment that is read next.
    segment: usize,
    /// Offset in the file of the next byte to read, holes included.
    position: u64,
    /// Number of bytes in the archive up to the next header.
    left: u64,
    /// Describes the content in messages.
    part: String,
}

impl Content {
    /// A content of `left` bytes in the archive, including padding; the segments of `map` come
    /// first.
    pub(crate) fn new(map: SparseMap, left: u64, part: String) -> Content {
        Content {
            map,
            segment: 0,
            position: 0,
            left,
            part,
        }
    }

    pub(crate) fn empty() -> Content {
        Content::new(SparseMap::solid(0), 0, String::new())
    }

    /// Reads the next bytes, holes as zeros. Returns 0 at the end.
    pub(crate) fn read<R: Read>(
        &mut self,
        input: &mut Input<R>,
        buffer: &mut [u8],
    ) -> Result<usize> {
        let segment = self.map.segments().get(self.segment);
        let hole_end = segment.map_or(self.map.size_bytes(), |segment| segment.offset);
        if self.position >= hole_end {
            return Ok(self.read_data(input, buffer)?.map_or(0, |(_, len)| len));
        }
        let hole = usize::try_from(hole_end - self.position).unwrap_or(usize::MAX);
        let len = hole.min(buffer.len());
        buffer[..len].fill(0);
        self.position += len as u64;
        Ok(len)
    }

    /// Reads the next bytes that are not in a hole. Returns their offset in the file and their
    /// number; `None` at the end.
    pub(crate) fn read_data<R: Read>(
        &mut self,
        input: &mut Input<R>,
        buffer: &mut [u8],
    ) -> Result<Option<(u64, usize)>> {
        let Some(segment) = self.map.segments().get(self.segment) else {
            return Ok(None);
        };
        let offset = self.position.max(segment.offset);
        let left = usize::try_from(segment.end() - offset).unwrap_or(usize::MAX);
        let wanted = left.min(buffer.len());
        let len = input.read(&mut buffer[..wanted])?;
        if len == 0 && wanted > 0 {
            return Err(input.truncated(&self.part));
        }
        self.left -= len as u64;
        self.position = offset + len as u64;
        self.segment += usize::from(self.position == segment.end());
        Ok(Some((offset, len)))
    }

    /// Skips the unread rest.
    pub(crate) fn finish<R: Read>(&mut self, input: &mut Input<R>) -> Result<()> {
        let left = std::mem::take(&mut self.left);
        self.map = SparseMap::solid(0);
        self.segment = 0;
        input.skip(left, &self.part)
    }
}
