//! `UNTR`: the untracked files that Git found, by directory. A directory's record is valid as long
//! as the set of tracked paths below it is unchanged; it is dropped when a path is added or removed
//! there.

use super::super::cursor::{push_varint, Cursor};
use super::super::stat::EntryStat;
use gix_hash::Kind;
use hedgerow_object::ewah::encode_positions;
use std::collections::HashMap;

/// Size of the stat data of a directory or an exclude file, in bytes: nine numbers.
const STAT_BYTES: usize = 36;

/// What is known of a directory. The slices point into the extension.
pub(crate) struct UntrackedRecord<'a> {
    pub name: &'a [u8],
    /// How many directories are right in it.
    pub children: usize,
    /// The names of the untracked paths right in it, each with a NUL.
    untracked: &'a [u8],
    untracked_count: usize,
    /// Its stat data, if the record is valid.
    stat: Option<&'a [u8]>,
    /// Git only looked whether there is anything in it: it is shown as a whole.
    pub check_only: bool,
    /// The object id of its exclude file, if it has one.
    pub exclude_id: Option<&'a [u8]>,
}

/// The extension as stored in a file. Format: `gitformat-index(5)`, "Untracked cache".
pub(crate) struct UntrackedCache<'a> {
    /// Everything before the directories.
    head: &'a [u8],
    /// Which working trees on which systems it describes: texts, each with a NUL.
    pub identity: &'a [u8],
    /// What was searched for; see [`ALL_FILES`] and [`FOLDED`].
    pub flags: u32,
    /// The object ids of `info/exclude` and of `core.excludesFile`; null for a missing file.
    pub outer_ids: [&'a [u8]; 2],
    /// The name of the exclude file of a directory.
    pub per_directory: &'a [u8],
    /// The directories in preorder; the first is the top.
    pub directories: Vec<UntrackedRecord<'a>>,
    /// The row of a directory by its parent's row and its name.
    rows: HashMap<(usize, &'a [u8]), usize>,
}

/// The flags of a search for all untracked files.
pub(crate) const ALL_FILES: u32 = 0;
/// The flags of a search that shows untracked directories as a whole, but for empty ones.
pub(crate) const FOLDED: u32 = 6;

impl<'a> UntrackedRecord<'a> {
    /// The stat data of the directory; `None` if the record is not valid.
    pub(crate) fn stat(&self) -> Option<EntryStat> {
        let mut numbers = self.stat?.chunks_exact(4).map(|bytes| {
            let bytes = bytes.try_into();
            bytes.map_or(0, u32::from_be_bytes)
        });
        let mut next = || numbers.next().unwrap_or_default();
        Some(EntryStat {
            ctime_s: next(),
            ctime_ns: next(),
            mtime_s: next(),
            mtime_ns: next(),
            dev: next(),
            ino: next(),
            uid: next(),
            gid: next(),
            size: next(),
        })
    }

    /// Whether it says anything of the directory.
    pub(crate) fn is_valid(&self) -> bool {
        self.stat.is_some()
    }

    /// The untracked paths right in it, a slash at the end of directories.
    pub(crate) fn untracked(&self) -> impl Iterator<Item = &'a [u8]> {
        let names = self.untracked.split(|byte| *byte == 0);
        names.take(self.untracked_count)
    }

    fn forget(&mut self) {
        (self.stat, self.check_only) = (None, false);
        (self.untracked, self.untracked_count) = (&[], 0);
    }
}

impl<'a> UntrackedCache<'a> {
    /// Parses the extension `data`; `None` if it is broken.
    pub(crate) fn parse(data: &'a [u8], hash: Kind) -> Option<Self> {
        let (&0, inner) = data.split_last()? else {
            return None;
        };
        let mut cursor = Cursor::new(inner);
        let identity = cursor.varint()?;
        let identity = cursor.take(identity)?;
        cursor.take(STAT_BYTES * 2)?;
        let flags = cursor.be32()?;
        let mut id = || cursor.take(hash.len_in_bytes());
        let outer_ids = [id()?, id()?];
        let per_directory = cursor.until(0)?;
        let head = data.get(..inner.len() - cursor.rest().len())?;
        let count = if cursor.is_empty() {
            0
        } else {
            cursor.varint()?
        };
        let mut cache = UntrackedCache {
            head,
            identity,
            flags,
            outer_ids,
            per_directory,
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
            self.directories.push(UntrackedRecord {
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

    /// Invalidates these records, and those of all directories above them: what is in a directory
    /// decides whether the one above shows it as a whole.
    pub(crate) fn forget(&mut self, rows: &[usize]) {
        let above = self.rows.iter().map(|((above, _), row)| (*row, *above));
        let above: HashMap<usize, usize> = above.collect();
        let mut done = vec![false; self.directories.len()];
        for row in rows {
            let mut at = Some(*row);
            while let Some(row) = at.filter(|row| done.get(*row) == Some(&false)) {
                done[row] = true;
                self.directories[row].forget();
                at = above.get(&row).copied();
            }
        }
    }

    /// The records of the directories that lead to `path`, and of `path` itself if it is a
    /// directory; from the top.
    pub(crate) fn rows_to(&self, path: &[u8]) -> Vec<usize> {
        let mut rows = vec![0];
        for name in path.split(|byte| *byte == b'/') {
            let last = *rows.last().expect("the top is there");
            match self.rows.get(&(last, name)) {
                Some(next) => rows.push(*next),
                None => break,
            }
        }
        rows.retain(|row| *row < self.directories.len());
        rows
    }

    /// Invalidates the records of the directories that lead to `path`.
    pub(in super::super) fn invalidate(&mut self, path: &[u8]) {
        let mut row = 0;
        let mut parts = path.split(|byte| *byte == b'/');
        loop {
            let Some(directory) = self.directories.get_mut(row) else {
                return;
            };
            directory.forget();
            let next = parts.next().and_then(|name| self.rows.get(&(row, name)));
            match next {
                Some(next) => row = *next,
                None => return,
            }
        }
    }

    /// Its bytes.
    pub(crate) fn serialize(&self) -> Vec<u8> {
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
            let rows = |has: fn(&UntrackedRecord<'_>) -> bool| {
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
