//! Hundreds of states drawn from seeds: in each, hedgerow says what git says, in every format.
//!
//! `HEDGEROW_TEST_SEED=N` replays one of them; `HEDGEROW_TEST_SEEDS=all` plays twice as many.

use crate::compare::{compare, line};
use crate::coverage::Coverage;
use crate::state::State;
use crate::{invocation, refresh};
use std::sync::Mutex;

const SEEDS: u64 = 360;
/// The only seed that shows a commit being split: an ordinary run plays it and every even one.
const RARE: u64 = 349;
/// Stories told in full.
const TOLD: usize = 5;

#[test]
fn says_what_git_says() {
    let only = std::env::var("HEDGEROW_TEST_SEED").ok();
    let only = only.and_then(|seed| seed.parse::<u64>().ok());
    let wants_all = std::env::var("HEDGEROW_TEST_SEEDS").is_ok_and(|wish| wish == "all");
    let is_played = |seed: &u64| match only {
        Some(only) => *seed == only,
        None => wants_all || seed.is_multiple_of(2) || *seed == RARE,
    };
    let seeds = Mutex::new((0..SEEDS.max(only.map_or(0, |seed| seed + 1))).filter(is_played));
    let failed = Mutex::new(Vec::new());
    let seen = Mutex::new(Coverage::default());
    let workers = std::thread::available_parallelism().map_or(2, |count| count.get());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| loop {
                let Some(seed) = seeds.lock().unwrap().next() else {
                    break;
                };
                let mut coverage = Coverage::default();
                let played = std::panic::catch_unwind(|| play(seed));
                match played {
                    Ok((found, stories)) => {
                        coverage = found;
                        failed
                            .lock()
                            .unwrap()
                            .extend(stories.map(|story| (seed, story)));
                    }
                    Err(_) => failed.lock().unwrap().push((seed, "panicked".to_owned())),
                }
                seen.lock().unwrap().add(&coverage);
            });
        }
    });
    let seen = seen.into_inner().unwrap();
    println!("{seen}");
    tell(failed.into_inner().unwrap());
    if only.is_none() {
        seen.assert_complete();
    }
}

/// Plays one seed: what was seen, and the story if anything differed.
fn play(seed: u64) -> (Coverage, Option<String>) {
    let mut state = State::draw(seed);
    let mut coverage = Coverage::default();
    let mut differing = Vec::new();
    let before = std::fs::read(state.index_path()).ok();
    for invocation in invocation::draw(&mut state) {
        match compare(&state, &invocation) {
            Ok(outcome) => coverage.observe(&outcome),
            Err(difference) => differing.push(difference),
        }
        if before != std::fs::read(state.index_path()).ok() {
            let line = line(&invocation);
            differing.push(format!("{line}\nthe index was written without leave"));
            break;
        }
    }
    if let Err(difference) = refresh::compare(&state) {
        differing.push(difference);
    }
    let story = (!differing.is_empty()).then(|| {
        format!(
            "{}\n\n{}",
            state.operations.join("\n"),
            differing.join("\n")
        )
    });
    (coverage, story)
}

fn tell(mut failed: Vec<(u64, String)>) {
    failed.sort();
    for (seed, story) in failed.iter().take(TOLD) {
        println!("==== seed {seed}\n{story}");
    }
    let seeds: Vec<u64> = failed.iter().map(|(seed, _)| *seed).collect();
    let count = seeds.len();
    assert!(seeds.is_empty(), "{count} seeds differ: {seeds:?}");
}
