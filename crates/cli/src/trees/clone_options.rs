//! The options of `hedgerow clone`, all of which git is given.

use crate::git_options::passed_on::{define, given, Described};
use crate::git_options::GitOption;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches};
use hedgerow::Repository;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use super::clone::without;
use super::submodule_receiving::Receiving;
use crate::failure::Failure;

const fn row(option: GitOption, value: &'static str, help: &'static str) -> Described {
    Described {
        option,
        negation: "",
        value,
        help,
    }
}

/// An option whose negation is passed on, too.
const fn either(
    option: GitOption,
    negation: &'static str,
    value: &'static str,
    help: &'static str,
) -> Described {
    Described {
        option: option.or_not(),
        negation,
        value,
        help,
    }
}

const fn switch(name: &'static str) -> GitOption {
    GitOption::switch(None, name)
}

const fn letter(letter: u8, name: &'static str) -> GitOption {
    GitOption::switch(Some(letter), name)
}

pub const ROWS: [Described; 34] = [
    row(
        letter(b'n', "no-checkout").never_negated(),
        "",
        "Do not check out any files",
    ),
    row(switch("bare"), "", "Make a bare repository"),
    row(
        switch("mirror"),
        "",
        "Make a mirror: bare, with all references as they are",
    ),
    either(
        letter(b'l', "local"),
        "no-local",
        "",
        "Copy or link the files of a repository on this machine",
    ),
    either(
        switch("hardlinks"),
        "no-hardlinks",
        "",
        "Link files of a local repository; with --no-hardlinks, copy them",
    ),
    row(
        letter(b's', "shared"),
        "",
        "Use the objects of the local repository without copying them",
    ),
    either(
        switch("recurse-submodules").with_optional_value(),
        "no-recurse-submodules",
        "PATHSPEC",
        "Clone and check out submodules, too",
    ),
    row(
        switch("recursive").with_optional_value(),
        "PATHSPEC",
        "The same as --recurse-submodules",
    ),
    row(
        switch("template").with_value(),
        "DIR",
        "Directory with templates for the repository",
    ),
    row(
        switch("reference").with_value(),
        "REPOSITORY",
        "Take objects from this repository",
    ),
    row(
        switch("reference-if-able").with_value(),
        "REPOSITORY",
        "The same, if it is there",
    ),
    row(
        switch("dissociate"),
        "",
        "Use --reference only while cloning",
    ),
    row(
        letter(b'o', "origin").with_value(),
        "NAME",
        "Name of the remote (clone.defaultRemoteName)",
    ),
    row(
        letter(b'b', "branch").with_value(),
        "NAME",
        "Check out this branch or tag instead of the remote's HEAD",
    ),
    row(
        switch("revision").with_value(),
        "REVISION",
        "Clone this revision alone, and check it out detached",
    ),
    row(
        letter(b'u', "upload-pack").with_value(),
        "PATH",
        "Program to run on the remote side",
    ),
    row(
        switch("depth").with_value(),
        "N",
        "Receive only this many commits of each history",
    ),
    row(
        switch("shallow-since").with_value(),
        "TIME",
        "Receive only commits after TIME",
    ),
    row(
        switch("shallow-exclude").with_value(),
        "REVISION",
        "Receive no commits that REVISION reaches",
    ),
    either(
        switch("single-branch"),
        "no-single-branch",
        "",
        "Receive only the history of one branch",
    ),
    either(
        switch("tags"),
        "no-tags",
        "",
        "Receive tags; with --no-tags, do not",
    ),
    either(
        switch("shallow-submodules"),
        "no-shallow-submodules",
        "",
        "Clone submodules with a depth of 1",
    ),
    row(
        switch("separate-git-dir").with_value(),
        "DIR",
        "Put the Git directory there",
    ),
    row(
        switch("ref-format").with_value(),
        "FORMAT",
        "How references are stored: files or reftable",
    ),
    row(
        letter(b'c', "config").with_value(),
        "NAME=VALUE",
        "Set this in the configuration of the clone",
    ),
    row(
        switch("server-option").with_value(),
        "OPTION",
        "Send OPTION to the server",
    ),
    row(
        letter(b'4', "ipv4").never_negated(),
        "",
        "Use IPv4 addresses only",
    ),
    row(
        letter(b'6', "ipv6").never_negated(),
        "",
        "Use IPv6 addresses only",
    ),
    row(
        switch("filter").with_value(),
        "FILTER",
        "Partial clone: receive only objects that FILTER lets through",
    ),
    row(
        switch("also-filter-submodules"),
        "",
        "Use --filter for submodules, too",
    ),
    row(
        switch("remote-submodules"),
        "",
        "Check out what the branches of the submodules' remotes have",
    ),
    row(
        switch("sparse"),
        "",
        "Begin with a sparse checkout of the files at the top",
    ),
    row(
        switch("bundle-uri").with_value(),
        "URI",
        "Fetch a bundle first",
    ),
    either(
        switch("reject-shallow"),
        "no-reject-shallow",
        "",
        "Do not clone a shallow repository",
    ),
];

/// The options that were given, as words.
#[derive(Clone, Debug, Default)]
pub struct Passed {
    pub words: Vec<OsString>,
}

impl Passed {
    /// Whether the option was given, with a value or without.
    pub fn has(&self, name: &str) -> bool {
        self.words.iter().any(|word| {
            let given = word.as_bytes().strip_prefix(b"--");
            let rest = given.and_then(|given| given.strip_prefix(name.as_bytes()));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"="))
        })
    }

    /// Refuses settings that change where the files of the clone go.
    ///
    /// # Errors
    /// One is given.
    pub fn refuse_place(&self) -> Result<(), Failure> {
        let settings = self.words.iter().filter_map(|word| {
            let setting = word.as_bytes().strip_prefix(b"--config=")?;
            setting.split(|byte| *byte == b'=').next()
        });
        for name in settings {
            for key in ["core.bare", "core.worktree"] {
                if name.eq_ignore_ascii_case(key.as_bytes()) {
                    return Err(without(key));
                }
            }
        }
        Ok(())
    }

    /// The option with its value, as it was given last.
    fn valued(&self, name: &str) -> Option<&OsString> {
        let start = format!("--{name}=");
        let mut words = self.words.iter().rev();
        words.find(|word| word.as_bytes().starts_with(start.as_bytes()))
    }

    /// How the submodules are cloned, if they were asked for.
    pub fn submodules(&self, repository: &Repository) -> Option<Receiving> {
        let asks = |name| self.has(name) || self.valued(name).is_some();
        if !asks("recurse-submodules") && !asks("recursive") {
            return None;
        }
        let setting = repository.config().string("clone.filterSubmodules");
        let configured = setting.and_then(|it| hedgerow::repository::boolean(it.as_slice().into()));
        let valued = |name: &str| {
            let (_, value) = self
                .valued(name)?
                .as_bytes()
                .split_at(name.len() + "--=".len());
            Some(OsStr::from_bytes(value).to_owned())
        };
        let filters = self.has("also-filter-submodules") || configured == Some(true);
        let filter = valued("filter").filter(|_| filters);
        let deepens = ["depth", "shallow-since", "shallow-exclude"];
        let is_deepened = deepens.iter().any(|name| self.valued(name).is_some());
        let is_single = self.has("single-branch") || is_deepened && !self.has("no-single-branch");
        Some(Receiving {
            require_init: true,
            depth: self.has("shallow-submodules").then_some(1),
            filter,
            ref_format: valued("ref-format"),
            single_branch: is_single,
            no_single_branch: !is_single,
            ..Receiving::default()
        })
    }
}

impl FromArgMatches for Passed {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let words = given(matches, &ROWS);
        Ok(Passed { words })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Passed::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Passed {
    fn augment_args(command: Command) -> Command {
        define(command, &ROWS)
    }

    fn augment_args_for_update(command: Command) -> Command {
        define(command, &ROWS)
    }
}
