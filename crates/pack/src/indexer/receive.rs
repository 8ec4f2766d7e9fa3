//! The first pass over a pack from a stream: entries are scanned as they arrive, while another
//! thread writes them to a file. The end of the pack is not known in advance, and the sender may
//! wait for an answer, so no unneeded byte is waited for.

use super::check::Findings;
use super::examine::Examination;
use super::record::Records;
use super::scan::{is_streamed, unknown, Scanner};
use super::Refusal;
use crate::error::{Error, Result};
use crate::fault::Fault;
use crate::format::big_endian::u32_at;
use crate::format::hashed_file::TrailerHasher;
use crate::pack_file::entry::{self, Entry, EntryForm, PACK_HEADER_BYTES};
use gix_hash::{Kind, ObjectId};
use hedgerow_codec::{can_expand_to, crc32};
use hedgerow_engine::Stage;
use hedgerow_fs::threads::start_scoped;
use hedgerow_fs::{FileKind, OutputFile, ReadFile};
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};

/// Number of bytes requested at a time.
const READ_BYTES: usize = 256 << 10;
/// Maximum number of pieces waiting to be written.
const PIECES_AHEAD: usize = 16;

/// The received pack.
pub(crate) struct Received {
    pub records: Records,
    pub findings: Findings,
    /// The end of the entries.
    pub end: u64,
    /// The trailing hash of the pack.
    pub checksum: ObjectId,
    /// Bytes read after the pack.
    pub rest: Vec<u8>,
}

/// Receives the rest of the pack from `input`, after `before`, which was already read, into `file`.
pub(crate) fn receive(
    input: &ReadFile,
    before: &[u8],
    file: &OutputFile,
    limit: Option<u64>,
    examination: Examination<'_>,
) -> Result<Received> {
    let hash = examination.hash;
    let (sender, pieces) = sync_channel(PIECES_AHEAD);
    std::thread::scope(|scope| {
        let writing = start_scoped(scope, "write", move || write(&pieces, file, hash));
        let out = match &writing {
            Ok(_) => Out::Beside(sender),
            // The thread only makes it faster.
            Err(_) => Out::Here(Writer::new(file, hash)),
        };
        let mut feed = Feed {
            input,
            window: before.to_vec(),
            start: 0,
            flushed: 0,
            offset: 0,
            crc32: 0,
            limit,
            out,
        };
        let scanned = scan(&mut feed, examination);
        let trailer = scanned.and_then(|scanned| {
            feed.flush()?;
            feed.fill(hash.len_in_bytes())?;
            Ok(scanned)
        });
        let end = feed.offset;
        let Feed {
            window, start, out, ..
        } = feed;
        // If the writer failed, that caused the other error.
        let written = match (out, writing) {
            (Out::Here(writer), _) => writer.finish(),
            (Out::Beside(sender), writing) => {
                drop(sender);
                writing?.join().expect("writing does not panic")?
            }
        };
        let (records, findings) = trailer?;
        let (_, rest) = window.split_at(start);
        let (trailer, rest) = rest
            .split_at_checked(hash.len_in_bytes())
            .expect("the checksum was waited for");
        if trailer != written.as_bytes() {
            return Err(Refusal::Checksum.into());
        }
        refuse_junk(input, rest)?;
        file.write_at(trailer, end)?;
        Ok(Received {
            records,
            findings,
            end,
            checksum: written,
            rest: rest.to_vec(),
        })
    })
}

/// The destination of the pieces.
enum Out<'f> {
    /// A thread that writes them.
    Beside(SyncSender<Vec<u8>>),
    /// The file.
    Here(Writer<'f>),
}

/// Writes pieces one after the other.
struct Writer<'f> {
    file: &'f OutputFile,
    hasher: TrailerHasher,
    at: u64,
}

impl<'f> Writer<'f> {
    fn new(file: &'f OutputFile, hash: Kind) -> Self {
        Writer {
            file,
            hasher: TrailerHasher::new(hash),
            at: 0,
        }
    }

    fn add(&mut self, piece: &[u8]) -> Result<()> {
        self.file.write_at(piece, self.at)?;
        self.hasher.update(piece);
        self.at += piece.len() as u64;
        Ok(())
    }

    /// The hash of all pieces.
    fn finish(self) -> ObjectId {
        self.hasher.finish()
    }
}

/// Writes the pieces. Returns their hash.
fn write(pieces: &Receiver<Vec<u8>>, file: &OutputFile, hash: Kind) -> Result<ObjectId> {
    let mut writer = Writer::new(file, hash);
    for piece in pieces {
        writer.add(&piece)?;
    }
    Ok(writer.finish())
}

/// Unlike a pipe, a file must have no data after the pack.
fn refuse_junk(input: &ReadFile, rest: &[u8]) -> Result<()> {
    let is_file = input.stat().is_ok_and(|stat| stat.kind == FileKind::File);
    if is_file && (!rest.is_empty() || input.read(&mut [0])? > 0) {
        return Err(Refusal::Junk.into());
    }
    Ok(())
}

fn scan(feed: &mut Feed<'_>, examination: Examination<'_>) -> Result<(Records, Findings)> {
    feed.fill(PACK_HEADER_BYTES as usize)?;
    let count = parse_header(&feed.window)?;
    feed.take(PACK_HEADER_BYTES as usize);
    let received = examination.execution.progress.stage(Stage::Receiving);
    received.expect(u64::from(count));
    let mut scanner = Scanner::new(examination);
    let mut records = Records::default();
    for _ in 0..count {
        examination.go_on()?;
        scan_entry(feed, &mut scanner, &mut records)?;
        received.step(1);
        received.set_bytes(feed.offset);
    }
    Ok((records, scanner.examiner.findings))
}

/// The number of entries given in the pack header at the start of `data`.
pub(crate) fn parse_header(data: &[u8]) -> Result<u32> {
    if data.get(..4) != Some(b"PACK") {
        return Err(Refusal::Signature.into());
    }
    match u32_at(data, 4) {
        Some(2 | 3) => {}
        Some(version) => return Err(Refusal::Version(version).into()),
        None => return Err(Refusal::EarlyEnd.into()),
    }
    u32_at(data, 8).ok_or(Refusal::EarlyEnd.into())
}

fn scan_entry(feed: &mut Feed<'_>, scanner: &mut Scanner<'_>, records: &mut Records) -> Result<()> {
    let offset = feed.offset;
    let bad = |fault| Error::from(Refusal::BadEntry { offset, fault });
    feed.crc32 = 0;
    let (entry, header_len) = loop {
        match entry::parse_at(&feed.window, feed.start, offset, scanner.hash_len) {
            Ok(entry) => break (entry, entry.data - feed.start),
            Err(Fault::TruncatedHeader | Fault::Outside) => feed.read_more()?,
            Err(fault) => return Err(bad(fault)),
        }
    };
    let id = match scan_at_once(feed, scanner, &entry) {
        Some(consumed) => {
            feed.take(header_len + consumed);
            scanner.examine(&entry)?
        }
        None => {
            feed.take(header_len);
            if is_streamed(&entry) {
                pass_through(feed, scanner, offset, &entry)?
            } else {
                scan_slowly(feed, scanner, offset, &entry)?
            }
        }
    };
    records.push(offset, &entry, header_len, id, feed.crc32);
    Ok(())
}

/// Inflates the entry if it has arrived completely. Returns its compressed length.
fn scan_at_once(feed: &Feed<'_>, scanner: &mut Scanner<'_>, entry: &Entry) -> Option<usize> {
    let input = feed.window.get(entry.data..)?;
    if is_streamed(entry) || !can_expand_to(input.len() as u64, entry.size) {
        return None;
    }
    let buffer = scanner.buffer.prepare(entry.size as usize);
    scanner.inflater.zlib_into(input, buffer).ok()
}

/// Inflates an entry that has arrived only in part. Its buffer grows with the data that arrives.
fn scan_slowly(
    feed: &mut Feed<'_>,
    scanner: &mut Scanner<'_>,
    offset: u64,
    entry: &Entry,
) -> Result<ObjectId> {
    let bad = |error: hedgerow_codec::Error| {
        let fault = error.into();
        Error::from(Refusal::BadEntry { offset, fault })
    };
    let mut content: Vec<u8> = Vec::new();
    let mut piece = vec![0; READ_BYTES];
    scanner.stream.reset();
    loop {
        let step = scanner
            .stream
            .step(feed.available(), &mut piece)
            .map_err(bad)?;
        feed.take(step.consumed);
        content.extend_from_slice(
            piece
                .get(..step.written)
                .expect("no more is inflated than there is room for"),
        );
        if content.len() as u64 > entry.size {
            return Err(bad(hedgerow_codec::Error::TooLong));
        }
        if step.finished {
            break;
        }
        if step.consumed == 0 && step.written == 0 {
            feed.read_more()?;
        }
    }
    if content.len() as u64 != entry.size {
        return Err(bad(hedgerow_codec::Error::TooShort));
    }
    match entry.kind {
        EntryForm::Whole(kind) => scanner.examiner.examine(kind, &content),
        _ => Ok(unknown(scanner.hash())),
    }
}

/// Inflates an entry in pieces that is too large for memory.
fn pass_through(
    feed: &mut Feed<'_>,
    scanner: &mut Scanner<'_>,
    offset: u64,
    entry: &Entry,
) -> Result<ObjectId> {
    scanner.pass_pieces(offset, entry, &mut |stream, piece| loop {
        let step = stream.step(feed.available(), piece).map_err(Fault::from)?;
        feed.take(step.consumed);
        if step.finished || step.written > 0 {
            return Ok((step.written, step.finished));
        }
        if step.consumed == 0 {
            feed.read_more()?;
        }
    })
}

/// The stream, with the part of it that is in memory.
struct Feed<'f> {
    input: &'f ReadFile,
    window: Vec<u8>,
    /// The end of the scanned part of the window.
    start: usize,
    /// The end of the part of the window that was passed on for writing.
    flushed: usize,
    /// The offset in the pack up to which it is scanned.
    offset: u64,
    /// The CRC-32 of the bytes taken since it was reset.
    crc32: u32,
    limit: Option<u64>,
    out: Out<'f>,
}

impl Feed<'_> {
    fn available(&self) -> &[u8] {
        self.window
            .get(self.start..)
            .expect("what was scanned is in the window")
    }

    /// Marks `count` available bytes as scanned.
    fn take(&mut self, count: usize) {
        let end = self.start + count;
        let taken = self.window.get(self.start..end);
        let taken = taken.expect("no more is taken than is there");
        self.crc32 = crc32(self.crc32, taken);
        self.offset += taken.len() as u64;
        self.start = end;
    }

    /// Waits until at least `count` bytes are available.
    fn fill(&mut self, count: usize) -> Result<()> {
        while self.available().len() < count {
            self.read_more()?;
        }
        Ok(())
    }

    /// Waits for more bytes; the end of the stream is an error.
    fn read_more(&mut self) -> Result<()> {
        self.flush()?;
        self.window.drain(..self.start);
        (self.start, self.flushed) = (0, 0);
        let held = self.window.len();
        self.window.resize(held + READ_BYTES, 0);
        let (_, room) = self.window.split_at_mut(held);
        let count = self.input.read(room)?;
        self.window.truncate(held + count);
        if count == 0 {
            return Err(Refusal::EarlyEnd.into());
        }
        match self.limit {
            Some(limit) if self.offset + self.window.len() as u64 > limit => {
                Err(Refusal::TooLarge { limit }.into())
            }
            _ => Ok(()),
        }
    }

    /// Passes on what was scanned. Fails if the writer has failed, which reports the reason.
    fn flush(&mut self) -> Result<()> {
        let piece = self
            .window
            .get(self.flushed..self.start)
            .expect("what was passed on was scanned before");
        if !piece.is_empty() {
            match &mut self.out {
                Out::Here(writer) => writer.add(piece)?,
                Out::Beside(sender) => {
                    let sent = sender.send(piece.to_vec());
                    sent.map_err(|_| Refusal::EarlyEnd)?;
                }
            }
        }
        self.flushed = self.start;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_that_is_cut_short_has_no_version() {
        let fault = |data: &[u8]| parse_header(data).unwrap_err().to_string();
        assert_eq!(fault(b"PACK\0\0"), "early EOF");
        assert_eq!(fault(b"PACK\0\0\0\x02\0"), "early EOF");
        assert_eq!(
            fault(b"PACK\0\0\0\x05\0\0\0\0"),
            "pack version 5 unsupported"
        );
        assert_eq!(parse_header(b"PACK\0\0\0\x02\0\0\0\x07").unwrap(), 7);
    }
}
