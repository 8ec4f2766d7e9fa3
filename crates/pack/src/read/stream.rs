//! Large objects, piece by piece: pushed to a sink, or pulled by whoever asks for the next piece.

use super::chain::Root;
use super::failure::Failure;
use super::reader::Reader;
use crate::database::store::ObjectStore;
use crate::error::{Error, Result};
use crate::fault::Fault;
use crate::object::Location;
use crate::object::Place;
use gix_hash::{oid, ObjectId};
use hedgerow_codec::StreamInflater;
use hedgerow_object::{ObjectHeader, ObjectKind};
use std::io;

/// The size of the pieces that a streamed object is passed on in. What fits in one is not
/// streamed but read.
const PIECE_BYTES: usize = 256 * 1024;

/// Who receives the pieces of a streamed object.
type Sink<'f> = dyn FnMut(&[u8]) -> io::Result<()> + 'f;

/// The content of an object that is no delta, inflated as it is asked for: constant memory,
/// whatever its size.
///
/// Pieces have been given out by the time damage further on is found, which is then an error: there
/// is no second try from another copy, and what was given out must be thrown away.
pub struct ObjectStream {
    id: ObjectId,
    at: Location,
    kind: ObjectKind,
    size_bytes: u64,
    source: Source,
    inflater: StreamInflater,
    /// Bytes of content that were given out.
    given_bytes: u64,
    is_finished: bool,
}

/// Where the compressed bytes come from.
enum Source {
    Entry {
        place: Place,
        /// Of the compressed bytes, those that are used up.
        consumed: usize,
    },
    Loose(Box<LooseSource>),
}

struct LooseSource {
    file: hedgerow_fs::ReadFile,
    input: Vec<u8>,
    /// What of `input` is still to be inflated.
    start: usize,
    end: usize,
    /// The start of what was inflated, until the header is cut off; then content that came with it.
    inflated: Vec<u8>,
    has_header: bool,
}

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
            sink(
                piece
                    .get(..count)
                    .expect("no more is inflated than there is room for"),
            )
            .map_err(|source| Error::Sink {
                id: id.to_owned(),
                source,
            })?;
        }
    }

    /// The content of the object `id`, which is at `location`, to be read in pieces; `None` if it
    /// is a delta, which must be built whole, or so small that it had better be.
    pub fn open_stream(&mut self, id: &oid, location: Location) -> Result<Option<ObjectStream>> {
        let found = self.repairing(id, location, |reader, at| reader.source(id, at))?;
        let Some((source, at)) = found else {
            return Ok(None);
        };
        let header = self.header(id, at)?;
        if header.size <= PIECE_BYTES as u64 {
            return Ok(None);
        }
        if let (Some(bases), Some(place)) = (self.bases, at.place()) {
            bases.skip(place);
        }
        Ok(Some(ObjectStream {
            id: id.to_owned(),
            at,
            kind: header.kind,
            size_bytes: header.size,
            source,
            inflater: StreamInflater::new(),
            given_bytes: 0,
            is_finished: false,
        }))
    }

    fn source(
        &mut self,
        id: &oid,
        location: Location,
    ) -> Result<Option<(Source, Location)>, Failure> {
        let root = self.walk_down(id, location)?;
        if self.is_delta() {
            return Ok(None);
        }
        match root {
            Root::Entry { place, .. } => {
                let source = Source::Entry { place, consumed: 0 };
                Ok(Some((source, place.into())))
            }
            Root::Shared(_) => Ok(None),
            Root::Loose { directory, id } => {
                let unreadable =
                    |error| Failure::loose(directory, id, Fault::Unreadable(text(&error)));
                let file = self.store.open_loose(directory, &id).map_err(unreadable)?;
                let source = Source::Loose(Box::new(LooseSource {
                    file,
                    input: vec![0; PIECE_BYTES],
                    start: 0,
                    end: 0,
                    inflated: Vec::new(),
                    has_header: false,
                }));
                Ok(Some((source, Location::Loose { directory })))
            }
        }
    }
}

impl ObjectStream {
    /// The kind of the object.
    pub fn kind(&self) -> ObjectKind {
        self.kind
    }

    /// Bytes of the whole content.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Reads what comes next, as much as is at hand and fits; 0 says that the content ends, as its
    /// header said it would. `store` is the one that it was opened in.
    pub fn read(&mut self, store: &ObjectStore, buffer: &mut [u8]) -> Result<usize> {
        let outcome = self.next(store, buffer);
        outcome.map_err(|fault| {
            let failure = Failure {
                at: self.at,
                id: Some(self.id),
                fault,
            };
            failure.into_error(store, &self.id)
        })
    }

    fn next(&mut self, store: &ObjectStore, buffer: &mut [u8]) -> Result<usize, Fault> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let count = match &mut self.source {
                _ if self.is_finished => return Ok(0),
                Source::Entry { place, consumed } => {
                    let pack = store.pack(place.pack).ok_or(Fault::Outside)?;
                    let (_, input) = pack.entry(place.offset)?;
                    let input = input.get(*consumed..);
                    let input = input.expect("no more is consumed than is there");
                    let step = self.inflater.step(input, buffer)?;
                    *consumed += step.consumed;
                    self.is_finished = step.finished;
                    if step.written == 0 && step.consumed == 0 && !step.finished {
                        return Err(hedgerow_codec::Error::Truncated.into());
                    }
                    step.written
                }
                Source::Loose(source) => {
                    let (count, finished) = source.next(&mut self.inflater, buffer)?;
                    self.is_finished = finished;
                    count
                }
            };
            self.given_bytes += count as u64;
            if self.given_bytes > self.size_bytes {
                return Err(hedgerow_codec::Error::TooLong.into());
            }
            if self.is_finished && self.given_bytes < self.size_bytes {
                return Err(hedgerow_codec::Error::TooShort.into());
            }
            if count > 0 {
                return Ok(count);
            }
        }
    }
}

impl LooseSource {
    /// The number of bytes of content that were put into `buffer`, and whether that was all.
    fn next(
        &mut self,
        inflater: &mut StreamInflater,
        buffer: &mut [u8],
    ) -> Result<(usize, bool), Fault> {
        if self.has_header && !self.inflated.is_empty() {
            let count = self.inflated.len().min(buffer.len());
            let ready = self.inflated.drain(..count);
            buffer
                .iter_mut()
                .zip(ready)
                .for_each(|(to, from)| *to = from);
            return Ok((count, false));
        }
        if self.start == self.end {
            (self.start, self.end) = (0, self.file.read(&mut self.input).map_err(unreadable)?);
        }
        let input = self.input.get(self.start..self.end);
        let input = input.expect("no more is consumed than was read");
        let mut small = [0; ObjectHeader::MAX_BYTES];
        let out = if self.has_header {
            buffer
        } else {
            &mut small[..]
        };
        let step = inflater.step(input, out)?;
        self.start += step.consumed;
        if step.written == 0 && step.consumed == 0 && self.end == 0 && !step.finished {
            return Err(hedgerow_codec::Error::Truncated.into());
        }
        let mut count = step.written;
        if !self.has_header {
            count = 0;
            let written = small
                .get(..step.written)
                .expect("no more is inflated than there is room for");
            self.inflated.extend_from_slice(written);
            if self.inflated.contains(&0) || self.inflated.len() >= ObjectHeader::MAX_BYTES {
                let header = ObjectHeader::parse(&self.inflated);
                let (_, length) = header.ok_or(Fault::LooseHeader)?;
                self.inflated.drain(..length);
                self.has_header = true;
            }
        }
        if !step.finished {
            return Ok((count, false));
        }
        let mut more = [0; 1];
        if self.start < self.end || self.file.read(&mut more).map_err(unreadable)? > 0 {
            return Err(Fault::LooseGarbage);
        }
        Ok((count, true))
    }
}

fn unreadable(error: hedgerow_fs::Error) -> Fault {
    Fault::Unreadable(text(&error))
}

fn text(error: &hedgerow_fs::Error) -> String {
    error.to_string()
}
