//! `link`: a split index, whose entries are those of a shared index with some deleted, some
//! replaced and some added. When an index is split anew is decided in `worktree::split_index`.

use super::super::cursor::{Cursor, Parsed, Problem};
use super::super::decode::{object_id, Rows};
use super::super::entry::{Entry, Flags, PathRange};
use bstr::{BStr, ByteSlice};
use gix_hash::{Kind, ObjectId};
use hedgerow_object::ewah::encode_positions;
use std::cmp::Ordering;
use std::sync::Arc;

/// The shared index that a split index is based on.
#[derive(Clone, Debug)]
pub(crate) struct SharedIndex {
    /// Its checksum and the name of its file; null if there is none yet.
    pub id: ObjectId,
    rows: Arc<Rows>,
}

/// What a split index holds besides its shared index.
pub(in super::super) struct Remainder<'i> {
    /// Its entries in the order of the file: those that replace another have no path.
    pub entries: Vec<(&'i BStr, &'i Entry)>,
    /// The content of the extension.
    pub link: Vec<u8>,
}

impl SharedIndex {
    pub(in super::super) fn new(id: ObjectId, entries: &[Entry], paths: &[u8]) -> Self {
        let rows = Rows {
            entries: entries.to_owned(),
            paths: paths.to_owned(),
        };
        SharedIndex {
            id,
            rows: Arc::new(rows),
        }
    }

    /// The shared index that is still to be made.
    pub(crate) fn none(hash: Kind) -> Self {
        SharedIndex::new(hash.null(), &[], &[])
    }

    /// What has to be written besides it for an index with these entries.
    pub(in super::super) fn remainder<'i>(
        &self,
        index: impl Iterator<Item = (&'i BStr, &'i Entry)>,
    ) -> Remainder<'i> {
        let (mut replacing, mut added) = (Vec::new(), Vec::new());
        let (mut deleted, mut replaced) = (Vec::new(), Vec::new());
        let base = self.rows.entries.iter();
        let mut base = (0u32..).zip(base).peekable();
        for (path, entry) in index {
            let key = (path, entry.flags.stage);
            while let Some((position, _)) = base.next_if(|(_, old)| self.key(old) < key) {
                deleted.push(position);
            }
            match base.next_if(|(_, old)| self.key(old) == key) {
                None => added.push((path, entry)),
                Some((_, old)) if is_same(old, entry) => {}
                Some((position, _)) => {
                    replaced.push(position);
                    replacing.push((b"".as_bstr(), entry));
                }
            }
        }
        deleted.extend(base.map(|(position, _)| position));
        let mut link = self.id.as_slice().to_owned();
        link.extend(encode_positions(deleted));
        link.extend(encode_positions(replaced));
        replacing.extend(added);
        Remainder {
            entries: replacing,
            link,
        }
    }

    fn key(&self, entry: &Entry) -> (&BStr, super::super::Stage) {
        let path = self.rows.paths.get(entry.path.as_range());
        (path.unwrap_or_default().as_bstr(), entry.flags.stage)
    }
}

/// Whether a file has the same bytes for both entries but for their paths.
fn is_same(a: &Entry, b: &Entry) -> bool {
    let stored = |flags: Flags| Flags {
        fsmonitor_valid: false,
        ..flags
    };
    (a.id, a.mode, a.stat, stored(a.flags)) == (b.id, b.mode, b.stat, stored(b.flags))
}

/// The extension as stored in a file.
pub(in super::super) struct Link<'a> {
    /// The checksum and the name of the shared index; null if there is none.
    pub(in super::super) base: ObjectId,
    bitmaps: &'a [u8],
}

impl<'a> Link<'a> {
    pub(in super::super) fn parse(data: &'a [u8], hash: Kind) -> Parsed<Self> {
        let mut cursor = Cursor::new(data);
        let base = cursor
            .take(hash.len_in_bytes())
            .ok_or("extension 'link' is too short")?;
        Ok(Link {
            base: object_id(base)?,
            bitmaps: cursor.rest(),
        })
    }

    /// The shared index with these rows, or none.
    pub(in super::super) fn shared(&self, rows: Option<Rows>) -> SharedIndex {
        let rows = rows.unwrap_or_default();
        SharedIndex {
            id: self.base,
            rows: Arc::new(rows),
        }
    }

    /// Merges the rows of a split index: `own`, from the file with this extension, are applied to
    /// `base`, those of the shared index. The order of the result remains to be checked.
    pub(in super::super) fn merge(&self, base: Rows, mut own: Rows) -> Parsed<Rows> {
        let (deleted, replaced) = self.bitmaps(base.entries.len())?;
        let shift = base.paths.len();
        for entry in &mut own.entries {
            let (start, len) = (entry.path.start as usize, entry.path.len as usize);
            entry.path = PathRange::new(start + shift, len).ok_or("paths of more than 4 GiB")?;
        }
        let mut rows = base;
        rows.paths.extend_from_slice(&own.paths);

        let added = own.entries.split_off(replaced.len().min(own.entries.len()));
        if own.entries.len() < replaced.len() {
            return Err("extension 'link' replaces more entries than there are".into());
        }
        for (&position, replacement) in replaced.iter().zip(&own.entries) {
            if replacement.path.len != 0 {
                return Err("extension 'link' replaces an entry by one with a path".into());
            }
            let entry = rows.entries.get_mut(position as usize).ok_or(OUTSIDE)?;
            let path = entry.path;
            *entry = *replacement;
            entry.path = path;
        }
        remove(&mut rows.entries, &deleted);
        rows.entries = union(&rows.paths, rows.entries, added);
        Ok(rows)
    }

    /// The positions of the shared index's `entries` that are deleted, and of those that are
    /// replaced.
    fn bitmaps(&self, entries: usize) -> Parsed<(Vec<u32>, Vec<u32>)> {
        if self.bitmaps.is_empty() {
            return Ok(Default::default());
        }
        let mut cursor = Cursor::new(self.bitmaps);
        let deleted = cursor.bitmap(entries).map_err(in_link)?;
        let replaced = cursor.bitmap(entries).map_err(in_link)?;
        if cursor.is_empty() {
            Ok((deleted, replaced))
        } else {
            Err("extension 'link' has bytes behind its bitmaps".into())
        }
    }
}

const OUTSIDE: &str = "extension 'link' replaces an entry that is not there";

fn in_link(problem: Problem) -> Problem {
    match problem {
        Problem::Corrupt(reason) => format!("extension 'link': {reason}").into(),
        other => other,
    }
}

/// Removes the entries at `positions`, ascending.
fn remove(entries: &mut Vec<Entry>, positions: &[u32]) {
    let mut doomed = positions.iter().copied().peekable();
    let mut position = 0u32;
    entries.retain(|_| {
        let keep = doomed.next_if_eq(&position).is_none();
        position = position.saturating_add(1);
        keep
    });
}

/// Merges both lists; an entry that is in both is taken from `added`.
fn union(paths: &[u8], base: Vec<Entry>, added: Vec<Entry>) -> Vec<Entry> {
    let key = |entry: &Entry| (paths.get(entry.path.as_range()), entry.flags.stage);
    let mut merged = Vec::with_capacity(base.len() + added.len());
    let mut base = base.into_iter().peekable();
    for new in added {
        while let Some(old) = base.next_if(|old| key(old) < key(&new)) {
            merged.push(old);
        }
        base.next_if(|old| key(old).cmp(&key(&new)) == Ordering::Equal);
        merged.push(new);
    }
    merged.extend(base);
    merged
}
