//! The panel with the number of waiting tasks, and with the times when there were none.

use super::plot::{count_axis, heading, Frame, STRIP};
use super::scale::Scale;
use super::svg::Svg;
use super::timeline::Span;

/// The most tasks that waited.
pub fn most(spans: &[Span]) -> usize {
    let most = spans.iter().map(|span| span.point.queue_max).max();
    most.unwrap_or(0)
}

/// Draws `spans`; the axis ends at `most`.
pub fn draw(svg: &mut Svg, frame: Frame, time: &Scale, spans: &[Span], most: usize) {
    let scale = Scale::counts(most as f64, frame.height - 6.0);
    starved_times(svg, frame, time, spans);
    count_axis(svg, frame, &scale);
    let x = |us: u64| frame.left + time.place(us as f64);
    let y = |count: usize| frame.bottom() - scale.place(count as f64);
    let edge = |value: fn(&Span) -> usize| {
        let ends = |span: &Span| {
            let height = y(value(span));
            [(x(span.begin_us), height), (x(span.end_us()), height)]
        };
        spans.iter().flat_map(ends).collect::<Vec<_>>()
    };
    let mut band = edge(|span| span.point.queue_max);
    band.extend(edge(|span| span.point.queue_min).iter().rev());
    svg.path("band", &band, true);
    svg.path("queue", &edge(|span| span.point.queue), false);
    let title = if scale.is_root() {
        "Tasks waiting (square-root scale)"
    } else {
        "Tasks waiting"
    };
    let legend = [
        ("queue", "queue"),
        ("band", "least to most"),
        ("empty", "empty"),
        ("starved", "empty, workers idle"),
    ];
    heading(svg, frame, title, &legend);
}

/// Marks along the axis when the queue was empty: the stronger the red, the more workers were idle.
fn starved_times(svg: &mut Svg, frame: Frame, time: &Scale, spans: &[Span]) {
    for span in spans {
        let begin = frame.left + time.place(span.begin_us as f64);
        let end = frame.left + time.place(span.end_us() as f64);
        let width = (end - begin).max(1.0);
        let strip = (begin, frame.bottom() + 1.0);
        if span.point.starved_us > 0 {
            let share = span.starved_share();
            svg.faint_rect("starved", strip, (width, STRIP - 2.0), 0.35 + 0.65 * share);
            let at = (begin, frame.top);
            svg.faint_rect("starved", at, (width, frame.height), 0.03 + 0.25 * share);
        } else if span.point.queue_min == 0 && span.point.workers > 0 {
            svg.faint_rect("empty", strip, (width, STRIP - 2.0), 0.8);
        }
    }
}
