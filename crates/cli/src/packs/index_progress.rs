//! How far the indexing of a pack is, as git shows it.

use hedgerow_pack::indexer::Counters;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const INTERVAL: Duration = Duration::from_millis(250);

/// Does `work` while showing how far it is, if that is `shown`. `title` is what git calls the first
/// pass.
pub fn with<T>(shown: bool, title: &str, counters: &Counters, work: impl FnOnce() -> T) -> T {
    if !shown {
        return work();
    }
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let shower = scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                std::thread::park_timeout(INTERVAL);
                show(title, counters, is_done.load(Ordering::Relaxed));
            }
        });
        let outcome = work();
        is_done.store(true, Ordering::Relaxed);
        shower.thread().unpark();
        outcome
    })
}

fn show(title: &str, counters: &Counters, is_end: bool) {
    let get = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    let (total, received) = (get(&counters.total), get(&counters.received));
    let (deltas, resolved) = (get(&counters.deltas), get(&counters.resolved));
    if total == 0 {
        return;
    }
    let is_first_done = received >= total && (is_end || deltas > 0);
    let mut text = String::new();
    if deltas == 0 || is_end {
        text += &line(title, received, total, is_first_done);
    }
    if deltas > 0 {
        text += &line("Resolving deltas", resolved.min(deltas), deltas, is_end);
    }
    // There is nowhere left to tell that standard error is gone.
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

fn line(title: &str, done: u64, total: u64, is_end: bool) -> String {
    let percent = u128::from(done) * 100 / u128::from(total.max(1));
    let end = if is_end { ", done.\n" } else { "\r" };
    format!("{title}: {percent:>3}% ({done}/{total}){end}")
}
