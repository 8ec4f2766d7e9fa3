//! Help: a short page for `-h`, topics for `hedgerow help TOPIC`, and the reference of the site. All
//! of them are made from the definitions of the commands and from the files in `topics`.

pub mod examples;
pub mod reference;
mod short;
pub mod topics;

use crate::arguments::Arguments;
use crate::words;
use clap::CommandFactory;
use std::ffi::OsString;

/// What is printed if the words ask for a topic or, with `-h`, for a short page.
pub fn asked(words: &[OsString]) -> Option<String> {
    let at = words::command(words);
    let after = |name: &str| at.filter(|at| words[*at] == name).map(|at| at + 1);
    if let Some(topic) = after("help").and_then(|at| words.get(at)) {
        return topics::find(topic.to_str()?).map(topics::text);
    }
    if words.len() < 2 || words.last()? != "-h" {
        return None;
    }
    let mut command = Arguments::command();
    command.build();
    let mut path = String::from("hedgerow");
    // After anything but the names of commands, `-h` may be the value of an option.
    let named = at.map_or(&[][..], |at| &words[at..words.len() - 1]);
    if at.is_none() && words.len() > 2 {
        return None;
    }
    for word in named {
        let found = command.find_subcommand(word.to_str()?)?;
        path = format!("{path} {}", found.get_name());
        command = found.clone();
    }
    Some(short::page(&command, &path))
}
