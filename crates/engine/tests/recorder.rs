//! What a recorder tells about whole runs.

#![allow(clippy::unwrap_used)]

use hedgerow_engine::{
    run_ordered, run_tasks, Failure, Jobs, Options, Recorder, Scope, Statistics, Window,
};
use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

fn options(jobs: Jobs) -> (Options, Arc<Recorder>) {
    let recorder = Arc::new(Recorder::default());
    let options = Options {
        jobs,
        recorder: Some(recorder.clone()),
        name: "test",
        ..Options::default()
    };
    (options, recorder)
}

fn every_kind() -> [Jobs; 3] {
    let fixed = |jobs| Jobs::Fixed(NonZeroUsize::new(jobs).unwrap());
    [fixed(1), fixed(4), Jobs::Auto]
}

fn check_sums(counted: &Statistics, count: u64, sleep: Duration) {
    assert_eq!((counted.tasks, counted.operations), (count, count));
    assert_eq!(counted.latency.iter().sum::<u64>(), count);
    assert!(counted.latency_sum_us >= count * sleep.as_micros() as u64);
    assert!(counted.latency_below_us(0.01) > sleep.as_micros() as u64);
    assert_eq!(counted.in_flight, 0);
    assert!(counted.peak_memory_bytes.unwrap() > 0);
    assert!(!counted.series.is_empty());
}

#[test]
fn tasks_are_counted() {
    const SLEEP: Duration = Duration::from_micros(500);
    for jobs in every_kind() {
        let (options, recorder) = options(jobs);
        let work = |_: &mut (), task: u64, scope: &Scope<'_, u64>| {
            std::thread::sleep(SLEEP);
            scope.operation(|| std::thread::sleep(SLEEP));
            scope.add_bytes(task);
            Ok::<(), Infallible>(())
        };
        let report = run_tasks(&options, (0..200).collect(), |_| (), work).unwrap();
        let counted = recorder.snapshot();
        check_sums(&counted, 200, SLEEP);
        assert!(counted.wait_us >= 200 * 500 / 2, "{counted:?}");
        assert_eq!(counted.bytes, 199 * 100);
        assert!(counted.in_flight_max <= report.workers_peak);
        assert!(counted.queue_max >= 190 && counted.queue_max < 200);
    }
}

#[test]
fn ordered_items_are_counted() {
    const SLEEP: Duration = Duration::from_micros(500);
    for jobs in every_kind() {
        let (options, recorder) = options(jobs);
        let source = (0..200).map(|item| Ok::<(u64, u64), Infallible>((item, 1000)));
        let work = |_: &mut (), item| {
            std::thread::sleep(SLEEP);
            Ok(item)
        };
        let window = Window { bytes: 1 << 20 };
        run_ordered(&options, window, source, |_| (), work, |_, _| Ok(())).unwrap();
        let counted = recorder.snapshot();
        check_sums(&counted, 200, SLEEP);
        assert!(counted.wait_us > 0, "{counted:?}");
        assert_eq!(counted.bytes, 200_000);
    }
}

#[test]
fn a_worker_without_a_task_shows() {
    let (options, recorder) = options(Jobs::Fixed(NonZeroUsize::new(4).unwrap()));
    let work = |_: &mut (), task: u64, scope: &Scope<'_, u64>| {
        std::thread::sleep(Duration::from_millis(1));
        if task > 0 {
            scope.spawn(task - 1);
            scope.spawn(0);
        }
        Ok::<(), Infallible>(())
    };
    run_tasks(&options, vec![20], |_| (), work).unwrap();
    assert!(recorder.snapshot().queue_empty > 0);
}

#[test]
fn a_failed_run_leaves_nothing_in_flight() {
    let (options, recorder) = options(Jobs::Auto);
    let work = |_: &mut (), task: u64, _: &Scope<'_, u64>| match task {
        50 => Err("fifty"),
        _ => Ok(()),
    };
    let result = run_tasks(&options, (0..100).collect(), |_| (), work);
    assert!(matches!(result, Err(Failure::Failed("fifty"))));
    assert_eq!(recorder.snapshot().in_flight, 0);
}
