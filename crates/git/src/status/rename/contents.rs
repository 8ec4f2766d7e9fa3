//! The sources of contents.

use super::Side;
use crate::repository::{Objects, Repository};
use crate::{Error, Result};
use gix_hash::ObjectId;
use hedgerow_pack::{Location, ObjectKind, Reader};

/// Objects of more bytes than this are streamed where possible.
const STREAMED_BYTES: u64 = 16 << 20;

/// The contents of the sides of pairs, as they are or would be in the object database. Shared by
/// the workers.
///
/// Content that no longer exists, such as a file that was removed meanwhile, has no size and is
/// similar to nothing.
pub trait Contents: Sync {
    /// State that a worker reuses, such as a reader with its buffers.
    type Worker;

    /// A new worker.
    fn worker(&self) -> Self::Worker;

    /// The object id of the content. Only called for sides that have none.
    fn id(&self, worker: &mut Self::Worker, side: &Side) -> Result<Option<ObjectId>>;

    /// Its size in bytes. This and the following methods are only called for regular files.
    fn size(&self, worker: &mut Self::Worker, side: &Side) -> Result<Option<u64>>;

    /// Passes the content to `sink`, in one piece or several.
    fn read(
        &self,
        worker: &mut Self::Worker,
        side: &Side,
        sink: &mut dyn FnMut(&[u8]),
    ) -> Result<()>;

    /// Whether the `diff` attribute declares the path to be text or not; `None` if its content
    /// decides.
    fn is_text(&self, _side: &Side) -> Result<Option<bool>> {
        Ok(None)
    }
}

/// Contents that are in the object database.
#[derive(Clone, Copy, Debug)]
pub struct ObjectContents<'r> {
    objects: Objects<'r>,
}

impl<'r> ObjectContents<'r> {
    /// The contents of objects of `repository`.
    pub fn new(repository: &'r Repository) -> Self {
        ObjectContents {
            objects: repository.shared_objects(),
        }
    }

    fn locate(&self, side: &Side) -> Result<(ObjectId, Location)> {
        let id = side.id.ok_or_else(|| Error::Internal {
            reason: format!("'{}' has no object", side.path),
        })?;
        let id = self.objects.replacement(&id)?;
        let location = self.objects.store.locate(&id)?;
        Ok((id, location.ok_or(Error::MissingBlob { id })?))
    }
}

impl<'r> Contents for ObjectContents<'r> {
    type Worker = Reader<'r>;

    fn worker(&self) -> Reader<'r> {
        Reader::new(self.objects.store)
    }

    fn id(&self, _: &mut Reader<'r>, side: &Side) -> Result<Option<ObjectId>> {
        Ok(side.id)
    }

    fn size(&self, reader: &mut Reader<'r>, side: &Side) -> Result<Option<u64>> {
        let (id, location) = self.locate(side)?;
        let header = reader.header(&id, location)?;
        expect_blob(header.kind, &id)?;
        Ok(Some(header.size))
    }

    fn read(
        &self,
        reader: &mut Reader<'r>,
        side: &Side,
        sink: &mut dyn FnMut(&[u8]),
    ) -> Result<()> {
        let (id, location) = self.locate(side)?;
        if reader.is_streamable(&id, location, STREAMED_BYTES) {
            let mut pass_on = |piece: &[u8]| {
                sink(piece);
                Ok(())
            };
            let header = reader.stream(&id, location, &mut pass_on)?;
            return expect_blob(header.kind, &id);
        }
        let (kind, content) = reader.read(&id, location)?;
        sink(content);
        expect_blob(kind, &id)
    }
}

fn expect_blob(kind: ObjectKind, id: &ObjectId) -> Result<()> {
    let checked = kind.expect(ObjectKind::Blob, id);
    Ok(checked.map_err(hedgerow_pack::Error::from)?)
}
