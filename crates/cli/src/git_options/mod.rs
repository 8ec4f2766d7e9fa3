//! The options of commands that take git's: abbreviated, negated and combined as git's parser allows
//! (parse-options, described in gitcli(7)). Each option is rewritten to one word with its whole
//! name, which clap then parses; what hedgerow does not support is refused before anything is
//! touched, with the git command to use instead.

mod parse;
pub mod passed_on;
#[cfg(test)]
mod tests;

pub use parse::spelled_out;

use crate::failure::Failure;
use std::ffi::OsStr;

/// The options of a command.
#[derive(Debug)]
pub struct GitOptions {
    /// Git's name of the command.
    pub command: &'static str,
    pub options: &'static [GitOption],
    /// The command needs to know where `--` stood, to tell paths from revisions.
    pub keeps_separator: bool,
}

/// An option of git's.
#[derive(Clone, Copy, Debug)]
pub struct GitOption {
    /// Its letter.
    letter: Option<u8>,
    /// Git's whole name; empty if there is only a letter.
    name: &'static str,
    /// The name by which clap knows it, if it is another.
    own: Option<&'static str>,
    value: Value,
    negation: Negation,
    support: Support,
    /// The names of the options before it that it takes back.
    takes_back: &'static [&'static str],
    /// Refuses a value: each that is given, also where only the last one counts.
    check: fn(&OsStr) -> Result<(), Failure>,
}

/// Whether an option has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// Never.
    None,
    /// Always: attached, or the next word.
    Required,
    /// Only if attached.
    Optional,
}

/// The meaning of `--no-NAME`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Negation {
    /// There is none.
    Unknown,
    /// It takes back what was given before.
    TakesBack,
    /// It also says something by itself.
    Speaks,
    /// Refused: only git has it.
    Refused(&'static str),
}

/// Whether hedgerow does what the option asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Support {
    Supported,
    /// It asks for the default.
    Default,
    /// Refused: only git has it. The words of git's command that has it.
    Refused(&'static str),
}

/// How an option is typed.
#[derive(Debug, PartialEq, Eq)]
pub struct Spelling {
    pub letter: Option<char>,
    /// Without the hyphens.
    pub long: Option<String>,
}

impl Spelling {
    /// How clap's option `arg` is typed in a command that has the table `git`, if it has one: there,
    /// some names are clap's alone.
    pub fn of(arg: &clap::Arg, git: Option<&GitOptions>) -> Self {
        let (letter, long) = (arg.get_short(), arg.get_long());
        let known = git.zip(long).map(|(git, long)| git.spelling(long));
        match known {
            Some(Some(spelling)) => spelling,
            Some(None) if !parse::is_own(long.unwrap_or_default()) => {
                Spelling { letter, long: None }
            }
            _ => Spelling {
                letter,
                long: long.map(str::to_owned),
            },
        }
    }
}

impl GitOptions {
    /// How the option is typed that clap knows as `own`.
    fn spelling(&self, own: &str) -> Option<Spelling> {
        let of = |name: &str| {
            let is_it = |option: &&GitOption| option.own.unwrap_or(option.name) == name;
            self.options.iter().find(is_it)
        };
        let named = |option: &GitOption| !option.name.is_empty();
        if let Some(option) = of(own) {
            return Some(Spelling {
                letter: option.letter.map(char::from),
                long: named(option).then(|| option.name.to_owned()),
            });
        }
        let option = of(own.strip_prefix("no-")?)?;
        Some(Spelling {
            letter: None,
            long: named(option).then(|| format!("no-{}", option.name)),
        })
    }
}

impl GitOption {
    /// A switch: on if given, off again with `--no-NAME`.
    pub const fn switch(letter: Option<u8>, name: &'static str) -> Self {
        GitOption {
            letter,
            name,
            own: None,
            value: Value::None,
            negation: Negation::TakesBack,
            support: Support::Supported,
            takes_back: &[],
            check: |_| Ok(()),
        }
    }

    /// A letter without a long name of git's; clap knows it as `own`.
    pub const fn letter(letter: u8, own: &'static str) -> Self {
        GitOption {
            own: Some(own),
            negation: Negation::Unknown,
            ..GitOption::switch(Some(letter), "")
        }
    }

    /// Clap knows it as `own`.
    pub const fn known_as(self, own: &'static str) -> Self {
        GitOption {
            own: Some(own),
            ..self
        }
    }

    /// It has a value.
    pub const fn with_value(self) -> Self {
        GitOption {
            value: Value::Required,
            ..self
        }
    }

    /// It has a value, which `check` may refuse.
    pub const fn with_checked_value(self, check: fn(&OsStr) -> Result<(), Failure>) -> Self {
        GitOption {
            check,
            ..self.with_value()
        }
    }

    /// It has a value if one is attached.
    pub const fn with_optional_value(self) -> Self {
        GitOption {
            value: Value::Optional,
            ..self
        }
    }

    /// `--no-NAME` differs from saying nothing: clap is given it.
    pub const fn or_not(self) -> Self {
        GitOption {
            negation: Negation::Speaks,
            ..self
        }
    }

    /// There is no `--no-NAME`.
    pub const fn never_negated(self) -> Self {
        GitOption {
            negation: Negation::Unknown,
            ..self
        }
    }

    /// It takes back the options `names` if they stand before it.
    pub const fn taking_back(self, names: &'static [&'static str]) -> Self {
        GitOption {
            takes_back: names,
            ..self
        }
    }

    /// It asks for what happens anyway.
    pub const fn by_default(self) -> Self {
        GitOption {
            support: Support::Default,
            ..self
        }
    }

    /// Only git has it, as `git COMMAND words`.
    pub const fn refused(self, words: &'static str) -> Self {
        GitOption {
            support: Support::Refused(words),
            ..self
        }
    }

    /// Only git has `--no-NAME`, as `git COMMAND words`.
    pub const fn negation_refused(self, words: &'static str) -> Self {
        GitOption {
            negation: Negation::Refused(words),
            ..self
        }
    }

    fn is_negatable(&self) -> bool {
        self.negation != Negation::Unknown
    }

    /// As git's messages name it.
    fn shown(&self, is_negated: bool) -> String {
        match (self.name, self.letter) {
            ("", Some(letter)) => format!("-{}", char::from(letter)),
            (name, _) if is_negated => format!("--no-{name}"),
            (name, _) => format!("--{name}"),
        }
    }

    /// The word that clap is given.
    fn spelled(&self, is_negated: bool) -> String {
        let own = self.own.unwrap_or(self.name);
        let no = if is_negated { "no-" } else { "" };
        format!("--{no}{own}")
    }
}
