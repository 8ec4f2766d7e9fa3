//! How long listings take: whether threads are worth starting, and worth waiting for.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A reader who has waited for a thread for several times as long as a listing takes, and at least this
/// long, lists the directory: the thread may have no processor.
const LEAST_PATIENCE: Duration = Duration::from_micros(200);
const PATIENCE_LISTINGS: u32 = 4;
/// Where a listing takes longer, threads wait for the file system: so would the reader, and could not be
/// interrupted.
const QUICK: Duration = Duration::from_millis(1);

/// How long listings take, of late.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// Of one directory, smoothed, in nanoseconds.
    one_ns: AtomicU64,
    /// What the reader has spent on listing, in nanoseconds.
    reader_ns: AtomicU64,
}

impl Pace {
    /// A directory was listed in this time.
    pub(super) fn add(&self, time: Duration) {
        let time_ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        // Threads may overwrite each other: it is an estimate.
        let before = self.one_ns.load(Ordering::Relaxed);
        let smoothed = if before == 0 {
            time_ns
        } else {
            before - before / 8 + time_ns / 8
        };
        self.one_ns.store(smoothed, Ordering::Relaxed);
    }

    /// The same, by the reader.
    pub(super) fn add_of_reader(&self, time: Duration) {
        self.add(time);
        let time_ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.reader_ns.fetch_add(time_ns, Ordering::Relaxed);
    }

    fn one(&self) -> Duration {
        Duration::from_nanos(self.one_ns.load(Ordering::Relaxed))
    }

    /// Whether threads are to start for so many directories that wait: when the reader has been `alone` for
    /// so long, or would be.
    pub(super) fn is_worth_threads(&self, waiting: usize, alone: Duration) -> bool {
        let waiting = u32::try_from(waiting).unwrap_or(u32::MAX);
        let spent = Duration::from_nanos(self.reader_ns.load(Ordering::Relaxed));
        waiting >= 2 && spent.max(self.one().saturating_mul(waiting)) >= alone
    }

    /// How long the reader waits for a thread, if that has an end.
    pub(super) fn patience(&self) -> Option<Duration> {
        let one = self.one();
        (one < QUICK).then(|| LEAST_PATIENCE.max(one * PATIENCE_LISTINGS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALONE: Duration = Duration::from_millis(2);

    #[test]
    fn a_small_tree_needs_no_threads() {
        let pace = Pace::default();
        pace.add_of_reader(Duration::from_micros(10));
        assert!(!pace.is_worth_threads(100, ALONE));
        assert!(pace.is_worth_threads(200, ALONE));
        assert!(pace.is_worth_threads(2, Duration::ZERO));
        for _ in 0..200 {
            pace.add_of_reader(Duration::from_micros(10));
        }
        assert!(pace.is_worth_threads(2, ALONE));
        assert!(!pace.is_worth_threads(1, ALONE));
    }

    #[test]
    fn where_answers_take_long_threads_start_at_once() {
        let pace = Pace::default();
        pace.add_of_reader(Duration::from_millis(3));
        assert!(pace.is_worth_threads(2, ALONE));
        assert_eq!(pace.patience(), None);
    }

    #[test]
    fn patience_follows_from_how_long_a_listing_takes() {
        let pace = Pace::default();
        assert_eq!(pace.patience(), Some(LEAST_PATIENCE));
        pace.add(Duration::from_micros(100));
        assert_eq!(pace.patience(), Some(Duration::from_micros(400)));
    }
}
