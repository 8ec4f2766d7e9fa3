//! Parsing entries.

use super::cursor::{Cursor, Parsed, Problem};
use super::entry::{Entry, Flags, Mode, PathRange, NAME_LENGTH};
use super::stat::EntryStat;
use super::Version;
use gix_hash::{Kind, ObjectId};

/// Size of an entry before its object id, in bytes: ten numbers of 32 bits.
const STAT_BYTES: usize = 40;

/// Entries and their paths as stored in a file, in any order.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    pub(super) entries: Vec<Entry>,
    pub(super) paths: Vec<u8>,
}

/// Parses `count` entries from the front of `cursor`.
///
/// Allocates no more than the available bytes can hold. In version 4 a few bytes can expand to a
/// long path, so the total length of the paths is limited: an average above 1,000 bytes is not a
/// real index but an attack.
pub(super) fn entries(
    cursor: &mut Cursor<'_>,
    version: Version,
    hash: Kind,
    count: u32,
) -> Parsed<Rows> {
    let fixed = STAT_BYTES + hash.len_in_bytes() + 2;
    // A path and its NUL take at least one byte; version 4 adds the number of bytes to cut.
    let most = cursor.rest().len() / (fixed + 1);
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    if count > most {
        return Err(format!("{count} entries in a file that has room for {most}").into());
    }
    let path_limit = (cursor.rest().len().saturating_mul(16)).min(u32::MAX as usize);
    let mut rows = Rows {
        entries: Vec::with_capacity(count),
        paths: Vec::with_capacity(count.saturating_mul(32).min(cursor.rest().len())),
    };
    for position in 0..count {
        let entry = match version {
            Version::V4 => compressed(cursor, hash, &mut rows),
            _ => padded(cursor, hash, &mut rows.paths),
        };
        let entry = entry.map_err(|problem| at_entry(problem, position))?;
        if rows.paths.len() > path_limit {
            return Err(format!("paths of more than {path_limit} bytes").into());
        }
        rows.entries.push(entry);
    }
    Ok(rows)
}

/// Passes over `count` entries, which are in the form of version 4 if they are `compressed`, without a look at
/// what they say; `None` if the file ends within them.
pub(super) fn skip(
    cursor: &mut Cursor<'_>,
    compressed: bool,
    hash: Kind,
    count: u32,
) -> Option<()> {
    for _ in 0..count {
        let at_start = cursor.rest().len();
        cursor.take(STAT_BYTES + hash.len_in_bytes())?;
        let word = cursor.be16()?;
        if Flags::second_word_follows(word) {
            cursor.be16()?;
        }
        if compressed {
            cursor.varint()?;
            cursor.until(0)?;
            continue;
        }
        match word & NAME_LENGTH {
            NAME_LENGTH => cursor.until(0)?,
            short => cursor.take(usize::from(short) + 1)?,
        };
        let used = at_start - cursor.rest().len();
        cursor.take(used.next_multiple_of(8) - used)?;
    }
    Some(())
}

#[cold]
fn at_entry(problem: Problem, position: usize) -> Problem {
    match problem {
        Problem::Corrupt(reason) => format!("entry {position}: {reason}").into(),
        other => other,
    }
}

const TRUNCATED: &str = "the file ends within it";

/// An entry of version 2 or 3: the full path, then one to eight NULs up to a multiple of eight.
fn padded(cursor: &mut Cursor<'_>, hash: Kind, paths: &mut Vec<u8>) -> Parsed<Entry> {
    let at_start = cursor.rest().len();
    let (mut entry, name_length) = head(cursor, hash)?;
    let path = match name_length {
        NAME_LENGTH => cursor.until(0).ok_or(TRUNCATED)?,
        short => {
            let path = cursor.take(usize::from(short)).ok_or(TRUNCATED)?;
            match cursor.take_array() {
                Some(&[0]) => path,
                Some(_) => return Err("its path is longer than its flags say".into()),
                None => return Err(TRUNCATED.into()),
            }
        }
    };
    check_length(path, name_length)?;
    let used = at_start - cursor.rest().len();
    let padding = cursor
        .take(used.next_multiple_of(8) - used)
        .ok_or(TRUNCATED)?;
    if padding.iter().any(|&byte| byte != 0) {
        return Err("its padding is not NUL".into());
    }
    entry.path = PathRange::new(paths.len(), path.len()).ok_or("paths of more than 4 GiB")?;
    paths.extend_from_slice(path);
    Ok(entry)
}

/// An entry of version 4: how many bytes to cut from the end of the preceding path, and the bytes
/// to append instead, NUL-terminated.
fn compressed(cursor: &mut Cursor<'_>, hash: Kind, rows: &mut Rows) -> Parsed<Entry> {
    let (mut entry, name_length) = head(cursor, hash)?;
    let cut = cursor.varint().ok_or(TRUNCATED)?;
    let suffix = cursor.until(0).ok_or(TRUNCATED)?;
    let previous = rows
        .entries
        .last()
        .map_or(0..0, |entry| entry.path.as_range());
    let kept = previous
        .len()
        .checked_sub(cut)
        .ok_or("it cuts more from the path before than that has")?;
    let start = rows.paths.len();
    entry.path = PathRange::new(start, kept + suffix.len()).ok_or("paths of more than 4 GiB")?;
    rows.paths
        .extend_from_within(previous.start..previous.start + kept);
    rows.paths.extend_from_slice(suffix);
    check_length(rows.paths.get(start..).unwrap_or_default(), name_length)?;
    Ok(entry)
}

/// Checks the length in the flags, which is capped at 0xFFF, and that the path contains no NUL.
fn check_length(path: &[u8], name_length: u16) -> Parsed<()> {
    if path.len().min(usize::from(NAME_LENGTH)) != usize::from(name_length) {
        return Err("its path is not as long as its flags say".into());
    }
    if name_length != NAME_LENGTH && bstr::ByteSlice::find_byte(path, 0).is_some() {
        return Err("its path is shorter than its flags say".into());
    }
    Ok(())
}

/// Everything of an entry before its path, and the path length from the flags.
fn head(cursor: &mut Cursor<'_>, hash: Kind) -> Parsed<(Entry, u16)> {
    let numbers = cursor.take_array::<STAT_BYTES>().ok_or(TRUNCATED)?;
    let id = cursor.take(hash.len_in_bytes()).ok_or(TRUNCATED)?;
    let word = cursor.be16().ok_or(TRUNCATED)?;
    let extended = if Flags::second_word_follows(word) {
        cursor.be16().ok_or(TRUNCATED)?
    } else {
        0
    };
    let flags = Flags::from_words(word, extended)
        .ok_or_else(|| format!("its flags {extended:#06x} are unknown"))?;
    let raw_mode = number(numbers, 24);
    let mode =
        Mode::from_u32(raw_mode).ok_or_else(|| format!("its mode {raw_mode:o} is unknown"))?;
    let entry = Entry {
        id: object_id(id)?,
        mode,
        stat: EntryStat {
            ctime_s: number(numbers, 0),
            ctime_ns: number(numbers, 4),
            mtime_s: number(numbers, 8),
            mtime_ns: number(numbers, 12),
            dev: number(numbers, 16),
            ino: number(numbers, 20),
            uid: number(numbers, 28),
            gid: number(numbers, 32),
            size: number(numbers, 36),
        },
        flags,
        path: PathRange::default(),
    };
    Ok((entry, word & NAME_LENGTH))
}

/// The number at byte `at`; all positions are constants within the array.
#[inline(always)]
fn number(bytes: &[u8; STAT_BYTES], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// The object id made of exactly these bytes.
pub(super) fn object_id(bytes: &[u8]) -> Parsed<ObjectId> {
    if let Ok(bytes) = bytes.try_into() {
        Ok(ObjectId::Sha1(bytes))
    } else if let Ok(bytes) = bytes.try_into() {
        Ok(ObjectId::Sha256(bytes))
    } else {
        Err("an object id of a length that no hash has".into())
    }
}
