//! What it costs that a run is recorded: `cargo run --release -p hedgerow-engine --example
//! recording`. Runs of many small tasks, with a recorder and without, one after the other; what
//! counts is the median.

#![allow(clippy::print_stdout, reason = "an example tells what it measured")]

use hedgerow_engine::{run_tasks, Jobs, Options, Recorder, Scope};
use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

const TASKS: u64 = 100_000;
const ROUNDS: usize = 15;

/// Work for a processor, about so many microseconds of it, without asking the clock.
fn work(rounds: u64, seed: u64) -> u64 {
    (0..rounds).fold(seed, |sum, round| {
        std::hint::black_box(
            sum.wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(round),
        )
    })
}

fn run(jobs: usize, rounds: u64, recorder: Option<Arc<Recorder>>) -> Duration {
    let options = Options {
        jobs: Jobs::Fixed(NonZeroUsize::new(jobs).unwrap_or(NonZeroUsize::MIN)),
        name: "recording",
        recorder,
        ..Options::default()
    };
    let task = |_: &mut (), task: u64, _: &Scope<'_, u64>| {
        std::hint::black_box(work(rounds, task));
        Ok::<(), Infallible>(())
    };
    let started = Instant::now();
    let ran = run_tasks(&options, (0..TASKS).collect(), |_| (), task);
    assert!(ran.is_ok());
    started.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn main() {
    for (jobs, rounds) in [(1, 0), (1, 10_000), (2, 0), (2, 10_000), (16, 10_000)] {
        let pairs = (0..ROUNDS).map(|_| {
            let alone = run(jobs, rounds, None);
            (alone, run(jobs, rounds, Some(Arc::default())))
        });
        let (alone, recorded): (Vec<_>, Vec<_>) = pairs.unzip();
        let (alone, recorded) = (median(alone), median(recorded));
        let more = recorded.as_secs_f64() - alone.as_secs_f64();
        println!(
            "{jobs:>2} workers, {:>7.3} us a task: {alone:>8.1?} alone, {recorded:>8.1?} recorded, \
             {:>4.0} ns a task, {:.2} %",
            alone.as_secs_f64() * 1e6 / TASKS as f64,
            more * 1e9 / TASKS as f64,
            100.0 * more / alone.as_secs_f64()
        );
    }
}
