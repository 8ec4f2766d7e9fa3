//! `link`: a split index, whose entries are those of a shared index with some deleted, some
//! replaced and some added.

use super::super::cursor::{Cursor, Parsed, Problem};
use super::super::decode::{object_id, Rows};
use super::super::entry::{Entry, PathRange};
use gix_hash::{Kind, ObjectId};
use std::cmp::Ordering;

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
