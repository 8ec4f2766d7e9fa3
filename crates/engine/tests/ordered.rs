//! Ordered runs: outputs in the order of the items, bytes in flight within the window.

#![allow(clippy::unwrap_used)]

use hedgerow_engine::{run_ordered, Failure, Jobs, Options, Report, Window};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

const WINDOW: Window = Window { bytes: 100_000 };

fn fixed(jobs: usize) -> Options {
    Options {
        jobs: Jobs::Fixed(NonZeroUsize::new(jobs).unwrap()),
        name: "test",
        ..Options::default()
    }
}

fn every_kind() -> Vec<Options> {
    let mut options: Vec<Options> = [1, 2, 3, 8, 64].into_iter().map(fixed).collect();
    options.push(Options {
        name: "test",
        ..Options::default()
    });
    options
}

/// Numbers that look random and are the same in each run.
fn scramble(number: u64) -> u64 {
    let mixed = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 33
}

fn numbers(count: u64, bytes: u64) -> impl Iterator<Item = Result<(u64, u64), String>> + Send {
    (0..count).map(move |number| Ok((number, bytes)))
}

type Outcome = (Result<Report, Failure<String>>, Vec<u64>);

/// Runs `work` on numbers from `source`, and lists what was committed.
fn collect(
    options: &Options,
    source: impl Iterator<Item = Result<(u64, u64), String>> + Send,
    work: impl Fn(u64) -> Result<u64, String> + Sync,
) -> Outcome {
    let mut committed = Vec::new();
    let result = run_ordered(
        options,
        WINDOW,
        source,
        |_| (),
        |(), item| work(item),
        |ticket, output| {
            assert_eq!(ticket.number(), committed.len() as u64);
            committed.push(output);
            Ok(())
        },
    );
    (result, committed)
}

#[test]
fn order_holds_under_random_delays() {
    for options in every_kind() {
        let (result, committed) = collect(&options, numbers(2000, 500), |item| {
            std::thread::sleep(Duration::from_micros(scramble(item) % 300));
            Ok(item * 3)
        });
        let report = result.unwrap();
        assert_eq!(
            committed,
            (0..2000).map(|item| item * 3).collect::<Vec<_>>()
        );
        assert!(report.workers_peak >= 1);
        if let Jobs::Fixed(jobs) = options.jobs {
            assert!(report.workers_peak <= jobs.get());
        }
    }
}

#[test]
fn nothing_commits_nothing() {
    for options in every_kind() {
        let (result, committed) = collect(&options, numbers(0, 1), Ok);
        assert_eq!(result.unwrap().workers_peak, 0);
        assert!(committed.is_empty());
    }
}

/// What was taken from the source and not committed; the source is one item ahead of the window.
#[test]
fn the_budget_is_never_exceeded() {
    for options in every_kind() {
        let in_flight = AtomicI64::new(0);
        let most = AtomicI64::new(0);
        let size = |item: u64| 256 + scramble(item) % 30_000;
        let source = (0..1000).map(|item| Ok::<_, String>((item, size(item))));
        let work = |_: &mut (), item: u64| {
            let now = in_flight.fetch_add(size(item) as i64, Ordering::SeqCst);
            most.fetch_max(now + size(item) as i64, Ordering::SeqCst);
            std::thread::sleep(Duration::from_micros(scramble(item + 7) % 100));
            Ok(item)
        };
        let commit = |_, item| {
            in_flight.fetch_sub(size(item) as i64, Ordering::SeqCst);
            Ok(())
        };
        run_ordered(&options, WINDOW, source, |_| (), work, commit).unwrap();
        let most = most.into_inner();
        assert!(most <= WINDOW.bytes as i64, "{most}");
    }
}

#[test]
fn items_above_the_budget_go_through() {
    for options in every_kind() {
        let (result, committed) = collect(&options, numbers(50, 1_000_000), Ok);
        assert_eq!(result.unwrap().workers_peak, 1);
        assert_eq!(committed.len(), 50);
    }
}

#[test]
fn the_earliest_error_is_the_one_returned() {
    for options in every_kind() {
        // The later error comes first in time.
        let (result, committed) = collect(&options, numbers(1000, 10), |item| match item {
            60 => {
                std::thread::sleep(Duration::from_millis(5));
                Err("sixty".into())
            }
            61 => Err("sixty-one".into()),
            item => Ok(item),
        });
        assert!(matches!(result, Err(Failure::Failed(text)) if text == "sixty"));
        assert_eq!(committed, (0..60).collect::<Vec<_>>());
    }
}

#[test]
fn an_error_of_the_source_has_its_place() {
    for options in every_kind() {
        let source = (0..100).map(|item| match item {
            40 => Err("source".to_owned()),
            item => Ok((item, 10)),
        });
        let (result, committed) = collect(&options, source, |item| {
            std::thread::sleep(Duration::from_micros(scramble(item) % 200));
            Ok(item)
        });
        assert!(matches!(result, Err(Failure::Failed(text)) if text == "source"));
        assert_eq!(committed, (0..40).collect::<Vec<_>>());
    }
}

#[test]
fn an_error_of_the_commit_ends_the_run() {
    for options in every_kind() {
        let mut count = 0;
        let commit = |_, item: u64| {
            count += 1;
            match item {
                20 => Err("commit".to_owned()),
                _ => Ok(()),
            }
        };
        let work = |_: &mut (), item| Ok(item);
        let result = run_ordered(&options, WINDOW, numbers(100_000, 10), |_| (), work, commit);
        assert!(matches!(result, Err(Failure::Failed(text)) if text == "commit"));
        assert_eq!(count, 21);
    }
}

#[test]
fn a_panic_anywhere_is_told() {
    let panicked = |result: Result<Report, Failure<String>>, expected: &str| match result {
        Err(Failure::Panicked(message)) => assert_eq!(message, expected),
        other => panic!("{other:?}"),
    };
    for options in every_kind() {
        let (result, _) = collect(&options, numbers(500, 10), |item| {
            assert!(item != 100, "in the work");
            Ok(item)
        });
        panicked(result, "in the work");
        let source = numbers(500, 10).inspect(|item| {
            assert!(!matches!(item, Ok((77, _))), "in the source");
        });
        panicked(collect(&options, source, Ok).0, "in the source");
        let commit = |_, item: u64| {
            assert!(item != 50, "in the commit");
            Ok(())
        };
        let work = |_: &mut (), item| Ok(item);
        let result = run_ordered(&options, WINDOW, numbers(500, 10), |_| (), work, commit);
        panicked(result, "in the commit");
        let worker = |_| panic!("in the worker");
        let work = |_: &mut (), item| Ok(item);
        let result = run_ordered(
            &options,
            WINDOW,
            numbers(5, 10),
            worker,
            work,
            |_, _| Ok(()),
        );
        panicked(result, "in the worker");
    }
}

#[test]
fn cancelled_from_another_thread() {
    for options in every_kind() {
        let cancel = options.cancel.clone();
        let result = std::thread::scope(|threads| {
            threads.spawn(move || {
                std::thread::sleep(Duration::from_millis(10));
                cancel.cancel();
            });
            let endless = (0..).map(|item| Ok((item, 10)));
            collect(&options, endless, |item| {
                std::thread::sleep(Duration::from_micros(200));
                Ok(item)
            })
            .0
        });
        assert!(matches!(result, Err(Failure::Cancelled)));
    }
}

#[test]
fn one_worker_stays_on_the_calling_thread() {
    let caller = std::thread::current().id();
    let (result, committed) = collect(&fixed(1), numbers(10, 1), |item| {
        assert_eq!(std::thread::current().id(), caller);
        Ok(item)
    });
    assert_eq!(result.unwrap().workers_peak, 1);
    assert_eq!(committed.len(), 10);
}

#[test]
fn workers_keep_what_they_make_and_are_no_more_than_items() {
    let made = AtomicUsize::new(0);
    let sum = AtomicU64::new(0);
    let worker = |_| {
        made.fetch_add(1, Ordering::Relaxed);
        0_u64
    };
    let work = |kept: &mut u64, item: u64| {
        *kept += 1;
        sum.fetch_add(item, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(5));
        Ok::<u64, String>(*kept)
    };
    let mut most = 0;
    run_ordered(
        &fixed(64),
        WINDOW,
        numbers(3, 10),
        worker,
        work,
        |_, kept| {
            most = most.max(kept);
            Ok(())
        },
    )
    .unwrap();
    assert!(made.into_inner() <= 4);
    assert_eq!(sum.into_inner(), 3);
    assert!((1..=3).contains(&most));
}

#[test]
fn waiting_workers_become_many() {
    let options = Options::default();
    let (result, committed) = collect(&options, numbers(3000, 10), |item| {
        std::thread::sleep(Duration::from_millis(1));
        Ok(item)
    });
    let report = result.unwrap();
    assert!(report.workers_peak >= 32, "{report:?}");
    assert_eq!(committed.len(), 3000);
}
