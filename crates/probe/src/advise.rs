//! Recommended settings for the measured values: a pure function.

use crate::{Measurements, Rate};

/// The assumed cost of starting one of git's workers, each of which is a process, in microseconds.
/// A small repository on two processors needs 1 to 2 ms; a large one, whose packs each process
/// opens, needs more, so this is a cautious value. It is the initial cost of a parallel checkout.
/// (hedgerow's own workers are threads, which cost a hundredth of it.)
pub const GIT_WORKER_START_US: f64 = 5000.0;

/// The share of the best rate that is good enough: the last few percent are noise, and would cost
/// twice the workers.
const ENOUGH: f64 = 0.95;

/// A file system whose queries take less than this, in microseconds, counts as local: only the
/// processor is waited for.
const LOCAL_US: f64 = 100.0;

/// Recommended thresholds: more digits would suggest a precision that does not exist.
const THRESHOLDS: [u32; 13] = [
    2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000,
];

/// Git's own default for `checkout.thresholdForParallelism`.
const DEFAULT_THRESHOLD: u32 = 100;

/// The recommended settings, and the reasons.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Advice {
    /// For `checkout.workers`: the smallest number that comes within a twentieth of the best rate.
    pub workers: usize,
    /// For `checkout.thresholdForParallelism`: the number of files from which on git's workers save
    /// more time than starting them costs.
    pub threshold: u32,
    /// The speed class of the file system.
    pub place: Place,
    /// The rate with these workers relative to that of one worker.
    pub gain: f64,
}

/// The speed class of a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It answers at once.
    Local,
    /// It answers late, although its type is not that of a network file system.
    Slow,
    /// A network file system.
    Network,
}

/// Derives the recommended settings from measured values.
pub fn advise(measured: &Measurements) -> Advice {
    let chosen = fewest_that_suffice(&measured.scaling);
    let alone = measured.scaling.first().copied().unwrap_or(chosen);
    let gain = chosen.files_per_second / alone.files_per_second.max(f64::MIN_POSITIVE);
    Advice {
        workers: chosen.workers,
        threshold: threshold(alone, chosen),
        place: match measured {
            _ if measured.file_system.is_network() => Place::Network,
            _ if measured.stat.median_us >= LOCAL_US => Place::Slow,
            _ => Place::Local,
        },
        gain,
    }
}

fn fewest_that_suffice(scaling: &[Rate]) -> Rate {
    let best = scaling
        .iter()
        .map(|rate| rate.files_per_second)
        .fold(0.0, f64::max);
    let suffices = |rate: &&Rate| rate.files_per_second >= ENOUGH * best;
    let none = Rate {
        workers: 1,
        files_per_second: 0.0,
    };
    scaling.iter().find(suffices).copied().unwrap_or(none)
}

/// The number of files for which one worker takes as long as many workers including their start.
fn threshold(alone: Rate, chosen: Rate) -> u32 {
    let per_file_us = |rate: Rate| 1e6 / rate.files_per_second.max(f64::MIN_POSITIVE);
    let gained_us = per_file_us(alone) - per_file_us(chosen);
    if chosen.workers == 1 || gained_us <= 0.0 {
        return DEFAULT_THRESHOLD;
    }
    let start_us = GIT_WORKER_START_US * chosen.workers as f64;
    let files = start_us / gained_us;
    let fits = |threshold: &&u32| f64::from(**threshold) >= files;
    let largest = THRESHOLDS[THRESHOLDS.len() - 1];
    THRESHOLDS.iter().find(fits).copied().unwrap_or(largest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Latency;
    use hedgerow_fs::FileSystem;

    const EXT4: u64 = 0xEF53;
    const NFS: u64 = 0x6969;

    /// A file system on which a worker creates a file in `create_us`, a query takes `stat_us`, and
    /// all workers together create at most `limit` files per second.
    fn shape(magic: u64, stat_us: f64, create_us: f64, limit: f64) -> Measurements {
        let latency = |median_us| Latency {
            median_us,
            p90_us: median_us * 1.3,
            samples: 100,
        };
        let scaling = [1, 2, 4, 8, 16, 32, 64].map(|workers| Rate {
            workers,
            files_per_second: (workers as f64 * 1e6 / create_us).min(limit),
        });
        Measurements {
            file_system: FileSystem::from_magic(magic),
            create: latency(create_us),
            stat: latency(stat_us),
            remove: latency(stat_us),
            scaling: scaling.to_vec(),
            is_cut_short: false,
        }
    }

    #[test]
    fn an_ssd_needs_as_many_workers_as_it_has_processors_and_many_files() {
        let advice = advise(&shape(EXT4, 2.0, 25.0, 150_000.0));
        assert_eq!(advice.place, Place::Local);
        assert_eq!(advice.workers, 4);
        assert_eq!(advice.threshold, 2000);
        assert!((advice.gain - 3.75).abs() < 0.01);
    }

    #[test]
    fn a_slow_disk_that_does_one_thing_at_a_time_gets_one_worker_and_gits_default() {
        let advice = advise(&shape(EXT4, 400.0, 8000.0, 125.0));
        assert_eq!((advice.workers, advice.threshold), (1, 100));
        assert_eq!(advice.place, Place::Slow);
    }

    #[test]
    fn the_further_the_server_the_more_workers_and_the_fewer_files() {
        // A client that manages 10,000 creations per second, each of three round trips.
        let near = advise(&shape(NFS, 200.0, 600.0, 10_000.0));
        let middle = advise(&shape(NFS, 1000.0, 3000.0, 10_000.0));
        let far = advise(&shape(NFS, 5000.0, 15_000.0, 10_000.0));
        assert_eq!((near.workers, near.threshold), (8, 100));
        assert_eq!((middle.workers, middle.threshold), (32, 100));
        assert_eq!((far.workers, far.threshold), (64, 50));
        for advice in [near, middle, far] {
            assert_eq!(advice.place, Place::Network);
        }
    }

    #[test]
    fn five_percent_more_are_not_worth_twice_the_workers() {
        let mut measured = shape(EXT4, 2.0, 25.0, 80_000.0);
        for rate in &mut measured.scaling[2..] {
            rate.files_per_second = 83_000.0;
        }
        assert_eq!(advise(&measured).workers, 2);
        for rate in &mut measured.scaling[2..] {
            rate.files_per_second = 90_000.0;
        }
        assert_eq!(advise(&measured).workers, 4);
    }

    #[test]
    fn more_workers_that_do_harm_are_not_advised() {
        let mut measured = shape(EXT4, 2.0, 25.0, 80_000.0);
        for rate in &mut measured.scaling[1..] {
            rate.files_per_second = 30_000.0;
        }
        assert_eq!(advise(&measured).workers, 1);
    }

    #[test]
    fn a_gain_that_hardly_is_one_asks_for_very_many_files() {
        let mut measured = shape(EXT4, 2.0, 10.0, 100_000.0);
        for rate in &mut measured.scaling[1..] {
            rate.files_per_second = 106_000.0;
        }
        let advice = advise(&measured);
        assert_eq!((advice.workers, advice.threshold), (2, 20_000));
    }
}
