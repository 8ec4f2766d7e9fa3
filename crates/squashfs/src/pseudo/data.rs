//! Contents that follow the definitions in their file.

use super::definition::{Action, Body, Definition};
use hedgerow_fs::ReadFile;
use hedgerow_tree::{Content, NodeError};
use std::sync::Arc;

/// A file with data from a position on.
#[derive(Clone)]
pub(super) struct DataFile {
    file: Arc<ReadFile>,
    start: u64,
    bytes: u64,
}

impl DataFile {
    pub fn new(file: Arc<ReadFile>, start: u64) -> Result<Self, hedgerow_fs::Error> {
        let bytes = file.length()?.saturating_sub(start);
        Ok(DataFile { file, start, bytes })
    }

    /// Whether the data has the part that a definition names.
    pub fn check(&self, definition: &Definition) -> Result<(), String> {
        match &definition.action {
            Action::Create(_, Body::Data { start, bytes, .. })
                if start.saturating_add(*bytes) > self.bytes =>
            {
                Err(format!(
                    "the data behind the definitions ends after {} bytes",
                    self.bytes
                ))
            }
            _ => Ok(()),
        }
    }

    pub fn content(&self, start: u64, bytes: u64) -> Box<dyn Content> {
        Box::new(Part {
            data: self.clone(),
            position: start,
            left: bytes,
            bytes,
        })
    }
}

struct Part {
    data: DataFile,
    /// In the data.
    position: u64,
    left: u64,
    bytes: u64,
}

impl Content for Part {
    fn size_bytes(&self) -> u64 {
        self.bytes
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, NodeError> {
        let most = usize::try_from(self.left)
            .unwrap_or(usize::MAX)
            .min(buffer.len());
        let room = buffer.get_mut(..most).unwrap_or_default();
        let position = self.data.start.saturating_add(self.position);
        let count = self
            .data
            .file
            .read_at(room, position)
            .map_err(NodeError::entry)?;
        self.position += count as u64;
        self.left -= count as u64;
        Ok(count)
    }
}
