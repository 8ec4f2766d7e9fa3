//! Finds runs of equal blocks. The blocks of a file must be contiguous, so a file needs no blocks
//! of its own if the same sequence of blocks is stored already: as another file, as a part of one,
//! or across the end of one file and the start of the next.

use crate::digest::Digest;
use std::collections::HashMap;

/// Maximum number of blocks known by their digests; they take about 200 MiB of memory. Later blocks
/// are stored, but not found again.
pub const KNOWN_BLOCKS: usize = 1 << 22;
/// Maximum number of places tried for a run; some contents repeat one block a million times.
const TRIES: usize = 64;
/// Marks a block whose digest no earlier block has.
const NONE: u32 = u32::MAX;
/// The digest of a block that must not be found; no hash has this value.
const UNFINDABLE: Digest = [u32::MAX; 5];

/// The stored blocks, numbered in stored order.
#[derive(Default)]
pub struct Runs {
    digests: Vec<Digest>,
    /// For each settled block, the block before it with the same digest.
    before: Vec<u32>,
    latest: HashMap<u64, Latest>,
    /// Number of blocks, including those that are not known.
    count: u64,
}

/// The latest block with a digest, and the number of such blocks.
struct Latest {
    number: u32,
    count: u32,
}

impl Runs {
    /// The number of the next block.
    pub fn next(&self) -> u64 {
        self.count
    }

    /// Adds a stored block. Without a digest, it is never found.
    pub fn push(&mut self, digest: Option<Digest>) {
        self.count += 1;
        if self.digests.len() < KNOWN_BLOCKS {
            self.digests.push(digest.unwrap_or(UNFINDABLE));
        }
    }

    /// Removes the blocks from `first` on, none of which is settled.
    pub fn take_back(&mut self, first: u64) {
        debug_assert!(first >= self.before.len() as u64);
        self.count = first;
        self.digests
            .truncate(usize::try_from(first).unwrap_or(usize::MAX));
    }

    /// Keeps the blocks added so far, which can be found from now on.
    pub fn settle(&mut self) {
        let settled = self.before.len();
        let (_, new) = self.digests.split_at(settled);
        for (number, digest) in (settled as u32..).zip(new) {
            let mut before = NONE;
            if *digest != UNFINDABLE {
                let latest = self.latest.entry(key(digest)).or_insert(Latest {
                    number: NONE,
                    count: 0,
                });
                before = std::mem::replace(&mut latest.number, number);
                latest.count = latest.count.saturating_add(1);
            }
            self.before.push(before);
        }
    }

    /// Whether a settled block with this digest is known.
    pub fn has(&self, digest: &Digest) -> bool {
        self.latest.contains_key(&key(digest))
    }

    /// The number of a settled block with this digest: `expected` if that is one, else the latest.
    pub fn find_block(&self, digest: &Digest, expected: Option<u32>) -> Option<u32> {
        let is_equal = |number: &u32| {
            let is_settled = (*number as usize) < self.before.len();
            is_settled && self.digests.get(*number as usize) == Some(digest)
        };
        let latest = || self.latest.get(&key(digest)).map(|latest| latest.number);
        expected
            .filter(is_equal)
            .or_else(|| latest().filter(is_equal))
    }

    /// Finds an earlier run that equals the unsettled blocks from `first` on.
    pub fn find_last(&self, first: u64) -> Option<u32> {
        let is_known = self.count <= self.digests.len() as u64;
        let run = self.digests.get(usize::try_from(first).ok()?..);
        self.find(run.filter(|_| is_known)?)
    }

    /// Finds settled blocks equal to `run`, which is not empty. Returns the number of the first.
    pub fn find(&self, run: &[Digest]) -> Option<u32> {
        // The rarest block leads to the fewest places. Among equally rare ones it is the last,
        // because later places are tried first and the rest of the run must fit after them.
        let mut rarest: Option<(usize, &Latest)> = None;
        for (at, digest) in run.iter().enumerate() {
            let latest = self.latest.get(&key(digest))?;
            if rarest.is_none_or(|(_, known)| latest.count <= known.count) {
                rarest = Some((at, latest));
            }
        }
        let (at, latest) = rarest?;
        let mut number = latest.number;
        for _ in 0..TRIES {
            if number == NONE {
                return None;
            }
            if let Some(start) = (number as usize).checked_sub(at) {
                let end = start + run.len();
                let is_settled = end <= self.before.len();
                if is_settled && self.digests.get(start..end) == Some(run) {
                    return u32::try_from(start).ok();
                }
            }
            number = self.before.get(number as usize).copied().unwrap_or(NONE);
        }
        None
    }
}

fn key([first, second, ..]: &Digest) -> u64 {
    u64::from(*first) << 32 | u64::from(*second)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digests(text: &str) -> Vec<Digest> {
        let digest = |byte: u8| [u32::from(byte), 1, 2, 3, 4];
        text.bytes().map(digest).collect()
    }

    /// Adds the blocks of files, each a letter; the block `-` cannot be found.
    fn stored(text: &str) -> Runs {
        let mut runs = Runs::default();
        for (letter, digest) in text.bytes().zip(digests(text)) {
            runs.push((letter != b'-').then_some(digest));
        }
        runs.settle();
        runs
    }

    #[test]
    fn a_run_is_found_wherever_it_stands() {
        let runs = stored("abcd-efabx");
        for (run, start) in [
            ("abcd", Some(0)),
            ("bc", Some(1)),
            ("d", Some(3)),
            ("efab", Some(5)),
            ("abx", Some(7)),
            ("de", None),
            ("abcde", None),
            ("y", None),
            ("xa", None),
        ] {
            assert_eq!(runs.find(&digests(run)), start, "{run}");
        }
    }

    #[test]
    fn what_is_not_settled_is_not_found_and_can_be_taken_back() {
        let mut runs = stored("abc");
        let first = runs.next();
        digests("bc")
            .into_iter()
            .for_each(|digest| runs.push(Some(digest)));
        assert_eq!(runs.find_last(first), Some(1));
        assert_eq!(runs.find(&digests("cb")), None);
        runs.take_back(first);
        digests("cb")
            .into_iter()
            .for_each(|digest| runs.push(Some(digest)));
        assert_eq!(runs.find_last(first), None);
        runs.settle();
        assert_eq!(runs.find(&digests("ccb")), Some(2));
        assert_eq!(runs.next(), 5);
    }

    #[test]
    fn a_block_is_found_where_it_is_expected() {
        let runs = stored("abcab");
        let [a, b] = [digests("a")[0], digests("b")[0]];
        assert_eq!(runs.find_block(&a, None), Some(3));
        assert_eq!(runs.find_block(&b, Some(1)), Some(1));
        assert_eq!(runs.find_block(&b, Some(2)), Some(4));
        assert_eq!(runs.find_block(&digests("x")[0], Some(1)), None);
    }

    #[test]
    fn one_block_a_million_times_is_found_soon() {
        let runs = stored(&"a".repeat(100_000));
        assert!(runs.find(&digests(&"a".repeat(1000))).is_some());
        assert_eq!(runs.find(&digests("ab")), None);
    }
}
