//! Runs of equal blocks. The blocks of a file stand together and in order, so a file needs no
//! blocks of its own if all of its blocks, one behind the other, are stored already: as another
//! file, as a part of one, or across the end of one and the beginning of the next.

use super::digest::Digest;
use std::collections::HashMap;

/// Blocks that are known by their digests, at most: about 200 MiB of memory. Those that come later
/// are stored without being found again.
pub(super) const KNOWN_BLOCKS: usize = 1 << 22;
/// Places that are tried for one run, at most: some contents repeat one block a million times.
const TRIES: usize = 64;
/// No block before this one has the same digest.
const NONE: u32 = u32::MAX;
/// Stands for a block that is not to be found: no hash is this.
const UNFINDABLE: Digest = [u32::MAX; 5];

/// The blocks that are stored, by their numbers in the order in which they stand.
#[derive(Default)]
pub(super) struct Runs {
    digests: Vec<Digest>,
    /// Of those that can be found: the one before with the same digest.
    before: Vec<u32>,
    latest: HashMap<u64, Latest>,
    /// Blocks, also those that are not known.
    count: u64,
}

/// The blocks that have a digest.
struct Latest {
    number: u32,
    count: u32,
}

impl Runs {
    /// The number of the next block.
    pub(super) fn next(&self) -> u64 {
        self.count
    }

    /// A block is stored; without a digest, it is never found.
    pub(super) fn push(&mut self, digest: Option<Digest>) {
        self.count += 1;
        if self.digests.len() < KNOWN_BLOCKS {
            self.digests.push(digest.unwrap_or(UNFINDABLE));
        }
    }

    /// The blocks from `first` on are given up. None of them was settled.
    pub(super) fn take_back(&mut self, first: u64) {
        debug_assert!(first >= self.before.len() as u64);
        self.count = first;
        self.digests
            .truncate(usize::try_from(first).unwrap_or(usize::MAX));
    }

    /// The blocks that were stored last stay, and can be found from now on.
    pub(super) fn settle(&mut self) {
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

    /// Whether a block like this can be found.
    pub(super) fn has(&self, digest: &Digest) -> bool {
        self.latest.contains_key(&key(digest))
    }

    /// Where the blocks from `first` on, which are not settled, stand already.
    pub(super) fn find_last(&self, first: u64) -> Option<u32> {
        let is_known = self.count <= self.digests.len() as u64;
        let run = self.digests.get(usize::try_from(first).ok()?..);
        self.find(run.filter(|_| is_known)?)
    }

    /// The number of the first of some settled blocks that are those of `run`, which is not empty.
    pub(super) fn find(&self, run: &[Digest]) -> Option<u32> {
        // The block that occurs least leads to the fewest places; the last of several, because the
        // places that are tried first are the last ones, and the run must fit behind.
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

    /// Files of blocks, each a letter; a dash cannot be found.
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
    fn one_block_a_million_times_is_found_soon() {
        let runs = stored(&"a".repeat(100_000));
        assert!(runs.find(&digests(&"a".repeat(1000))).is_some());
        assert_eq!(runs.find(&digests("ab")), None);
    }
}
