use serde::Serialize;

/// Points that are kept at most; an even number.
const LIMIT: usize = 512;
/// Time between points at first.
const INTERVAL_US: u64 = 1000;

/// The state of a run at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Point {
    /// Microseconds since the recorder was made.
    pub at_us: u64,
    /// Tasks that waited.
    pub queue: usize,
    /// Workers that were at work.
    pub workers: usize,
}

/// Points at even intervals. When there are too many, every other is dropped and the interval
/// doubled: a run of any length is seen whole.
#[derive(Debug)]
pub(crate) struct Series {
    points: Vec<Point>,
    interval_us: u64,
}

impl Default for Series {
    fn default() -> Self {
        Series {
            points: Vec::new(),
            interval_us: INTERVAL_US,
        }
    }
}

impl Series {
    /// Adds a point, and says when the next is due. One that comes too early is left out.
    pub(crate) fn add(&mut self, point: Point) -> u64 {
        let due_us = self.due_us();
        if point.at_us < due_us {
            return due_us;
        }
        if self.points.len() == LIMIT {
            let mut number = 0;
            self.points.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.interval_us *= 2;
        }
        self.points.push(point);
        self.due_us()
    }

    pub(crate) fn points(&self) -> &[Point] {
        &self.points
    }

    pub(crate) fn interval_us(&self) -> u64 {
        self.interval_us
    }

    fn due_us(&self) -> u64 {
        self.points
            .last()
            .map_or(0, |last| last.at_us + self.interval_us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(at_us: u64) -> Point {
        Point {
            at_us,
            queue: 1,
            workers: 1,
        }
    }

    #[test]
    fn a_long_run_is_kept_whole_at_half_the_resolution() {
        let mut series = Series::default();
        let mut due_us = 0;
        for at_us in (0..5_000_000).step_by(100) {
            if at_us >= due_us {
                due_us = series.add(point(at_us));
            }
        }
        let points = series.points();
        assert!(points.len() <= LIMIT && points.len() > LIMIT / 2);
        assert_eq!(points[0].at_us, 0);
        assert!(points[points.len() - 1].at_us > 4_950_000);
        assert_eq!(series.interval_us(), 16_000);
        assert!(points.windows(2).all(|pair| pair[0].at_us < pair[1].at_us));
    }

    #[test]
    fn what_comes_too_early_is_left_out() {
        let mut series = Series::default();
        assert_eq!(series.add(point(5)), 1005);
        assert_eq!(series.add(point(6)), 1005);
        assert_eq!(series.points().len(), 1);
    }
}
