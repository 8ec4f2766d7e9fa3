//! Handles that lead to the contents of members.

use super::index::{Entry, Index};
use crate::SparseMap;
use hedgerow_fs::ReadFile;
use hedgerow_tree::{Content, Handle, NodeError, Xattr};
use std::sync::Arc;

/// The index and the file with the contents.
pub(super) struct Contents {
    pub(super) index: Index,
    pub(super) file: ReadFile,
}

impl Contents {
    /// The entry `number`, or the root.
    fn entry(&self, number: Option<u32>) -> &Entry {
        let entry = number.and_then(|number| self.index.entry(number));
        entry.unwrap_or(self.index.root())
    }
}

/// The handle of an entry; without a number, of the root.
pub(super) struct InArchive {
    pub(super) contents: Arc<Contents>,
    pub(super) number: Option<u32>,
}

impl Handle for InArchive {
    fn target(&mut self) -> Result<Vec<u8>, NodeError> {
        let entry = self.contents.entry(self.number);
        Ok(self.contents.index.target(entry).to_vec())
    }

    fn open(&mut self) -> Result<Box<dyn Content>, NodeError> {
        let entry = self.contents.entry(self.number);
        let map = self.contents.index.map(entry).cloned();
        Ok(Box::new(InMember {
            map: map.unwrap_or_else(|| SparseMap::solid(entry.size_bytes)),
            segment: 0,
            position: 0,
            stored: entry.data,
            contents: self.contents.clone(),
        }))
    }

    fn xattrs(&mut self) -> Result<Vec<Xattr>, NodeError> {
        let entry = self.contents.entry(self.number);
        Ok(self.contents.index.xattrs(entry).to_vec())
    }
}

struct InMember {
    contents: Arc<Contents>,
    map: SparseMap,
    /// Index of the segment that is read next.
    segment: usize,
    /// Offset in the file of the next byte to read, holes included.
    position: u64,
    /// Position in `contents.file` of the next data.
    stored: u64,
}

impl InMember {
    /// Length of the hole at the current position in bytes, 0 if there is none.
    fn hole_bytes(&self) -> u64 {
        let segment = self.map.segments().get(self.segment);
        let end = segment.map_or(self.map.size_bytes(), |segment| segment.offset);
        end.saturating_sub(self.position)
    }
}

impl Content for InMember {
    fn size_bytes(&self) -> u64 {
        self.map.size_bytes()
    }

    fn skip_hole(&mut self) -> Result<u64, NodeError> {
        let hole = self.hole_bytes();
        self.position += hole;
        Ok(hole)
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, NodeError> {
        let hole = self.hole_bytes();
        if hole > 0 {
            let len = usize::try_from(hole).map_or(buffer.len(), |hole| hole.min(buffer.len()));
            buffer[..len].fill(0);
            self.position += len as u64;
            return Ok(len);
        }
        let Some(segment) = self.map.segments().get(self.segment) else {
            return Ok(0);
        };
        let left = usize::try_from(segment.end() - self.position).unwrap_or(usize::MAX);
        let len = left.min(buffer.len());
        let read = self.contents.file.read_at(&mut buffer[..len], self.stored);
        let count = read.map_err(NodeError::entry)?;
        self.position += count as u64;
        self.stored += count as u64;
        self.segment += usize::from(self.position == segment.end());
        Ok(count)
    }
}
