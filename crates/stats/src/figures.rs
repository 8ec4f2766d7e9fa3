//! The figures of a run that are worth comparing, and two runs side by side in words.

use super::limit::explanation;
use super::scale::{duration, grouped, quantity};
use super::summary::{described, printable};
use super::timeline::{average, running_us, spans};
use super::Named;
use hedgerow_engine::Statistics;
use std::fmt::Write;

/// A figure of a run.
pub struct Figure {
    /// What it is.
    pub subject: &'static str,
    /// Its value for people.
    pub words: String,
    /// Its value for comparisons.
    pub value: f64,
}

/// The figures of a run; the same ones in the same order for every run.
pub fn figures(statistics: &Statistics) -> Vec<Figure> {
    let spans = spans(statistics);
    let seconds = (statistics.wall_us as f64 / 1e6).max(1e-6);
    let operations = statistics.operations as f64;
    let average_us = statistics.latency_sum_us / statistics.operations.max(1);
    let memory = statistics.peak_memory_bytes.unwrap_or(0);
    vec![
        time("time", statistics.wall_us),
        time("time with workers", running_us(statistics)),
        number("operations", operations),
        number("operations a second", operations / seconds),
        megabytes("content", statistics.bytes as f64),
        megabytes("content a second", statistics.bytes as f64 / seconds),
        number("workers, at most", statistics.in_flight_max as f64),
        number("workers, on average", average(&spans, |it| it.workers)),
        number("tasks waiting, at most", statistics.queue_max as f64),
        number("tasks waiting, on average", average(&spans, |it| it.queue)),
        time("latency, on average", average_us),
        time("latency, 50 % below", statistics.latency_below_us(0.5)),
        time("latency, 99 % below", statistics.latency_below_us(0.99)),
        time("workers on a processor", statistics.cpu_us),
        time("workers in the queue for one", statistics.run_delay_us),
        time("workers waiting", statistics.wait_us),
        time("workers without work", statistics.starved_us),
        megabytes("memory, at most", memory as f64),
    ]
}

fn time(subject: &'static str, us: u64) -> Figure {
    Figure {
        subject,
        words: duration(us),
        value: us as f64,
    }
}

fn number(subject: &'static str, value: f64) -> Figure {
    let words = if value.fract() == 0.0 {
        grouped(value as u64)
    } else {
        quantity(value)
    };
    Figure {
        subject,
        words,
        value,
    }
}

fn megabytes(subject: &'static str, bytes: f64) -> Figure {
    Figure {
        subject,
        words: format!("{:.1} MB", bytes / 1e6),
        value: bytes,
    }
}

/// How a figure changed from one run to another: a ratio, if there is one.
pub fn change(before: &Figure, after: &Figure) -> String {
    if before.value == after.value {
        "same".to_owned()
    } else if before.value <= 0.0 {
        "new".to_owned()
    } else {
        format!("{:.2} x", after.value / before.value)
    }
}

/// Which of two runs was faster, in a sentence.
pub fn faster(before: Named<'_>, after: Named<'_>) -> String {
    let [one, other] = [before, after].map(|run| run.statistics.wall_us as f64);
    let [before_name, after_name] = [before, after].map(|run| printable(run.name));
    let times = [before, after].map(|run| duration(run.statistics.wall_us));
    let ratio = match (one > 0.0, other > 0.0) {
        (true, true) if other < one => format!("{:.2} times as fast", one / other),
        (true, true) if other > one => format!("{:.2} times as long", other / one),
        _ => "no difference that can be told".to_owned(),
    };
    let [before_time, after_time] = times;
    format!("{after_name} took {after_time}, {before_name} {before_time}: {ratio}.")
}

/// A sentence if the runs are of different commands: then a ratio of their times says little.
pub fn different_commands(before: Named<'_>, after: Named<'_>) -> Option<String> {
    let [one, other] = [before, after].map(|run| run.statistics.command.as_deref().map(printable));
    let (one, other) = one.zip(other).filter(|(one, other)| one != other)?;
    let [before, after] = [before, after].map(|run| printable(run.name));
    Some(format!(
        "These are different commands: {before} is of '{one}', {after} of '{other}'."
    ))
}

/// Two runs side by side, for people.
pub fn comparison(before: Named<'_>, after: Named<'_>) -> String {
    let mut text = faster(before, after) + "\n";
    if let Some(words) = different_commands(before, after) {
        text = text + &words + "\n";
    }
    for run in [before, after] {
        let name = printable(run.name);
        // Writing to a string cannot fail.
        if let Some(words) = described(run.statistics) {
            let _ = writeln!(text, "{name}: {words}");
        }
        let _ = writeln!(text, "{name}: {}", explanation(run.statistics));
    }
    let [one, other] = [before, after].map(|run| figures(run.statistics));
    let names = [before, after].map(|run| printable(run.name));
    let width = |figures: &[Figure], name: &str| {
        let words = figures.iter().map(|figure| figure.words.chars().count());
        words.chain([name.chars().count()]).max().unwrap_or(0)
    };
    let widths = (width(&one, &names[0]), width(&other, &names[1]));
    let mut line = |subject: &str, before: &str, after: &str, change: &str| {
        let (first, second) = widths;
        let _ = writeln!(
            text,
            "{subject:<29}  {before:>first$}  {after:>second$}  {change:>8}"
        );
    };
    line("", "", "", "");
    line("", &names[0], &names[1], "change");
    for (before, after) in one.iter().zip(&other) {
        let change = change(before, after);
        line(before.subject, &before.words, &after.words, &change);
    }
    let trimmed: Vec<&str> = text.lines().map(str::trim_end).collect();
    trimmed.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_stand_side_by_side() {
        let before = Statistics {
            wall_us: 2_400_000,
            operations: 2400,
            ..Statistics::default()
        };
        let after = Statistics {
            wall_us: 1_200_000,
            ..before.clone()
        };
        let [before, after] = [("a\u{1b}", &before), ("after.json", &after)]
            .map(|(name, statistics)| Named { name, statistics });
        let text = comparison(before, after);
        assert!(text.starts_with("after.json took 1.20 s, a? 2.40 s: 2.00 times as fast.\n"));
        assert!(text.contains("\n                                   a?  after.json    change\n"));
        let line = "\noperations a second             1,000       2,000    2.00 x\n";
        assert!(text.contains(line), "{text}");
        assert!(text.contains("\noperations                      2,400       2,400      same\n"));
        assert!(!text.contains("different commands"), "{text}");
        let worse = faster(after, before);
        assert!(worse.ends_with(": 2.00 times as long."), "{worse}");
    }

    #[test]
    fn runs_of_different_commands_are_told() {
        let [before, after] = ["walk", "image create"].map(|command| Statistics {
            command: Some(command.into()),
            version: Some("1.2.3".into()),
            started_s: Some(86_400),
            ..Statistics::default()
        });
        let [before, after] =
            [("a", &before), ("b", &after)].map(|(name, statistics)| Named { name, statistics });
        let text = comparison(before, after);
        assert!(
            text.contains("\nThese are different commands: a is of 'walk', b of 'image create'.\n"),
            "{text}"
        );
        assert!(
            text.contains("\nb: image create, hedgerow 1.2.3, 1970-01-02 00:00 UTC\n"),
            "{text}"
        );
    }
}
