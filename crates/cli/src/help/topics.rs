//! The topics of `hedgerow help TOPIC`. Their texts are also pages of the documentation.

/// A topic: its name, what it is about, and its text.
#[derive(Clone, Copy, Debug)]
pub struct Topic {
    pub name: &'static str,
    text: &'static str,
}

const TOPICS: [Topic; 8] = [
    topic("configuration", include_str!("topics/configuration.md")),
    topic("environment", include_str!("topics/environment.md")),
    topic("exit-codes", include_str!("topics/exit-codes.md")),
    topic("filters", include_str!("topics/filters.md")),
    topic("json", include_str!("topics/json.md")),
    topic("limits", include_str!("topics/limits.md")),
    topic("statistics", include_str!("topics/statistics.md")),
    topic("workers", include_str!("topics/workers.md")),
];

const fn topic(name: &'static str, text: &'static str) -> Topic {
    Topic { name, text }
}

/// The topic with this name.
pub fn find(name: &str) -> Option<&'static Topic> {
    TOPICS.iter().find(|topic| topic.name == name)
}

/// The names of all topics, with commas.
pub fn names() -> String {
    TOPICS.map(|topic| topic.name).join(", ")
}

/// What the help of the program says about topics.
pub fn sentence() -> String {
    format!("Topics of 'hedgerow help TOPIC': {}", names())
}

/// The text as a terminal shows it: without the marks of Markdown that only a page needs, and with
/// the first columns of a table below each other.
pub fn text(topic: &Topic) -> String {
    let plain = topic.text.replace('`', "");
    let lines = plain.lines().filter(|line| !line.starts_with("| ---"));
    let rows: Vec<Vec<&str>> = lines.map(cells).collect();
    let mut text = String::new();
    for block in rows.chunk_by(|a, b| a.len() == b.len()) {
        let width = |at: usize| block.iter().map(|row: &Vec<&str>| row[at].len()).max();
        for row in block {
            for (at, cell) in row.iter().enumerate() {
                let width = width(at).filter(|_| at + 1 < row.len());
                text.push_str(&format!("{cell:<0$}", width.map_or(0, |it| it + 2)));
            }
            text.push('\n');
        }
    }
    text.trim_start().to_owned()
}

/// The cells of a line of a table; another line is one.
fn cells(line: &str) -> Vec<&str> {
    match line.strip_prefix("| ") {
        Some(row) => row.trim_end_matches(" |").split(" | ").collect(),
        None => vec![line.trim_start_matches('#').trim_end()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Arguments;
    use clap::CommandFactory;

    #[test]
    fn topics_are_short_and_no_commands() {
        for topic in &TOPICS {
            let shown = text(topic);
            assert!(
                !shown.contains('`') && !shown.contains('#'),
                "{}",
                topic.name
            );
            assert!(
                shown.lines().all(|line| line.len() <= 100),
                "{}",
                topic.name
            );
            let command = Arguments::command();
            assert!(command.find_subcommand(topic.name).is_none());
        }
    }
}
