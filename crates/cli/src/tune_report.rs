//! The results of `hedgerow tune`: as text, and as JSON.

use hedgerow::tune as probe;
use hedgerow::tune::{Advice, Latency, Measurements, Place, Rate, GIT_WORKER_START_US};
use indicatif::HumanCount;
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The JSON document that `hedgerow tune --json` prints. Fields are only ever added.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The name and version of this schema.
    schema: &'static str,
    /// The directory that was measured.
    directory: String,
    file_system: FileSystem,
    latency: Latencies,
    /// By ascending number of workers; ends where more workers did not help.
    scaling: Vec<Scaled>,
    /// How much the measurements differ.
    spread: Spread,
    /// Whether the time ran out while more workers still helped.
    is_cut_short: bool,
    advice: Advised,
    /// The file that the advice was written to, if any.
    written: Option<String>,
    /// Seconds from start to end.
    seconds: f64,
}

#[derive(Debug, Serialize)]
struct FileSystem {
    name: Option<&'static str>,
    magic: u64,
    is_network: bool,
}

#[derive(Debug, Serialize)]
struct Latencies {
    create: Sampled,
    stat: Sampled,
    remove: Sampled,
}

#[derive(Debug, Serialize)]
struct Sampled {
    median_us: f64,
    p90_us: f64,
    samples: usize,
}

#[derive(Debug, Serialize)]
struct Scaled {
    workers: usize,
    files_per_second: f64,
}

#[derive(Debug, Serialize)]
struct Spread {
    measurements: usize,
    /// The smallest and the largest number of workers that a single measurement advises.
    workers_min: usize,
    workers_max: usize,
    /// The lowest rate of the advised workers, as a fraction of the highest.
    rate_share: f64,
    /// Whether the measurements differ so much that nothing is set.
    is_noisy: bool,
}

#[derive(Debug, Serialize)]
struct Advised {
    workers: usize,
    threshold: u32,
    /// `local`, `slow` or `network`.
    place: &'static str,
    /// The rate with these workers, as a multiple of that with one worker.
    gain: f64,
    /// The advice in a sentence.
    summary: String,
}

impl Report {
    pub fn new(
        directory: &Path,
        measured: &Measurements,
        (advice, spread): (&Advice, &probe::Spread),
        written: Option<&PathBuf>,
        elapsed: Duration,
    ) -> Report {
        let scaled = |rate: &Rate| Scaled {
            workers: rate.workers,
            files_per_second: rate.files_per_second,
        };
        Report {
            schema: "hedgerow.tune.v1",
            directory: directory.display().to_string(),
            file_system: FileSystem {
                name: measured.file_system.name,
                magic: measured.file_system.magic,
                is_network: measured.file_system.is_network(),
            },
            latency: Latencies {
                create: sampled(measured.create),
                stat: sampled(measured.stat),
                remove: sampled(measured.remove),
            },
            scaling: measured.scaling.iter().map(scaled).collect(),
            spread: Spread {
                measurements: spread.measurements,
                workers_min: spread.workers.0,
                workers_max: spread.workers.1,
                rate_share: spread.rate_share,
                is_noisy: spread.is_noisy(),
            },
            is_cut_short: measured.is_cut_short,
            advice: Advised {
                workers: advice.workers,
                threshold: advice.threshold,
                place: match advice.place {
                    Place::Local => "local",
                    Place::Slow => "slow",
                    Place::Network => "network",
                },
                gain: advice.gain,
                summary: summary(measured, advice),
            },
            written: written.map(|path| path.display().to_string()),
            seconds: elapsed.as_secs_f64(),
        }
    }

    /// The document, with a newline at its end.
    pub fn to_json(&self) -> String {
        // This cannot fail: there are no maps and no custom serializers.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

fn sampled(latency: Latency) -> Sampled {
    Sampled {
        median_us: latency.median_us,
        p90_us: latency.p90_us,
        samples: latency.samples,
    }
}

/// The measurements, the advice, and its reasons.
pub fn words(
    directory: &Path,
    measured: &Measurements,
    advice: &Advice,
    spread: &probe::Spread,
) -> String {
    let mut text = format!("{}\n", directory.display());
    let mut line = |words: std::fmt::Arguments<'_>| {
        // Writing to memory does not fail.
        let _ = writeln!(text, "{words}");
    };
    line(format_args!("{}\n", summary(measured, advice)));
    line(format_args!("one worker         median   90th percentile"));
    for (name, latency) in [
        ("create a file", measured.create),
        ("stat a name", measured.stat),
        ("remove a file", measured.remove),
    ] {
        let (median, p90) = (ms(latency.median_us), ms(latency.p90_us));
        line(format_args!("  {name:<13} {median:>9}   {p90:>9}"));
    }
    line(format_args!("\nworkers   files created in a second"));
    for rate in &measured.scaling {
        let (workers, files) = (rate.workers, HumanCount(rate.files_per_second as u64));
        let mark = if workers == advice.workers {
            "   <- advised"
        } else {
            ""
        };
        line(format_args!(
            "{workers:>7}   {:>9}{mark}",
            files.to_string()
        ));
    }
    let (few, many) = spread.workers;
    line(format_args!(
        "\n{} measurements: each alone would advise {few} to {many} workers; their rates are {:.0} % \
         to 100 % of the best.",
        spread.measurements,
        spread.rate_share * 100.0
    ));
    line(format_args!("\n{}", why(advice)));
    if measured.is_cut_short {
        line(format_args!(
            "Time ran out while more workers still helped; even more might."
        ));
    }
    text
}

/// The advice in a sentence.
fn summary(measured: &Measurements, advice: &Advice) -> String {
    let place = match advice.place {
        Place::Local => "local",
        Place::Slow => "slow, as if far away",
        Place::Network => "over the network",
    };
    let workers = match advice.workers {
        1 => "1 worker".to_owned(),
        count => format!("{count} workers"),
    };
    format!(
        "{}, {} for a new file, {} for a stat: {place}, {workers}; \
         checkout.thresholdForParallelism {}",
        measured.file_system,
        ms(measured.create.median_us),
        ms(measured.stat.median_us),
        advice.threshold,
    )
}

fn why(advice: &Advice) -> String {
    let workers = advice.workers;
    if workers == 1 {
        return "More workers do not create files faster here. The threshold is git's own default.\n\
                This is about the file system alone: with more processors, decompression may \
                benefit from more workers."
            .into();
    }
    let start_ms = GIT_WORKER_START_US / 1000.0 * workers as f64;
    format!(
        "{workers} workers are the fewest that come within 5 % of the best, {:.1} times the rate \
         of one.\nStarting so many takes git about {start_ms} ms; from {} files on they gain more \
         than that.\nThis is about the file system alone: with more processors, decompression \
         may benefit from more workers.",
        advice.gain, advice.threshold
    )
}

/// Milliseconds with three significant digits.
fn ms(us: f64) -> String {
    let ms = us / 1000.0;
    let digits = match ms {
        ms if ms < 0.1 => 3,
        ms if ms < 10.0 => 2,
        _ => 1,
    };
    format!("{ms:.digits$} ms")
}
