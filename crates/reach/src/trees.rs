use crate::finder::Finder;
use crate::source::Source;
use crate::{Error, Result};
use gix_hash::ObjectId;
use hedgerow_pack::{ObjectKind, Reader};
use std::sync::Arc;

/// Size of a reader's cache of reconstructed trees, in bytes.
pub(crate) const RECENT_BYTES: usize = 48 << 20;

/// Reads trees; a content stays valid while others are read.
#[derive(Debug)]
pub(crate) struct TreeReader<'s> {
    source: Source<'s>,
    finder: Finder<'s>,
    reader: Reader<'s>,
}

impl<'s> TreeReader<'s> {
    pub fn new(source: Source<'s>) -> Self {
        TreeReader {
            reader: Reader::with_recent(source.store, RECENT_BYTES),
            finder: Finder::new(source.store),
            source,
        }
    }

    /// The content of the tree `id`; `None` if it is missing.
    pub fn read(&mut self, id: &ObjectId) -> Result<Option<Arc<[u8]>>> {
        self.read_at(id, None)
    }

    /// As [`TreeReader::read`], of a tree whose position in the main pack may be known.
    pub fn read_at(&mut self, id: &ObjectId, position: Option<u32>) -> Result<Option<Arc<[u8]>>> {
        let found = self.source.replacement(id);
        if found.is_empty_tree() {
            return Ok(Some(Arc::default()));
        }
        let Some(location) = self.finder.location_of(&found, id, position)? else {
            return Ok(None);
        };
        match self.reader.read_shared(&found, location)? {
            (ObjectKind::Tree, content) => Ok(Some(content)),
            (kind, _) => Err(Error::WrongKind {
                id: *id,
                found: kind.name(),
                expected: "tree",
            }),
        }
    }

    /// Size of the blob `id` in bytes; `None` if it is missing or not a blob.
    pub fn blob_size(&mut self, id: &ObjectId) -> Result<Option<u64>> {
        let found = self.source.replacement(id);
        let Some(location) = self.source.store.locate(&found)? else {
            return Ok(None);
        };
        let header = self.reader.header(&found, location)?;
        Ok((header.kind == ObjectKind::Blob).then_some(header.size))
    }
}
