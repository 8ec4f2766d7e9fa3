//! The tables of the page.

use super::pictures::parts;
use super::Html;
use crate::figures::{change, figures as figures_of};
use crate::latency_panel::class_words;
use crate::limit::{limit, stage_limit};
use crate::scale::{duration, grouped};
use crate::summary::printable;
use crate::timeline::{at_most, spans};
use crate::Named;
use hedgerow_engine::StageStatistics;

/// Maximum number of rows of a table over time.
const ROWS: usize = 24;

/// The figures of each run, and how they changed.
pub fn figures(html: &mut Html, runs: &[Named<'_>]) {
    html.heading("Figures");
    let names: Vec<String> = runs.iter().map(|run| printable(run.name)).collect();
    let mut head = vec!["figure"];
    head.extend(names.iter().map(String::as_str));
    let all: Vec<_> = runs.iter().map(|run| figures_of(run.statistics)).collect();
    let mut rows = vec![limits(runs)];
    match &all[..] {
        [first, second] => {
            head.push("change");
            rows[0].push(String::new());
            let pairs = first.iter().zip(second);
            rows.extend(pairs.map(|(before, after)| {
                let words = [&before.words, &after.words, &change(before, after)];
                let words = words.into_iter().cloned();
                [before.subject.to_owned()]
                    .into_iter()
                    .chain(words)
                    .collect()
            }));
        }
        all => rows.extend(
            all.iter()
                .flatten()
                .map(|figure| vec![figure.subject.to_owned(), figure.words.clone()]),
        ),
    }
    html.table("What was counted", &head, &rows);
}

fn limits(runs: &[Named<'_>]) -> Vec<String> {
    let limits = runs
        .iter()
        .map(|run| limit(run.statistics).name().to_owned());
    ["limited by".to_owned()]
        .into_iter()
        .chain(limits)
        .collect()
}

/// The parts of the workers' time.
pub fn times(html: &mut Html, runs: &[Named<'_>]) {
    let head = [
        "run",
        "on a processor",
        "queued for a processor",
        "waiting",
        "without work",
    ];
    let rows: Vec<Vec<String>> = runs
        .iter()
        .map(|run| {
            let total: f64 = parts(run).iter().map(|(_, _, us)| *us as f64).sum();
            let share = |us: u64| 100.0 * us as f64 / total.max(1.0);
            let cells =
                parts(run).map(|(_, _, us)| format!("{} ({:.0} %)", duration(us), share(us)));
            [printable(run.name)].into_iter().chain(cells).collect()
        })
        .collect();
    html.folded_table("The workers' time", &head, &rows);
}

/// The rates of each stage, and what limited it.
pub fn stages(html: &mut Html, runs: &[Named<'_>]) {
    let mut head = vec![
        "stage",
        "runs",
        "time",
        "operations",
        "a second",
        "content",
        "a second",
        "average latency",
        "limited by",
    ];
    if runs.len() > 1 {
        head.insert(1, "file");
    }
    let mut names: Vec<&str> = Vec::new();
    for stage in runs.iter().flat_map(|run| &run.statistics.stages) {
        if !names.contains(&&*stage.name) {
            names.push(&stage.name);
        }
    }
    let mut rows = Vec::new();
    for name in names {
        for run in runs {
            let stages = run.statistics.stages.iter();
            for stage in stages.filter(|stage| stage.name == name) {
                let mut row = rates(stage);
                if runs.len() > 1 {
                    row.insert(1, printable(run.name));
                }
                rows.push(row);
            }
        }
    }
    if rows.is_empty() {
        html.paragraph("", "The file has no figures of single stages.");
    } else {
        html.table("The runs of each name, added up", &head, &rows);
    }
}

fn rates(stage: &StageStatistics) -> Vec<String> {
    let seconds = stage.wall_us as f64 / 1e6;
    let rate = |amount: f64| if seconds > 0.0 { amount / seconds } else { 0.0 };
    let megabytes = |bytes: f64| format!("{:.1} MB", bytes / 1e6);
    vec![
        printable(&stage.name),
        grouped(stage.runs),
        duration(stage.wall_us),
        grouped(stage.operations),
        grouped(rate(stage.operations as f64) as u64),
        megabytes(stage.bytes as f64),
        megabytes(rate(stage.bytes as f64)),
        duration(stage.latency_sum_us / stage.operations.max(1)),
        stage_limit(stage).name().to_owned(),
    ]
}

/// The tasks waiting over time.
pub fn queue(html: &mut Html, run: &Named<'_>) {
    let head = [
        "until",
        "tasks waiting",
        "least",
        "most",
        "time of idle workers",
    ];
    let rows: Vec<Vec<String>> = at_most(ROWS, &spans(run.statistics))
        .iter()
        .map(|span| {
            let point = &span.point;
            let counts = [point.queue, point.queue_min, point.queue_max];
            let mut row = vec![duration(span.end_us())];
            row.extend(counts.map(|count| grouped(count as u64)));
            row.push(duration(point.starved_us));
            row
        })
        .collect();
    html.folded_table("Tasks waiting", &head, &rows);
}

/// The workers over time.
pub fn workers(html: &mut Html, run: &Named<'_>) {
    let head = ["until", "workers at work", "workers allowed"];
    let rows: Vec<Vec<String>> = at_most(ROWS, &spans(run.statistics))
        .iter()
        .map(|span| {
            let counts = [span.point.workers, span.point.target];
            let counts = counts.map(|count| grouped(count as u64));
            [duration(span.end_us())]
                .into_iter()
                .chain(counts)
                .collect()
        })
        .collect();
    html.folded_table("Workers", &head, &rows);
}

/// The operations by their latency.
pub fn latency(html: &mut Html, run: &Named<'_>) {
    let latency = run.statistics.latency.iter().enumerate();
    let rows: Vec<Vec<String>> = latency
        .filter(|(_, count)| **count > 0)
        .map(|(class, count)| vec![class_words(class), grouped(*count)])
        .collect();
    html.folded_table(
        "Operations by the time they took",
        &["time", "operations"],
        &rows,
    );
}
