use super::order::{checksum_at, number_at};
use super::words::WORD_BITS;
use crate::format::big_endian::{u32_at, u64_at};
use crate::format::hashed_file::is_whole;
use crate::format::verified::VerifiedFiles;
use gix_hash::Kind;
use hedgerow_fs::MappedFile;
use hedgerow_object::ewah::{Change, Ewah};
use hedgerow_object::ObjectKind;
use std::path::Path;
use std::sync::OnceLock;

/// Length of the signature, version, flags and number of entries, before the checksum.
const HEADER_BYTES: usize = 12;
/// Length of the row of the commit, the distance to the base, and the flags, before the bitmap of
/// an entry.
const ENTRY_HEADER_BYTES: usize = 6;
const LOOKUP_ROW_BYTES: usize = 16;
/// Length of the numbers at the end of the pseudo-merge section.
const PSEUDO_TAIL_BYTES: usize = 24;
/// In a row of the lookup table: the entry has no base.
pub(crate) const NO_BASE: u32 = u32::MAX;

const FULL_DAG: u16 = 0x1;
const NAME_HASHES: u16 = 0x4;
const LOOKUP_TABLE: u16 = 0x10;
const PSEUDO_MERGES: u16 = 0x20;

/// The kinds in the order of their bitmaps.
pub(crate) const KINDS: [ObjectKind; 4] = [
    ObjectKind::Commit,
    ObjectKind::Tree,
    ObjectKind::Blob,
    ObjectKind::Tag,
];

/// A file of reachability bitmaps (`.bitmap`), version 1: gitformat-bitmap(5).
///
/// Rows are positions in the index of the covered objects, in order of ids; bits are in the order
/// of offsets.
#[derive(Debug)]
pub(crate) struct BitmapFile {
    map: MappedFile,
    entry_count: u32,
    /// Offsets of the bitmaps of the four kinds, and of the first entry.
    kinds: [usize; 4],
    entries: usize,
    /// The end of the entries, where the optional sections start.
    end: usize,
    name_hashes: Option<usize>,
    lookup_table: Option<usize>,
    pseudo_merges: Option<PseudoMerges>,
    /// All entries, read when needed if there is no lookup table.
    listing: OnceLock<Option<Listing>>,
}

/// The pseudo-merge section: each pseudo-merge is a set of commits with the set that they reach.
#[derive(Clone, Copy, Debug)]
struct PseudoMerges {
    start: usize,
    /// The start of the table of their offsets.
    offsets: usize,
    count: u32,
}

/// The equivalent of a lookup table.
#[derive(Debug)]
struct Listing {
    /// In file order.
    entries: Vec<Listed>,
    /// Rows of commits, ascending, with their entry numbers.
    by_row: Vec<(u32, u32)>,
}

#[derive(Clone, Copy, Debug)]
struct Listed {
    row: u32,
    offset: usize,
    /// The entry number of the base that this bitmap is XORed with.
    base: Option<u32>,
}

/// An entry: the bitmap of a commit, XORed with that of its base.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'f> {
    /// Where to find the base, if there is one.
    pub base: Option<Base>,
    pub set: Ewah<'f>,
}

/// The entry that another one is XORed with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Base {
    LookupRow(u32),
    /// Its number in file order.
    Entry(u32),
}

impl BitmapFile {
    /// Maps the file at `path`, which must cover `objects` objects of the pack or multi-pack-index
    /// with the trailer `checksum`. Unless it was `verified` before, it is hashed and read in full,
    /// since a single wrong bit would be a wrong answer. The error is a reason.
    pub fn open(
        path: &Path,
        checksum: &[u8],
        objects: u32,
        hash: Kind,
        verified: &VerifiedFiles,
    ) -> Result<Self, String> {
        let map = MappedFile::open(path).map_err(|error| error.to_string())?;
        let file = Self::parse(map, checksum, objects, hash);
        let file = file.map_err(|reason| format!("bad bitmap: {reason}"))?;
        let mut fault = "its checksum is wrong";
        let is_sound = || {
            if !is_whole(&file.map, hash) {
                return false;
            }
            fault = "its bitmaps contradict each other";
            file.is_consistent(objects)
        };
        if verified.pass("bitmap", &[(path, &file.map)], is_sound) {
            Ok(file)
        } else {
            Err(format!("bad bitmap: {fault}"))
        }
    }

    /// Whether each of `objects` objects has exactly one kind, and all entries are complete to the
    /// last byte. A file may be wrong although its checksum is right: if one position is wrong, all
    /// later data is wrong too.
    fn is_consistent(&self, objects: u32) -> bool {
        let mut seen = vec![0_u64; (objects as usize).div_ceil(WORD_BITS)];
        let mut ones = 0;
        for kind in 0..KINDS.len() {
            let mut own = vec![0_u64; seen.len()];
            if self.add_kind(kind, &mut own).is_none() {
                return false;
            }
            ones += count_ones(&own);
            seen.iter_mut()
                .zip(own)
                .for_each(|(seen, own)| *seen |= own);
        }
        let count = u64::from(objects);
        ones == count && count_ones(&seen) == count && self.are_entries_consistent(objects)
    }

    /// Whether each entry belongs to a different object, and the lookup table gives their
    /// positions.
    fn are_entries_consistent(&self, objects: u32) -> bool {
        let Some(listing) = self.list() else {
            return false;
        };
        let rows = listing.by_row.as_slice();
        let is_ascending = rows.iter().is_sorted_by(|(a, _), (b, _)| a < b);
        let is_last_there = rows.last().is_none_or(|(row, _)| *row < objects);
        let is_where_it_is_said = |(at, (row, number)): (usize, &(u32, u32))| {
            let table = self.lookup_table?;
            let start = table + at * LOOKUP_ROW_BYTES;
            let listed = listing.entries.get(*number as usize)?;
            let offset = u64_at(&self.map, start + 4)?;
            Some(u32_at(&self.map, start)? == *row && offset == listed.offset as u64)
        };
        let mut told = rows.iter().enumerate().map(is_where_it_is_said);
        let has_table = self.lookup_table.is_some();
        is_ascending && is_last_there && (!has_table || told.all(|is_right| is_right == Some(true)))
    }

    fn parse(
        map: MappedFile,
        checksum: &[u8],
        objects: u32,
        hash: Kind,
    ) -> Result<Self, &'static str> {
        let data: &[u8] = &map;
        if data.get(..4) != Some(b"BITM") {
            return Err("no signature");
        }
        let version = u32_at(data, 4).ok_or("truncated header")?;
        let flags = (version & 0xffff) as u16;
        if version >> 16 != 1 {
            return Err("unknown version");
        }
        if flags & FULL_DAG == 0 {
            return Err("it does not know all that is reachable");
        }
        if checksum_at(data, HEADER_BYTES, hash) != Some(checksum) {
            return Err("made for another pack");
        }
        let entry_count = u32_at(data, 8).ok_or("truncated header")?;
        let first = HEADER_BYTES + hash.len_in_bytes();
        let sections = OptionalSections::peel(data, flags, entry_count, objects, hash)?;
        let (kinds, entries) = kinds_at(data, first, sections.end)?;
        Ok(BitmapFile {
            entry_count,
            kinds,
            entries,
            end: sections.end,
            name_hashes: sections.name_hashes,
            lookup_table: sections.lookup_table,
            pseudo_merges: sections.pseudo_merges,
            listing: OnceLock::new(),
            map,
        })
    }

    /// Number of commits with a bitmap.
    pub fn entry_count(&self) -> u32 {
        self.entry_count
    }

    pub fn has_lookup_table(&self) -> bool {
        self.lookup_table.is_some()
    }

    pub fn has_name_hashes(&self) -> bool {
        self.name_hashes.is_some()
    }

    /// Adds the objects of one of [`KINDS`] to `target`; `None` if the bitmap is damaged.
    pub fn add_kind(&self, kind: usize, target: &mut [u64]) -> Option<()> {
        let (set, _) = Ewah::parse(self.map.get(*self.kinds.get(kind)?..self.end)?)?;
        set.apply(Change::Or, target)
    }

    /// The hash of the path at which the object in a row was found; 0 if unknown.
    pub fn name_hash(&self, row: u32) -> u32 {
        self.name_hashes
            .and_then(|start| number_at(&self.map, start, row))
            .unwrap_or_default()
    }

    /// The entry of the commit in a row; `None` if it has none, or if the entry is damaged.
    pub fn entry_of(&self, row: u32) -> Option<Entry<'_>> {
        match self.lookup_table {
            Some(table) => {
                let (mut low, mut high) = (0, self.entry_count);
                while low < high {
                    let middle = low + (high - low) / 2;
                    let start = table + middle as usize * LOOKUP_ROW_BYTES;
                    match u32_at(&self.map, start)?.cmp(&row) {
                        std::cmp::Ordering::Less => low = middle + 1,
                        std::cmp::Ordering::Greater => high = middle,
                        std::cmp::Ordering::Equal => return self.base(Base::LookupRow(middle)),
                    }
                }
                None
            }
            None => {
                let by_row = &self.listing()?.by_row;
                let found = by_row.binary_search_by_key(&row, |(row, _)| *row).ok()?;
                self.base(Base::Entry(by_row.get(found)?.1))
            }
        }
    }

    /// The entry that a base reference denotes.
    pub fn base(&self, base: Base) -> Option<Entry<'_>> {
        match base {
            Base::LookupRow(at) if at < self.entry_count => {
                let start = self.lookup_table? + at as usize * LOOKUP_ROW_BYTES;
                let row = u32_at(&self.map, start)?;
                let offset = usize::try_from(u64_at(&self.map, start + 4)?).ok()?;
                let base = u32_at(&self.map, start + 12)?;
                let base = (base != NO_BASE).then_some(Base::LookupRow(base));
                self.entry_at(offset, row, base)
            }
            Base::LookupRow(_) => None,
            Base::Entry(number) => {
                let listed = self.listing()?.entries.get(number as usize)?;
                self.entry_at(listed.offset, listed.row, listed.base.map(Base::Entry))
            }
        }
    }

    /// The rows of all commits with an entry, ascending; `None` if the entries are damaged.
    pub fn rows(&self) -> Option<Vec<u32>> {
        match self.lookup_table {
            Some(table) => {
                let start = |at| table + at as usize * LOOKUP_ROW_BYTES;
                (0..self.entry_count)
                    .map(|at| u32_at(&self.map, start(at)))
                    .collect()
            }
            None => Some(self.listing()?.by_row.iter().map(|(row, _)| *row).collect()),
        }
    }

    /// Number of pseudo-merges.
    pub fn pseudo_merge_count(&self) -> u32 {
        self.pseudo_merges.map_or(0, |section| section.count)
    }

    /// The commits of a pseudo-merge, and the set that they reach.
    pub fn pseudo_merge(&self, number: u32) -> Option<(Ewah<'_>, Ewah<'_>)> {
        let section = self
            .pseudo_merges
            .filter(|section| number < section.count)?;
        let offset = u64_at(&self.map, section.offsets + number as usize * 8)?;
        let offset = usize::try_from(offset).ok()?;
        if offset < section.start {
            return None;
        }
        let data = self.map.get(offset..section.offsets)?;
        let (commits, size) = Ewah::parse(data)?;
        let (reached, _) = Ewah::parse(data.get(size..)?)?;
        Some((commits, reached))
    }

    /// The entry at `offset`, which must belong to the commit in `row`.
    fn entry_at(&self, offset: usize, row: u32, base: Option<Base>) -> Option<Entry<'_>> {
        if offset < self.entries || offset >= self.end || u32_at(&self.map, offset)? != row {
            return None;
        }
        let (set, _) = Ewah::parse(self.map.get(offset + ENTRY_HEADER_BYTES..self.end)?)?;
        Some(Entry { base, set })
    }

    /// The list of all entries, read once.
    fn listing(&self) -> Option<&Listing> {
        self.listing.get_or_init(|| self.list()).as_ref()
    }

    /// Reads through all entries.
    fn list(&self) -> Option<Listing> {
        let (mut entries, mut by_row) = (Vec::new(), Vec::new());
        let mut offset = self.entries;
        for number in 0..self.entry_count {
            let row = u32_at(&self.map, offset)?;
            let base = match u32::from(*self.map.get(offset + 4)?) {
                0 => None,
                distance => Some(number.checked_sub(distance)?),
            };
            let set = self.map.get(offset + ENTRY_HEADER_BYTES..self.end)?;
            let (_, size) = Ewah::parse(set)?;
            entries.push(Listed { row, offset, base });
            by_row.push((row, number));
            offset += ENTRY_HEADER_BYTES + size;
        }
        by_row.sort_unstable();
        (offset == self.end).then_some(Listing { entries, by_row })
    }
}

fn count_ones(words: &[u64]) -> u64 {
    words.iter().map(|word| u64::from(word.count_ones())).sum()
}

/// The optional sections, located from the end of the file.
struct OptionalSections {
    end: usize,
    name_hashes: Option<usize>,
    lookup_table: Option<usize>,
    pseudo_merges: Option<PseudoMerges>,
}

impl OptionalSections {
    fn peel(
        data: &[u8],
        flags: u16,
        entry_count: u32,
        objects: u32,
        hash: Kind,
    ) -> Result<Self, &'static str> {
        let mut sections = OptionalSections {
            end: data
                .len()
                .checked_sub(hash.len_in_bytes())
                .ok_or("too short")?,
            name_hashes: None,
            lookup_table: None,
            pseudo_merges: None,
        };
        if flags & NAME_HASHES != 0 {
            sections.name_hashes = Some(sections.take(objects, 4)?);
        }
        if flags & LOOKUP_TABLE != 0 {
            sections.lookup_table = Some(sections.take(entry_count, LOOKUP_ROW_BYTES)?);
        }
        if flags & PSEUDO_MERGES != 0 {
            sections.take_pseudo_merges(data)?;
        }
        Ok(sections)
    }

    fn take(&mut self, rows: u32, row_bytes: usize) -> Result<usize, &'static str> {
        let size = (rows as usize).checked_mul(row_bytes).ok_or("too short")?;
        self.end = self
            .end
            .checked_sub(size)
            .ok_or("too short for its tables")?;
        Ok(self.end)
    }

    fn take_pseudo_merges(&mut self, data: &[u8]) -> Result<(), &'static str> {
        const BROKEN: &str = "bad section of pseudo-merges";
        let tail = self.end.checked_sub(PSEUDO_TAIL_BYTES).ok_or(BROKEN)?;
        let count = u32_at(data, tail).ok_or(BROKEN)?;
        let size = u64_at(data, tail + 16).ok_or(BROKEN)?;
        let start = usize::try_from(size)
            .ok()
            .and_then(|size| self.end.checked_sub(size));
        let start = start.ok_or(BROKEN)?;
        let offsets = tail.checked_sub(count as usize * 8).ok_or(BROKEN)?;
        if start > offsets {
            return Err(BROKEN);
        }
        self.pseudo_merges = Some(PseudoMerges {
            start,
            offsets,
            count,
        });
        self.end = start;
        Ok(())
    }
}

/// The optional sections of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sections {
    pub name_hashes: bool,
    pub lookup_table: bool,
    pub pseudo_merges: bool,
}

/// The header of a file with `entry_count` entries for the pack or multi-pack-index with the
/// trailer `checksum`.
pub(crate) fn header(checksum: &[u8], entry_count: u32, sections: Sections) -> Vec<u8> {
    let mut flags = FULL_DAG;
    for (has, flag) in [
        (sections.name_hashes, NAME_HASHES),
        (sections.lookup_table, LOOKUP_TABLE),
        (sections.pseudo_merges, PSEUDO_MERGES),
    ] {
        if has {
            flags |= flag;
        }
    }
    let mut bytes = b"BITM\0\x01".to_vec();
    bytes.extend_from_slice(&flags.to_be_bytes());
    bytes.extend_from_slice(&entry_count.to_be_bytes());
    bytes.extend_from_slice(checksum);
    bytes
}

/// Offsets of the bitmaps of the four kinds, and of the data after them.
fn kinds_at(data: &[u8], first: usize, end: usize) -> Result<([usize; 4], usize), &'static str> {
    let mut at = first;
    let mut kinds = [0; 4];
    for kind in &mut kinds {
        *kind = at;
        let set = data.get(at..end).and_then(Ewah::parse);
        at += set.ok_or("a bitmap of a kind is cut short")?.1;
    }
    Ok((kinds, at))
}
