use super::file::{self, Sections};
use super::pseudo_merges::{self, PseudoMerge};
use super::{BitOrder, Words};
use crate::error::{Error, Result};
use crate::format::hashed_file::HashedFile;
use hedgerow_object::ewah::{encode, encode_few, Change, Ewah};
use std::path::PathBuf;

/// Maximum distance back to the base of an entry: readers have limits, and git searches no further.
const WINDOW: usize = 10;
/// Maximum number of bitmaps combined to read one; a longer chain costs more than it saves.
const MAX_CHAIN: u32 = 64;

/// The bitmap of one commit, compressed.
#[derive(Clone, Debug)]
pub struct CommitBitmap {
    /// The bit of the commit.
    pub commit: u32,
    /// The set reachable from it, including itself, compressed.
    set: Vec<u8>,
}

/// The bitmaps to write, of the objects of a pack or a multi-pack-index.
#[derive(Debug)]
pub struct BitmapContents<'s> {
    /// The order of their bits.
    pub order: &'s BitOrder<'s>,
    /// The objects of each kind: commits, trees, blobs, tags.
    pub kinds: [Words; 4],
    /// The commits with their bitmaps, sorted so that likely bases come first: oldest first.
    pub commits: Vec<CommitBitmap>,
    /// Groups of commits.
    pub pseudo_merges: Vec<PseudoMerge>,
    /// For each object, by its bit, git's hash of the path at which it was found; empty if the
    /// hashes are not to be written (`pack.writeBitmapHashCache`).
    pub name_hashes: Vec<u32>,
    /// Whether to write a lookup table (`pack.writeBitmapLookupTable`).
    pub lookup_table: bool,
}

impl CommitBitmap {
    /// The bitmap `reached` of the commit with the bit `commit`.
    pub fn new(commit: u32, reached: &Words) -> Self {
        CommitBitmap {
            commit,
            set: encode(reached.as_slice()),
        }
    }

    /// The bitmap of the commit with the bit `commit` that reaches the objects with the bits `reached`,
    /// which ascend: few of all that there are.
    pub fn of_few(commit: u32, reached: &[u32]) -> Self {
        CommitBitmap {
            commit,
            set: encode_few(reached.iter().copied()),
        }
    }

    /// ORs the set into `target`, which has room for all objects.
    pub fn add_to(&self, target: &mut Words) {
        self.apply(Change::Or, target);
    }

    fn apply(&self, change: Change, target: &mut Words) {
        let applied =
            Ewah::parse(&self.set).and_then(|(set, _)| set.apply(change, target.as_mut_slice()));
        applied.expect("a set that was compressed here");
    }
}

/// An entry as it is going to be written.
#[derive(Debug)]
struct Planned {
    row: u32,
    /// How many entries before this one its base is; 0 if it has none.
    distance: u8,
    set: Vec<u8>,
}

impl BitmapContents<'_> {
    /// Writes the bitmap file of the pack or multi-pack-index, replacing an earlier one, with up to
    /// `threads` threads. Waits until it is on disk if `sync`. Returns its path.
    ///
    /// # Errors
    /// If a system call fails, or a bit is not in the order ([`Error::ForeignLocation`]).
    pub fn write(&self, threads: usize, sync: bool) -> Result<PathBuf> {
        let planned = self.plan(threads)?;
        let path = self.order.bitmap_path();
        let hash = self.order.hash_kind();
        let mut file = HashedFile::create(&path, hash)?;
        file.write(&file::header(
            self.order.checksum(),
            planned.len() as u32,
            Sections {
                name_hashes: !self.name_hashes.is_empty(),
                lookup_table: self.lookup_table,
                pseudo_merges: !self.pseudo_merges.is_empty(),
            },
        ))?;
        for kind in &self.kinds {
            file.write(&encode(kind.as_slice()))?;
        }
        let mut offsets = Vec::with_capacity(planned.len());
        for entry in &planned {
            offsets.push(file.position());
            file.write(&entry.row.to_be_bytes())?;
            file.write(&[entry.distance, 0])?;
            file.write(&entry.set)?;
        }
        if !self.pseudo_merges.is_empty() {
            pseudo_merges::write(&mut file, &self.pseudo_merges)?;
        }
        if self.lookup_table {
            write_lookup_table(&mut file, &planned, &offsets)?;
        }
        if !self.name_hashes.is_empty() {
            self.write_name_hashes(&mut file)?;
        }
        file.finish(sync)?;
        Ok(path)
    }

    /// Finds the smallest encoding for each commit.
    fn plan(&self, threads: usize) -> Result<Vec<Planned>> {
        let count = self.commits.len();
        let share = count.div_ceil(threads.max(1)).max(WINDOW);
        let starts = (0..count).step_by(share);
        let candidates = hedgerow_fs::threads::each("plan", starts, |start| {
            self.candidates(start..count.min(start + share))
        });
        let candidates = candidates.into_iter().collect::<Result<Vec<_>, _>>();
        let candidates = candidates.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let mut lengths: Vec<u32> = Vec::with_capacity(count);
        let mut planned = Vec::with_capacity(count);
        for (number, candidates) in candidates.into_iter().flatten().enumerate() {
            // The best candidate whose chain is short enough.
            let chosen = candidates.into_iter().find_map(|(distance, set)| {
                let base = lengths.get(number.checked_sub(distance)?)?;
                (*base < MAX_CHAIN).then_some((base + 1, distance, set))
            });
            let commit = self.commits.get(number).ok_or(Error::ForeignLocation)?;
            let (length, distance, set) = chosen.unwrap_or_else(|| (0, 0, commit.set.clone()));
            lengths.push(length);
            planned.push(Planned {
                row: self
                    .order
                    .row(commit.commit)
                    .ok_or(Error::ForeignLocation)?,
                distance: distance as u8,
                set,
            });
        }
        assert_eq!(planned.len(), count, "every commit gets an entry");
        Ok(planned)
    }

    /// For each commit in `range`, the distances to bases with which its encoding is smaller, the
    /// best first, at most two.
    fn candidates(&self, range: std::ops::Range<usize>) -> Vec<Vec<(usize, Vec<u8>)>> {
        let bits = self.order.count() as usize;
        let decode = |commit: &CommitBitmap| {
            let mut words = Words::with_bits(bits);
            commit.apply(Change::Xor, &mut words);
            words
        };
        let mut window: std::collections::VecDeque<Words> = std::collections::VecDeque::new();
        // Start with the window that a single thread would have at this point.
        let before = range.start.saturating_sub(WINDOW)..range.start;
        window.extend(
            self.commits
                .get(before)
                .expect("what comes before a part is in the list")
                .iter()
                .map(decode),
        );
        let mut all = Vec::with_capacity(range.len());
        for commit in self.commits.get(range).expect("parts are within the list") {
            let own = decode(commit);
            let mut found: Vec<(u64, usize)> = Vec::new();
            for (distance, base) in (1..).zip(window.iter().rev()) {
                found.push((changed_words(&own, base), distance));
            }
            found.sort_unstable();
            let mut encoded: Vec<(usize, Vec<u8>)> = Vec::new();
            for (_, distance) in found.into_iter().take(2) {
                let base = &window[window.len() - distance];
                let words = own.as_slice().iter().zip(base.as_slice());
                let set = encode(&words.map(|(a, b)| a ^ b).collect::<Vec<u64>>());
                if set.len() < commit.set.len() {
                    encoded.push((distance, set));
                }
            }
            all.push(encoded);
            if window.len() == WINDOW {
                window.pop_front();
            }
            window.push_back(own);
        }
        all
    }

    fn write_name_hashes(&self, file: &mut HashedFile) -> Result<()> {
        for row in 0..self.order.count() {
            let bit = self.order.bit_of_row(row);
            let hash = bit.and_then(|bit| self.name_hashes.get(bit as usize));
            let hash = hash.ok_or(Error::ForeignLocation)?;
            file.write(&hash.to_be_bytes())?;
        }
        Ok(())
    }
}

/// Number of differing words: roughly the size of the compressed difference.
fn changed_words(a: &Words, b: &Words) -> u64 {
    let pairs = a.as_slice().iter().zip(b.as_slice());
    pairs.map(|(a, b)| u64::from(a != b)).sum()
}

fn write_lookup_table(file: &mut HashedFile, planned: &[Planned], offsets: &[u64]) -> Result<()> {
    assert_eq!(planned.len(), offsets.len(), "every entry was written");
    assert!(
        offsets.is_sorted(),
        "entries were written one after the other"
    );
    let mut numbers: Vec<usize> = (0..planned.len()).collect();
    numbers.sort_unstable_by_key(|number| planned.get(*number).map(|entry| entry.row));
    let mut places = vec![0_u32; planned.len()];
    for (place, number) in (0..).zip(&numbers) {
        places[*number] = place;
    }
    for number in numbers {
        let (entry, offset) = (&planned[number], offsets[number]);
        let base = match usize::from(entry.distance) {
            0 => file::NO_BASE,
            distance => {
                let base = number.checked_sub(distance);
                places[base.expect("a base comes before what is stored against it")]
            }
        };
        file.write(&entry.row.to_be_bytes())?;
        file.write(&offset.to_be_bytes())?;
        file.write(&base.to_be_bytes())?;
    }
    Ok(())
}
