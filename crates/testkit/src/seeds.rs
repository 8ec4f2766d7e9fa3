//! Playing what is drawn from seeds.

use std::ops::Range;

/// An ordinary run of the tests plays one seed of so many.
const SAMPLE: usize = 4;
/// And one variant of so many.
const VARIANTS: usize = 3;

/// Plays a sample of the seeds, or all of them with `HEDGEROW_TEST_SEEDS=all`, or those that
/// `HEDGEROW_TEST_SEED` names, with commas between.
pub fn play_sample(seeds: Range<u64>, play_one: fn(u64)) {
    let step = if wants_all() || named().is_some() {
        1
    } else {
        SAMPLE
    };
    play_those(seeds.step_by(step), play_one);
}

/// A third of the variants, others for each `round`; all of them with `HEDGEROW_TEST_SEEDS=all`.
pub fn sample<T>(variants: &[T], round: usize) -> impl Iterator<Item = &T> {
    let (first, step) = if wants_all() {
        (0, 1)
    } else {
        (round % VARIANTS, VARIANTS)
    };
    variants.iter().skip(first).step_by(step)
}

fn wants_all() -> bool {
    std::env::var("HEDGEROW_TEST_SEEDS").is_ok_and(|wish| wish == "all")
}

/// Plays every seed, or those that `HEDGEROW_TEST_SEED` names, with commas between.
pub fn play_each(seeds: Range<u64>, play_one: fn(u64)) {
    play_those(seeds, play_one);
}

/// Each is played, whatever the others did.
fn play_those(seeds: impl Iterator<Item = u64>, play_one: fn(u64)) {
    let named = named();
    let is_asked = |seed: &u64| named.as_ref().is_none_or(|named| named.contains(seed));
    let has_failed = |seed: &u64| std::panic::catch_unwind(|| play_one(*seed)).is_err();
    let failed: Vec<u64> = seeds.filter(is_asked).filter(has_failed).collect();
    assert!(failed.is_empty(), "these seeds failed: {failed:?}");
}

fn named() -> Option<Vec<u64>> {
    let list = std::env::var("HEDGEROW_TEST_SEED").ok()?;
    let seeds = list.split(',').map(|seed| seed.parse());
    let seeds: Result<Vec<u64>, _> = seeds.collect();
    Some(seeds.expect("HEDGEROW_TEST_SEED: numbers with commas between"))
}
