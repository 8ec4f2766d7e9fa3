//! `UNTR`: the untracked files that Git found, by directory. A directory's record is valid as long
//! as the set of tracked paths below it is unchanged; it is dropped when a path is added or removed
//! there.

use super::super::cursor::{push_varint, Cursor};
use gix_hash::Kind;
use hedgerow_object::ewah::encode_positions;
use std::collections::HashMap;

/// Size of two exclude files' stat data of nine numbers each and of 32 flag bits, in bytes.
const FIXED_BYTES: usize = STAT_BYTES * 2 + 4;
/// Size of a directory's stat data, in bytes.
const STAT_BYTES: usize = 36;

/// A directory, in preorder. The slices point into the extension.
struct Directory<'a> {
    name: &'a [u8],
    children: usize,
    /// The names of the untracked files, each with a NUL.
    untracked: &'a [u8],
    untracked_count: usize,
    /// Its stat data, if the record is valid.
    stat: Option<&'a [u8]>,
    /// Git did not examine everything in it.
    check_only: bool,
    /// The object id of its exclude file, if it has one.
    exclude_id: Option<&'a [u8]>,
}

/// The extension as stored in a file.
pub(in super::super) struct UntrackedCache<'a> {
    /// Everything before the directories.
    head: &'a [u8],
    directories: Vec<Directory<'a>>,
    /// The row of a directory by its parent's row and its name.
    rows: HashMap<(usize, &'a [u8]), usize>,
}

impl<'a> UntrackedCache<'a> {
    /// Parses the extension `data`; `None` if it is broken.
    pub(in super::super) fn parse(data: &'a [u8], hash: Kind) -> Option<Self> {
        let (&0, inner) = data.split_last()? else {
            return None;
        };
        let mut cursor = Cursor::new(inner);
        let identity = cursor.varint()?;
        cursor.take(identity)?;
        cursor.take(FIXED_BYTES + 2 * hash.len_in_bytes())?;
        cursor.until(0)?;
        let head = data.get(..inner.len() - cursor.rest().len())?;
        let count = if cursor.is_empty() {
            0
        } else {
            cursor.varint()?
        };
        let mut cache = UntrackedCache {
            head,
            directories: Vec::new(),
            rows: HashMap::new(),
        };
        if count > 0 {
            cache.read_directories(&mut cursor, count)?;
            cache.read_states(&mut cursor, hash)?;
        }
        cursor.is_empty().then_some(cache)
    }

    fn read_directories(&mut self, cursor: &mut Cursor<'a>, count: usize) -> Option<()> {
        // Directories whose children were not all read yet, and how many remain.
        let mut open: Vec<(usize, usize)> = Vec::new();
        while self.directories.len() < count {
            let row = self.directories.len();
            let untracked_count = cursor.varint()?;
            let children = cursor.varint()?;
            let name = cursor.until(0)?;
            let before = cursor.rest();
            for _ in 0..untracked_count {
                cursor.until(0)?;
            }
            match open.last_mut() {
                Some((parent, left)) => {
                    *left -= 1;
                    self.rows.insert((*parent, name), row);
                }
                None if row > 0 => return None,
                None => {}
            }
            self.directories.push(Directory {
                name,
                children,
                untracked: before.get(..before.len() - cursor.rest().len())?,
                untracked_count,
                stat: None,
                check_only: false,
                exclude_id: None,
            });
            open.push((row, children));
            while open.last().is_some_and(|(_, left)| *left == 0) {
                open.pop();
            }
        }
        open.is_empty().then_some(())
    }

    fn read_states(&mut self, cursor: &mut Cursor<'a>, hash: Kind) -> Option<()> {
        let count = self.directories.len();
        let mut bits = || cursor.bitmap(count).ok();
        let (valid, check_only, with_exclude_id) = (bits()?, bits()?, bits()?);
        for row in check_only {
            self.directories.get_mut(row as usize)?.check_only = true;
        }
        for row in valid {
            self.directories.get_mut(row as usize)?.stat = Some(cursor.take(STAT_BYTES)?);
        }
        for row in with_exclude_id {
            let id = cursor.take(hash.len_in_bytes())?;
            self.directories.get_mut(row as usize)?.exclude_id = Some(id);
        }
        Some(())
    }

    /// Invalidates the records of the directories that lead to `path`.
    pub(in super::super) fn invalidate(&mut self, path: &[u8]) {
        let mut row = 0;
        let mut parts = path.split(|byte| *byte == b'/');
        loop {
            let Some(directory) = self.directories.get_mut(row) else {
                return;
            };
            (directory.stat, directory.check_only) = (None, false);
            (directory.untracked, directory.untracked_count) = (&[], 0);
            let next = parts.next().and_then(|name| self.rows.get(&(row, name)));
            match next {
                Some(next) => row = *next,
                None => return,
            }
        }
    }

    /// Its bytes.
    pub(in super::super) fn serialize(&self) -> Vec<u8> {
        let mut out = self.head.to_owned();
        push_varint(&mut out, self.directories.len());
        for directory in &self.directories {
            push_varint(&mut out, directory.untracked_count);
            push_varint(&mut out, directory.children);
            out.extend_from_slice(directory.name);
            out.push(0);
            out.extend_from_slice(directory.untracked);
        }
        if !self.directories.is_empty() {
            let rows = |has: fn(&Directory<'_>) -> bool| {
                let rows = (0u32..).zip(&self.directories);
                rows.filter(move |(_, directory)| has(directory))
                    .map(|(row, _)| row)
            };
            out.extend(encode_positions(rows(|directory| directory.stat.is_some())));
            out.extend(encode_positions(rows(|directory| directory.check_only)));
            out.extend(encode_positions(rows(|directory| {
                directory.exclude_id.is_some()
            })));
            let stats = self.directories.iter().filter_map(|d| d.stat);
            stats.for_each(|stat| out.extend_from_slice(stat));
            let ids = self.directories.iter().filter_map(|d| d.exclude_id);
            ids.for_each(|id| out.extend_from_slice(id));
        }
        out.push(0);
        out
    }
}
