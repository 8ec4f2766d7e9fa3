//! Writing an index.

use super::cursor::push_varint;
use super::entry::Entry;
use super::extensions::{self, fsmonitor};
use super::prefix::common_len;
use super::{checksum, Index, Version};
use bstr::BStr;
use gix_hash::ObjectId;

/// How many entries git gives to one of its threads at least.
const ENTRIES_WORTH_A_THREAD: usize = 10_000;

/// Options for writing an index.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteOptions {
    /// The version to write instead of the index's own. 2 becomes 3 if the flags of an entry need
    /// it, and 3 becomes 2 if none do.
    pub version: Option<Version>,
    /// Write zeros instead of a checksum: `index.skipHash`. A shared index always has one.
    pub skip_hash: bool,
    /// Write where the entries end (`EOIE`): `index.recordEndOfIndexEntries`.
    pub end_of_entries: bool,
    /// Write where blocks of entries begin (`IEOT`): `index.recordOffsetTable`.
    pub offset_table: Option<OffsetTable>,
}

/// For how many threads of a reader the blocks of entries are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffsetTable {
    /// So many, if there are as many entries.
    Threads(usize),
    /// As many as this number of processors can use, one of which reads the extensions.
    Processors(usize),
}

impl OffsetTable {
    /// How many entries a block has, if there is more than one block for this number of entries.
    fn block(self, entries: usize) -> Option<usize> {
        let blocks = match self {
            OffsetTable::Threads(threads) => threads.min(entries),
            OffsetTable::Processors(count) => {
                (entries / ENTRIES_WORTH_A_THREAD).min(count.saturating_sub(1))
            }
        };
        (blocks > 1).then(|| entries.div_ceil(blocks))
    }
}

/// Which extensions a file gets besides those for readers with threads.
#[derive(Clone, Copy)]
enum Parts<'a> {
    /// All.
    Whole,
    /// All, and this as `link`.
    Split(&'a [u8]),
    /// None: it is a shared index.
    Shared,
}

impl Index {
    /// Appends the bytes of an index file to `out` and returns its checksum, which is null if it
    /// was left out. A split index is written as a whole one.
    pub fn write(&self, out: &mut Vec<u8>, options: &WriteOptions) -> ObjectId {
        self.write_rows(out, options, self.iter(), Parts::Whole)
    }

    /// Appends the bytes of a shared index with all its entries; the checksum is the name of its
    /// file.
    pub(crate) fn write_shared(&self, out: &mut Vec<u8>, options: &WriteOptions) -> ObjectId {
        let options = WriteOptions {
            skip_hash: false,
            ..*options
        };
        self.write_rows(out, &options, self.iter(), Parts::Shared)
    }

    /// Appends the bytes of a split index: what differs from its shared one. An index that is not to
    /// be split is written as a whole.
    pub(crate) fn write_split(&self, out: &mut Vec<u8>, options: &WriteOptions) -> ObjectId {
        let Some(shared) = self.split() else {
            return self.write(out, options);
        };
        let remainder = shared.remainder(self.iter());
        let parts = Parts::Split(&remainder.link);
        let rows = remainder.entries.iter().copied();
        self.write_rows(out, options, rows, parts)
    }

    /// How many entries are not in the shared index, neither with this content nor with another.
    pub(crate) fn count_unshared(&self) -> usize {
        let Some(shared) = self.split() else {
            return self.entries.len();
        };
        let remainder = shared.remainder(self.iter());
        let has_path = |(path, _): &&(&BStr, &Entry)| !path.is_empty();
        remainder.entries.iter().filter(has_path).count()
    }

    fn write_rows<'i>(
        &self,
        out: &mut Vec<u8>,
        options: &WriteOptions,
        rows: impl ExactSizeIterator<Item = (&'i BStr, &'i Entry)> + Clone,
        parts: Parts<'_>,
    ) -> ObjectId {
        let start = out.len();
        let is_extended = |(_, entry): (&BStr, &Entry)| entry.flags.are_extended();
        let version = match options.version.unwrap_or(self.version) {
            Version::V4 => Version::V4,
            _ if rows.clone().any(is_extended) => Version::V3,
            _ => Version::V2,
        };
        let block = options.offset_table.and_then(|it| it.block(rows.len()));
        out.reserve(self.size_hint(rows.len()));
        out.extend_from_slice(b"DIRC");
        out.extend_from_slice(&version_number(version).to_be_bytes());
        out.extend_from_slice(&(rows.len() as u32).to_be_bytes());
        let mut previous: &[u8] = &[];
        let mut blocks: Vec<(usize, u32)> = Vec::new();
        for (position, (path, entry)) in rows.enumerate() {
            let begins_block = block.is_some_and(|block| position % block == 0);
            if begins_block {
                blocks.push((out.len() - start, 0));
            }
            if let Some((_, count)) = blocks.last_mut() {
                *count += 1;
            }
            let previous_path = (version == Version::V4).then_some(previous);
            push_entry(out, entry, path, previous_path, begins_block);
            previous = path;
        }
        let entries_end = out.len();
        if !blocks.is_empty() {
            extensions::push(out, b"IEOT", &offset_table(&blocks));
        }
        self.push_extensions(out, parts);
        if options.end_of_entries {
            let end = self.end_of_entries(&out[start..], entries_end - start);
            extensions::push(out, b"EOIE", &end);
        }
        let trailer = if options.skip_hash {
            self.hash.null()
        } else {
            checksum::of(self.hash, &out[start..])
        };
        out.extend_from_slice(trailer.as_slice());
        trailer
    }

    /// Estimated size of the output in bytes, so that the buffer need not be reallocated.
    fn size_hint(&self, rows: usize) -> usize {
        let fixed = 40 + self.hash.len_in_bytes() + 4;
        // A split index leaves most paths to its shared one.
        let is_whole = rows == self.entries.len();
        let paths = is_whole.then(|| self.paths.len() + (self.paths.len() >> 3));
        rows * (fixed + 8) + paths.unwrap_or(0) + 4096
    }

    fn push_extensions(&self, out: &mut Vec<u8>, parts: Parts<'_>) {
        let kept = &self.extensions;
        match parts {
            Parts::Whole => {}
            Parts::Split(link) => extensions::push(out, b"link", link),
            Parts::Shared => return,
        }
        if let Some(tree) = &kept.cache_tree {
            extensions::push(out, b"TREE", &tree.serialize());
        }
        if let Some(data) = &kept.resolve_undo {
            extensions::push(out, b"REUC", data);
        }
        if let Some(untracked) = &kept.untracked {
            extensions::push(out, b"UNTR", &untracked.serialize());
        }
        if let Some(token) = &kept.fsmonitor_token {
            let dirty = fsmonitor::dirty(&self.entries);
            extensions::push(out, b"FSMN", &fsmonitor::serialize(token, &dirty));
        }
        if kept.sparse {
            extensions::push(out, b"sdir", &[]);
        }
    }

    /// The content of `EOIE`: where the entries of the file `written` end, and a checksum of the
    /// headers of its extensions.
    fn end_of_entries(&self, written: &[u8], entries_end: usize) -> Vec<u8> {
        let mut headers = Vec::new();
        let mut rest = &written[entries_end..];
        while let Some((header, after)) = rest.split_at_checked(8) {
            headers.extend_from_slice(header);
            let size = header[4..]
                .iter()
                .fold(0, |sum, byte| sum << 8 | usize::from(*byte));
            rest = &after[size..];
        }
        let mut content = (entries_end as u32).to_be_bytes().to_vec();
        content.extend_from_slice(checksum::of(self.hash, &headers).as_slice());
        content
    }
}

/// The content of `IEOT`: where each block begins, and how many entries it has.
fn offset_table(blocks: &[(usize, u32)]) -> Vec<u8> {
    let mut content = 1u32.to_be_bytes().to_vec();
    for (offset, count) in blocks {
        content.extend_from_slice(&(*offset as u32).to_be_bytes());
        content.extend_from_slice(&count.to_be_bytes());
    }
    content
}

fn version_number(version: Version) -> u32 {
    match version {
        Version::V2 => 2,
        Version::V3 => 3,
        Version::V4 => 4,
    }
}

/// Appends `entry`; in version 4, `previous` is the preceding path, of which the first entry of a block
/// uses nothing.
fn push_entry(
    out: &mut Vec<u8>,
    entry: &Entry,
    path: &[u8],
    previous: Option<&[u8]>,
    begins_block: bool,
) {
    let start = out.len();
    let stat = &entry.stat;
    let numbers = [
        stat.ctime_s,
        stat.ctime_ns,
        stat.mtime_s,
        stat.mtime_ns,
        stat.dev,
        stat.ino,
        entry.mode.to_u32(),
        stat.uid,
        stat.gid,
        entry.stat.size,
    ];
    let mut head = [0u8; 40];
    for (bytes, number) in head.chunks_exact_mut(4).zip(numbers) {
        bytes.copy_from_slice(&number.to_be_bytes());
    }
    out.extend_from_slice(&head);
    out.extend_from_slice(entry.id.as_slice());
    let (word, extended) = entry.flags.to_words(path.len());
    out.extend_from_slice(&word.to_be_bytes());
    if let Some(extended) = extended {
        out.extend_from_slice(&extended.to_be_bytes());
    }
    match previous {
        Some(previous) => {
            let common = if begins_block {
                0
            } else {
                common_len(previous, path)
            };
            push_varint(out, previous.len() - common);
            out.extend_from_slice(&path[common..]);
            out.push(0);
        }
        None => {
            out.extend_from_slice(path);
            let used = out.len() - start;
            out.resize(start + (used / 8 + 1) * 8, 0);
        }
    }
}
