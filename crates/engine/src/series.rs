use serde::{Deserialize, Serialize};

/// Maximum number of points kept; an even number.
const LIMIT: usize = 512;
/// Initial time between points, in microseconds.
const INTERVAL_US: u64 = 1000;
/// Maximum number of runs recorded.
const PHASES: usize = 256;

/// What happened from the previous point, or the start, up to a moment, and the state at that
/// moment. In JSON, a missing number is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Point {
    /// The moment, in microseconds since the recorder was made.
    pub at_us: u64,
    /// Number of tasks waiting at that moment.
    pub queue: usize,
    /// Smallest number of tasks waiting since the previous point.
    pub queue_min: usize,
    /// Largest number of tasks waiting since the previous point.
    pub queue_max: usize,
    /// Number of workers at work at that moment.
    pub workers: usize,
    /// Number of workers allowed at that moment.
    pub target: usize,
    /// Idle time of the workers since the previous point, summed over the workers.
    pub starved_us: u64,
}

/// A recorded run. In JSON, a missing field is 0 or empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Phase {
    /// [`Options::name`](crate::Options::name) of the run.
    pub name: String,
    /// When it started, in microseconds since the recorder was created.
    pub begin_us: u64,
    /// When it ended; for a run in progress, when the statistics were taken.
    pub end_us: u64,
}

/// The current state.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gauges {
    pub(crate) queue: usize,
    /// The extremes since the last point, or the opposite extremes if nothing changed.
    pub(crate) queue_min: usize,
    pub(crate) queue_max: usize,
    pub(crate) workers: usize,
    pub(crate) target: usize,
}

impl Gauges {
    /// The same state with nothing happening.
    fn still(self) -> Self {
        Gauges {
            queue_min: self.queue,
            queue_max: self.queue,
            ..self
        }
    }
}

/// Points at intervals that are equal at least. When there are too many, every two are merged and
/// the interval doubles: so a run of any length is covered as a whole, and no extreme is lost.
#[derive(Debug)]
pub(crate) struct Series {
    points: Vec<Point>,
    interval_us: u64,
    /// Number of tasks waiting after the last point.
    queue: usize,
    phases: Vec<(&'static str, u64, Option<u64>)>,
    /// Number of idle workers.
    starving: usize,
    /// The moment up to which the times below are counted.
    settled_us: u64,
    starved_us: u64,
    starved_wall_us: u64,
    /// Idle time of workers that belongs to the next point.
    untold_us: u64,
}

impl Default for Series {
    fn default() -> Self {
        Series {
            points: Vec::new(),
            interval_us: INTERVAL_US,
            queue: 0,
            phases: Vec::new(),
            starving: 0,
            settled_us: 0,
            starved_us: 0,
            starved_wall_us: 0,
            untold_us: 0,
        }
    }
}

impl Series {
    /// Called before a change; `gauges` is the state since the last call. Adds the points that are
    /// due, and returns when the next one is.
    pub(crate) fn advance(&mut self, now_us: u64, gauges: Gauges) -> u64 {
        let due_us = self.due_us();
        if now_us < due_us {
            return due_us;
        }
        if now_us - due_us < self.interval_us {
            self.push(now_us, gauges);
        } else {
            // After a long pause, earlier events must not be spread over all of it.
            self.push(due_us, gauges);
            self.push(now_us, gauges.still());
        }
        self.due_us()
    }

    /// Like [`Self::advance`], but always ends a point here: as a new one or merged into the last.
    pub(crate) fn mark(&mut self, now_us: u64, gauges: Gauges) -> u64 {
        if now_us >= self.due_us() {
            return self.advance(now_us, gauges);
        }
        let last_us = self.points.last().map_or(0, |last| last.at_us);
        if now_us.saturating_sub(last_us) >= self.interval_us / 8 {
            self.push(now_us, gauges);
        } else {
            let point = self.point(now_us.max(last_us), gauges);
            if let Some(last) = self.points.last_mut() {
                last.extend(point);
            }
        }
        self.due_us()
    }

    /// The number of idle workers changes from `from` to `to`.
    pub(crate) fn change_starving(&mut self, now_us: u64, from: usize, to: usize) {
        self.settle(now_us);
        self.starving = (self.starving + to).saturating_sub(from);
    }

    /// Records the start of a run with the given number of tasks; `None` if too many are recorded.
    pub(crate) fn begin_phase(
        &mut self,
        now_us: u64,
        name: &'static str,
        queue: usize,
    ) -> Option<usize> {
        self.queue = queue;
        if self.phases.len() == PHASES {
            return None;
        }
        self.phases.push((name, now_us, None));
        Some(self.phases.len() - 1)
    }

    pub(crate) fn end_phase(&mut self, now_us: u64, phase: usize) {
        if let Some((_, _, end_us)) = self.phases.get_mut(phase) {
            *end_us = Some(now_us);
        }
    }

    pub(crate) fn points(&self) -> &[Point] {
        &self.points
    }

    pub(crate) fn phases(&self, now_us: u64) -> Vec<Phase> {
        let phases = self.phases.iter();
        phases
            .map(|(name, begin_us, end_us)| Phase {
                name: (*name).to_owned(),
                begin_us: *begin_us,
                end_us: end_us.unwrap_or(now_us),
            })
            .collect()
    }

    pub(crate) fn interval_us(&self) -> u64 {
        self.interval_us
    }

    /// Idle time of workers: summed over the workers, and by the clock.
    pub(crate) fn starved_us(&mut self, now_us: u64) -> (u64, u64) {
        self.settle(now_us);
        (self.starved_us, self.starved_wall_us)
    }

    fn settle(&mut self, now_us: u64) {
        let passed_us = now_us.saturating_sub(self.settled_us);
        let starved_us = passed_us * self.starving as u64;
        self.starved_us += starved_us;
        self.untold_us += starved_us;
        if self.starving > 0 {
            self.starved_wall_us += passed_us;
        }
        self.settled_us = self.settled_us.max(now_us);
    }

    fn point(&mut self, at_us: u64, gauges: Gauges) -> Point {
        self.settle(at_us);
        let before = std::mem::replace(&mut self.queue, gauges.queue);
        Point {
            at_us,
            queue: gauges.queue,
            queue_min: gauges.queue_min.min(gauges.queue).min(before),
            queue_max: gauges.queue_max.max(gauges.queue).max(before),
            workers: gauges.workers,
            target: gauges.target,
            starved_us: std::mem::take(&mut self.untold_us),
        }
    }

    fn push(&mut self, at_us: u64, gauges: Gauges) {
        if self.points.len() == LIMIT {
            self.halve();
        }
        let point = self.point(at_us, gauges);
        self.points.push(point);
    }

    /// The first point is kept, because it marks the start.
    fn halve(&mut self) {
        let mut halved = Vec::with_capacity(LIMIT);
        halved.extend(self.points.first());
        for pair in self.points.get(1..).unwrap_or_default().chunks(2) {
            let mut point = pair[0];
            pair[1..].iter().for_each(|later| point.extend(*later));
            halved.push(point);
        }
        self.points = halved;
        self.interval_us *= 2;
    }

    /// When the next point is due.
    pub(crate) fn due_us(&self) -> u64 {
        self.points
            .last()
            .map_or(0, |last| last.at_us + self.interval_us)
    }
}

impl Point {
    fn extend(&mut self, later: Point) {
        *self = Point {
            queue_min: self.queue_min.min(later.queue_min),
            queue_max: self.queue_max.max(later.queue_max),
            starved_us: self.starved_us + later.starved_us,
            ..later
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy(queue: usize) -> Gauges {
        Gauges {
            queue,
            queue_min: queue,
            queue_max: queue,
            workers: 2,
            target: 4,
        }
    }

    #[test]
    fn a_long_run_is_kept_whole_at_half_the_resolution() {
        let mut series = Series::default();
        series.begin_phase(0, "long", 9);
        let mut due_us = 0;
        let mut seen = false;
        for at_us in (0..5_000_000).step_by(100) {
            if at_us >= due_us {
                let fell = at_us / 100_000 == 25 && !seen;
                seen |= fell;
                let mut gauges = busy(9);
                gauges.queue_min = if fell { 0 } else { 9 };
                due_us = series.advance(at_us, gauges);
            }
        }
        let points = series.points();
        assert!(points.len() <= LIMIT && points.len() > LIMIT / 2);
        assert_eq!(points[0].at_us, 0);
        assert!(points[points.len() - 1].at_us > 4_950_000);
        assert_eq!(series.interval_us(), 16_000);
        assert!(points.windows(2).all(|pair| pair[0].at_us < pair[1].at_us));
        let empty = points.iter().filter(|point| point.queue_min == 0);
        assert_eq!(empty.count(), 1, "a moment is not lost");
    }

    #[test]
    fn what_comes_too_early_makes_no_point() {
        let mut series = Series::default();
        assert_eq!(series.advance(5, busy(1)), 1005);
        assert_eq!(series.advance(6, busy(1)), 1005);
        assert_eq!(series.points().len(), 1);
    }

    #[test]
    fn a_silence_has_a_point_on_either_side() {
        let mut series = Series::default();
        series.advance(0, busy(5));
        let fell = Gauges {
            queue_max: 5,
            ..busy(0)
        };
        series.advance(800_000, fell);
        let seen: Vec<_> = series.points().iter().map(|point| point.at_us).collect();
        assert_eq!(seen, [0, 1000, 800_000]);
        let band = |point: &Point| (point.queue_min, point.queue_max);
        assert_eq!(band(&series.points()[1]), (0, 5));
        assert_eq!(band(&series.points()[2]), (0, 0));
    }

    #[test]
    fn starved_workers_are_added_up_by_worker_and_by_the_clock() {
        let mut series = Series::default();
        series.advance(0, busy(0));
        series.change_starving(500, 0, 3);
        series.advance(1500, busy(0));
        series.change_starving(2000, 2, 0);
        series.change_starving(2400, 1, 0);
        series.advance(3000, busy(0));
        let starved: Vec<_> = series
            .points()
            .iter()
            .map(|point| point.starved_us)
            .collect();
        assert_eq!(starved, [0, 3000, 1500 + 400]);
        assert_eq!(series.starved_us(9000), (4900, 1900));
    }

    #[test]
    fn marks_make_a_point_or_extend_the_last() {
        let mut series = Series::default();
        series.mark(0, busy(0));
        series.mark(300, busy(7));
        series.mark(310, busy(2));
        let points = series.points();
        assert_eq!((points.len(), points[1].at_us), (2, 310));
        assert_eq!((points[1].queue_min, points[1].queue_max), (0, 7));
    }

    #[test]
    fn a_queue_that_a_run_brings_was_not_empty_before() {
        let mut series = Series::default();
        series.mark(0, busy(0));
        series.begin_phase(0, "one", 50);
        series.advance(1000, busy(40));
        let point = series.points()[1];
        assert_eq!((point.queue_min, point.queue_max), (40, 50));
    }

    #[test]
    fn phases_have_a_limit() {
        let mut series = Series::default();
        assert_eq!(series.begin_phase(10, "one", 0), Some(0));
        series.end_phase(30, 0);
        for _ in 1..PHASES {
            assert!(series.begin_phase(40, "more", 0).is_some());
        }
        assert_eq!(series.begin_phase(50, "too many", 0), None);
        let phases = series.phases(99);
        assert_eq!(phases.len(), PHASES);
        assert_eq!((phases[0].begin_us, phases[0].end_us), (10, 30));
        assert_eq!((phases[1].name.as_str(), phases[1].end_us), ("more", 99));
    }
}
