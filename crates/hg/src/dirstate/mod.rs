//! Mercurial's record of the working copy: the tracked paths, and their stat data when they were
//! last known to be clean.
//!
//! There are two formats. The first is one file of unordered records
//! (<https://www.mercurial-scm.org/wiki/DirState>), the second a small docket file that names a
//! data file with a tree of nodes (`hg help internals.dirstate-v2`). Both are represented as the
//! file's bytes with a list of entries that point into them.

mod entry;
mod v1;
mod v2;

pub use entry::{Entry, Expected, Mtime};
pub use v2::Docket;

use crate::{Error, Result};
use entry::Span;
use std::fmt::Write;
use std::path::Path;

/// The id of a changeset: a SHA-1.
pub type NodeId = [u8; 20];
/// The id that means no changeset, such as the parent of the first one.
pub const NULL_ID: NodeId = [0; 20];
/// Upper size limit of a dirstate, in bytes. It limits reading, and fits 32-bit offsets.
const FILE_BYTES: u64 = 2 << 30;

/// The dirstate of a working copy.
#[derive(Clone, Debug, Default)]
pub struct Dirstate {
    data: Vec<u8>,
    parents: [NodeId; 2],
    /// Ascending by the bytes of their paths.
    entries: Vec<Entry>,
}

impl Dirstate {
    /// Reads the dirstate in the directory `hg` (`.hg`). A repository from which nothing was
    /// checked out yet has none, which counts as empty.
    ///
    /// With the second format, a missing data file means that Mercurial replaced it after the
    /// docket was read, so the docket is read again.
    pub fn read(hg: &Path, is_v2: bool) -> Result<Self> {
        const ATTEMPTS: usize = 5;
        let path = hg.join("dirstate");
        let mut docket = None;
        for _ in 0..ATTEMPTS {
            let Some(content) = hedgerow_fs::read_file(&path, FILE_BYTES)? else {
                return Ok(Dirstate::default());
            };
            if !is_v2 {
                return Dirstate::parse_v1(content, &path);
            }
            let parsed = Docket::parse(&content, &path)?;
            let data_path = hg.join(parsed.data_file_name());
            if parsed.data_bytes == 0 {
                return parsed.with_data(Vec::new(), &data_path);
            }
            if let Some(data) = hedgerow_fs::read_file(&data_path, FILE_BYTES)? {
                return parsed.with_data(data, &data_path);
            }
            if docket.as_ref() == Some(&parsed) {
                break;
            }
            docket = Some(parsed);
        }
        let name = docket.map(|docket| docket.data_file_name());
        let name = name.unwrap_or_default();
        Err(corrupt(
            &path,
            format_args!("its data file '{name}' is missing"),
        ))
    }

    /// Parses the first format. `path` is for errors.
    pub fn parse_v1(content: Vec<u8>, path: &Path) -> Result<Self> {
        let (parents, entries) = v1::parse(&content, path)?;
        Dirstate::new(content, parents, entries, path)
    }

    fn new(
        data: Vec<u8>,
        parents: [NodeId; 2],
        mut entries: Vec<Entry>,
        path: &Path,
    ) -> Result<Self> {
        let bytes = |entry: &Entry| entry.path.of(&data).unwrap_or_default();
        if !entries.is_sorted_by(|one, other| bytes(one) < bytes(other)) {
            entries.sort_unstable_by(|one, other| bytes(one).cmp(bytes(other)));
        }
        let twice = entries
            .windows(2)
            .find(|pair| matches!(pair, [one, other] if bytes(one) == bytes(other)));
        if let Some([one, _]) = twice {
            let name = bstr::BStr::new(bytes(one));
            return Err(corrupt(path, format_args!("'{name}' is in it twice")));
        }
        Ok(Dirstate {
            data,
            parents,
            entries,
        })
    }

    /// The parents of the working copy; the second is [`NULL_ID`] unless a merge is in progress.
    pub fn parents(&self) -> &[NodeId; 2] {
        &self.parents
    }

    /// Its entries, ascending by the bytes of their paths; paths are unique.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The path of an entry of this dirstate: not empty, relative, without components that are
    /// empty, `.` or `..`.
    pub fn path(&self, entry: &Entry) -> &[u8] {
        entry.path.of(&self.data).unwrap_or_default()
    }

    /// The path that an entry was copied or renamed from, if it was.
    pub fn copy_source(&self, entry: &Entry) -> Option<&[u8]> {
        if entry.source.is_empty() {
            None
        } else {
            entry.source.of(&self.data)
        }
    }

    /// The entry of `path`.
    pub fn find(&self, path: &[u8]) -> Option<&Entry> {
        let found = self
            .entries
            .binary_search_by(|entry| self.path(entry).cmp(path));
        found.ok().and_then(|position| self.entries.get(position))
    }
}

/// A node id in hexadecimal digits.
pub fn hexadecimal(id: &NodeId) -> String {
    let mut text = String::with_capacity(2 * id.len());
    for byte in id {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn corrupt(path: &Path, reason: impl std::fmt::Display) -> Error {
    Error::Corrupt {
        path: path.to_owned(),
        reason: reason.to_string(),
    }
}

/// Whether a path is valid for a file below the working copy's root.
fn is_inside(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/')
        .all(|part| !matches!(part, b"" | b"." | b".."))
        && !path.contains(&0)
}
