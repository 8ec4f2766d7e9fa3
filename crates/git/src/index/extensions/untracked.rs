//! `UNTR`: the untracked files that were found, by directory. Only bytes are dealt with here; who
//! makes a record, and when one counts, is decided in `crate::untracked_cache`.
//!
//! Format: `gitformat-index(5)`, "Untracked cache".

use super::super::cursor::{push_varint, Cursor};
use super::super::decode::object_id;
use super::super::stat::EntryStat;
use bstr::{BStr, BString, ByteSlice};
use gix_hash::{Kind, ObjectId};
use hedgerow_fs::Timestamp;
use hedgerow_object::ewah::encode_positions;

/// The flags of a search for all untracked files.
pub(crate) const ALL_FILES: u32 = 0;
/// The flags of a search that shows untracked directories as a whole, but for empty ones.
pub(crate) const FOLDED: u32 = 6;

/// A time that lies in the future of every index, so that the directory counts as changed for
/// every reader.
const DOUBTED_MTIME_S: u32 = u32::MAX;

/// What is known of a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UntrackedRecord {
    /// Its name in the directory above; the top has none.
    pub name: BString,
    /// How many directories right in it have records.
    pub children: usize,
    /// The names of the untracked paths right in it, each with a NUL; a slash stands at the end of
    /// directories.
    pub untracked: Vec<u8>,
    /// Its stat data from when it was listed, if the record is valid.
    pub stat: Option<EntryStat>,
    /// It was only looked whether there is anything in it: it is shown as a whole.
    pub check_only: bool,
    /// The object id of its exclude file, if it has one.
    pub exclude_id: Option<ObjectId>,
}

/// A pattern file outside of the working tree; all null if there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OuterFile {
    pub stat: EntryStat,
    pub id: ObjectId,
}

/// The untracked files of a working tree, by directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UntrackedCache {
    /// Which working tree on which system it describes: texts, each with a NUL, of which git looks
    /// at the first.
    pub identity: BString,
    /// What was searched for; see [`ALL_FILES`] and [`FOLDED`].
    pub flags: u32,
    /// `info/exclude` and `core.excludesFile`.
    pub outer: [OuterFile; 2],
    /// The name of the exclude file of a directory.
    pub per_directory: BString,
    /// The directories in preorder, those in one directory by name; the first is the top.
    pub directories: Vec<UntrackedRecord>,
}

impl UntrackedRecord {
    /// Whether it says anything of the directory.
    pub(crate) fn is_valid(&self) -> bool {
        self.stat.is_some()
    }

    /// The untracked paths right in it, a slash at the end of directories.
    pub(crate) fn untracked(&self) -> impl Iterator<Item = &BStr> {
        let names = self.untracked.split_inclusive(|byte| *byte == 0);
        names.map(|name| BStr::new(name.strip_suffix(b"\0").unwrap_or(name)))
    }

    /// Makes every reader look at the directory again, as if its time had changed.
    pub(crate) fn doubt(&mut self) {
        if let Some(stat) = &mut self.stat {
            stat.mtime_s = DOUBTED_MTIME_S;
        }
    }

    /// Makes it say nothing of the directory.
    pub(crate) fn forget(&mut self) {
        (self.stat, self.check_only) = (None, false);
        self.untracked.clear();
    }
}

impl UntrackedCache {
    /// Parses the extension `data`; `None` if it is broken.
    pub(crate) fn parse(data: &[u8], hash: Kind) -> Option<Self> {
        let (&0, inner) = data.split_last()? else {
            return None;
        };
        let mut cursor = Cursor::new(inner);
        let identity = cursor.varint()?;
        let identity = cursor.take(identity)?.into();
        let stats = [read_stat(&mut cursor)?, read_stat(&mut cursor)?];
        let flags = cursor.be32()?;
        let mut outer = |stat| {
            let id = cursor.take(hash.len_in_bytes())?;
            let id = object_id(id).ok()?;
            Some(OuterFile { stat, id })
        };
        let [info, user] = stats;
        let mut cache = UntrackedCache {
            identity,
            flags,
            outer: [outer(info)?, outer(user)?],
            per_directory: cursor.until(0)?.into(),
            directories: Vec::new(),
        };
        let count = if cursor.is_empty() {
            0
        } else {
            cursor.varint()?
        };
        if count > 0 {
            cache.read_directories(&mut cursor, count)?;
            cache.read_states(&mut cursor, hash)?;
        }
        cursor.is_empty().then_some(cache)
    }

    fn read_directories(&mut self, cursor: &mut Cursor<'_>, count: usize) -> Option<()> {
        // For each directory whose children were not all read yet, how many remain.
        let mut open: Vec<usize> = Vec::new();
        while self.directories.len() < count {
            let untracked_count = cursor.varint()?;
            let children = cursor.varint()?;
            let name = cursor.until(0)?.into();
            let before = cursor.rest();
            for _ in 0..untracked_count {
                cursor.until(0)?;
            }
            match open.last_mut() {
                Some(left) => *left -= 1,
                None if !self.directories.is_empty() => return None,
                None => {}
            }
            self.directories.push(UntrackedRecord {
                name,
                children,
                untracked: before.get(..before.len() - cursor.rest().len())?.into(),
                ..UntrackedRecord::default()
            });
            open.push(children);
            while open.last() == Some(&0) {
                open.pop();
            }
        }
        open.is_empty().then_some(())
    }

    fn read_states(&mut self, cursor: &mut Cursor<'_>, hash: Kind) -> Option<()> {
        let count = self.directories.len();
        let mut bits = || cursor.bitmap(count).ok();
        let (valid, check_only, with_exclude_id) = (bits()?, bits()?, bits()?);
        for row in check_only {
            self.directories.get_mut(row as usize)?.check_only = true;
        }
        for row in valid {
            self.directories.get_mut(row as usize)?.stat = Some(read_stat(cursor)?);
        }
        for row in with_exclude_id {
            let id = object_id(cursor.take(hash.len_in_bytes())?).ok()?;
            self.directories.get_mut(row as usize)?.exclude_id = Some(id);
        }
        Some(())
    }

    /// For each record, the row after the last one below it.
    pub(crate) fn ends(&self) -> Vec<usize> {
        let mut ends = vec![0; self.directories.len()];
        for row in (0..ends.len()).rev() {
            let mut end = row + 1;
            for _ in 0..self.directories[row].children {
                end = ends.get(end).copied().unwrap_or(end);
            }
            ends[row] = end;
        }
        ends
    }

    /// The path of each directory.
    pub(crate) fn paths(&self) -> Vec<BString> {
        let mut paths: Vec<BString> = Vec::with_capacity(self.directories.len());
        // The directories whose children are not all named yet: their rows, and how many remain.
        let mut open: Vec<(usize, usize)> = Vec::new();
        for (row, record) in self.directories.iter().enumerate() {
            let path = match open.last_mut() {
                None => BString::default(),
                Some((above, left)) => {
                    *left -= 1;
                    joined(paths[*above].as_bstr(), record.name.as_bstr())
                }
            };
            paths.push(path);
            open.push((row, record.children));
            while open.last().is_some_and(|(_, left)| *left == 0) {
                open.pop();
            }
        }
        paths
    }

    /// The records of the directories that lead to `path`, and of `path` itself if it is a
    /// directory; from the top. `ends` are those of this cache.
    pub(crate) fn rows_to(&self, path: &[u8], ends: &[usize]) -> Vec<usize> {
        if self.directories.is_empty() {
            return Vec::new();
        }
        let mut rows = vec![0];
        let mut row = 0;
        for name in path.split(|byte| *byte == b'/') {
            let mut children = self.directories[row].children;
            let mut child = row + 1;
            while children > 0 && self.directories[child].name != name {
                children -= 1;
                child = ends[child];
            }
            if children == 0 {
                break;
            }
            rows.push(child);
            row = child;
        }
        rows
    }

    /// Invalidates what a path that was added to the index or removed from it makes wrong: the
    /// record of its directory and, where untracked directories are shown as a whole, of all above.
    /// `ends` are those of this cache.
    pub(crate) fn invalidate(&mut self, path: &[u8], ends: &[usize]) {
        let depth = path.iter().filter(|byte| **byte == b'/').count();
        let mut rows = self.rows_to(path, ends);
        let has_directory = rows.len() > depth;
        rows.truncate(depth + 1);
        if self.flags != ALL_FILES {
            rows.iter().for_each(|row| self.directories[*row].forget());
        } else if let Some(row) = rows.last().filter(|_| has_directory) {
            self.directories[*row].forget();
        }
    }

    /// Invalidates the records for which `is_wrong`, and those of all directories above them: what
    /// is in a directory decides whether the one above shows it as a whole.
    pub(crate) fn forget(&mut self, is_wrong: impl Fn(usize) -> bool) {
        let ends = self.ends();
        let wrong: Vec<bool> = (0..ends.len()).map(is_wrong).collect();
        for (row, end) in ends.into_iter().enumerate() {
            if wrong[row..end].contains(&true) {
                self.directories[row].forget();
            }
        }
    }

    /// Doubts the records of directories that changed in the second of `index_mtime` or later,
    /// after which the index with these records was written: they may be out of date, and once the
    /// index is written again, nothing else would show that.
    pub(crate) fn doubt_racy(&mut self, index_mtime: Timestamp) {
        let rules = Default::default();
        for record in &mut self.directories {
            let is_racy = |stat: &EntryStat| stat.is_racy(index_mtime, &rules);
            if record.stat.as_ref().is_some_and(is_racy) {
                record.doubt();
            }
        }
    }

    /// Its bytes.
    pub(crate) fn serialize(&self) -> Vec<u8> {
        self.serialize_with(&serialize_records(&self.directories))
    }

    /// The same with other records of directories, as bytes.
    pub(crate) fn serialize_with(&self, records: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        push_varint(&mut out, self.identity.len());
        out.extend_from_slice(&self.identity);
        for file in &self.outer {
            push_stat(&mut out, &file.stat);
        }
        out.extend_from_slice(&self.flags.to_be_bytes());
        for file in &self.outer {
            out.extend_from_slice(file.id.as_slice());
        }
        out.extend_from_slice(&self.per_directory);
        out.push(0);
        out.extend_from_slice(records);
        out
    }
}

/// The bytes of the records of all directories.
pub(crate) fn serialize_records(records: &[UntrackedRecord]) -> Vec<u8> {
    let mut out = Vec::new();
    push_varint(&mut out, records.len());
    if records.is_empty() {
        return out;
    }
    for directory in records {
        push_varint(&mut out, directory.untracked().count());
        push_varint(&mut out, directory.children);
        out.extend_from_slice(&directory.name);
        out.push(0);
        out.extend_from_slice(&directory.untracked);
    }
    let rows = |has: fn(&UntrackedRecord) -> bool| {
        let rows = (0u32..).zip(records);
        let rows = rows.filter(move |(_, directory)| has(directory));
        encode_positions(rows.map(|(row, _)| row))
    };
    out.extend(rows(UntrackedRecord::is_valid));
    out.extend(rows(|directory| directory.check_only));
    out.extend(rows(|directory| directory.exclude_id.is_some()));
    let stats = records
        .iter()
        .filter_map(|directory| directory.stat.as_ref());
    stats.for_each(|stat| push_stat(&mut out, stat));
    let ids = records.iter().filter_map(|directory| directory.exclude_id);
    ids.for_each(|id| out.extend_from_slice(id.as_slice()));
    out.push(0);
    out
}

/// The path of `name` in the directory `above`.
pub(crate) fn joined(above: &BStr, name: &BStr) -> BString {
    let separator: &[u8] = if above.is_empty() { b"" } else { b"/" };
    bstr::concat([above.as_bytes(), separator, name.as_bytes()]).into()
}

fn read_stat(cursor: &mut Cursor<'_>) -> Option<EntryStat> {
    Some(EntryStat {
        ctime_s: cursor.be32()?,
        ctime_ns: cursor.be32()?,
        mtime_s: cursor.be32()?,
        mtime_ns: cursor.be32()?,
        dev: cursor.be32()?,
        ino: cursor.be32()?,
        uid: cursor.be32()?,
        gid: cursor.be32()?,
        size: cursor.be32()?,
    })
}

fn push_stat(out: &mut Vec<u8>, stat: &EntryStat) {
    let numbers = [
        stat.ctime_s,
        stat.ctime_ns,
        stat.mtime_s,
        stat.mtime_ns,
        stat.dev,
        stat.ino,
        stat.uid,
        stat.gid,
        stat.size,
    ];
    for number in numbers {
        out.extend_from_slice(&number.to_be_bytes());
    }
}
