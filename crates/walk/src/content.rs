use hedgerow_fs::ReadFile;
use hedgerow_tree::{Content, NodeError};
use std::sync::Arc;

/// The content of a file on disk.
pub struct FileContent {
    file: Arc<ReadFile>,
    size_bytes: u64,
    has_holes: bool,
    position: u64,
    /// No hole starts before this position.
    data_until: u64,
}

impl FileContent {
    /// The content of `file`, which has `size_bytes` bytes. `has_holes`: looking for holes is
    /// worthwhile.
    pub fn new(file: Arc<ReadFile>, size_bytes: u64, has_holes: bool) -> Self {
        FileContent {
            file,
            size_bytes,
            has_holes,
            position: 0,
            data_until: 0,
        }
    }
}

impl Content for FileContent {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn skip_hole(&mut self) -> Result<u64, NodeError> {
        if !self.has_holes || self.position < self.data_until || self.position >= self.size_bytes {
            return Ok(0);
        }
        let extent = self.file.seek_data(self.position);
        let (start, end) = extent.map_err(NodeError::entry)?;
        let start = start.clamp(self.position, self.size_bytes);
        let hole = start - self.position;
        self.position = start;
        self.data_until = end;
        Ok(hole)
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, NodeError> {
        let count = self.file.read(buffer).map_err(NodeError::entry)?;
        self.position += count as u64;
        Ok(count)
    }
}
