use crate::chain::Root;
use crate::object::Place;
use crate::repair::Failure;
use crate::{loose, Error, Fault, Location, ObjectHeader, ObjectKind, Reader, Result};
use gix_hash::oid;
use hedgerow_codec::StreamInflater;
use std::io;

/// The size of the pieces that a streamed object is passed on in. What fits in one is not
/// streamed but read.
const PIECE_BYTES: usize = 256 * 1024;

/// Who receives the pieces of a streamed object.
type Sink<'f> = dyn FnMut(&[u8]) -> io::Result<()> + 'f;

/// Where an object that is large and whole is streamed from.
enum Source {
    Entry(Place, ObjectKind),
    Loose(hedgerow_fs::ReadFile),
}

/// What stops a stream.
enum Stop {
    Fault(Fault),
    Sink(io::Error),
}

impl<T: Into<Fault>> From<T> for Stop {
    fn from(fault: T) -> Self {
        Stop::Fault(fault.into())
    }
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
        let header = self.header(id, location)?;
        if header.size > PIECE_BYTES as u64 {
            let found = self.repairing(id, location, |reader, at| reader.stream_source(id, at))?;
            if let Some((source, at)) = found {
                return self.stream_from(id, source, at, header, sink);
            }
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

    /// Where to stream the object from; `None` if it must be built.
    fn stream_source(
        &mut self,
        id: &oid,
        location: Location,
    ) -> Result<Option<(Source, Location)>, Failure> {
        let root = self.walk(id, location, None)?;
        if self.is_delta() {
            return Ok(None);
        }
        match root {
            Root::Entry { place, kind } => Ok(Some((Source::Entry(place, kind), place.into()))),
            Root::Shared(_) => Ok(None),
            Root::Loose { directory, id } => {
                let unreadable = |error: hedgerow_fs::Error| {
                    Failure::loose(directory, id, Fault::Unreadable(error.to_string()))
                };
                let file = self.store.open_loose(directory, &id).map_err(unreadable)?;
                Ok(Some((Source::Loose(file), Location::Loose { directory })))
            }
        }
    }

    fn stream_from(
        &mut self,
        id: &oid,
        source: Source,
        at: Location,
        header: ObjectHeader,
        sink: &mut Sink<'_>,
    ) -> Result<ObjectHeader> {
        self.stream.reset();
        let mut piece = vec![0; PIECE_BYTES];
        if let (Some(bases), Some(place)) = (self.bases, at.place()) {
            bases.skip(place);
        }
        let outcome = match source {
            Source::Entry(place, kind) => self
                .stream_entry(place, &mut piece, sink)
                .map(|size| ObjectHeader { kind, size }),
            Source::Loose(file) => stream_loose(
                &mut self.stream,
                &file,
                &mut self.input,
                &mut piece,
                header.size,
                sink,
            )
            .map(|()| header),
        };
        outcome.map_err(|stop| match stop {
            Stop::Sink(source) => Error::Sink {
                id: id.to_owned(),
                source,
            },
            Stop::Fault(fault) => {
                let id_of_file = Some(id.to_owned());
                let failure = Failure {
                    at,
                    id: id_of_file,
                    fault,
                };
                failure.into_error(self.store, id)
            }
        })
    }

    fn stream_entry(
        &mut self,
        place: Place,
        piece: &mut [u8],
        sink: &mut Sink<'_>,
    ) -> Result<u64, Stop> {
        let pack = self.store.pack(place.pack).ok_or(Fault::Outside)?;
        let (entry, mut input) = pack.entry(place.offset)?;
        let mut total = 0;
        loop {
            let step = self.stream.step(input, piece)?;
            input = input.get(step.consumed..).unwrap_or_default();
            total += step.written as u64;
            check_total(total, entry.size, step.finished)?;
            if step.written > 0 {
                sink(piece.get(..step.written).unwrap_or_default()).map_err(Stop::Sink)?;
            }
            if step.finished {
                return Ok(total);
            }
            if step.written == 0 && step.consumed == 0 {
                return Err(hedgerow_codec::Error::Truncated.into());
            }
        }
    }
}

/// Streams the content of a loose object of `size` bytes, whose header the stream starts with.
fn stream_loose(
    inflater: &mut StreamInflater,
    file: &hedgerow_fs::ReadFile,
    input: &mut Vec<u8>,
    piece: &mut [u8],
    size: u64,
    sink: &mut Sink<'_>,
) -> Result<(), Stop> {
    input.resize(input.len().max(PIECE_BYTES), 0);
    let (mut start, mut end) = (0, 0);
    let mut total = 0;
    let mut header_bytes = None;
    loop {
        if start == end {
            let unreadable = |error: hedgerow_fs::Error| Fault::Unreadable(error.to_string());
            (start, end) = (0, file.read(input).map_err(unreadable)?);
        }
        let step = inflater.step(input.get(start..end).unwrap_or_default(), piece)?;
        start += step.consumed;
        let mut content = piece.get(..step.written).unwrap_or_default();
        if header_bytes.is_none() && step.written > 0 {
            let (_, length) = loose::parse_header(content)?;
            content = content.get(length..).unwrap_or_default();
            header_bytes = Some(length);
        }
        total += content.len() as u64;
        check_total(total, size, step.finished)?;
        if !content.is_empty() {
            sink(content).map_err(Stop::Sink)?;
        }
        if step.finished {
            break;
        }
        if step.written == 0 && step.consumed == 0 && end == 0 {
            return Err(hedgerow_codec::Error::Truncated.into());
        }
    }
    let unreadable = |error: hedgerow_fs::Error| Fault::Unreadable(error.to_string());
    if start < end || file.read(input).map_err(unreadable)? > 0 {
        return Err(Fault::LooseGarbage.into());
    }
    Ok(())
}

/// Whether `total` bytes so far can be, or at the end are, the `declared` size.
fn check_total(total: u64, declared: u64, finished: bool) -> Result<(), hedgerow_codec::Error> {
    if total > declared {
        return Err(hedgerow_codec::Error::TooLong);
    }
    if finished && total < declared {
        return Err(hedgerow_codec::Error::TooShort);
    }
    Ok(())
}
