//! Sorting the numbers of many things by a key of 64 bits: by its high bits into buckets, then
//! each bucket by itself, in parallel. Faster than one sort of all because a bucket stays in the
//! cache.

use hedgerow_fs::threads::start_or_do;

/// Fewer than this are not worth buckets.
const MIN_FOR_BUCKETS: usize = 1 << 12;
/// Things in a bucket on average: 32 KiB of them.
const BUCKET_THINGS: usize = 1 << 11;
const MAX_BUCKETS_LOG2: u32 = 14;

/// The numbers `0..count` in order of `key` of each; those of equal keys in their own order.
pub(crate) fn sorted(count: usize, key: impl Fn(usize) -> u64, threads: usize) -> Vec<u32> {
    let count = count.min(u32::MAX as usize);
    let mut keyed = bucketed(count, &key);
    sort_buckets(&mut keyed, threads);
    let numbers = keyed.things.into_iter().map(|(_, number)| number);
    numbers.collect()
}

struct Buckets {
    things: Vec<(u64, u32)>,
    /// Where each bucket ends.
    ends: Vec<usize>,
}

/// Distributes by the high bits of the range that the keys have.
fn bucketed(count: usize, key: &impl Fn(usize) -> u64) -> Buckets {
    let numbers = || (0..count).map(|number| (key(number), number as u32));
    if count < MIN_FOR_BUCKETS {
        return Buckets {
            things: numbers().collect(),
            ends: vec![count],
        };
    }
    let (mut low, mut high) = (u64::MAX, 0);
    for (key, _) in numbers() {
        low = low.min(key);
        high = high.max(key);
    }
    let bits = (count / BUCKET_THINGS).ilog2().clamp(1, MAX_BUCKETS_LOG2);
    let shift = (u64::BITS - (high - low).leading_zeros()).saturating_sub(bits);
    let bucket = |key: u64| ((key - low) >> shift) as usize;
    let mut ends = vec![0_usize; 1 << bits];
    for (key, _) in numbers() {
        ends[bucket(key)] += 1;
    }
    let mut sum = 0;
    for end in &mut ends {
        sum += std::mem::replace(end, sum);
    }
    let mut things = vec![(0, 0); count];
    for (key, number) in numbers() {
        let next = &mut ends[bucket(key)];
        things[*next] = (key, number);
        *next += 1;
    }
    assert_eq!(ends.last(), Some(&count), "every thing is in a bucket");
    Buckets { things, ends }
}

fn sort_buckets(buckets: &mut Buckets, threads: usize) {
    let share = buckets.things.len().div_ceil(threads.max(1)).max(1);
    let mut rest = buckets.things.as_mut_slice();
    let (mut start, mut from) = (0, 0);
    std::thread::scope(|scope| {
        for (at, end) in buckets.ends.iter().enumerate() {
            let is_last = at + 1 == buckets.ends.len();
            if end - start < share && !is_last {
                continue;
            }
            let (mine, after) = std::mem::take(&mut rest).split_at_mut(end - start);
            rest = after;
            let ends = &buckets.ends[from..=at];
            let mut sort = move || sort_each(mine, ends, start);
            if is_last {
                sort()
            } else {
                drop(start_or_do(scope, "sort", sort))
            }
            (start, from) = (*end, at + 1);
        }
    });
}

/// Sorts the buckets that `things`, which start at `start` of all, are made of.
fn sort_each(mut things: &mut [(u64, u32)], ends: &[usize], mut start: usize) {
    for end in ends {
        let (bucket, after) = things.split_at_mut(end - start);
        bucket.sort_unstable();
        (things, start) = (after, *end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_that_of_a_plain_sort() {
        let scramble = |number: usize| (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        type Key = Box<dyn Fn(usize) -> u64>;
        let keys: [(&str, Key); 5] = [
            ("random", Box::new(scramble)),
            ("equal", Box::new(|_| 7)),
            ("few", Box::new(move |number| scramble(number) % 3)),
            (
                "falling",
                Box::new(|number| 1 << 40 | (1_000_000 - number as u64)),
            ),
            (
                "skewed",
                Box::new(|number| if number == 9 { u64::MAX } else { number as u64 }),
            ),
        ];
        for (name, key) in keys {
            for count in [0, 1, 100, MIN_FOR_BUCKETS, 50_000] {
                let mut expected: Vec<u32> = (0..count as u32).collect();
                expected.sort_by_key(|number| key(*number as usize));
                for threads in [1, 2, 7] {
                    let got = sorted(count, &key, threads);
                    assert_eq!(got, expected, "{name} {count} {threads}");
                }
            }
        }
    }
}
