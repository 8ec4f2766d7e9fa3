use crate::source::Source;
use crate::{Error, Result};
use gix_hash::ObjectId;
use hedgerow_pack::{ObjectKind, Reader};

/// What a reader keeps of the trees it has built, in bytes.
pub(crate) const RECENT_BYTES: usize = 48 << 20;
/// Buffers that are kept for the next trees.
const POOL: usize = 64;

/// Reads trees; their contents outlive the reading of others.
#[derive(Debug)]
pub(crate) struct TreeReader<'s> {
    source: Source<'s>,
    reader: Reader<'s>,
    pool: Vec<Vec<u8>>,
}

impl<'s> TreeReader<'s> {
    pub fn new(source: Source<'s>) -> Self {
        TreeReader {
            reader: Reader::with_recent(source.store, RECENT_BYTES),
            source,
            pool: Vec::new(),
        }
    }

    /// The content of the tree `id`; `None` if it is nowhere.
    pub fn read(&mut self, id: &ObjectId) -> Result<Option<Vec<u8>>> {
        let found = self.source.replacement(id);
        let mut content = self.pool.pop().unwrap_or_default();
        content.clear();
        if found.is_empty_tree() {
            return Ok(Some(content));
        }
        let Some(location) = self.source.store.locate(&found)? else {
            return Ok(None);
        };
        match self.reader.read(&found, location)? {
            (ObjectKind::Tree, bytes) => content.extend_from_slice(bytes),
            (kind, _) => {
                return Err(Error::WrongKind {
                    id: *id,
                    found: kind.name(),
                    expected: "tree",
                })
            }
        }
        Ok(Some(content))
    }

    /// Takes back a content that is done with.
    pub fn give_back(&mut self, content: Vec<u8>) {
        if self.pool.len() < POOL {
            self.pool.push(content);
        }
    }

    /// Bytes of the blob `id`; `None` if it is nowhere, or no blob.
    pub fn blob_size(&mut self, id: &ObjectId) -> Result<Option<u64>> {
        let found = self.source.replacement(id);
        let Some(location) = self.source.store.locate(&found)? else {
            return Ok(None);
        };
        let header = self.reader.header(&found, location)?;
        Ok((header.kind == ObjectKind::Blob).then_some(header.size))
    }
}
