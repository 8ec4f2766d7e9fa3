//! The panel with the durations of operations.

use super::plot::{count_axis, heading, Frame, LETTER, WIDTH};
use super::scale::{duration, grouped, Scale};
use super::svg::Svg;
use hedgerow_engine::Statistics;

/// The percentiles to mark.
const SHARES: [u32; 3] = [50, 90, 99];

/// The classes that an axis shows, and the number at its upper end.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    first: usize,
    last: usize,
    max: u64,
}

impl Range {
    /// For statistics drawn alone.
    pub fn of(statistics: &Statistics) -> Self {
        let latency = &statistics.latency;
        Range {
            first: latency.iter().position(|count| *count > 0).unwrap_or(0),
            last: latency.iter().rposition(|count| *count > 0).unwrap_or(0),
            max: latency.iter().max().copied().unwrap_or(0),
        }
    }

    /// For both.
    pub fn with(self, other: Range) -> Self {
        Range {
            first: self.first.min(other.first),
            last: self.last.max(other.last),
            max: self.max.max(other.max),
        }
    }
}

pub fn draw(svg: &mut Svg, frame: Frame, statistics: &Statistics, range: Range) {
    let latency = &statistics.latency;
    let Range { first, last, max } = range;
    let scale = Scale::counts(max as f64, frame.height - 24.0);
    count_axis(svg, frame, &scale);
    let classes = last - first + 1;
    let width = frame.width / classes.max(8) as f64;
    let left = frame.left + (frame.width - width * classes as f64) / 2.0;
    let edge = |class: usize| left + (class - first) as f64 * width;
    for (class, count) in latency.iter().enumerate().take(last + 1).skip(first) {
        let height = scale.place(*count as f64);
        let height = if *count > 0 { height.max(1.5) } else { 0.0 };
        let at = (edge(class) + 1.0, frame.bottom() - height);
        let title = format!("{} operations {}", grouped(*count), class_words(class));
        svg.rect("bar", at, (width - 2.0, height), Some(&title));
        let x = edge(class) + width / 2.0;
        if *count > 0 && width >= 44.0 {
            svg.text(
                "middle",
                (x, frame.bottom() - height - 4.0),
                &grouped(*count),
            );
        }
        if class > 0 {
            let label = duration(upper_us(class - 1));
            label_edge(svg, frame, edge(class), &label, (class - first, width));
        }
    }
    let end = duration(upper_us(last));
    label_edge(svg, frame, edge(last + 1), &end, (classes, width));
    marks(svg, frame, statistics, edge);
    svg.rect(
        "frame",
        (frame.left, frame.top),
        (frame.width, frame.height),
        None,
    );
    let title = if scale.is_root() {
        "Operations by the time they took (square-root scale; each bar is a doubling)"
    } else {
        "Operations by the time they took (each bar is a doubling)"
    };
    heading(svg, frame, title, &[]);
}

/// The label of an edge between two bars; narrow bars are not all labelled.
fn label_edge(svg: &mut Svg, frame: Frame, x: f64, label: &str, edge: (usize, f64)) {
    let (number, width) = edge;
    let each = (56.0 / width).ceil() as usize;
    if number.is_multiple_of(each.max(1)) {
        svg.line("frame", (x, frame.bottom()), (x, frame.bottom() + 4.0));
        // The last label may be at the edge of the picture.
        let half = label.chars().count() as f64 * LETTER / 2.0;
        svg.text(
            "middle",
            (x.min(WIDTH - half), frame.bottom() + 18.0),
            label,
        );
    }
}

/// Marks percentiles of the operations, each with a label at its side.
fn marks(svg: &mut Svg, frame: Frame, statistics: &Statistics, edge: impl Fn(usize) -> f64) {
    if statistics.operations == 0 {
        return;
    }
    let below_us = |share: &u32| statistics.latency_below_us(f64::from(*share) / 100.0);
    let same_class = |one: &u32, other: &u32| below_us(one) == below_us(other);
    let marks: Vec<(f64, String)> = SHARES
        .chunk_by(same_class)
        // A file may count more operations than it has latencies of: no class has the last of them.
        .filter(|shares| shares.first().is_some_and(|share| below_us(share) > 0))
        .map(|shares| {
            let end_us = shares.first().map_or(0, below_us);
            let shares: Vec<String> = shares.iter().map(|share| format!("{share} %")).collect();
            let words = format!("{} below {}", shares.join(" and "), duration(end_us));
            (edge(end_us.max(1).ilog2() as usize + 1), words)
        })
        .collect();
    for (row, (x, words)) in marks.iter().enumerate() {
        // A line starts below the labels of the previous ones.
        let top = frame.top + 3.0 + 16.0 * row as f64;
        svg.line("share", (*x, top), (*x, frame.bottom()));
        let y = top + 11.0;
        if x + 200.0 < frame.right() {
            svg.text("mark", (x + 6.0, y), words)
        } else {
            svg.text("mark right", (x - 6.0, y), words)
        }
    }
}

pub fn class_words(class: usize) -> String {
    match class {
        0 => "below 1 us".to_owned(),
        _ => format!(
            "from {} to {}",
            duration(upper_us(class - 1)),
            duration(upper_us(class))
        ),
    }
}

/// The upper end of a latency class, in microseconds.
fn upper_us(class: usize) -> u64 {
    1_u64.checked_shl(class as u32).unwrap_or(u64::MAX)
}
