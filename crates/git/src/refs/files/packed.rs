//! The file `packed-refs`, as it is now.

use crate::refs::store::WriteOptions;
use crate::{Error, Result};
use bstr::{BStr, ByteSlice};
use gix_ref::packed::Buffer;
use hedgerow_fs::{FileKind, LockFile, MappedFile, OutputFile, Stat};
use hedgerow_object::{parse_id, split_line};
use hedgerow_pack::ObjectId;
use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A larger file is mapped into memory.
const MAPPED_FROM_BYTES: u64 = 32 << 10;
/// A larger file is refused.
const PACKED_LIMIT_BYTES: u64 = 4 << 30;
/// No line is longer that names a reference: a path has at most 4,096 bytes.
const LINE_LIMIT_BYTES: usize = 64 << 10;
const LONG_LINE: &str = "has a line of more than 64 KiB";
/// So much of what is wrong with it is told, in characters.
const TOLD_CHARACTERS: usize = 200;

/// `packed-refs` of a repository; it is read again when it has changed.
#[derive(Debug)]
pub(super) struct PackedRefs {
    path: PathBuf,
    hash: gix_hash::Kind,
    known: Mutex<Option<(Stat, Arc<Buffer>)>>,
}

impl PackedRefs {
    /// Those of the repository at `common_dir`. Nothing is read yet.
    pub(super) fn new(common_dir: &Path, hash: gix_hash::Kind) -> Self {
        PackedRefs {
            path: common_dir.join("packed-refs"),
            hash,
            known: Mutex::default(),
        }
    }

    /// What it holds now; `None` if there is no such file.
    ///
    /// # Errors
    /// If it is broken, or cannot be read or asked for: that does not mean that there is none.
    pub(super) fn now(&self) -> Result<Option<Arc<Buffer>>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(stat) = hedgerow_fs::stat(&self.path)? else {
            *known = None;
            return Ok(None);
        };
        if let Some((then, buffer)) = &*known {
            if stat.is_as_before(then) {
                return Ok(Some(Arc::clone(buffer)));
            }
        }
        self.check(&stat)?;
        let buffer = match Buffer::open(self.path.clone(), MAPPED_FROM_BYTES, self.hash) {
            Ok(buffer) => Arc::new(buffer),
            Err(error) if error.is_not_found() => {
                *known = None;
                return Ok(None);
            }
            Err(error) => return Err(broken_packed(&error)),
        };
        *known = Some((stat, Arc::clone(&buffer)));
        Ok(Some(buffer))
    }

    /// What the file says that `name` is. Of a file that says that it is sorted only those lines are read
    /// that a binary search meets.
    ///
    /// # Errors
    /// As [`PackedRefs::now`], and if a line that is met cannot be read.
    pub(super) fn find(&self, name: &gix_ref::FullNameRef) -> Result<Option<ObjectId>> {
        let Some(buffer) = self.now()? else {
            return Ok(None);
        };
        match search((*buffer).as_ref(), name.as_bstr(), self.hash) {
            Found::Id(id) => Ok(Some(id)),
            Found::Nothing => Ok(None),
            Found::LongLine => self.refused(LONG_LINE),
            Found::Unclear => {
                let found = buffer.try_find(name);
                let found = found.map_err(|error| broken_packed(&error))?;
                Ok(found.map(|found| found.target()))
            }
        }
    }

    /// All that the file has; `None` if there is no such file.
    ///
    /// # Errors
    /// As [`PackedRefs::now`], and for a line of any length that no name has.
    pub(super) fn whole(&self) -> Result<Option<Arc<Buffer>>> {
        let buffer = self.now()?;
        let lines = buffer.as_deref().map_or(&b""[..], Buffer::as_ref);
        if has_long_line(lines) {
            return self.refused(LONG_LINE);
        }
        Ok(buffer)
    }

    fn refused<T>(&self, what: &str) -> Result<T> {
        let path = self.path.display();
        let reason = format!("cannot read packed-refs: '{path}' {what}");
        Err(Error::Setup { reason })
    }

    /// Refuses what is not to be read into memory, before it is. The lines of a file that says that it is
    /// sorted stay where they are, and are looked at when they are met.
    fn check(&self, stat: &Stat) -> Result<()> {
        if stat.kind != FileKind::File {
            return self.refused("is not a regular file");
        }
        if stat.size > PACKED_LIMIT_BYTES {
            return self.refused("is larger than 4 GiB, the limit (see 'hedgerow help limits')");
        }
        if stat.size > MAPPED_FROM_BYTES {
            let content = MappedFile::open(&self.path)?;
            if !says_sorted(&content) && has_long_line(&content) {
                return self.refused(LONG_LINE);
            }
        }
        Ok(())
    }
}

/// Whether the head of the file says that its lines are sorted.
fn says_sorted(content: &[u8]) -> bool {
    let head = content.get(..LINE_LIMIT_BYTES).unwrap_or(content);
    let head = head.strip_prefix(b"# pack-refs with:");
    let words = head.and_then(|rest| rest.lines().next());
    words.is_some_and(|words| words.fields().any(|word| word == b"sorted"))
}

fn has_long_line(content: &[u8]) -> bool {
    content.len() > LINE_LIMIT_BYTES && content.lines().any(|line| line.len() > LINE_LIMIT_BYTES)
}

/// What a search among sorted lines comes to.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    Id(ObjectId),
    Nothing,
    LongLine,
    /// It has met a line that is no plain one.
    Unclear,
}

/// Searches the sorted `lines` for that of `name`.
fn search(lines: &[u8], name: &BStr, hash: gix_hash::Kind) -> Found {
    let digits = hash.len_in_hex();
    // Those of a working tree are not here, whatever the file says.
    if name.starts_with(b"refs/worktree/") {
        return Found::Unclear;
    }
    // Whole records: a line, and that of what a tag leads to.
    let (mut low, mut high) = (0, lines.len());
    while low < high {
        let Some(start) = record_start(lines, low, low + (high - low) / 2) else {
            return Found::LongLine;
        };
        let Some((line, mut end)) = line_at(lines, start) else {
            return Found::LongLine;
        };
        let parts = line.split_at_checked(digits);
        let Some((id, found)) = parts.and_then(|(id, rest)| Some((id, rest.strip_prefix(b" ")?)))
        else {
            return Found::Unclear;
        };
        match found.cmp(name.as_bytes()) {
            _ if found.ends_with(b"\r") => return Found::Unclear,
            Ordering::Equal => return parse_id(id).map_or(Found::Unclear, Found::Id),
            Ordering::Greater => high = start,
            Ordering::Less => {
                while lines.get(end) == Some(&b'^') {
                    match line_at(lines, end) {
                        Some((_, next)) => end = next,
                        None => return Found::LongLine,
                    }
                }
                low = end;
            }
        }
    }
    Found::Nothing
}

/// Where the record starts that has the byte `at`, at `low` or after it, where one does; `None` if a line is
/// too long.
fn record_start(lines: &[u8], low: usize, at: usize) -> Option<usize> {
    let mut end = at;
    loop {
        let from = low.max(end.saturating_sub(LINE_LIMIT_BYTES));
        let before = lines.get(from..end)?.rfind_byte(b'\n');
        let start = match before {
            Some(found) => from + found + 1,
            None if from == low => return Some(low),
            None => return None,
        };
        if lines.get(start) != Some(&b'^') {
            return Some(start);
        }
        end = start - 1;
    }
}

/// The line at `start`, without its end, and where the next one starts; `None` if it is too long.
fn line_at(lines: &[u8], start: usize) -> Option<(&[u8], usize)> {
    let rest = lines.get(start..)?;
    let within = rest.get(..=LINE_LIMIT_BYTES).unwrap_or(rest);
    match within.find_byte(b'\n') {
        Some(end) => Some((&rest[..end], start + end + 1)),
        None if within.len() == rest.len() => Some((rest, lines.len())),
        None => None,
    }
}

/// `packed-refs`, locked, with what it becomes if it changes.
#[derive(Debug)]
pub(super) struct PackedLock {
    lock: LockFile,
    next: Option<OutputFile>,
}

impl PackedRefs {
    /// Locks the file and writes one without the references `names`, which is not in its place yet.
    pub(super) fn without(
        &self,
        names: &[&BStr],
        options: &WriteOptions<'_>,
    ) -> Result<PackedLock> {
        let (limit, is_cancelled) = (options.packed_lock_timeout, options.is_cancelled);
        let lock = LockFile::acquire_within(&self.path, limit, is_cancelled)?;
        if let Some(stat) = hedgerow_fs::stat(&self.path)? {
            self.check(&stat)?;
        }
        let stat = hedgerow_fs::lstat(&self.path)?;
        let content = hedgerow_fs::read_file(&self.path, PACKED_LIMIT_BYTES)?.unwrap_or_default();
        if has_long_line(&content) {
            return self.refused(LONG_LINE);
        }
        let left = without(&content, names);
        let changes = left.len() != content.len();
        if changes && stat.is_some_and(|stat| stat.kind == FileKind::Symlink) {
            return Err(Error::Setup {
                reason: format!(
                    "cannot delete a packed reference: '{}' is a symbolic link",
                    self.path.display()
                ),
            });
        }
        if !changes {
            return Ok(PackedLock { lock, next: None });
        }
        let next = OutputFile::create(&self.path)?;
        next.take_attributes_of_target()?;
        next.write_at(&left, 0)?;
        if options.sync {
            next.sync()?;
        }
        Ok(PackedLock {
            lock,
            next: Some(next),
        })
    }
}

impl PackedLock {
    /// Replaces the file. Returns the lock, which is still held.
    pub(super) fn commit(self) -> Result<LockFile> {
        if let Some(next) = self.next {
            next.commit(true)?;
        }
        Ok(self.lock)
    }
}

/// The lines of `content` without those of the references `names`.
fn without(content: &[u8], names: &[&BStr]) -> Vec<u8> {
    let mut left = Vec::with_capacity(content.len());
    let mut is_dropped = false;
    for line in content.lines_with_terminator() {
        // What a tag leads to follows the line of the tag.
        if !line.starts_with(b"^") {
            let name = line.split_once_str(" ").map(|(_, rest)| rest.trim_end());
            is_dropped = !line.starts_with(b"#")
                && name.is_some_and(|name| names.iter().any(|it| it.as_bytes() == name));
        }
        if !is_dropped {
            left.extend_from_slice(line);
        }
    }
    left
}

/// A name and what it leads to.
type Record<'b> = (&'b BStr, ObjectId);

/// What `buffer` has below `prefix`, in the order of names, each once: the last one of a name counts.
pub(super) fn records<'b>(
    buffer: &'b Buffer,
    prefix: &BStr,
    hash: gix_hash::Kind,
) -> Result<Vec<Record<'b>>> {
    let plain = (prefix == "refs/").then(|| plain_records(buffer.as_ref(), hash));
    let mut records = match plain.flatten() {
        Some(records) => records,
        None => all_records(buffer, prefix)?,
    };
    // The head of the file says that it is sorted, and that may be a lie.
    if !records.is_sorted_by(|(a, _), (b, _)| a < b) {
        records.reverse();
        records.sort_by_key(|(name, _)| *name);
        records.dedup_by_key(|(name, _)| *name);
    }
    Ok(records)
}

fn all_records<'b>(buffer: &'b Buffer, prefix: &BStr) -> Result<Vec<Record<'b>>> {
    let found = buffer.iter_prefixed(prefix.to_owned());
    let found = found.map_err(|error| broken_packed(&error))?;
    let records = found.map(|record| {
        let record = record.map_err(|error| broken_packed(&error))?;
        if record.name.as_bstr().len() > LINE_LIMIT_BYTES {
            let reason = format!("cannot read packed-refs: it {LONG_LINE}");
            return Err(Error::Setup { reason });
        }
        Ok((record.name.as_bstr(), record.target()))
    });
    records.collect()
}

/// The records of `lines`, if all are plain ones below `refs/`: that is seen faster than all that may be
/// wrong with others.
fn plain_records(lines: &[u8], hash: gix_hash::Kind) -> Option<Vec<Record<'_>>> {
    let digits = hash.len_in_hex();
    let mut records = Vec::with_capacity(lines.len() / (2 * digits));
    let mut rest = lines;
    while !rest.is_empty() {
        let (line, after) = split_line(rest)?;
        rest = after;
        if let Some(peeled) = line.strip_prefix(b"^") {
            if records.is_empty() || peeled.len() != digits {
                return None;
            }
            parse_id(peeled)?;
            continue;
        }
        let (id, name) = line.split_at_checked(digits)?;
        let name = name.strip_prefix(b" ")?;
        if !is_plain(name) {
            return None;
        }
        records.push((name.as_bstr(), parse_id(id)?));
    }
    Some(records)
}

/// Whether `name` is below `refs/` and of such letters, and in such an order, that nothing can be wrong
/// with it.
fn is_plain(name: &[u8]) -> bool {
    let mut last = b'/';
    for byte in name {
        let is_right = match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' => true,
            b'/' | b'.' => !matches!(last, b'/' | b'.'),
            _ => false,
        };
        if !is_right {
            return false;
        }
        last = *byte;
    }
    let ends_well = !matches!(last, b'/' | b'.');
    // Only a part that ends in `.lock` cannot be, but few have that at all.
    ends_well && name.starts_with(b"refs/") && !name.contains_str(".lock")
}

/// Refuses a file that has `name` after all: the head of the file may say that it is sorted, when it is
/// not.
pub(super) fn check_absent(buffer: &Buffer, name: &BStr) -> Result<()> {
    let line = [b" ", name.as_bytes(), b"\n"].concat();
    if buffer.as_ref().contains_str(&line) {
        return Err(Error::Setup {
            reason: format!("cannot read packed-refs: it is not sorted, and has '{name}'"),
        });
    }
    Ok(())
}

/// That `packed-refs` cannot be read, and why.
pub(super) fn broken_packed(error: &gix_error::Error) -> Error {
    let reason = error.probable_cause().to_string();
    Error::Setup {
        reason: format!("cannot read packed-refs: {}", shortened(&reason)),
    }
}

/// No more of `text` than is told: it may hold a whole line of the file.
fn shortened(text: &str) -> String {
    let mut characters = text.chars();
    let start: String = characters.by_ref().take(TOLD_CHARACTERS).collect();
    match characters.next() {
        Some(_) => start + "...",
        None => start,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ID: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

    fn check(lines: &str) -> bool {
        let hash = gix_hash::Kind::Sha1;
        let content = format!("# pack-refs with: peeled fully-peeled sorted \n{lines}");
        let buffer = Buffer::from_bytes(content.as_bytes(), hash).unwrap();
        let Some(plain) = plain_records(buffer.as_ref(), hash) else {
            return false;
        };
        assert_eq!(plain, all_records(&buffer, "refs/".into()).unwrap());
        true
    }

    #[test]
    fn plain_lines_are_read_as_all_are() {
        assert!(check(""));
        assert!(check(&format!(
            "{ID} refs/heads/a\n{ID} refs/tags/v1.0-x_y\n^{ID}\n"
        )));
        for other in [
            format!("{ID} refs/heads/a"),
            format!("{ID} refs/heads/a\r\n"),
            format!("{ID} refs/heads/a.lock\n"),
            format!("{ID} refs/heads/a..b\n"),
            format!("{ID} refs/heads/.a\n"),
            format!("{ID} refs/heads//a\n"),
            format!("{ID} refs/heads/a/\n"),
            format!("{ID} refs/heads/a.\n"),
            format!("{ID} refs/heads/@{{\n"),
            format!("{ID} heads/a\n"),
            format!("{ID}refs/heads/a\n"),
            format!("^{ID}\n"),
            format!("{ID} refs/heads/a\n^{}\n", &ID[1..]),
            format!("{} refs/heads/a\n", ID.replace('4', "g")),
        ] {
            assert!(!check(&other), "{other}");
        }
    }

    /// A line on the way there that cannot be, or none, says what was not read.
    #[test]
    fn a_search_reads_no_line_but_those_that_it_meets() {
        let hash = gix_hash::Kind::Sha1;
        let name = |number: usize| format!("refs/tags/v{number:04}");
        let mut lines = String::new();
        for number in 0..2000 {
            let end = if number % 3 == 0 {
                format!("\n^{ID}\n")
            } else {
                "\n".to_owned()
            };
            lines += &format!("{ID} {}{end}", name(2 * number));
        }
        let find = |lines: &str, name: &str| search(lines.as_bytes(), name.into(), hash);
        let id = ObjectId::from_hex(ID.as_bytes()).unwrap();
        for number in 0..4001 {
            let expected = match number % 2 {
                0 if number < 4000 => Found::Id(id),
                _ => Found::Nothing,
            };
            assert_eq!(find(&lines, &name(number)), expected, "{number}");
        }
        assert_eq!(find(&lines, "refs/a"), Found::Nothing);
        assert_eq!(find("", "refs/a"), Found::Nothing);
        // What is behind is not met, what is in the middle always is.
        let behind = format!("{lines}{}\n", "x".repeat(LINE_LIMIT_BYTES + 1));
        assert_eq!(find(&behind, &name(0)), Found::Id(id));
        let long = format!("{lines}{}{lines}", "x".repeat(LINE_LIMIT_BYTES * 3));
        assert_eq!(find(&long, &name(0)), Found::LongLine);
        for middle in ["x\n", "^\n"] {
            let odd = format!("{}{}", middle.repeat(10), lines);
            assert_eq!(find(&odd, "refs/a"), Found::Unclear, "{middle:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_searched_for_is_found_as_by_all(
            names in prop::collection::btree_set("refs/[a-c]{1,3}", 0..12), cut in 0..400_usize,
        ) {
            let hash = gix_hash::Kind::Sha1;
            let lines: String = names.iter().map(|name| format!("{ID} {name}\n^{ID}\n")).collect();
            for name in &names {
                let id = ObjectId::from_hex(ID.as_bytes()).unwrap();
                prop_assert_eq!(search(lines.as_bytes(), name.as_str().into(), hash), Found::Id(id));
            }
            let cut = lines.get(cut..).unwrap_or_default();
            search(cut.as_bytes(), "refs/b".into(), hash);
        }

        #[test]
        fn what_is_plain_is_a_well_formed_name(name in "refs/[a-c./_@{~ *-]{0,8}") {
            if is_plain(name.as_bytes()) {
                let name = <&gix_ref::FullNameRef>::try_from(name.as_str());
                prop_assert!(name.is_ok());
            }
        }
    }
}
