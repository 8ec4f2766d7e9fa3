//! The pictures of the page. Those of two runs have the same axes.

use super::Html;
use crate::latency_panel::{self, Range};
use crate::plot::{self, frame, heading, Frame, SPANS, STRIP, WIDTH};
use crate::scale::{duration, Scale};
use crate::summary::printable;
use crate::svg::Svg;
use crate::timeline::{at_most, spans, Span};
use crate::{queue_panel, workers_panel, Named};

const QUEUE: Frame = frame(52.0, 220.0);
const WORKERS: Frame = frame(44.0, 130.0);
const LATENCY: Frame = frame(44.0, 150.0);
/// Space for the labels below a frame, in pixels.
const BELOW: f64 = 30.0;
/// Height of a bar in the picture of times, in pixels.
const BAR: f64 = 30.0;

/// The ends of the axes.
pub struct Axes {
    end_us: u64,
    queue: usize,
    workers: usize,
    latency: Range,
}

impl Axes {
    /// For all of `runs`.
    pub fn of(runs: &[Named<'_>]) -> Self {
        let all: Vec<Vec<Span>> = runs.iter().map(shown).collect();
        let ranges = runs.iter().map(|run| Range::of(run.statistics));
        let most = |value: fn(&[Span]) -> usize| all.iter().map(|it| value(it)).max().unwrap_or(0);
        let ends = all.iter().filter_map(|spans| spans.last());
        Axes {
            end_us: ends.map(Span::end_us).max().unwrap_or(0),
            queue: most(queue_panel::most),
            workers: most(workers_panel::most),
            latency: ranges
                .reduce(Range::with)
                .unwrap_or_else(|| Range::of(&Default::default())),
        }
    }
}

fn shown(run: &Named<'_>) -> Vec<Span> {
    at_most(SPANS, &spans(run.statistics))
}

/// The parts of the workers' time, with the class of their color.
pub fn parts(run: &Named<'_>) -> [(&'static str, &'static str, u64); 4] {
    let statistics = run.statistics;
    [
        ("work", "on a processor", statistics.cpu_us),
        ("empty", "queued for a processor", statistics.run_delay_us),
        ("bar", "waiting", statistics.wait_us),
        ("starved", "without work", statistics.starved_us),
    ]
}

/// A bar for each run.
pub fn times(html: &mut Html, runs: &[Named<'_>]) {
    let frame = frame(44.0, (BAR + 18.0) * runs.len() as f64 + 8.0);
    let total = |run: &Named<'_>| parts(run).iter().map(|(_, _, us)| *us as f64).sum::<f64>();
    let most = runs.iter().map(total).fold(0.0, f64::max);
    let scale = Scale::linear(most, frame.width);
    let size = (WIDTH, frame.bottom() + BELOW);
    let words = runs.iter().map(|run| {
        let parts = parts(run).map(|(_, name, us)| format!("{} {name}", duration(us)));
        format!("{}: {}.", printable(run.name), parts.join(", "))
    });
    let words = words.collect::<Vec<_>>().join(" ");
    let mut svg = Svg::inline("times", size, "Where the workers' time went", &words);
    for (number, run) in runs.iter().enumerate() {
        let top = frame.top + 18.0 + (BAR + 18.0) * number as f64;
        if runs.len() > 1 {
            svg.text("", (frame.left + 4.0, top - 4.0), &printable(run.name));
        }
        let mut x = frame.left;
        for (class, name, us) in parts(run) {
            let width = scale.place(us as f64);
            let title = format!("{} {name}", duration(us));
            svg.rect(class, (x, top), (width, BAR), Some(&title));
            x += width;
        }
    }
    let legend = [
        ("work", "on a processor"),
        ("empty", "queued for one"),
        ("bar", "waiting"),
        ("starved", "without work"),
    ];
    heading(&mut svg, frame, "Time of all workers", &legend);
    plot::time_axis(&mut svg, frame, &scale, most as u64);
    html.scrolled("Picture: where the workers' time went", &svg.finish());
}

/// The tasks waiting over time.
pub fn queue(html: &mut Html, number: usize, run: &Named<'_>, axes: &Axes) {
    let spans = shown(run);
    let words = crate::summary::verdict(run.statistics);
    let size = (WIDTH, QUEUE.bottom() + STRIP + BELOW);
    let mut svg = Svg::inline(&format!("queue-{number}"), size, "Tasks waiting", &words);
    let time = Scale::linear(axes.end_us as f64, QUEUE.width);
    plot::phases(&mut svg, run.statistics, QUEUE, &time, axes.end_us);
    plot::phase_names(&mut svg, run.statistics, QUEUE, &time, axes.end_us);
    queue_panel::draw(&mut svg, QUEUE, &time, &spans, axes.queue);
    plot::time_axis(&mut svg, QUEUE, &time, axes.end_us);
    html.scrolled("Picture: tasks waiting", &svg.finish());
}

/// The workers over time.
pub fn workers(html: &mut Html, number: usize, run: &Named<'_>, axes: &Axes) {
    let spans = shown(run);
    let most = run.statistics.in_flight_max;
    let words = format!("{most} workers at work at most at a time.");
    let size = (WIDTH, WORKERS.bottom() + STRIP + BELOW);
    let mut svg = Svg::inline(&format!("workers-{number}"), size, "Workers", &words);
    let time = Scale::linear(axes.end_us as f64, WORKERS.width);
    plot::phases(&mut svg, run.statistics, WORKERS, &time, axes.end_us);
    workers_panel::draw(&mut svg, WORKERS, &time, &spans, axes.workers);
    plot::time_axis(&mut svg, WORKERS, &time, axes.end_us);
    html.scrolled("Picture: workers", &svg.finish());
}

/// The operations by their latency.
pub fn latency(html: &mut Html, number: usize, run: &Named<'_>, axes: &Axes) {
    let below = |share| duration(run.statistics.latency_below_us(share));
    let words = format!(
        "50 % of the operations took less than {}, 99 % less than {}.",
        below(0.5),
        below(0.99)
    );
    let size = (WIDTH, LATENCY.bottom() + BELOW);
    let title = "Operations by the time they took";
    let mut svg = Svg::inline(&format!("latency-{number}"), size, title, &words);
    latency_panel::draw(&mut svg, LATENCY, run.statistics, axes.latency);
    html.scrolled("Picture: operations by the time they took", &svg.finish());
}
