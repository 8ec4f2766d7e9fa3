//! The tools of squashfs-tools, with their names and options.

mod building;
mod changes;
pub mod mksquashfs;
mod percentage;
mod refused;
pub mod single_dash;
pub mod sqfstar;
pub mod unsquashfs;

use super::console::Console;
use clap::{CommandFactory, Parser};
use single_dash::Grammar;
use std::ffi::OsString;

/// The version of squashfs-tools whose options are understood.
const SQUASHFS_TOOLS: &str = "4.7";

/// Parses the words of a tool; on an error or a request for help, returns the exit code.
fn parse<T: Parser>(console: Console, grammar: &Grammar, words: Vec<OsString>) -> Result<T, u8> {
    let command = <T as CommandFactory>::command();
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
        let text = single_dash::shown(&error.to_string());
        let text = text.trim_start_matches("error: ").trim_end().to_owned();
        failed(format!("{text}\n{}: -help lists the options", console.name))
    })
}
