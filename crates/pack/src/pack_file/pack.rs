use super::entry::{self, Entry};
use super::index::PackIndex;
use super::pack_order::{self, PackOrder};
use super::reverse::ReverseIndex;
use crate::fault::Fault;
use crate::format::big_endian::u32_at;
use crate::format::hashed_file::is_whole;
use crate::format::verified::VerifiedFiles;
use gix_hash::{oid, ObjectId};
use hedgerow_codec::can_expand_to;
use hedgerow_fs::MappedFile;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// One pack and what belongs to it. Each file is mapped when it is first needed; from then on
/// every thread reads it without a lock.
#[derive(Debug)]
pub(crate) struct Pack {
    /// The `.pack` file; the others differ in their extension.
    path: PathBuf,
    hash: gix_hash::Kind,
    /// The length of the `.pack` file when it was listed, in bytes; 0 if it was not.
    size_bytes: u64,
    /// Whether to use a reverse index: there is one and it is wanted.
    has_reverse: bool,
    hashes_index: bool,
    index: OnceLock<Result<PackIndex, String>>,
    entries: OnceLock<Result<Entries, String>>,
    reverse: OnceLock<Result<ReverseIndex, String>>,
    /// The order of its entries; `None` if the reverse index is right about it.
    order: OnceLock<Result<Option<Vec<u32>>, String>>,
    /// What was found right before, of its directory.
    verified: Arc<VerifiedFiles>,
    /// Whether the reverse index was caught in a wrong answer.
    reverse_lies: AtomicBool,
    is_gone: AtomicBool,
    /// All offsets in order, where there is no reverse index and they were asked for repeatedly.
    sorted_offsets: OnceLock<Vec<u64>>,
    was_scanned: AtomicBool,
}

/// The mapped `.pack` file.
#[derive(Debug)]
struct Entries {
    map: MappedFile,
    /// Where the entries end and the checksum starts.
    end: usize,
}

impl Pack {
    pub fn new(
        path: PathBuf,
        hash: gix_hash::Kind,
        has_reverse: bool,
        verified: Arc<VerifiedFiles>,
    ) -> Self {
        Pack {
            path,
            hash,
            size_bytes: 0,
            has_reverse,
            hashes_index: false,
            index: OnceLock::new(),
            entries: OnceLock::new(),
            reverse: OnceLock::new(),
            order: OnceLock::new(),
            verified,
            reverse_lies: AtomicBool::new(false),
            is_gone: AtomicBool::new(false),
            sorted_offsets: OnceLock::new(),
            was_scanned: AtomicBool::new(false),
        }
    }

    /// The same, whose file is `size_bytes` long.
    pub fn of_size(self, size_bytes: u64) -> Self {
        Pack { size_bytes, ..self }
    }

    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// The same, but its index can be used only if its hash is right.
    pub fn hashing_its_index(self) -> Self {
        Pack {
            hashes_index: true,
            ..self
        }
    }

    pub fn hash_kind(&self) -> gix_hash::Kind {
        self.hash
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it, or its index, was gone when it was first needed.
    pub fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::Relaxed)
    }

    /// Passes `opened` on, and remembers if it failed because there is no file any more.
    fn noting_absence<T>(&self, opened: Result<T, String>, file: &Path) -> Result<T, String> {
        if opened.is_err() && !hedgerow_fs::exists(file) {
            self.is_gone.store(true, Ordering::Relaxed);
        }
        opened
    }

    /// Its index, or the reason why it cannot be used.
    pub fn index(&self) -> Result<&PackIndex, &str> {
        let open = || {
            let path = self.path.with_extension("idx");
            let opened = PackIndex::open(&path, self.hash.len_in_bytes());
            let opened = opened.and_then(|index| {
                if self.hashes_index && !is_whole(index.map(), self.hash) {
                    Err("wrong hash".to_owned())
                } else {
                    Ok(index)
                }
            });
            self.noting_absence(opened, &path)
        };
        self.index
            .get_or_init(open)
            .as_ref()
            .map_err(String::as_str)
    }

    /// Its index, hashed: for those who ask for all that it lists, which a wrong id would be part
    /// of. Or the reason why it cannot be used.
    pub fn whole_index(&self) -> Result<&PackIndex, &str> {
        let index = self.index()?;
        let path = self.path.with_extension("idx");
        let check = || is_whole(index.map(), self.hash);
        if self.verified.pass("hash", &[(&path, index.map())], check) {
            Ok(index)
        } else {
            Err("the hash of its index is wrong")
        }
    }

    /// The pack from its start to the end of its last entry, or the reason why it cannot be used.
    pub fn data(&self) -> Result<&[u8], &str> {
        let open = || {
            let opened = Entries::open(&self.path, self.index().ok(), self.hash.len_in_bytes());
            self.noting_absence(opened, &self.path)
        };
        let entries = self.entries.get_or_init(open);
        entries.as_ref().map(Entries::data).map_err(String::as_str)
    }

    /// Where the object `id` is, if both the pack and its index can be used.
    pub fn usable_offset(&self, id: &oid) -> Option<u64> {
        let offset = self.index().ok()?.lookup(id.as_bytes())?;
        self.data().is_ok().then_some(offset)
    }

    /// The header of the entry at `offset`, and the compressed bytes after it with all that
    /// follows them in the pack.
    pub fn entry(&self, offset: u64) -> Result<(Entry, &[u8]), Fault> {
        let data = self
            .data()
            .map_err(|reason| Fault::Unreadable(reason.to_owned()))?;
        let entry = entry::parse(data, offset, self.hash.len_in_bytes())?;
        Ok((entry, data.split_at(entry.data).1))
    }

    /// Whether the entry at `offset` is long enough to inflate to `size` bytes. How long it is
    /// follows from where the next one starts: the reverse index says that at once. What it
    /// denies is asked of all offsets of the index before it is believed.
    pub fn can_hold(&self, offset: u64, size: u64) -> bool {
        let (Ok(index), Ok(data)) = (self.index(), self.data()) else {
            return false;
        };
        let end = data.len() as u64;
        let fits = |end: u64| can_expand_to(end.saturating_sub(offset), size);
        if let Some((_, next)) = self
            .reverse()
            .and_then(|reverse| reverse.find(index, offset))
        {
            if fits(next.unwrap_or(end)) {
                return true;
            }
        }
        let offsets = (0..index.count()).filter_map(|position| index.offset(position));
        let next = offsets.filter(|other| *other > offset).fold(end, u64::min);
        if fits(next) && self.reverse().is_some() {
            self.reverse_lies.store(true, Ordering::Relaxed);
        }
        fits(next)
    }

    /// The id of the object whose entry is at `offset`.
    pub fn id_at(&self, offset: u64) -> Option<ObjectId> {
        let index = self.index().ok()?;
        let found = self
            .reverse()
            .and_then(|reverse| reverse.find(index, offset));
        let position = match found {
            Some((position, _)) => position,
            None => (0..index.count()).find(|at| index.offset(*at) == Some(offset))?,
        };
        index.id(position).map(ObjectId::from_bytes_or_panic)
    }

    /// Where the entry after the one at `offset` starts, if there is one: by the reverse index, and
    /// where there is none, by looking through all offsets; from the second time on, by all of
    /// them in order. `None` if there is no entry at `offset`.
    pub fn next_offset(&self, index: &PackIndex, offset: u64) -> Option<Option<u64>> {
        // One wrong entry would be a wrong length of another: all of it is checked before.
        if let (true, Ok(PackOrder::File(reverse))) = (self.reverse().is_some(), self.order()) {
            return reverse.find(index, offset).map(|(_, next)| next);
        }
        if self.sorted_offsets.get().is_none() && !self.was_scanned.swap(true, Ordering::Relaxed) {
            let offsets = (0..index.count()).filter_map(|position| index.offset(position));
            let mut found = false;
            let mut next = None;
            for other in offsets {
                found |= other == offset;
                if other > offset && next.is_none_or(|next| other < next) {
                    next = Some(other);
                }
            }
            return found.then_some(next);
        }
        let sorted = self.sorted_offsets.get_or_init(|| {
            let offsets = (0..index.count()).filter_map(|position| index.offset(position));
            let mut sorted: Vec<u64> = offsets.collect();
            sorted.sort_unstable();
            sorted
        });
        let at = sorted.binary_search(&offset).ok()?;
        Some(sorted.get(at + 1).copied())
    }

    /// The order of its entries: by the reverse index, if that is right. Or the reason why the pack
    /// cannot be used.
    pub fn order(&self) -> Result<PackOrder<'_>, &str> {
        let (index, data) = (self.index()?, self.data()?);
        let build = || match self.reverse() {
            Some(reverse) if self.is_right(reverse, index, data.len() as u64) => Ok(None),
            _ => pack_order::computed(index, data.len() as u64).map(Some),
        };
        match self.order.get_or_init(build) {
            Ok(Some(positions)) => Ok(PackOrder::Memory(positions)),
            Ok(None) => {
                let reverse = self.reverse().ok_or("its reverse index is gone")?;
                Ok(PackOrder::File(reverse))
            }
            Err(reason) => Err(reason),
        }
    }

    fn is_right(&self, reverse: &ReverseIndex, index: &PackIndex, end: u64) -> bool {
        let files = ["idx", "rev"].map(|extension| self.path.with_extension(extension));
        let [index_path, reverse_path] = &files;
        let files = [
            (&**index_path, index.map()),
            (&**reverse_path, reverse.map()),
        ];
        let check = || reverse.is_order_of(index, end);
        let is_right = self
            .verified
            .pass(&format!("order-to-{end}"), &files, check);
        self.reverse_lies.fetch_or(!is_right, Ordering::Relaxed);
        is_right
    }

    /// What was found right before of the files of its directory.
    pub fn verified(&self) -> &VerifiedFiles {
        &self.verified
    }

    pub fn reverse(&self) -> Option<&ReverseIndex> {
        if !self.has_reverse {
            return None;
        }
        let index = self.index().ok()?;
        let open = || ReverseIndex::open(&self.path.with_extension("rev"), index, self.hash);
        self.reverse.get_or_init(open).as_ref().ok()
    }

    /// What has been found wrong with the files of this pack so far.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let mut add = |extension, reason: &str| {
            let path = self.path.with_extension(extension);
            warnings.push(format!("'{}': {reason}", path.display()));
        };
        if let Some(Err(reason)) = self.index.get() {
            add("idx", reason);
        }
        if let Some(Err(reason)) = self.entries.get() {
            add("pack", reason);
        }
        if let Some(Err(reason)) = self.reverse.get() {
            add("rev", reason);
        }
        if self.reverse_lies.load(Ordering::Relaxed) {
            add("rev", "does not agree with the index of the pack");
        }
        warnings
    }
}

impl Entries {
    /// Maps the pack at `path`. Its header must be that of a pack; count and checksum must be
    /// those of the index where there is one. The content is not hashed.
    fn open(path: &Path, index: Option<&PackIndex>, hash_len: usize) -> Result<Self, String> {
        let map = MappedFile::open(path).map_err(|error| error.to_string())?;
        let end = check(&map, index, hash_len)?;
        Ok(Entries { map, end })
    }

    fn data(&self) -> &[u8] {
        self.map.split_at(self.end).0
    }
}

/// Returns where the entries end.
fn check(data: &[u8], index: Option<&PackIndex>, hash_len: usize) -> Result<usize, &'static str> {
    let least = entry::PACK_HEADER_BYTES as usize + hash_len;
    if data.len() < least || data.get(..4) != Some(b"PACK") {
        return Err("not a pack");
    }
    if !matches!(u32_at(data, 4), Some(2 | 3)) {
        return Err("unknown pack version");
    }
    let end = data.len() - hash_len;
    if let Some(index) = index {
        if u32_at(data, 8) != Some(index.count()) {
            return Err("pack and index have different counts of objects");
        }
        if data.get(end..) != Some(index.pack_checksum()) {
            return Err("pack does not match its index");
        }
    }
    Ok(end)
}
