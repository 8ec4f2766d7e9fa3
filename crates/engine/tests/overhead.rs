//! What the machine itself costs. Run on a quiet machine:
//! `cargo test -p hedgerow-engine --release --test overhead -- --ignored --nocapture`

#![allow(clippy::unwrap_used)]

use hedgerow_engine::{run_ordered, run_tasks, Jobs, Options, Scope, Window};
use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

const TASKS: u64 = 100_000;

fn best_of_10(run: impl Fn()) -> Duration {
    let time = |_| {
        let started = Instant::now();
        run();
        started.elapsed()
    };
    (0..10).map(time).min().unwrap()
}

fn options(jobs: usize) -> Options {
    Options {
        jobs: NonZeroUsize::new(jobs).map_or(Jobs::Auto, Jobs::Fixed),
        ..Options::default()
    }
}

#[test]
#[ignore = "measures time"]
fn trivial_tasks() {
    for jobs in [1, 2, 4, 8, 64, 0] {
        let work = |_: &mut (), _: u64, _: &Scope<'_, u64>| Ok::<(), Infallible>(());
        let flat = best_of_10(|| {
            run_tasks(&options(jobs), (0..TASKS).collect(), |_| (), work).unwrap();
        });
        let halve = |_: &mut (), count: u64, scope: &Scope<'_, u64>| {
            if count > 1 {
                scope.spawn(count / 2);
                scope.spawn(count - count / 2);
            }
            Ok::<(), Infallible>(())
        };
        let nested = best_of_10(|| {
            run_tasks(&options(jobs), vec![TASKS / 2], |_| (), halve).unwrap();
        });
        let source = || (0..TASKS).map(|item| Ok::<(u64, u64), Infallible>((item, 1)));
        let window = Window { bytes: 1 << 20 };
        let ordered = best_of_10(|| {
            let work = |_: &mut (), item| Ok(item);
            run_ordered(
                &options(jobs),
                window,
                source(),
                |_| (),
                work,
                |_, _| Ok(()),
            )
            .unwrap();
        });
        println!("{TASKS} tasks, {jobs} workers (0: auto): queued at once {flat:?},");
        println!("    spawned by tasks {nested:?}, in order {ordered:?}");
    }
}
