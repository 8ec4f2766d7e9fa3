//! Options that are passed on to git: each is defined once, for git's parser and for clap.

use super::{GitOption, Value};
use clap::{Arg, ArgAction, ArgMatches, Command};
use std::ffi::OsString;

/// An option that is passed on.
pub struct Described {
    pub option: GitOption,
    /// The name of its negation, if that is passed on, too; else empty.
    pub negation: &'static str,
    /// What stands for its value in the help.
    pub value: &'static str,
    pub help: &'static str,
}

/// The options of these rows.
pub const fn options<const N: usize>(rows: &[Described; N]) -> [GitOption; N] {
    let mut all = [rows[0].option; N];
    let mut row = 1;
    while row < N {
        all[row] = rows[row].option;
        row += 1;
    }
    all
}

/// Adds the options of `rows` to a command.
pub fn define(command: Command, rows: &'static [Described]) -> Command {
    let described = rows.iter().flat_map(|row| {
        let negation = (!row.negation.is_empty()).then(|| {
            let arg = Arg::new(row.negation).long(row.negation);
            arg.hide(true).action(ArgAction::SetTrue)
        });
        [Some(defined(row)), negation].into_iter().flatten()
    });
    command.args(described)
}

fn defined(row: &Described) -> Arg {
    let name = row.option.name;
    let mut arg = Arg::new(name).long(name).help(row.help);
    if let Some(letter) = row.option.letter {
        arg = arg.short(char::from(letter));
    }
    match row.option.value {
        Value::None => arg.action(ArgAction::SetTrue),
        Value::Required => valued(arg, row).num_args(1),
        Value::Optional => {
            let arg = valued(arg, row).num_args(0..=1);
            arg.require_equals(true).default_missing_value("")
        }
    }
}

fn valued(arg: Arg, row: &Described) -> Arg {
    let arg = arg.value_name(row.value).action(ArgAction::Append);
    arg.value_parser(clap::builder::OsStringValueParser::new())
}

/// The words of those options of `rows` that were given.
pub fn given(matches: &ArgMatches, rows: &'static [Described]) -> Vec<OsString> {
    let mut words = Vec::new();
    for row in rows {
        let name = row.option.name;
        match row.option.value {
            Value::None if matches.get_flag(name) => words.push(format!("--{name}").into()),
            Value::None => {}
            Value::Required | Value::Optional => {
                let values = matches.get_many::<OsString>(name).into_iter().flatten();
                words.extend(values.map(|value| {
                    let mut word = OsString::from(format!("--{name}"));
                    if row.option.value == Value::Required || !value.is_empty() {
                        word.push("=");
                        word.push(value);
                    }
                    word
                }));
            }
        }
        if !row.negation.is_empty() && matches.get_flag(row.negation) {
            words.push(format!("--{}", row.negation).into());
        }
    }
    words
}
