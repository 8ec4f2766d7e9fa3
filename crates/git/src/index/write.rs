//! Writing an index.

use super::cursor::push_varint;
use super::entry::Entry;
use super::extensions::{self, fsmonitor};
use super::prefix::common_len;
use super::{checksum, is_racy_by_seconds, Index, Version};
use gix_hash::ObjectId;
use hedgerow_fs::Timestamp;

/// Options for writing an index.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteOptions {
    /// The version to write instead of the index's own: `index.version`. 2 becomes 3 if the flags
    /// of an entry need it, and 3 becomes 2 if none do.
    pub version: Option<Version>,
    /// Write zeros instead of a checksum: `index.skipHash`.
    pub skip_hash: bool,
    /// Entries whose files changed in this second or later are written with the size 0, so that
    /// every reader reads those files. This is a coarse substitute for
    /// [`Index::smudge_racily_clean`] for a writer that does not examine the files.
    pub index_mtime_for_racy: Option<Timestamp>,
}

impl Index {
    /// Appends the bytes of an index file to `out` and returns its checksum, which is null if it
    /// was left out.
    pub fn write(&self, out: &mut Vec<u8>, options: &WriteOptions) -> ObjectId {
        let start = out.len();
        let version = self.version_to_write(options);
        out.reserve(self.size_hint());
        out.extend_from_slice(b"DIRC");
        out.extend_from_slice(&version_number(version).to_be_bytes());
        out.extend_from_slice(&(self.entries.len() as u32).to_be_bytes());
        let mut previous: &[u8] = &[];
        for entry in &self.entries {
            let size = match options.index_mtime_for_racy {
                Some(mtime) if is_racy_by_seconds(entry, mtime) => 0,
                _ => entry.stat.size,
            };
            let path = self.path(entry);
            push_entry(
                out,
                entry,
                size,
                path,
                (version == Version::V4).then_some(previous),
            );
            previous = path;
        }
        self.push_extensions(out);
        let trailer = if options.skip_hash {
            self.hash.null()
        } else {
            checksum::of(self.hash, &out[start..])
        };
        out.extend_from_slice(trailer.as_slice());
        trailer
    }

    fn version_to_write(&self, options: &WriteOptions) -> Version {
        match options.version.unwrap_or(self.version) {
            Version::V4 => Version::V4,
            _ if self.entries.iter().any(|entry| entry.flags.are_extended()) => Version::V3,
            _ => Version::V2,
        }
    }

    /// Estimated size of the output in bytes, so that the buffer need not be reallocated.
    fn size_hint(&self) -> usize {
        let fixed = 40 + self.hash.len_in_bytes() + 4;
        self.entries.len() * (fixed + 8) + self.paths.len() + (self.paths.len() >> 3) + 4096
    }

    fn push_extensions(&self, out: &mut Vec<u8>) {
        let kept = &self.extensions;
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
            extensions::push(out, b"FSMN", &fsmonitor::serialize(token, &self.entries));
        }
        if kept.sparse {
            extensions::push(out, b"sdir", &[]);
        }
    }
}

fn version_number(version: Version) -> u32 {
    match version {
        Version::V2 => 2,
        Version::V3 => 3,
        Version::V4 => 4,
    }
}

/// Appends `entry` with the size `size`; in version 4, `previous` is the preceding path.
fn push_entry(out: &mut Vec<u8>, entry: &Entry, size: u32, path: &[u8], previous: Option<&[u8]>) {
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
        size,
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
            let common = common_len(previous, path);
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
