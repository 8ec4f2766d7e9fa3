use crate::{Error, Location, ObjectHeader, ObjectStream, Reader, Result};
use gix_hash::oid;
use std::io;

/// The size of the pieces that a streamed object is passed on in. What fits in one is not
/// streamed but read.
pub(crate) const PIECE_BYTES: usize = 256 * 1024;

/// Who receives the pieces of a streamed object.
type Sink<'f> = dyn FnMut(&[u8]) -> io::Result<()> + 'f;

impl Reader<'_> {
    /// Passes the content of the object `id`, which is at `location`, to `sink` in pieces of at
    /// most 256 KiB. Loose objects and those that are no deltas take constant memory, whatever
    /// their size; deltas are built whole first, as git does.
    ///
    /// Pieces have been passed on by the time damage further on is found, which is then an error:
    /// there is no second try from another copy, and what was passed on must be thrown away.
    pub fn stream(
        &mut self,
        id: &oid,
        location: Location,
        sink: &mut Sink<'_>,
    ) -> Result<ObjectHeader> {
        if let Some(stream) = self.open_stream(id, location)? {
            return self.pass_on(id, stream, sink);
        }
        let (kind, content) = self.read(id, location)?;
        let size = content.len() as u64;
        for piece in content.chunks(PIECE_BYTES) {
            sink(piece).map_err(|source| Error::Sink {
                id: id.to_owned(),
                source,
            })?;
        }
        Ok(ObjectHeader { kind, size })
    }

    fn pass_on(
        &self,
        id: &oid,
        mut stream: ObjectStream,
        sink: &mut Sink<'_>,
    ) -> Result<ObjectHeader> {
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            let count = stream.read(self.store, &mut piece)?;
            if count == 0 {
                return Ok(ObjectHeader {
                    kind: stream.kind(),
                    size: stream.size_bytes(),
                });
            }
            sink(piece.get(..count).unwrap_or_default()).map_err(|source| Error::Sink {
                id: id.to_owned(),
                source,
            })?;
        }
    }
}
