//! The drawing: a page with three panels. The upper two share the time axis.

use super::scale::Scale;
use super::summary::{printable, verdict};
use super::svg::Svg;
use super::timeline::{at_most, spans, Span};
use super::{latency_panel, queue_panel, workers_panel};
use hedgerow_engine::Statistics;

pub const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 876.0;
/// Maximum number of spans; more would be narrower than a pixel.
pub const SPANS: usize = 800;
/// Maximum number of runs drawn.
const PHASES: usize = 512;
/// Approximate width of a letter in the small size, in pixels.
pub const LETTER: f64 = 6.8;
/// Distance of a panel's heading above its frame, in pixels; the names of runs are in between.
const HEADING: f64 = 27.0;
/// Width of a legend's color with the gap to its label, in pixels.
const SWATCH: f64 = 24.0;

/// Colors for light and dark mode that also differ in lightness. The reader's own fonts are used.
pub const STYLE: &str = "\
text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#3d4450}
.page{fill:#ffffff}
.heading{font-size:17px;font-weight:600;fill:#14181f}
.title{font-size:13px;font-weight:600;fill:#14181f}
.right{text-anchor:end}
.middle{text-anchor:middle}
.mark{paint-order:stroke;stroke:#ffffff;stroke-width:4px;stroke-linejoin:round}
.frame{stroke:#8b93a1;stroke-width:1;fill:none}
.grid{stroke:#8b93a1;stroke-opacity:.28;stroke-width:1}
.phase{fill:#5b6b86;fill-opacity:.09}
.other{fill:#5b6b86;fill-opacity:.18}
.band{fill:#2f6fd0;fill-opacity:.28}
.queue{stroke:#2f6fd0;stroke-width:1.5;fill:none}
.starved{fill:#d3222a}
.empty{fill:#e9a100}
.work{fill:#178a6a;fill-opacity:.55}
.target{stroke:#7a3fb5;stroke-width:1.6;stroke-dasharray:5 3;fill:none}
.bar{fill:#2f6fd0;fill-opacity:.75}
.share{stroke:#d3222a;stroke-width:1.5;stroke-dasharray:3 3}
@media (prefers-color-scheme:dark){
text{fill:#b9c0cc}
.page{fill:#14171c}
.heading,.title{fill:#eef1f6}
.mark{stroke:#14171c}
.phase,.other{fill:#a9b8d6}
.band{fill:#6ea8ff}
.queue{stroke:#6ea8ff}
.starved{fill:#ff5a5f}
.empty{fill:#ffc04d}
.work{fill:#35c79c}
.target{stroke:#c79bff}
.bar{fill:#6ea8ff}
.share{stroke:#ff7d80}
}
";

/// The position of a panel's frame.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

impl Frame {
    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }
}

const QUEUE: Frame = frame(130.0, 220.0);
const WORKERS: Frame = frame(438.0, 130.0);
const LATENCY: Frame = frame(670.0, 150.0);

/// A panel of the usual width.
pub const fn frame(top: f64, height: f64) -> Frame {
    Frame {
        left: 66.0,
        top,
        width: WIDTH - 66.0 - 20.0,
        height,
    }
}

/// The statistics as an SVG document. The same statistics give the same bytes.
pub fn draw(statistics: &Statistics) -> String {
    let spans = at_most(SPANS, &spans(statistics));
    let end_us = spans.last().map_or(0, Span::end_us);
    let time = Scale::linear(end_us as f64, QUEUE.width);
    let verdict = verdict(statistics);
    let mut svg = Svg::new(WIDTH, HEIGHT, &verdict, STYLE);
    svg.rect("page", (0.0, 0.0), (WIDTH, HEIGHT), None);
    svg.text("heading", (QUEUE.left, 30.0), "What the workers did");
    for (row, part) in verdict.split("; ").enumerate() {
        svg.text("", (QUEUE.left, 49.0 + 17.0 * row as f64), part);
    }
    for frame in [QUEUE, WORKERS] {
        phases(&mut svg, statistics, frame, &time, end_us);
    }
    phase_names(&mut svg, statistics, QUEUE, &time, end_us);
    queue_panel::draw(&mut svg, QUEUE, &time, &spans, queue_panel::most(&spans));
    workers_panel::draw(
        &mut svg,
        WORKERS,
        &time,
        &spans,
        workers_panel::most(&spans),
    );
    for frame in [QUEUE, WORKERS] {
        time_axis(&mut svg, frame, &time, end_us);
    }
    let range = latency_panel::Range::of(statistics);
    latency_panel::draw(&mut svg, LATENCY, statistics, range);
    svg.finish()
}

/// Grid lines and numbers for the counts on the left of a panel.
pub fn count_axis(svg: &mut Svg, frame: Frame, scale: &Scale) {
    for tick in scale.ticks(26.0) {
        let y = frame.bottom() - scale.place(tick);
        svg.line("grid", (frame.left, y), (frame.right(), y));
        let label = super::scale::grouped(tick as u64);
        if tick.fract() == 0.0 {
            svg.text("right", (frame.left - 7.0, y + 4.0), &label);
        }
    }
}

/// A panel's title, above its frame on the left, and its legend, on the right.
pub fn heading(svg: &mut Svg, frame: Frame, title: &str, legend: &[(&str, &str)]) {
    let y = frame.top - HEADING;
    svg.text("title", (frame.left, y), title);
    let width = |words: &str| SWATCH + words.chars().count() as f64 * LETTER + 14.0;
    let mut x = frame.right() - legend.iter().map(|(_, words)| width(words)).sum::<f64>();
    for (class, words) in legend {
        match *class {
            line @ ("queue" | "target") => {
                svg.line(line, (x, y - 4.0), (x + SWATCH - 6.0, y - 4.0));
            }
            area => svg.rect(area, (x, y - 9.0), (SWATCH - 6.0, 10.0), None),
        }
        svg.text("", (x + SWATCH, y), words);
        x += width(words);
    }
}

/// The frame of a panel, and the times below it.
pub fn time_axis(svg: &mut Svg, frame: Frame, time: &Scale, end_us: u64) {
    svg.rect(
        "frame",
        (frame.left, frame.top),
        (frame.width, frame.height),
        None,
    );
    let (unit_us, unit) = match end_us {
        0..=1999 => (1.0, "us"),
        2000..=1_999_999 => (1e3, "ms"),
        _ => (1e6, "s"),
    };
    let y = frame.bottom() + STRIP + 16.0;
    for tick in time.ticks(80.0) {
        let x = frame.left + time.place(tick);
        svg.line("grid", (x, frame.top), (x, frame.bottom()));
        let label = format!("{} {unit}", tick / unit_us);
        // The last label may be at the edge of the picture.
        let half = label.chars().count() as f64 * LETTER / 2.0;
        svg.text("middle", (x.min(WIDTH - half), y), &label);
    }
}

/// Height of the strip below a frame that marks when workers were idle, in pixels.
pub const STRIP: f64 = 9.0;

pub fn phases(svg: &mut Svg, statistics: &Statistics, frame: Frame, time: &Scale, end_us: u64) {
    for (number, phase) in statistics.phases.iter().take(PHASES).enumerate() {
        let begin = time.place(phase.begin_us.min(end_us) as f64);
        let width = time.place(phase.end_us.min(end_us) as f64) - begin;
        if width > 0.0 {
            let class = if number % 2 == 0 { "phase" } else { "other" };
            let at = (frame.left + begin, frame.top);
            let title = printable(&phase.name);
            svg.rect(class, at, (width, frame.height), Some(&title));
        }
    }
}

/// The names of the runs above their starts, where there is room.
pub fn phase_names(
    svg: &mut Svg,
    statistics: &Statistics,
    frame: Frame,
    time: &Scale,
    end_us: u64,
) {
    let mut free = frame.left;
    for phase in statistics.phases.iter().take(PHASES) {
        let begin = frame.left + time.place(phase.begin_us.min(end_us) as f64);
        let name = printable(&phase.name);
        let width = name.chars().count() as f64 * LETTER;
        if begin >= free && begin + width <= frame.right() + 10.0 {
            svg.line("frame", (begin, frame.top - 5.0), (begin, frame.top));
            svg.text("", (begin, frame.top - 8.0), &name);
            free = begin + width + 12.0;
        }
    }
}

#[cfg(test)]
mod tests;
