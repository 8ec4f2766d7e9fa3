//! The latency of one operation.

use std::time::Duration;

/// The latency of an operation on an otherwise idle file system.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Latency {
    /// The median, in microseconds.
    pub median_us: f64,
    /// The 90th percentile, in microseconds.
    pub p90_us: f64,
    /// Number of measurements.
    pub samples: usize,
}

impl Latency {
    /// The latency from `samples`; all zero if there are none.
    pub fn from_samples(mut samples: Vec<Duration>) -> Latency {
        samples.sort_unstable();
        Latency {
            median_us: at_share(&samples, 0.5),
            p90_us: at_share(&samples, 0.9),
            samples: samples.len(),
        }
    }
}

/// The smallest of the sorted samples that is not exceeded by the given share of them.
fn at_share(sorted: &[Duration], share: f64) -> f64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    let sample = sorted.get(rank.saturating_sub(1)).copied();
    sample.unwrap_or_default().as_nanos() as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slow_answer_in_ten_moves_neither() {
        let mut samples = vec![Duration::from_micros(20); 9];
        samples.push(Duration::from_millis(50));
        let latency = Latency::from_samples(samples);
        assert_eq!((latency.median_us, latency.p90_us), (20.0, 20.0));
        assert_eq!(latency.samples, 10);
    }

    #[test]
    fn the_order_of_measuring_does_not_matter() {
        let samples = [5, 1, 4, 2, 3].map(Duration::from_micros).to_vec();
        let latency = Latency::from_samples(samples);
        assert_eq!((latency.median_us, latency.p90_us), (3.0, 5.0));
        assert_eq!(Latency::from_samples(Vec::new()), Latency::default());
    }
}
