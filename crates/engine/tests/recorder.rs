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
            scope.operation("work", || std::thread::sleep(SLEEP));
            scope.add_bytes(task);
            Ok::<(), Infallible>(())
        };
        let report = run_tasks(&options, (0..200).collect(), |_| (), work).unwrap();
        let counted = recorder.snapshot();
        check_sums(&counted, 200, SLEEP);
        assert!(counted.wait_us >= 200 * 500 / 2, "{counted:?}");
        assert_eq!(counted.bytes, 199 * 100);
        assert!(counted.in_flight_max <= report.workers_peak);
        assert_eq!(counted.queue_max, 200);
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

/// One task brings nothing while it sleeps 40 ms, then 8 that sleep 2 ms each.
#[test]
fn a_queue_that_runs_empty_is_seen_for_as_long_as_it_is() {
    let (options, recorder) = options(Jobs::Fixed(NonZeroUsize::new(4).unwrap()));
    let work = |_: &mut (), task: u64, scope: &Scope<'_, u64>| {
        if task > 0 {
            std::thread::sleep(Duration::from_millis(40));
            scope.spawn_all(vec![0; 8]);
        } else {
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok::<(), Infallible>(())
    };
    run_tasks(&options, vec![1], |_| (), work).unwrap();
    let counted = recorder.snapshot();
    assert!(counted.starved_us >= 3 * 40_000, "{counted:?}");
    assert!(counted.starved_wall_us >= 40_000, "{counted:?}");
    assert!(counted.starved_us <= 3 * counted.starved_wall_us);
    let silence = counted.series.iter().max_by_key(|point| point.starved_us);
    let silence = silence.unwrap();
    assert_eq!(
        (silence.queue, silence.queue_min, silence.workers),
        (0, 0, 1)
    );
    assert_eq!(silence.target, 4);
    assert!(silence.starved_us >= 3 * 30_000, "{counted:?}");
    let told: u64 = counted.series.iter().map(|point| point.starved_us).sum();
    assert_eq!(told, counted.starved_us);
    let most = counted.series.iter().map(|point| point.queue_max).max();
    assert_eq!(most, Some(counted.queue_max));
}

#[test]
fn workers_with_enough_to_do_are_not_starved() {
    let (options, recorder) = options(Jobs::Fixed(NonZeroUsize::MIN));
    let work = |_: &mut (), task: u64, scope: &Scope<'_, u64>| {
        if task > 0 {
            scope.spawn(task - 1);
        }
        Ok::<(), Infallible>(())
    };
    run_tasks(&options, vec![50; 4], |_| (), work).unwrap();
    let counted = recorder.snapshot();
    assert_eq!((counted.starved_us, counted.starved_wall_us), (0, 0));
}

#[test]
fn runs_follow_one_another_in_phases() {
    let (mut options, recorder) = options(Jobs::Auto);
    let sleep = || std::thread::sleep(Duration::from_millis(3));
    for name in ["first", "second", "ordered"] {
        options.name = name;
        if name == "ordered" {
            let source = (0..5).map(|item| Ok::<(u64, u64), Infallible>((item, 1)));
            let work = |_: &mut (), item| Ok(item);
            let window = Window { bytes: 1 << 20 };
            run_ordered(&options, window, source, |_| (), work, |_, _| Ok(())).unwrap();
        } else {
            let work = |_: &mut (), _, _: &Scope<'_, u64>| {
                sleep();
                Ok::<(), Infallible>(())
            };
            run_tasks(&options, vec![1, 2], |_| (), work).unwrap();
        }
        sleep();
    }
    let counted = recorder.snapshot();
    let names: Vec<_> = counted.phases.iter().map(|phase| &phase.name[..]).collect();
    assert_eq!(names, ["first", "second", "ordered"]);
    let phases = counted.phases.windows(2);
    assert!(counted
        .phases
        .iter()
        .all(|phase| phase.begin_us < phase.end_us));
    assert!(phases
        .clone()
        .all(|pair| pair[0].end_us + 3000 <= pair[1].begin_us));
    let last = counted.series.last().unwrap();
    assert_eq!((last.queue, last.workers, last.target), (0, 0, 0));
}

#[test]
fn workers_that_queue_for_the_source_are_starved() {
    let (options, recorder) = options(Jobs::Fixed(NonZeroUsize::new(3).unwrap()));
    let source = (0..10).map(|item| {
        std::thread::sleep(Duration::from_millis(5));
        Ok::<(u64, u64), Infallible>((item, 1))
    });
    let work = |_: &mut (), item| Ok(item);
    let window = Window { bytes: 1 << 20 };
    run_ordered(&options, window, source, |_| (), work, |_, _| Ok(())).unwrap();
    let counted = recorder.snapshot();
    assert!(counted.starved_us > 10_000, "{counted:?}");
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
    let counted = recorder.snapshot();
    assert_eq!(counted.in_flight, 0);
    let last = counted.series.last().unwrap();
    assert_eq!((last.queue, last.workers), (0, 0));
}
