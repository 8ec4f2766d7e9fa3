//! The tools of squashfs-tools, with their names and options.

mod building;
pub mod mksquashfs;
mod percentage;
mod refused;
pub mod single_dash;
pub mod sqfstar;
pub mod unsquashfs;

use super::console::Console;
use clap::{CommandFactory, Parser};
use hedgerow::numbers::in_plain_words;
use single_dash::Grammar;
use std::ffi::OsString;

/// The version of squashfs-tools whose options are understood.
const SQUASHFS_TOOLS: &str = "4.7";

/// The names, options and grammars of the tools.
#[cfg(test)]
pub fn tools() -> impl Iterator<Item = (&'static str, clap::Command, &'static Grammar)> {
    let tools = [
        ("mksquashfs", mksquashfs::command(), &mksquashfs::GRAMMAR),
        ("sqfstar", sqfstar::command(), &sqfstar::GRAMMAR),
        ("unsquashfs", unsquashfs::command(), &unsquashfs::GRAMMAR),
    ];
    tools.into_iter()
}

/// Parses the words of a tool; on an error or a request for help, returns the exit code.
fn parse<T: Parser>(console: Console, grammar: &Grammar, words: Vec<OsString>) -> Result<T, u8> {
    let command = crate::environment::with_width(<T as CommandFactory>::command());
    if let Some(text) = single_dash::asked(console.name, &command, &words) {
        console.say(text.trim_end());
        return Err(0);
    }
    let failed = |message: String| {
        console.complain(message);
        console.failed
    };
    let words = single_dash::translated(&command, grammar, words).map_err(failed)?;
    let own = OsString::from(console.name);
    let parsed = T::try_parse_from([own].into_iter().chain(words));
    parsed.map_err(|error| {
        let text = single_dash::shown(&in_plain_words(&error.to_string()));
        let text = text.trim_start_matches("error: ").trim_end().to_owned();
        failed(format!("{text}\n{}: -help lists the options", console.name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "docs/src/how-to/from-squashfs-tools.md";

    /// The options that a section of the page names in its first column.
    #[allow(clippy::disallowed_methods, reason = "a test reads the documentation")]
    fn listed(tool: &str) -> std::collections::BTreeSet<String> {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
        let page = std::fs::read_to_string(format!("{root}{PAGE}")).unwrap();
        let (_, section) = page.split_once(&format!("\n## {tool}\n")).unwrap();
        let section = section.split("\n## ").next().unwrap();
        let cells = section
            .lines()
            .filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
        let names = cells.flat_map(|cell| cell.split(['`', ',', ' ']));
        names
            .filter_map(|name| name.strip_prefix('-'))
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn the_page_lists_every_option_that_is_taken_or_refused() {
        for (tool, command, grammar) in tools() {
            let arguments: Vec<&clap::Arg> = command.get_arguments().collect();
            let taken = arguments.iter().flat_map(|arg| single_dash::names(arg));
            let refused = grammar
                .refused
                .iter()
                .flat_map(|it| it.names.iter().copied());
            let known: std::collections::BTreeSet<String> = taken
                .chain(refused)
                .chain(single_dash::HELP)
                .map(str::to_owned)
                .collect();
            let listed = listed(tool);
            let missing: Vec<_> = known.difference(&listed).collect();
            let unknown: Vec<_> = listed.difference(&known).collect();
            assert!(
                missing.is_empty() && unknown.is_empty(),
                "{tool}: missing {missing:?}, unknown {unknown:?}"
            );
        }
    }

    #[test]
    fn words_are_translated_for_the_parser() {
        let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        let command = mksquashfs::command();
        let translated =
            |given: &[&str]| single_dash::translated(&command, &mksquashfs::GRAMMAR, words(given));
        let expected = words(&["--b=1M", "--noI", "--e=-x", "--e=y", "--", "a", "-", "i"]);
        let given = ["a", "-b", "1M", "-", "i", "-noI", "-e", "-x", "y"];
        assert_eq!(translated(&given).unwrap(), expected);
        for (given, said) in [
            (vec!["-b"], "-b: the value is missing"),
            (vec!["-e"], "-e: the value is missing"),
            (vec!["-bogus"], "there is no option -bogus; see -help"),
            (
                vec!["-action", "x"],
                "-action is not supported: actions have no counterpart",
            ),
        ] {
            let error = translated(&given).unwrap_err();
            assert!(error.starts_with(said), "{error}");
        }
    }
}
