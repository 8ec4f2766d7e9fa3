//! The panel with the number of workers at work, and the number allowed.

use super::plot::{count_axis, heading, Frame};
use super::scale::Scale;
use super::svg::Svg;
use super::timeline::Span;

/// The most workers at work or allowed.
pub fn most(spans: &[Span]) -> usize {
    let most = |span: &Span| span.point.workers.max(span.point.target);
    spans.iter().map(most).max().unwrap_or(0)
}

/// Draws `spans`; the axis ends at `most`.
pub fn draw(svg: &mut Svg, frame: Frame, time: &Scale, spans: &[Span], most: usize) {
    let scale = Scale::linear(most as f64, frame.height - 8.0);
    count_axis(svg, frame, &scale);
    let x = |us: u64| frame.left + time.place(us as f64);
    let y = |count: usize| frame.bottom() - scale.place(count as f64);
    let steps = |value: fn(&Span) -> usize| {
        let ends = |span: &Span| {
            let height = y(value(span));
            [(x(span.begin_us), height), (x(span.end_us()), height)]
        };
        spans.iter().flat_map(ends).collect::<Vec<_>>()
    };
    let mut area = vec![(frame.left, frame.bottom())];
    area.extend(steps(|span| span.point.workers));
    area.push((x(spans.last().map_or(0, Span::end_us)), frame.bottom()));
    svg.path("work", &area, true);
    svg.path("target", &steps(|span| span.point.target), false);
    let legend = [("work", "at work"), ("target", "allowed")];
    heading(svg, frame, "Workers", &legend);
}
