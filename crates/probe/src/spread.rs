//! Several measurements of one place: their combined result, and how much they differ.

use crate::{advise, measure, Measurements, Options, Rate, Result};
use std::path::Path;
use std::time::Instant;

/// Number of measurements; only two if they take longer than two budgets.
const REPETITIONS: usize = 5;

/// If recommendations differ by more than this factor, they are not reliable.
const NOISY_FACTOR: usize = 2;

/// The differences between measurements of one place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Number of measurements.
    pub measurements: usize,
    /// The smallest and largest number of workers that a single measurement would recommend.
    pub workers: (usize, usize),
    /// The lowest rate with the number of workers recommended for all measurements together, as a
    /// share of the highest.
    pub rate_share: f64,
}

/// Measures a directory two to five times: the differences show the influence of other load. After
/// two budgets since `started`, no third measurement or later one begins.
///
/// # Errors
/// Those of [`measure`].
pub fn measure_repeatedly(
    directory: &Path,
    options: &Options,
    started: Instant,
) -> Result<Vec<Measurements>> {
    let mut measurements = Vec::new();
    while measurements.len() < 2
        || measurements.len() < REPETITIONS && started.elapsed() < 2 * options.budget
    {
        measurements.push(measure(directory, options)?);
    }
    Ok(measurements)
}

/// Combines several measurements: for each number of workers the best rate, because other activity
/// of a machine can only slow it down; the latencies are those of the measurement with the fastest
/// creations.
///
/// # Panics
/// If there are none.
pub fn combined(measurements: &[Measurements]) -> Measurements {
    let quickest =
        |a: &&Measurements, b: &&Measurements| a.create.median_us.total_cmp(&b.create.median_us);
    let quickest = measurements.iter().min_by(quickest);
    let mut combined = quickest.expect("there is a measurement").clone();
    let mut scaling: Vec<Rate> = Vec::new();
    for rate in measurements.iter().flat_map(|one| &one.scaling) {
        match scaling.iter_mut().find(|best| best.workers == rate.workers) {
            Some(best) => {
                best.files_per_second = best.files_per_second.max(rate.files_per_second);
            }
            None => scaling.push(*rate),
        }
    }
    scaling.sort_unstable_by_key(|rate| rate.workers);
    combined.scaling = scaling;
    combined.is_cut_short = measurements.iter().any(|one| one.is_cut_short);
    combined
}

impl Spread {
    /// The spread of measurements.
    ///
    /// # Panics
    /// If there are none.
    pub fn of(measurements: &[Measurements]) -> Spread {
        let advised = measurements.iter().map(|one| advise(one).workers);
        let workers = advise(&combined(measurements)).workers;
        let rates = measurements.iter().flat_map(|one| &one.scaling);
        let rates = rates.filter(|rate| rate.workers == workers);
        let (low, high) = rates.fold((f64::MAX, 0.0_f64), |(low, high), rate| {
            (
                low.min(rate.files_per_second),
                high.max(rate.files_per_second),
            )
        });
        Spread {
            measurements: measurements.len(),
            workers: (
                advised.clone().min().unwrap_or(workers),
                advised.max().unwrap_or(workers),
            ),
            rate_share: low / high,
        }
    }

    /// Whether they differ so much that the recommendation is random: by more than one step of the
    /// number of workers.
    pub fn is_noisy(&self) -> bool {
        self.workers.1 > NOISY_FACTOR * self.workers.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Latency;
    use hedgerow_fs::FileSystem;

    fn measured(rates: [f64; 4]) -> Measurements {
        let latency = Latency {
            median_us: 1e6 / rates[0],
            p90_us: 2e6 / rates[0],
            samples: 9,
        };
        let rate = |(workers, files_per_second)| Rate {
            workers,
            files_per_second,
        };
        Measurements {
            file_system: FileSystem::from_magic(0xEF53),
            create: latency,
            stat: latency,
            remove: latency,
            scaling: [1, 2, 4, 8].into_iter().zip(rates).map(rate).collect(),
            is_cut_short: false,
        }
    }

    #[test]
    fn the_best_of_each_counts() {
        let both = [
            measured([10.0, 15.0, 40.0, 30.0]),
            measured([8.0, 20.0, 20.0, 35.0]),
        ];
        let rates = combined(&both).scaling;
        let rates: Vec<f64> = rates.iter().map(|rate| rate.files_per_second).collect();
        assert_eq!(rates, [10.0, 20.0, 40.0, 35.0]);
        let spread = Spread::of(&both);
        assert_eq!((spread.workers, spread.rate_share), ((4, 8), 0.5));
        assert!(!spread.is_noisy());
    }

    #[test]
    fn advice_that_is_chance_is_noise() {
        let three = [
            measured([10.0, 10.0, 10.0, 10.0]),
            measured([10.0, 20.0, 20.0, 20.0]),
            measured([10.0, 20.0, 30.0, 40.0]),
        ];
        let spread = Spread::of(&three);
        assert_eq!(spread.workers, (1, 8));
        assert!(spread.is_noisy());
    }
}
