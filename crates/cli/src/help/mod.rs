//! Help: a short page for `-h`, topics for `hedgerow help TOPIC`, and the reference of the site. All
//! of them are made from the definitions of the commands and from the files in `topics`.

pub mod examples;
pub mod reference;
mod short;
pub mod topics;

use crate::arguments::Arguments;
use crate::{version, words};
use clap::CommandFactory;
use std::ffi::OsString;

/// What is printed if the words ask for the version alone, a topic or, with `-h`, a short page.
pub fn asked(words: &[OsString]) -> Option<String> {
    if matches!(words, [_, only] if only == "--version" || only == "-V") {
        return Some(version::text(false));
    }
    let at = words::command(words);
    let after = |name: &str| at.filter(|at| words[*at] == name).map(|at| at + 1);
    if let Some(topic) = after("help").and_then(|at| words.get(at)) {
        return topics::find(topic.to_str()?).map(topics::text);
    }
    // After anything but the names of commands, `-h` may be the value of an option.
    let is_alone = words.len() == 2 || at.is_some();
    if !is_alone || words.last()? != "-h" {
        return None;
    }
    let mut command = Arguments::command();
    command.build();
    let mut path = String::from("hedgerow");
    let named = at.map_or(&[][..], |at| &words[at..words.len() - 1]);
    for word in named {
        let found = command.find_subcommand(word.to_str()?)?;
        path = format!("{path} {}", found.get_name());
        command = found.clone();
    }
    Some(short::page(&command, &path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(line: &str) -> Option<String> {
        let words = line.split(' ').map(OsString::from);
        asked(&words.collect::<Vec<_>>())
    }

    #[test]
    fn only_what_stands_alone_is_answered_without_parsing() {
        let version = Some(version::text(false));
        assert_eq!(answer("hedgerow --version"), version);
        assert_eq!(answer("hedgerow -V"), version);
        for line in [
            "hedgerow",
            "hedgerow --version --verbose",
            "hedgerow --json --version",
            "hedgerow checkout --version",
            "hedgerow -C -h",
            "hedgerow checkout -b -h x",
        ] {
            assert_eq!(answer(line), None, "{line}");
        }
        let page = answer("hedgerow walk -h").unwrap();
        assert!(page.contains("Usage: hedgerow walk "), "{page}");
        assert!(answer("hedgerow -h").unwrap().starts_with("Moves "));
    }
}
