//! The first pass over a pack in a file, in parallel.
//!
//! The start of an entry can only be known from the end of the previous one. So the pack is split
//! at guesses: positions where something that looks like entries starts. What was scanned from a
//! guess is accepted only if the previous part ends exactly there; otherwise that part is scanned
//! again from the end of the previous one.

use super::check::Findings;
use super::examine::Examination;
use super::record::Records;
use super::scan::Scanner;
use super::Refusal;
use crate::error::Result;
use crate::pack_file::entry::{self, PACK_HEADER_BYTES};
use crate::read::scratch::Scratch;
use hedgerow_codec::Inflater;
use hedgerow_engine::Stage;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Minimum size of a part, in bytes.
const MIN_PART_BYTES: usize = 1 << 20;
/// Number of parts per thread: parts take different times.
const PARTS_PER_THREAD: usize = 8;
/// Number of bytes that are searched for a guess.
const SEARCH_BYTES: usize = 1 << 20;
/// Number of consecutive entries required for a guess.
const ENTRIES_FOR_GUESS: usize = 3;
/// A guess does not start with an entry larger than this, in bytes.
const GUESS_BYTES: u64 = 1 << 20;

/// The result of the first pass over a part of a pack.
struct Part {
    records: Records,
    findings: Findings,
    /// The end of the part, or the error.
    end: Result<u64>,
}

/// Scans `data`, a pack without its checksum, whose header gives `count` entries.
pub(crate) fn scan(
    data: &[u8],
    count: u32,
    examination: Examination<'_>,
) -> Result<(Records, Findings)> {
    let threads = examination.execution.threads().get();
    let wanted = (data.len() / MIN_PART_BYTES).min(threads * PARTS_PER_THREAD);
    let starts = match threads {
        1 => vec![PACK_HEADER_BYTES],
        _ => guess(data, wanted, examination.hash.len_in_bytes()),
    };
    scan_from(data, count, &starts, examination)
}

/// Scans in parts that are assumed to start at `starts`.
fn scan_from(
    data: &[u8],
    count: u32,
    starts: &[u64],
    examination: Examination<'_>,
) -> Result<(Records, Findings)> {
    let end = data.len() as u64;
    let end_of = |part: usize| starts.get(part + 1).copied().unwrap_or(end);
    let parts: Vec<Mutex<Option<Part>>> = starts.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let received = examination.execution.progress.stage(Stage::Receiving);
    let work = || loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let (Some(start), Some(slot)) = (starts.get(number), parts.get(number)) else {
            break;
        };
        let part = scan_part(data, *start, end_of(number), count, examination);
        received.step(part.records.list.len() as u64);
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(part);
    };
    let threads = examination.execution.threads().get();
    let others = threads.min(starts.len()).saturating_sub(1);
    for outcome in hedgerow_fs::threads::together("scan", others, work) {
        outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    }
    let mut records = Records::default();
    let mut findings = Findings::default();
    let mut at = PACK_HEADER_BYTES;
    for (number, part) in parts.into_iter().enumerate() {
        let scanned = part.into_inner().unwrap_or_else(PoisonError::into_inner);
        let part = match scanned {
            Some(part) if starts.get(number) == Some(&at) => part,
            // The end of a part may belong to an entry that started before it.
            _ if at >= end_of(number) => continue,
            _ => scan_part(data, at, end_of(number), count, examination),
        };
        records.append(part.records);
        findings.append(part.findings);
        at = part.end?;
    }
    match (records.list.len() as u64).cmp(&u64::from(count)) {
        std::cmp::Ordering::Less => Err(Refusal::EarlyEnd.into()),
        std::cmp::Ordering::Equal if at == end => Ok((records, findings)),
        _ => Err(Refusal::Checksum.into()),
    }
}

/// Scans the entries that start from `start` on and before `end`, at most `count`.
fn scan_part(data: &[u8], start: u64, end: u64, count: u32, examination: Examination<'_>) -> Part {
    let mut scanner = Scanner::new(examination);
    let mut records = Records::default();
    let mut at = Ok(start);
    while let Ok(offset) = at {
        if offset >= end || records.list.len() as u64 >= u64::from(count) {
            break;
        }
        at = examination
            .go_on()
            .and_then(|()| scanner.scan(data, offset, &mut records));
    }
    Part {
        records,
        findings: scanner.examiner.findings,
        end: at,
    }
}

/// Possible starts of `wanted` parts of about the same size; the first is the first entry.
fn guess(data: &[u8], wanted: usize, hash_len: usize) -> Vec<u64> {
    let mut starts = vec![PACK_HEADER_BYTES];
    let mut guesser = Guesser {
        data,
        hash_len,
        inflater: Inflater::new(),
        buffer: Scratch::default(),
    };
    for part in 1..wanted {
        let from = (data.len() as u64 * part as u64 / wanted as u64) as usize;
        let to = from.saturating_add(SEARCH_BYTES).min(data.len());
        let found = (from..to).find(|at| guesser.looks_like_entries(*at as u64));
        if let Some(found) = found.filter(|at| starts.last() < Some(&(*at as u64))) {
            starts.push(found as u64);
        }
    }
    starts
}

struct Guesser<'d> {
    data: &'d [u8],
    hash_len: usize,
    inflater: Inflater,
    buffer: Scratch,
}

impl Guesser<'_> {
    /// Whether several entries follow each other from `at` on.
    fn looks_like_entries(&mut self, mut at: u64) -> bool {
        for _ in 0..ENTRIES_FOR_GUESS {
            match self.end_of_entry(at) {
                Some(end) if end == self.data.len() as u64 => return true,
                Some(end) => at = end,
                None => return false,
            }
        }
        true
    }

    fn end_of_entry(&mut self, at: u64) -> Option<u64> {
        let entry = entry::parse(self.data, at, self.hash_len).ok()?;
        let input = self.data.get(entry.data..)?;
        let header = u16::from_be_bytes(*input.first_chunk()?);
        // Check for a zlib header (RFC 1950): the method deflate, and the check bits of the two
        // bytes.
        if entry.size > GUESS_BYTES || header >> 8 & 15 != 8 || header % 31 != 0 {
            return None;
        }
        let buffer = self.buffer.prepare(entry.size as usize);
        let consumed = self.inflater.zlib_into(input, buffer).ok()?;
        Some((entry.data + consumed) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::indexer::check::Checks;
    use hedgerow_codec::deflate;
    use hedgerow_engine::Execution;
    use std::num::NonZeroUsize;

    /// A pack of blobs without its checksum, and the offsets of its entries. Each blob is stored
    /// uncompressed, and starts with bytes that look like an entry.
    fn pack(count: u32) -> (Vec<u8>, Vec<u64>) {
        let decoy = [vec![0x33], deflate(b"abc", 6)].concat();
        let decoys = decoy.repeat(ENTRIES_FOR_GUESS + 2);
        let mut data = [
            b"PACK".as_slice(),
            &2_u32.to_be_bytes(),
            &count.to_be_bytes(),
        ]
        .concat();
        let mut starts = Vec::new();
        for number in 0..count {
            starts.push(data.len() as u64);
            let content = [decoys.as_slice(), &number.to_be_bytes()].concat();
            let size = content.len();
            data.push(0x80 | 0x30 | (size & 15) as u8);
            data.push((size >> 4) as u8);
            data.extend_from_slice(&deflate(&content, 0));
        }
        (data, starts)
    }

    #[test]
    fn guesses_count_only_where_the_part_before_ends() {
        let (data, starts) = pack(50);
        let checks = Checks {
            hash: gix_hash::Kind::Sha1,
            rules: None,
            links: false,
            kinds: false,
            grafts: Default::default(),
            not_promised: None,
        };
        let examination = Examination {
            hash: gix_hash::Kind::Sha1,
            existing: None,
            checks: &checks,
            execution: &Execution::default(),
        };
        let scan = |guesses: &[u64], threads| {
            let execution = Execution::with_threads(NonZeroUsize::new(threads).unwrap());
            let examination = Examination {
                execution: &execution,
                ..examination
            };
            let scanned = scan_from(&data, 50, guesses, examination);
            scanned.unwrap().0.list
        };
        let expected = scan(&[12], 1);
        let offsets: Vec<u64> = expected.iter().map(|record| record.offset).collect();
        assert_eq!(offsets, starts);
        // Guesses: right, within a blob where entries seem to start, at no entry, one entry apart.
        let decoy = starts[20] + 2 + 7;
        for guesses in [
            vec![12, starts[10], starts[30]],
            vec![12, decoy, starts[30]],
            vec![12, decoy, decoy + 1, starts[21], starts[40]],
            vec![12, starts[10] + 1, starts[10] + 2, starts[49] + 3],
            starts.clone(),
        ] {
            assert!(scan(&guesses, 3) == expected, "{guesses:?}");
        }
        let looks = guess(&data, 40, 20);
        assert!(looks.len() > 10);
        assert!(
            looks.iter().any(|at| !starts.contains(at)),
            "no guess is wrong"
        );
        assert!(scan(&looks, 2) == expected);
    }

    #[test]
    fn more_or_fewer_entries_than_the_header_says_are_refused() {
        let (data, starts) = pack(5);
        let checks = Checks {
            hash: gix_hash::Kind::Sha1,
            rules: None,
            links: false,
            kinds: false,
            grafts: Default::default(),
            not_promised: None,
        };
        let examination = Examination {
            hash: gix_hash::Kind::Sha1,
            existing: None,
            checks: &checks,
            execution: &Execution::with_threads(NonZeroUsize::new(2).unwrap()),
        };
        for (count, guesses) in [
            (4, vec![12]),
            (6, vec![12]),
            (4, starts.clone()),
            (6, starts),
        ] {
            assert!(scan_from(&data, count, &guesses, examination).is_err());
        }
    }
}
