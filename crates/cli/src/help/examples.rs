//! The examples of the manual pages, from a text file of their own. `-h` and the reference show the
//! first of them.

/// How many examples `-h` shows.
const SHORT: usize = 2;

/// What is done, and the lines that do it.
pub struct Example {
    pub what: &'static str,
    pub lines: Vec<&'static str>,
}

/// The examples of the page called `name`.
pub fn of(name: &str) -> Vec<Example> {
    let found = all().into_iter().find(|(page, _)| *page == name);
    found.map(|(_, examples)| examples).unwrap_or_default()
}

/// The first command lines of the page called `name`.
pub fn short(name: &str) -> Vec<&'static str> {
    let lines = of(name).into_iter().flat_map(|example| example.lines);
    lines.take(SHORT).collect()
}

/// The examples of all pages, with the words of their commands.
pub fn all() -> Vec<(&'static str, Vec<Example>)> {
    let mut pages: Vec<(&str, Vec<Example>)> = Vec::new();
    for line in include_str!("../../manual/examples.txt").lines() {
        let examples = pages.last_mut().map(|(_, examples)| examples);
        match (line.strip_prefix("  "), examples) {
            _ if line.is_empty() || line.starts_with('#') => {}
            _ if line.starts_with('[') => pages.push((line.trim_matches(['[', ']']), Vec::new())),
            (Some(command), Some(examples)) => {
                if let Some(example) = examples.last_mut() {
                    example.lines.push(command);
                }
            }
            (None, Some(examples)) => examples.push(Example {
                what: line,
                lines: Vec::new(),
            }),
            (_, None) => {}
        }
    }
    pages
}
