//! The line about an object, and its content.

use super::format::Facts;
use super::{ObjectQuery, OutputStream};
use hedgerow_pack::{oid, Error, Fault, Location, ObjectKind, ObjectStore, Reader, Result};
use std::ops::ControlFlow;

/// From this size on, contents pass through in pieces, in bytes.
const LARGE_BYTES: u64 = 1 << 20;
const PIECE_BYTES: usize = 64 << 10;

/// An object that a line is about.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    pub id: &'a oid,
    pub location: Location,
    /// Bytes it takes, if they are known already.
    pub disk: Option<u64>,
    /// Whether the line is about what is at the location, even for an object known by heart.
    pub is_by_place: bool,
    pub rest: &'a [u8],
    pub mode: Option<u32>,
}

/// Whether git would call an object missing that this error keeps from being found, or its kind and size
/// from being read. A loose object of a kind that does not exist ends it.
pub fn is_as_missing(error: &Error) -> bool {
    match error {
        Error::CorruptEntry { .. } | Error::UnusablePack { .. } => true,
        Error::CorruptLoose { fault, .. } => *fault != Fault::LooseKind,
        _ => false,
    }
}

/// Appends the line about an object; `None` if the filter leaves it out. Returns its kind if that
/// was asked for.
pub fn write_line(
    query: &ObjectQuery,
    store: &ObjectStore,
    reader: &mut Reader<'_>,
    subject: Subject<'_>,
    buffer: &mut Vec<u8>,
) -> Result<Option<Option<ObjectKind>>> {
    let needs = query.format.needs;
    let Subject { id, location, .. } = subject;
    let mut facts = Facts {
        id: id.as_bytes(),
        kind: None,
        size: 0,
        disk: 0,
        base: None,
        rest: subject.rest,
        mode: subject.mode,
    };
    if id.is_empty_tree() && !subject.is_by_place {
        // Git knows it by heart, and so does not look where it is.
        facts.kind = Some(ObjectKind::Tree);
        if query.leaves_out(ObjectKind::Tree, 0) {
            return Ok(None);
        }
        query.format.write(buffer, &facts);
        buffer.push(query.line_end);
        return Ok(Some(facts.kind));
    }
    if query.needs_kind() {
        let header = reader.header(id, location)?;
        (facts.kind, facts.size) = (Some(header.kind), header.size);
        if query.leaves_out(header.kind, header.size) {
            return Ok(None);
        }
    } else if query.needs_size() {
        facts.size = reader.size_bytes(id, location)?;
    }
    if needs.disk {
        facts.disk = match subject.disk {
            Some(disk) => disk,
            None => store.size_on_disk(id, location)?,
        };
    }
    if needs.base {
        facts.base = store.delta_base(id, location)?;
    }
    query.format.write(buffer, &facts);
    buffer.push(query.line_end);
    Ok(Some(facts.kind))
}

/// Writes the content of an object, and what ends it.
pub fn write_content(
    query: &ObjectQuery,
    store: &ObjectStore,
    reader: &mut Reader<'_>,
    subject: Subject<'_>,
    output: &mut OutputStream<'_>,
) -> Result<ControlFlow<()>> {
    let Subject { id, location, .. } = subject;
    if id.is_empty_tree() {
        output.buffer().push(query.line_end);
        return Ok(output.step());
    }
    let large = if reader.is_streamable(id, location, LARGE_BYTES) {
        reader.open_stream(id, location)?
    } else {
        None
    };
    if let Some(mut pieces) = large {
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            let length = pieces.read(store, &mut piece)?;
            if length == 0 {
                break;
            }
            let piece = piece.get(..length).unwrap_or_default();
            output.buffer().extend_from_slice(piece);
            if output.step().is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    } else {
        let (_, content) = reader.read(id, location)?;
        output.buffer().extend_from_slice(content);
    }
    output.buffer().push(query.line_end);
    Ok(output.step())
}
