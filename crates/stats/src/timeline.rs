//! The series of a run in a form that can be measured and drawn: ordered and of limited length.

use hedgerow_engine::{Point, Statistics};

/// A point and the time span that it describes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    pub begin_us: u64,
    pub point: Point,
}

impl Span {
    pub fn end_us(&self) -> u64 {
        self.point.at_us
    }

    pub fn length_us(&self) -> u64 {
        self.end_us() - self.begin_us
    }

    /// The idle share of the workers' possible time, from 0 to 1.
    pub fn starved_share(&self) -> f64 {
        let possible = self.length_us() as f64 * self.point.target.max(1) as f64;
        (self.point.starved_us as f64 / possible.max(1.0)).min(1.0)
    }
}

/// The series as consecutive spans. Points that are not in time order are left out.
pub fn spans(statistics: &Statistics) -> Vec<Span> {
    let mut begin_us = 0;
    let mut spans = Vec::with_capacity(statistics.series.len());
    for point in &statistics.series {
        if point.at_us > begin_us {
            spans.push(Span {
                begin_us,
                point: *point,
            });
            begin_us = point.at_us;
        }
    }
    spans
}

/// At most `limit` spans; as many adjacent ones are merged as necessary.
pub fn at_most(limit: usize, spans: &[Span]) -> Vec<Span> {
    let each = spans.len().div_ceil(limit).max(1);
    let merge = |several: &[Span]| {
        several.iter().copied().reduce(|merged, later| Span {
            begin_us: merged.begin_us,
            point: Point {
                queue_min: merged.point.queue_min.min(later.point.queue_min),
                queue_max: merged.point.queue_max.max(later.point.queue_max),
                starved_us: merged
                    .point
                    .starved_us
                    .saturating_add(later.point.starved_us),
                ..later.point
            },
        })
    };
    spans.chunks(each).filter_map(merge).collect()
}

/// The time-weighted average of a value.
pub fn average(spans: &[Span], value: fn(&Point) -> usize) -> f64 {
    let weigh = |span: &Span| value(&span.point) as f64 * span.length_us() as f64;
    let total: f64 = spans.iter().map(|span| span.length_us() as f64).sum();
    spans.iter().map(weigh).sum::<f64>() / total.max(1.0)
}

/// The time during which at least one run was in progress, in microseconds.
pub fn running_us(statistics: &Statistics) -> u64 {
    let mut phases: Vec<(u64, u64)> = statistics
        .phases
        .iter()
        .map(|phase| (phase.begin_us, phase.end_us))
        .collect();
    phases.sort_unstable();
    let mut until_us = 0;
    let mut sum_us = 0_u64;
    for (begin_us, end_us) in phases {
        let begin_us = begin_us.max(until_us);
        sum_us += end_us.saturating_sub(begin_us);
        until_us = until_us.max(end_us);
    }
    sum_us
}

/// The longest uninterrupted stretch in which workers were idle.
pub fn longest_starved(spans: &[Span]) -> Option<(u64, u64)> {
    spans
        .chunk_by(|one, next| (one.point.starved_us > 0) == (next.point.starved_us > 0))
        .filter_map(|chunk| {
            let (first, last) = (chunk.first()?, chunk.last()?);
            (first.point.starved_us > 0).then_some((first.begin_us, last.end_us()))
        })
        .max_by_key(|(begin_us, end_us)| end_us - begin_us)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_engine::Phase;

    fn statistics(points: &[(u64, usize, u64)]) -> Statistics {
        let point = |(at_us, queue, starved_us): &(u64, usize, u64)| Point {
            at_us: *at_us,
            queue: *queue,
            queue_min: *queue,
            queue_max: *queue,
            workers: 1,
            target: 2,
            starved_us: *starved_us,
        };
        Statistics {
            series: points.iter().map(point).collect(),
            ..Statistics::default()
        }
    }

    #[test]
    fn spans_are_in_order_whatever_the_file_says() {
        let spans = spans(&statistics(&[(0, 1, 0), (10, 1, 0), (5, 1, 0), (30, 4, 0)]));
        let times: Vec<_> = spans.iter().map(|s| (s.begin_us, s.end_us())).collect();
        assert_eq!(times, [(0, 10), (10, 30)]);
        assert_eq!(average(&spans, |point| point.queue), 3.0);
        assert_eq!(average(&[], |point| point.queue), 0.0);
    }

    #[test]
    fn merging_keeps_extremes_and_sums() {
        let points: Vec<_> = (1..=7).map(|n| (n * 10, n as usize, 1)).collect();
        let merged = at_most(3, &spans(&statistics(&points)));
        let seen: Vec<_> = merged
            .iter()
            .map(|s| (s.point.queue_min, s.point.queue_max, s.point.starved_us))
            .collect();
        assert_eq!(seen, [(1, 3, 3), (4, 6, 3), (7, 7, 1)]);
        assert_eq!(merged[1].begin_us, 30);
        assert_eq!(merged[1].starved_share(), 3.0 / 60.0);
    }

    #[test]
    fn the_longest_stretch_is_found() {
        let points = [(10, 0, 5), (20, 1, 0), (30, 0, 1), (50, 0, 1), (60, 1, 0)];
        let spans = spans(&statistics(&points));
        assert_eq!(longest_starved(&spans), Some((20, 50)));
        assert_eq!(longest_starved(&[]), None);
    }

    #[test]
    fn runs_at_a_time_count_once() {
        let phase = |begin_us, end_us| Phase {
            name: String::new(),
            begin_us,
            end_us,
        };
        let statistics = Statistics {
            phases: vec![phase(50, 60), phase(10, 30), phase(20, 40), phase(9, 3)],
            ..Statistics::default()
        };
        assert_eq!(running_us(&statistics), 40);
    }
}
