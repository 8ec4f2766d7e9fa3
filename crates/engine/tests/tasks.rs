//! Tasks: all of them run, once; errors, panics and cancellation end a run, and never hang it.

#![allow(clippy::unwrap_used)]

use hedgerow_engine::{run_tasks, CancelToken, Failure, Jobs, Options, Report, Scope};
use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};
use std::time::{Duration, Instant};

fn fixed(jobs: usize) -> Options {
    Options {
        jobs: Jobs::Fixed(NonZeroUsize::new(jobs).unwrap()),
        name: "test",
        ..Options::default()
    }
}

fn auto() -> Options {
    Options {
        name: "test",
        ..Options::default()
    }
}

fn every_kind() -> Vec<Options> {
    let mut options: Vec<Options> = [1, 2, 3, 8, 64].into_iter().map(fixed).collect();
    options.push(auto());
    options
}

/// Runs tasks that fail with nothing and need no worker state.
fn run<T: Send>(
    options: &Options,
    initial: Vec<T>,
    work: impl Fn(T, &Scope<'_, T>) + Sync,
) -> Result<Report, Failure<Infallible>> {
    let work = |_: &mut (), task, scope: &Scope<'_, T>| {
        work(task, scope);
        Ok(())
    };
    run_tasks(options, initial, |_| (), work)
}

fn spin(time: Duration) {
    let started = Instant::now();
    while started.elapsed() < time {
        std::hint::spin_loop();
    }
}

#[test]
fn nothing_to_do_is_done() {
    for options in every_kind() {
        let report = run(&options, Vec::<u32>::new(), |_, _| ()).unwrap();
        assert_eq!(report.workers_peak, 0);
    }
}

#[test]
fn every_task_runs_once() {
    for options in every_kind() {
        let seen: Vec<AtomicUsize> = (0..10_000).map(|_| AtomicUsize::new(0)).collect();
        let report = run(&options, (0..10_000).collect(), |task: usize, _| {
            seen[task].fetch_add(1, Ordering::Relaxed);
        });
        let report = report.unwrap();
        assert!(seen.iter().all(|count| count.load(Ordering::Relaxed) == 1));
        assert!(report.workers_peak >= 1 && report.workers_last >= 1);
        if let Jobs::Fixed(jobs) = options.jobs {
            assert!(report.workers_peak <= jobs.get());
            assert_eq!(report.workers_last, jobs.get());
        }
    }
}

#[test]
fn tasks_spawn_tasks() {
    for options in every_kind() {
        let count = AtomicUsize::new(0);
        // A tree of 5 levels of 10: each task spawns what is below it, in each of the three ways.
        let work = |level: u32, scope: &Scope<'_, u32>| {
            count.fetch_add(1, Ordering::Relaxed);
            if level > 0 {
                (0..3).for_each(|_| scope.spawn(level - 1));
                (0..3).for_each(|_| scope.spawn_first(level - 1));
                scope.spawn_all([level - 1; 4]);
            }
        };
        run(&options, vec![5], work).unwrap();
        assert_eq!(count.into_inner(), 111_111);
    }
}

#[test]
fn urgent_tasks_come_first_and_lanes_keep_their_order() {
    let order = Mutex::new(Vec::new());
    run(&fixed(1), vec![0, 1], |task, scope| {
        order.lock().unwrap().push(task);
        if task == 0 {
            scope.spawn(2);
            scope.spawn_first(10);
            scope.spawn_all([3, 4]);
            scope.spawn_first(11);
        }
    })
    .unwrap();
    assert_eq!(order.into_inner().unwrap(), [0, 10, 11, 1, 2, 3, 4]);
}

#[test]
fn one_worker_is_the_calling_thread() {
    let caller = std::thread::current().id();
    let numbers = Mutex::new(Vec::new());
    let worker = |number| numbers.lock().unwrap().push(number);
    let work = |_: &mut (), task: u32, scope: &Scope<'_, u32>| {
        assert_eq!(std::thread::current().id(), caller);
        (0..task).for_each(|_| scope.spawn(0));
        Ok::<(), Infallible>(())
    };
    let report = run_tasks(&fixed(1), vec![10, 20], worker, work).unwrap();
    assert_eq!(report.workers_peak, 1);
    assert_eq!(numbers.into_inner().unwrap(), [0]);
}

#[test]
fn no_more_threads_than_tasks() {
    let workers = AtomicUsize::new(0);
    let worker = |_| workers.fetch_add(1, Ordering::Relaxed);
    let work = |_: &mut usize, _: u32, _: &Scope<'_, u32>| {
        std::thread::sleep(Duration::from_millis(20));
        Ok::<(), Infallible>(())
    };
    run_tasks(&fixed(64), vec![1, 2, 3], worker, work).unwrap();
    assert!(workers.into_inner() <= 3);
}

#[test]
fn all_workers_work_at_a_time() {
    for jobs in [2, 8, 64] {
        let barrier = Barrier::new(jobs);
        let report = run(&fixed(jobs), vec![(); jobs], |(), _| {
            barrier.wait();
        });
        assert_eq!(report.unwrap().workers_peak, jobs);
        // The same, spawned from inside a task one by one.
        let work = |first: bool, scope: &Scope<'_, bool>| {
            if first {
                (1..jobs).for_each(|_| scope.spawn(false));
            }
            barrier.wait();
        };
        let report = run(&fixed(jobs), vec![true], work);
        assert_eq!(report.unwrap().workers_peak, jobs);
    }
}

/// A run that works alone for longer than any test takes: only who says so is not waited for.
#[test]
fn nobody_waits_for_a_task_that_takes_long() {
    let options = Options {
        patience: Duration::from_secs(3600),
        ..fixed(2)
    };
    let is_other_done = AtomicBool::new(false);
    let work = |is_long: bool, scope: &Scope<'_, bool>| {
        if !is_long {
            is_other_done.store(true, Ordering::Relaxed);
            return;
        }
        scope.takes_long();
        let started = Instant::now();
        while !is_other_done.load(Ordering::Relaxed) {
            assert!(started.elapsed() < Duration::from_secs(60));
            std::thread::yield_now();
        }
    };
    let report = run(&options, vec![true, false], work).unwrap();
    assert_eq!(report.workers_peak, 2);
}

#[test]
fn the_first_error_ends_the_run() {
    for options in every_kind() {
        let run_count = AtomicUsize::new(0);
        let work = |_: &mut (), task: u32, _: &Scope<'_, u32>| {
            run_count.fetch_add(1, Ordering::Relaxed);
            match task {
                500 => Err("five hundred"),
                _ => Ok(()),
            }
        };
        match run_tasks(&options, (0..100_000).collect(), |_| (), work) {
            Err(Failure::Failed("five hundred")) => {}
            other => panic!("{other:?}"),
        }
        assert!(run_count.into_inner() < 100_000);
    }
}

#[test]
fn a_failure_shows_to_the_other_tasks() {
    let failed = AtomicBool::new(false);
    let work = |_: &mut (), task: u32, scope: &Scope<'_, u32>| {
        if task == 0 {
            failed.store(true, Ordering::Relaxed);
            return Err(0);
        }
        while !scope.is_cancelled() {
            std::thread::yield_now();
        }
        scope.spawn(7);
        scope.spawn_all([8, 9]);
        Ok(())
    };
    let result = run_tasks(&fixed(2), vec![1, 0], |_| (), work);
    assert!(matches!(result, Err(Failure::Failed(0))));
    assert!(failed.into_inner());
}

#[test]
fn a_panic_is_told_and_never_hangs() {
    for options in every_kind() {
        let result = run(&options, (0..1000).collect(), |task: u32, _| {
            assert!(task != 300, "task {task} is bad");
        });
        match result {
            Err(Failure::Panicked(message)) => assert_eq!(message, "task 300 is bad"),
            other => panic!("{other:?}"),
        }
    }
    let worker = |number: usize| assert!(number != 1, "no worker");
    let work = |_: &mut (), _: u32, _: &Scope<'_, u32>| {
        std::thread::sleep(Duration::from_millis(5));
        Ok::<(), Infallible>(())
    };
    match run_tasks(&fixed(4), (0..100).collect(), worker, work) {
        Err(Failure::Panicked(message)) => assert_eq!(message, "no worker"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn cancelled_from_another_thread() {
    for options in every_kind() {
        let started = Instant::now();
        let cancel = options.cancel.clone();
        let result = std::thread::scope(|threads| {
            threads.spawn(move || {
                std::thread::sleep(Duration::from_millis(10));
                cancel.cancel();
            });
            run(&options, vec![0_u64], |task, scope| {
                std::thread::sleep(Duration::from_millis(1));
                scope.spawn(task + 1);
                scope.spawn(task + 1);
            })
        });
        assert!(matches!(result, Err(Failure::Cancelled)));
        assert!(started.elapsed() < Duration::from_secs(5));
    }
}

#[test]
fn cancelled_before_and_at_the_end() {
    let options = fixed(2);
    options.cancel.cancel();
    let result = run(&options, vec![1], |_, _| panic!("no task is to run"));
    assert!(matches!(result, Err(Failure::Cancelled)));
    let options = Options {
        cancel: CancelToken::default(),
        ..fixed(2)
    };
    // The last task may have cut its work short when it saw the token.
    let result = run(&options, vec![1], |_, _| options.cancel.cancel());
    assert!(matches!(result, Err(Failure::Cancelled)));
}

#[test]
fn what_waits_is_dropped_when_a_run_fails() {
    struct Counted<'a>(&'a AtomicUsize);
    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let dropped = AtomicUsize::new(0);
    let tasks = (0..100).map(|_| Counted(&dropped)).collect();
    let work = |_: &mut (), _: Counted<'_>, _: &Scope<'_, Counted<'_>>| Err("stop");
    assert!(run_tasks(&fixed(3), tasks, |_| (), work).is_err());
    assert_eq!(dropped.into_inner(), 100);
}

/// With round trips of a millisecond, 4 workers would need 750 ms, 64 need about 50.
#[test]
fn waiting_workers_become_many() {
    let started = Instant::now();
    let report = run(&auto(), vec![(); 3000], |(), _| {
        std::thread::sleep(Duration::from_millis(1));
    });
    let report = report.unwrap();
    assert!(report.workers_peak >= 32, "{report:?}");
    assert!(report.workers_last >= 32, "{report:?}");
    let elapsed = started.elapsed();
    assert!(elapsed < Duration::from_millis(600), "{elapsed:?}");
}

/// Waiting shows while a task goes on. With tasks of 100 ms, 4 workers would need 1.6 s.
#[test]
fn waiting_shows_inside_long_tasks() {
    let started = Instant::now();
    let report = run(&auto(), vec![(); 64], |(), _| {
        (0..50).for_each(|_| std::thread::sleep(Duration::from_millis(2)));
    });
    let (elapsed, report) = (started.elapsed(), report.unwrap());
    assert!(report.workers_peak >= 32, "{report:?}");
    assert!(elapsed < Duration::from_millis(1000), "{elapsed:?}");
}

#[test]
fn busy_workers_stay_few() {
    let processors = hedgerow_fs::cpu::available();
    let report = run(&auto(), vec![(); 2000], |(), _| {
        spin(Duration::from_micros(100))
    });
    let report = report.unwrap();
    assert!(report.workers_peak <= 2 * processors, "{report:?}");
}

#[test]
fn a_hint_is_where_the_next_run_starts() {
    let mut options = auto();
    options.hint = Some(48);
    let barrier = Barrier::new(48);
    let report = run(&options, vec![(); 48], |(), _| {
        barrier.wait();
    });
    assert_eq!(report.unwrap().workers_peak, 48);
}
