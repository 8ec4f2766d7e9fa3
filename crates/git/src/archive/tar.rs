//! The headers of a tar archive as git-archive(1) writes it: ustar, with the extended headers of pax
//! for what does not fit.

use bstr::{BStr, ByteSlice};
use hedgerow_tree::EntryKind;
use std::ops::Range;

/// The size of a header, to a multiple of which contents are filled up, in bytes.
pub(super) const RECORD_BYTES: usize = 512;
/// An archive is filled up to a multiple of this, in bytes.
const BLOCK_BYTES: u64 = 20 * RECORD_BYTES as u64;
/// The largest size and time that 11 octal digits hold.
const LARGEST: u64 = 0o77_777_777_777;

const NAME: Range<usize> = 0..100;
const MODE: Range<usize> = 100..108;
const UID: Range<usize> = 108..116;
const GID: Range<usize> = 116..124;
const SIZE: Range<usize> = 124..136;
const MTIME: Range<usize> = 136..148;
const CHECKSUM: Range<usize> = 148..156;
const TYPE: usize = 156;
const LINK: Range<usize> = 157..257;
const MAGIC: Range<usize> = 257..265;
const USER: Range<usize> = 265..297;
const GROUP: Range<usize> = 297..329;
const MAJOR: Range<usize> = 329..337;
const MINOR: Range<usize> = 337..345;
const PREFIX: Range<usize> = 345..500;

/// The permission bits of headers that describe others.
const PLAIN: u16 = 0o666;

/// What the header of an entry says.
pub(super) struct Described<'a> {
    /// With a slash at the end of a directory's.
    pub path: &'a BStr,
    pub kind: EntryKind,
    pub mode: u16,
    /// The object, after which headers are named whose path does not fit.
    pub id: &'a str,
    pub size_bytes: u64,
    /// The target of a link.
    pub target: &'a [u8],
}

/// What all headers of an archive have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Headers {
    mtime: u64,
}

impl Headers {
    /// For entries of that time, in seconds; and the header of the whole archive, which names the
    /// commit, if there is something to tell.
    pub fn new(mtime_s: i64, commit: Option<&str>) -> (Self, Vec<u8>) {
        let whole = u64::try_from(mtime_s).unwrap_or(0);
        let headers = Headers {
            mtime: whole.min(LARGEST),
        };
        let mut records = Vec::new();
        if let Some(commit) = commit {
            record(&mut records, "comment", commit.as_bytes());
        }
        if whole > LARGEST {
            record(&mut records, "mtime", whole.to_string().as_bytes());
        }
        let mut text = Vec::new();
        if !records.is_empty() {
            headers.extended(b'g', b"pax_global_header", &records, &mut text);
        }
        (headers, text)
    }

    /// The headers of an entry.
    pub fn entry(&self, entry: &Described<'_>) -> Vec<u8> {
        let mut header = [0; RECORD_BYTES];
        let mut records = Vec::new();
        if let Some(at) = split(entry.path) {
            put(&mut header[PREFIX], &entry.path[..at]);
            put(&mut header[NAME], &entry.path[at + 1..]);
        } else if entry.path.len() <= NAME.len() {
            put(&mut header[NAME], entry.path);
        } else {
            put(&mut header[NAME], format!("{}.data", entry.id).as_bytes());
            record(&mut records, "path", entry.path);
        }
        if entry.target.len() > LINK.len() {
            let name = format!("see {}.paxheader", entry.id);
            put(&mut header[LINK], name.as_bytes());
            record(&mut records, "linkpath", entry.target);
        } else {
            put(&mut header[LINK], entry.target);
        }
        let mut size = entry.size_bytes;
        if size > LARGEST {
            size = 0;
            let digits = entry.size_bytes.to_string();
            record(&mut records, "size", digits.as_bytes());
        }
        header[TYPE] = match entry.kind {
            EntryKind::Directory | EntryKind::Gitlink => b'5',
            EntryKind::Symlink => b'2',
            EntryKind::File | EntryKind::Executable => b'0',
        };
        let mut text = Vec::with_capacity(RECORD_BYTES);
        if !records.is_empty() {
            let name = format!("{}.paxheader", entry.id);
            self.extended(b'x', name.as_bytes(), &records, &mut text);
        }
        self.complete(&mut header, entry.mode, size);
        text.extend_from_slice(&header);
        text
    }

    /// A header with records for those that follow.
    fn extended(&self, kind: u8, name: &[u8], records: &[u8], text: &mut Vec<u8>) {
        let mut header = [0; RECORD_BYTES];
        header[TYPE] = kind;
        put(&mut header[NAME], name);
        self.complete(&mut header, PLAIN, records.len() as u64);
        text.extend_from_slice(&header);
        text.extend_from_slice(records);
        let filling = padding(records.len() as u64);
        text.resize(text.len() + filling, 0);
    }

    /// Fills in what every header has.
    fn complete(&self, header: &mut [u8; RECORD_BYTES], mode: u16, size: u64) {
        put(&mut header[MODE], format!("{mode:07o}").as_bytes());
        put(&mut header[UID], b"0000000");
        put(&mut header[GID], b"0000000");
        put(&mut header[SIZE], format!("{size:011o}").as_bytes());
        put(
            &mut header[MTIME],
            format!("{:011o}", self.mtime).as_bytes(),
        );
        put(&mut header[MAGIC], b"ustar\x0000");
        put(&mut header[USER], b"root");
        put(&mut header[GROUP], b"root");
        put(&mut header[MAJOR], b"0000000");
        put(&mut header[MINOR], b"0000000");
        // The sum is made with blanks in its own place.
        put(&mut header[CHECKSUM], b"        ");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        put(&mut header[CHECKSUM], format!("{sum:07o}\0").as_bytes());
    }
}

fn put(field: &mut [u8], value: &[u8]) {
    field[..value.len()].copy_from_slice(value);
}

/// The slash at which a path is split that is too long for one field; `None` if it fits, or if no
/// slash splits it well.
fn split(path: &[u8]) -> Option<usize> {
    if path.len() <= NAME.len() {
        return None;
    }
    let end = path.strip_suffix(b"/").unwrap_or(path).len();
    let at = path[..end.min(PREFIX.len())].rfind_byte(b'/')?;
    (at > 0 && path.len() - at - 1 <= NAME.len()).then_some(at)
}

/// Appends `LENGTH KEY=VALUE` and a newline; the length counts its own digits.
fn record(records: &mut Vec<u8>, key: &str, value: &[u8]) {
    // A blank, an equals sign and a newline.
    let fixed = key.len() + value.len() + 3;
    let mut length = fixed + 1;
    while length != fixed + length.to_string().len() {
        length = fixed + length.to_string().len();
    }
    records.extend_from_slice(format!("{length} {key}=").as_bytes());
    records.extend_from_slice(value);
    records.push(b'\n');
}

/// What fills a content up to whole records, in bytes.
pub(super) fn padding(size_bytes: u64) -> usize {
    let rest = (size_bytes % RECORD_BYTES as u64) as usize;
    (RECORD_BYTES - rest) % RECORD_BYTES
}

/// What ends an archive of that many bytes: at least two records of zeros, up to a whole block.
pub(super) fn trailer(written_bytes: u64) -> Vec<u8> {
    let mut count = BLOCK_BYTES - written_bytes % BLOCK_BYTES;
    if count < 2 * RECORD_BYTES as u64 {
        count += BLOCK_BYTES;
    }
    vec![0; count as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_counts_its_own_length() {
        for (value, expected) in [(1, 6), (4, 9), (5, 11), (93, 99), (94, 101), (95, 102)] {
            let mut records = Vec::new();
            record(&mut records, "k", &vec![b'v'; value]);
            assert_eq!(records.len(), expected, "{value}");
            assert!(records.starts_with(format!("{expected} k=").as_bytes()));
        }
    }

    #[test]
    fn a_size_that_does_not_fit_is_in_a_record() {
        let (headers, whole) = Headers::new(LARGEST as i64 + 1, None);
        assert!(whole.find(b"20 mtime=8589934592\n").is_some());
        let entry = |size_bytes| {
            headers.entry(&Described {
                path: "large".into(),
                kind: EntryKind::File,
                mode: 0o664,
                id: "1234",
                size_bytes,
                target: b"",
            })
        };
        assert_eq!(entry(LARGEST).len(), RECORD_BYTES);
        let text = entry(LARGEST + 1);
        assert_eq!(text.len(), 3 * RECORD_BYTES);
        assert!(text.starts_with(b"1234.paxheader\0"));
        assert!(text[RECORD_BYTES..].starts_with(b"19 size=8589934592\n"));
        assert_eq!(&text[2 * RECORD_BYTES..][SIZE], b"00000000000\0");
    }

    #[test]
    fn an_archive_ends_with_a_whole_block() {
        for (written, expected) in [(0, 10_240), (512, 9_728), (9_216, 1_024), (9_728, 10_752)] {
            assert_eq!(trailer(written).len(), expected, "{written}");
        }
    }
}
