//! Measuring a file system whose delays are known.
#![allow(clippy::unwrap_used, reason = "tests")]

use hedgerow_engine::CancelToken;
use hedgerow_latencyfs::{Mount, Op};
use hedgerow_probe::{advise, measure, Error, Options, Place};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

fn options() -> Options {
    Options {
        budget: Duration::from_secs(3),
        cancel: CancelToken::default(),
    }
}

fn far_away(backing: &Path, rtt_us: u64) -> Option<Mount> {
    let told = |skip| {
        let line = format!("{skip}\n");
        std::io::stdout().write_all(line.as_bytes()).unwrap();
    };
    Mount::new(backing, rtt_us).map_err(told).ok()
}

fn is_empty(directory: &Path) -> bool {
    let entries = hedgerow_fs::list_directory(directory).unwrap();
    entries.unwrap().is_empty()
}

#[test]
fn what_is_measured_is_the_delay() {
    let backing = tempfile::tempdir().unwrap();
    let Some(mount) = far_away(backing.path(), 10_000) else {
        return;
    };
    let measured = measure(mount.path(), &options()).unwrap();
    // One round trip; a creation has two, and the content one. How much more it is depends on
    // what else this machine does.
    assert!(measured.stat.median_us >= 10_000.0, "{measured:?}");
    assert!(measured.create.median_us >= 30_000.0, "{measured:?}");
    assert!(measured.remove.median_us >= 10_000.0, "{measured:?}");
    let rates = &measured.scaling;
    assert!(
        rates[2].files_per_second > 1.5 * rates[0].files_per_second,
        "{rates:?}"
    );
    let advice = advise(&measured);
    assert!(advice.workers >= 16, "{advice:?}");
    assert_eq!(advice.place, Place::Slow);
    assert!(is_empty(backing.path()));
}

#[test]
fn time_that_is_over_is_admitted() {
    let backing = tempfile::tempdir().unwrap();
    let Some(mount) = far_away(backing.path(), 20_000) else {
        return;
    };
    let options = Options {
        budget: Duration::from_millis(200),
        ..options()
    };
    let measured = measure(mount.path(), &options).unwrap();
    assert!(measured.is_cut_short, "{measured:?}");
    assert!(measured.scaling.len() < 7);
    assert!(is_empty(backing.path()));
}

#[test]
fn many_workers_are_tried_only_where_they_help() {
    let directory = tempfile::tempdir().unwrap();
    let measured = measure(directory.path(), &options()).unwrap();
    let best = measured.scaling.iter().map(|rate| rate.files_per_second);
    let best = best.fold(0.0, f64::max);
    let first_good = measured
        .scaling
        .iter()
        .position(|rate| rate.files_per_second * 1.05 > best);
    let tried_after = measured.scaling.len() - 1 - first_good.unwrap();
    assert!(tried_after <= 2, "{:?}", measured.scaling);
    assert!(is_empty(directory.path()));
}

#[test]
fn a_question_is_put_to_the_server_and_not_to_the_cache() {
    let backing = tempfile::tempdir().unwrap();
    let Some(mount) = far_away(backing.path(), 0) else {
        return;
    };
    let measured = measure(mount.path(), &options()).unwrap();
    let charged = mount.counters();
    assert!(charged.count(Op::Lookup) >= measured.stat.samples as u64);
    assert!(charged.count(Op::Create) >= measured.create.samples as u64);
    let removed = charged.count(Op::Remove);
    assert_eq!(
        removed,
        charged.count(Op::Create) + charged.count(Op::Mkdir)
    );
}

#[test]
fn a_cancelled_measurement_ends_soon_and_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let options = options();
    let cancel = options.cancel.clone();
    let started = Instant::now();
    let measured = std::thread::scope(|scope| {
        let measuring = scope.spawn(|| measure(directory.path(), &options));
        std::thread::sleep(Duration::from_millis(100));
        cancel.cancel();
        measuring.join().unwrap()
    });
    assert!(matches!(measured, Err(Error::Cancelled)), "{measured:?}");
    assert!(started.elapsed() < Duration::from_secs(60));
    assert!(is_empty(directory.path()));
}
