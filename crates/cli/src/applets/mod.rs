//! The tools of squashfs-tools and squashfs-tools-ng, with their names and options: called as `tar2sqfs`, the program
//! behaves like that tool.

mod console;
mod gensquashfs;
mod packing;
mod rdsquashfs;
mod sqfs2tar;
mod sqfsdiff;
mod squashfs_tools;
mod tar2sqfs;

use console::Console;
use std::ffi::OsString;
use std::path::Path;

/// A tool and its entry point.
pub struct Tool {
    console: Console,
    /// The definition of its options.
    command: fn() -> clap::Command,
    /// Returns the exit code, or the message of a fatal error.
    start: fn(Vec<OsString>) -> Result<u8, String>,
}

const TOOLS: [Tool; 8] = [
    Tool {
        console: gensquashfs::CONSOLE,
        command: gensquashfs::command,
        start: gensquashfs::run,
    },
    Tool {
        console: rdsquashfs::CONSOLE,
        command: rdsquashfs::command,
        start: rdsquashfs::run,
    },
    Tool {
        console: sqfs2tar::CONSOLE,
        command: sqfs2tar::command,
        start: sqfs2tar::run,
    },
    Tool {
        console: sqfsdiff::CONSOLE,
        command: sqfsdiff::command,
        start: sqfsdiff::run,
    },
    Tool {
        console: tar2sqfs::CONSOLE,
        command: tar2sqfs::command,
        start: tar2sqfs::run,
    },
    Tool {
        console: squashfs_tools::mksquashfs::CONSOLE,
        command: squashfs_tools::mksquashfs::command,
        start: squashfs_tools::mksquashfs::run,
    },
    Tool {
        console: squashfs_tools::sqfstar::CONSOLE,
        command: squashfs_tools::sqfstar::command,
        start: squashfs_tools::sqfstar::run,
    },
    Tool {
        console: squashfs_tools::unsquashfs::CONSOLE,
        command: squashfs_tools::unsquashfs::command,
        start: squashfs_tools::unsquashfs::run,
    },
];

/// The tool named by the first of `words`, if it is one, and the words for it.
pub fn find(mut words: Vec<OsString>) -> Option<(&'static Tool, Vec<OsString>)> {
    let own = words.first()?;
    let name = Path::new(own).file_name()?;
    let tool = TOOLS.iter().find(|tool| tool.console.name == name)?;
    words.remove(0);
    Some((tool, words))
}

/// The names of all tools.
pub fn names() -> impl Iterator<Item = &'static str> {
    TOOLS.iter().map(|tool| tool.console.name)
}

/// All names of an option of such a tool.
pub use squashfs_tools::single_dash::names as option_names;

/// The words of the tool called `name`, its name included, in the form of its option definition.
#[cfg(test)]
pub fn translated(name: &str, words: Vec<OsString>) -> Option<Vec<OsString>> {
    let Some((_, command, grammar)) = squashfs_tools::tools().find(|it| it.0 == name) else {
        return Some(words);
    };
    let own = words.first()?.clone();
    let words = words.into_iter().skip(1).collect();
    let words = squashfs_tools::single_dash::translated(&command, grammar, words).ok()?;
    Some([vec![own], words].concat())
}

/// Whether the options of the tool called `name` begin with a single dash.
pub fn has_single_dash(name: &str) -> bool {
    ["mksquashfs", "sqfstar", "unsquashfs"].contains(&name)
}

/// The option definition of the tool called `name`.
pub fn command(name: &str) -> Option<clap::Command> {
    let tool = TOOLS.iter().find(|tool| tool.console.name == name)?;
    Some((tool.command)())
}

impl Tool {
    /// Runs the tool; returns the exit code.
    pub fn run(&self, words: Vec<OsString>) -> u8 {
        let outcome = crate::ending::outcome(|| (self.start)(words), |message| message);
        outcome.unwrap_or_else(|message| {
            self.console.complain(message);
            self.console.failed
        })
    }
}
