//! What a word on the command line may become: options, commands, and the values that `values`
//! knows. A shell asks with the words up to the cursor.

use super::values::{self, Candidates};
use crate::applets::{has_single_dash, option_names};
use crate::git_options::{GitOptions, Spelling};
use crate::global::Global;
use crate::help::topics;
use crate::trees;
use clap::{Arg, ArgAction, Command};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The candidates for the last of `words`, one a line, with a tab and a description where there is
/// one. A line with a colon in front tells the shell to add files or directories, or not to add a
/// space.
pub fn list(mut command: Command, words: &[OsString], global: &Global) -> Vec<u8> {
    command.build();
    let Some((current, before)) = words.split_last() else {
        return Vec::new();
    };
    let mut line = Line::new(&command, global);
    before.iter().for_each(|word| line.take(word));
    let mut candidates = Candidates::default();
    line.complete(current, &mut candidates);
    candidates.starting_with(current.as_bytes())
}

/// What the words before the cursor have said.
struct Line<'c> {
    command: &'c Command,
    /// The names of the commands that were entered.
    names: Vec<&'c str>,
    /// The words that are neither options nor their values.
    operands: Vec<OsString>,
    /// The option whose value comes next.
    awaited: Option<&'c Arg>,
    only_operands: bool,
    directories: Vec<PathBuf>,
}

impl<'c> Line<'c> {
    fn new(command: &'c Command, global: &Global) -> Self {
        Line {
            command,
            names: Vec::new(),
            operands: Vec::new(),
            awaited: None,
            only_operands: false,
            directories: global.directory.clone(),
        }
    }

    fn take(&mut self, word: &OsString) {
        if let Some(option) = self.awaited.take() {
            self.note_value(option, word);
            return;
        }
        let bytes = word.as_bytes();
        if self.only_operands || !bytes.starts_with(b"-") || bytes == b"-" {
            let name = word.to_str().unwrap_or_default();
            match self.command.find_subcommand(name) {
                Some(inner) if self.operands.is_empty() => {
                    self.command = inner;
                    self.names.push(inner.get_name());
                }
                _ => self.operands.push(word.clone()),
            }
        } else if has_single_dash(self.command.get_name()) {
            let name = word.to_str().and_then(|word| word.strip_prefix('-'));
            let find = |arg: &&Arg| option_names(arg).any(|it| Some(it) == name);
            self.awaited = self.arguments().find(find).filter(|it| waits(it));
        } else if bytes == b"--" {
            self.only_operands = true;
        } else if let Some(long) = bytes.strip_prefix(b"--") {
            let find = |arg: &&Arg| arg.get_long().is_some_and(|it| it.as_bytes() == long);
            self.awaited = self.arguments().find(find).filter(|it| waits(it));
        } else {
            self.take_letters(&bytes[1..]);
        }
    }

    /// Of letters in one word, the first that has a value takes the rest of the word.
    fn take_letters(&mut self, letters: &[u8]) {
        for (at, letter) in letters.iter().enumerate() {
            let find = |arg: &&Arg| arg.get_short() == Some(char::from(*letter));
            let Some(option) = self.arguments().find(find).filter(|it| waits(it)) else {
                continue;
            };
            match &letters[at + 1..] {
                [] => self.awaited = Some(option),
                value => self.note_value(option, std::ffi::OsStr::from_bytes(value)),
            }
            return;
        }
    }

    /// `-C DIR` decides which repository is asked.
    fn note_value(&mut self, option: &Arg, value: &std::ffi::OsStr) {
        if option.get_short() == Some('C') && option.is_global_set() {
            self.directories.push(value.into());
        }
    }

    fn arguments(&self) -> impl Iterator<Item = &'c Arg> {
        self.command.get_arguments()
    }

    fn complete(&self, current: &OsString, candidates: &mut Candidates) {
        let bytes = current.as_bytes();
        if let Some(option) = self.awaited {
            return self.values(option, b"", bytes, candidates);
        }
        if bytes.starts_with(b"-") && !self.only_operands {
            return match bytes.iter().position(|byte| *byte == b'=') {
                Some(at) => {
                    let long = bytes.get(2..at).unwrap_or_default();
                    let find = |arg: &&Arg| arg.get_long().is_some_and(|it| it.as_bytes() == long);
                    if let Some(option) = self.arguments().find(find) {
                        let (prefix, value) = bytes.split_at(at + 1);
                        self.values(option, prefix, value, candidates);
                    }
                }
                None => self.options(candidates),
            };
        }
        if self.command.get_name() == "help" && self.operands.is_empty() {
            topics::names()
                .split(", ")
                .for_each(|name| candidates.add(name, Some("a topic")));
        }
        if self.operands.is_empty() && !self.only_operands {
            for inner in super::manual::subcommands(self.command) {
                let about = inner.get_about().map(ToString::to_string);
                candidates.add(inner.get_name(), about.as_deref());
            }
        }
        let operands: Vec<&Arg> = self.arguments().filter(|it| it.is_positional()).collect();
        let at = self.operands.len().min(operands.len().saturating_sub(1));
        if let Some(operand) = operands.get(at) {
            self.values(operand, b"", bytes, candidates);
        }
    }

    /// The options of the command, in the spelling that it takes.
    fn options(&self, candidates: &mut Candidates) {
        let git = git_options(&self.names);
        for option in self.arguments().filter(|it| !it.is_hide_set()) {
            let about = option.get_help().map(ToString::to_string);
            let about = about.as_deref();
            if has_single_dash(self.command.get_name()) {
                option_names(option).for_each(|name| candidates.add(format!("-{name}"), about));
                continue;
            }
            let Spelling { letter, long } = Spelling::of(option, git);
            if let Some(long) = long {
                candidates.add(format!("--{long}"), about);
            }
            if let Some(letter) = letter {
                candidates.add(format!("-{letter}"), about);
            }
        }
    }

    fn values(&self, arg: &Arg, prefix: &[u8], value: &[u8], candidates: &mut Candidates) {
        let request = values::Request {
            arg,
            prefix,
            value,
            operands: &self.operands,
            only_paths: self.only_operands,
            directories: &self.directories,
        };
        values::add(&request, candidates);
    }
}

/// The table of git's options of a command, if it has one.
pub fn git_options(names: &[&str]) -> Option<&'static GitOptions> {
    match names {
        [name] => trees::options(name.as_bytes()),
        [name, inner] => trees::subcommand_options(name.as_bytes(), inner.as_bytes()),
        _ => None,
    }
}

/// Whether the value of an option is the next word.
fn waits(option: &Arg) -> bool {
    let has_value = matches!(option.get_action(), ArgAction::Set | ArgAction::Append);
    has_value && !option.is_positional() && !option.is_require_equals_set()
}
