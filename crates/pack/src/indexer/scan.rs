//! The first pass over one entry: determines its end, its CRC-32 and, unless it is a delta, its id.

use super::examine::{Examination, Examiner};
use super::record::Records;
use super::Refusal;
use crate::error::{Error, Result};
use crate::fault::Fault;
use crate::pack_file::entry::{self, Entry, EntryForm};
use crate::read::scratch::Scratch;
use gix_hash::ObjectId;
use hedgerow_codec::{can_expand_to, crc32, Inflater, StreamInflater};
use hedgerow_object::ObjectKind;

/// Blobs and deltas larger than this, in bytes, are processed in pieces.
pub(crate) const HELD_BYTES: u64 = 16 << 20;
/// The size of a piece, in bytes.
const PIECE_BYTES: usize = 64 << 10;

/// Scans entries one after the other, with reused inflaters and buffer.
#[derive(Debug)]
pub(crate) struct Scanner<'e> {
    pub hash_len: usize,
    pub inflater: Inflater,
    pub stream: StreamInflater,
    pub buffer: Scratch,
    pub examiner: Examiner<'e>,
}

/// The placeholder for the id of a delta until it is resolved.
pub(crate) fn unknown(hash: gix_hash::Kind) -> ObjectId {
    ObjectId::null(hash)
}

impl<'e> Scanner<'e> {
    pub fn new(examination: Examination<'e>) -> Self {
        Scanner {
            hash_len: examination.hash.len_in_bytes(),
            inflater: Inflater::new(),
            stream: StreamInflater::new(),
            buffer: Scratch::default(),
            examiner: Examiner::new(examination),
        }
    }

    /// Scans the entry at `offset` of `data`, the pack without its checksum, into `records`.
    /// Returns the offset of the next entry.
    pub fn scan(&mut self, data: &[u8], offset: u64, records: &mut Records) -> Result<u64> {
        let bad = |fault| Error::from(Refusal::BadEntry { offset, fault });
        let entry = entry::parse(data, offset, self.hash_len).map_err(|fault| match fault {
            Fault::Outside => Refusal::EarlyEnd.into(),
            fault => bad(fault),
        })?;
        let (_, input) = data.split_at(entry.data);
        if !can_expand_to(input.len() as u64, entry.size) {
            return Err(bad(Fault::Implausible(entry.size)));
        }
        let (consumed, id) = if is_streamed(&entry) {
            self.pass_through(offset, &entry, input)?
        } else {
            let buffer = self.buffer.prepare(entry.size as usize);
            let inflated = self.inflater.zlib_into(input, buffer);
            let consumed = inflated.map_err(|error| bad(error.into()))?;
            (consumed, self.examine(&entry)?)
        };
        let start = offset as usize;
        let end = entry.data + consumed;
        let bytes = data.get(start..end);
        let crc32 = crc32(0, bytes.expect("no more is consumed than is there"));
        records.push(offset, &entry, entry.data - start, id, crc32);
        Ok(end as u64)
    }

    /// The id of the object inflated into the buffer; a placeholder for a delta.
    pub fn examine(&mut self, entry: &Entry) -> Result<ObjectId> {
        let content = self.buffer.get(..entry.size as usize);
        let content = content.expect("the entry was inflated into the buffer");
        match entry.kind {
            EntryForm::Whole(kind) => self.examiner.examine(kind, content),
            _ => Ok(unknown(self.hash())),
        }
    }

    pub fn hash(&self) -> gix_hash::Kind {
        match self.hash_len {
            32 => gix_hash::Kind::Sha256,
            _ => gix_hash::Kind::Sha1,
        }
    }

    /// Inflates an entry that is too large for memory in pieces.
    fn pass_through(
        &mut self,
        offset: u64,
        entry: &Entry,
        input: &[u8],
    ) -> Result<(usize, ObjectId)> {
        let mut at = 0;
        let id = self.pass_pieces(offset, entry, &mut |stream, piece| {
            let rest = input.get(at..).expect("no more is consumed than is there");
            let step = stream.step(rest, piece).map_err(Fault::from)?;
            at += step.consumed;
            if step.consumed == 0 && step.written == 0 && !step.finished {
                return Err(Fault::Zlib(hedgerow_codec::Error::Truncated).into());
            }
            Ok((step.written, step.finished))
        })?;
        Ok((at, id))
    }

    /// Processes the pieces from `inflate`, which fills the front of its buffer, and returns the
    /// number of bytes and whether the stream has ended. Returns the id if the entry is an object.
    pub fn pass_pieces(
        &mut self,
        offset: u64,
        entry: &Entry,
        inflate: &mut Inflate<'_>,
    ) -> Result<ObjectId> {
        let bad = |fault| Error::from(Refusal::BadEntry { offset, fault });
        let mut hasher = match entry.kind {
            EntryForm::Whole(kind) => Some(self.examiner.start(kind, entry.size)),
            _ => None,
        };
        let mut piece = vec![0; PIECE_BYTES];
        let mut total = 0_u64;
        self.stream.reset();
        loop {
            let (written, finished) =
                inflate(&mut self.stream, &mut piece).map_err(|error| match error {
                    PieceError::Fault(fault) => bad(fault),
                    PieceError::Other(error) => *error,
                })?;
            total += written as u64;
            if total > entry.size {
                return Err(bad(hedgerow_codec::Error::TooLong.into()));
            }
            if let Some(hasher) = &mut hasher {
                hasher.update(
                    piece
                        .get(..written)
                        .expect("no more is inflated than there is room for"),
                );
            }
            if finished {
                break;
            }
        }
        if total != entry.size {
            return Err(bad(hedgerow_codec::Error::TooShort.into()));
        }
        match hasher {
            Some(hasher) => self.examiner.examine_large(hasher, offset, entry.size),
            None => Ok(unknown(self.hash())),
        }
    }
}

/// Fills the front of a buffer; returns the number of bytes and whether the stream has ended.
pub(crate) type Inflate<'f> = dyn FnMut(&mut StreamInflater, &mut [u8]) -> std::result::Result<(usize, bool), PieceError>
    + 'f;

/// Why there is no next piece.
pub(crate) enum PieceError {
    Fault(Fault),
    Other(Box<Error>),
}

impl From<Fault> for PieceError {
    fn from(fault: Fault) -> Self {
        PieceError::Fault(fault)
    }
}

impl From<Error> for PieceError {
    fn from(error: Error) -> Self {
        PieceError::Other(Box::new(error))
    }
}

/// Whether the entry is processed in pieces. Commits, trees and tags are kept in memory whatever
/// their size, because they are checked.
pub(crate) fn is_streamed(entry: &Entry) -> bool {
    let is_held = matches!(
        entry.kind,
        EntryForm::Whole(ObjectKind::Commit | ObjectKind::Tree | ObjectKind::Tag)
    );
    entry.size > HELD_BYTES && !is_held
}
