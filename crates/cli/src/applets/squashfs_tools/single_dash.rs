//! Options with a single dash and long names: translated for the parser, which wants two, and back
//! in texts.

use super::{refused, SQUASHFS_TOOLS};
use crate::image::create::COMPRESSORS_OF_THE_KERNEL;
use clap::{Arg, Command};
use regex::Regex;
use std::ffi::OsString;
use std::fmt::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// The options that print help, or the version.
#[cfg(test)]
pub const HELP: [&str; 9] = [
    "help",
    "h",
    "help-all",
    "ha",
    "Xhelp",
    "version",
    "help-comp",
    "help-option",
    "ho",
];

/// How a tool's words are understood.
pub struct Grammar {
    /// Options whose values are all words that follow.
    pub rest: &'static [&'static str],
    /// Options whose values are the words up to `;`.
    pub listed: &'static [&'static str],
    /// Whether everything behind the first operand is an operand.
    pub operands_end_options: bool,
    /// Options that are refused: names, whether there is a value, and what to do instead.
    pub refused: &'static [refused::Refusal],
}

/// The words in the form of the parser: options with two dashes and `=`, then the operands.
pub fn translated(
    command: &Command,
    grammar: &Grammar,
    words: Vec<OsString>,
) -> Result<Vec<OsString>, String> {
    let (mut options, mut operands) = (Vec::new(), Vec::new());
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let name = match word.to_str().and_then(|word| word.strip_prefix('-')) {
            Some(name) if !name.is_empty() => name.to_owned(),
            _ => {
                operands.push(word);
                if grammar.operands_end_options {
                    operands.extend(words.by_ref());
                }
                continue;
            }
        };
        if let Some(refusal) = grammar
            .refused
            .iter()
            .find(|it| it.names.contains(&name.as_str()))
        {
            return Err(format!("-{name} is not supported: {}", refusal.instead));
        }
        let arg =
            find(command, &name).ok_or_else(|| format!("there is no option -{name}; see -help"))?;
        let long = arg.get_long().unwrap_or_default();
        // Only mksquashfs and sqfstar refuse: the option of unsquashfs has another long name.
        let sets_rules = |word: &OsString| word.as_bytes().starts_with(b"--xattrs-");
        if long == "no-xattrs" && options.iter().any(sets_rules) {
            return Err("-no-xattrs contradicts an option -xattrs-... before it".into());
        }
        let valued = |value: OsString| {
            let bytes = [b"--", long.as_bytes(), b"=", value.as_bytes()].concat();
            OsString::from_vec(bytes)
        };
        let missing = || format!("-{name}: the value is missing");
        if grammar.rest.contains(&long) {
            let before = options.len();
            options.extend(words.by_ref().map(valued));
            if options.len() == before {
                return Err(missing());
            }
        } else if grammar.listed.contains(&long) {
            options.extend(words.by_ref().take_while(|word| word != ";").map(valued));
        } else if arg.get_action().takes_values() {
            let word = valued(words.next().ok_or_else(missing)?);
            let differs = |it: &OsString| it.as_bytes().starts_with(b"--comp=") && *it != word;
            if long == "comp" && options.iter().any(differs) {
                return Err("-comp is given twice, with different compressors".into());
            }
            options.push(word);
        } else if long == "all-root" {
            // The last of these options holds.
            options.extend(["--force-uid=0", "--force-gid=0"].map(OsString::from));
        } else {
            options.push(OsString::from(format!("--{long}")));
        }
    }
    options.push("--".into());
    Ok([options, operands].concat())
}

/// The option with this name.
fn find<'c>(command: &'c Command, name: &str) -> Option<&'c Arg> {
    command
        .get_arguments()
        .find(|arg| names(arg).any(|it| it == name))
}

/// All names of an option.
pub fn names(arg: &Arg) -> impl Iterator<Item = &str> {
    let aliases = arg.get_all_aliases().unwrap_or_default();
    arg.get_long().into_iter().chain(aliases)
}

/// The text that the words ask for in place of work.
pub fn asked(tool: &str, command: &Command, words: &[OsString]) -> Option<String> {
    let mut words = words.iter().filter_map(|word| word.to_str());
    let word = words.find(|word| word.starts_with('-') && word.len() > 1)?;
    let next = words.next();
    match word {
        "-help" | "-h" | "-help-all" | "-ha" | "-Xhelp" | "--help" => Some(help(command)),
        "-version" | "--version" => Some(format!(
            "{tool} version {SQUASHFS_TOOLS} (hedgerow {})",
            env!("CARGO_PKG_VERSION")
        )),
        "-v" if tool == "unsquashfs" => asked(tool, command, &["-version".into()]),
        "-help-comp" => Some(compressors()),
        "-help-option" | "-ho" => Some(matching(command, next.unwrap_or_default())),
        _ => None,
    }
}

/// The help of the whole tool.
fn help(command: &Command) -> String {
    let help = shown(&command.clone().render_long_help().to_string());
    let compressors = match command.get_name() {
        "unsquashfs" => decompressors(),
        _ => compressors(),
    };
    format!("{}\n\n{compressors}", help.trim_end())
}

/// The compressors in the form that scripts look for.
fn compressors() -> String {
    let mut text = String::from("Compressors available and compressor specific options:\n");
    for (name, options) in COMPRESSORS_OF_THE_KERNEL {
        let default = if name == "gzip" { " (default)" } else { "" };
        let _ = writeln!(text, "\t{name}{default}");
        for option in options {
            let _ = writeln!(text, "\t  {option}");
        }
    }
    text
}

fn decompressors() -> String {
    let names = COMPRESSORS_OF_THE_KERNEL.map(|(name, _)| format!("\t{name}\n"));
    format!("Decompressors available:\n{}", names.concat())
}

/// The options whose names match a regular expression.
fn matching(command: &Command, pattern: &str) -> String {
    let Ok(regex) = Regex::new(pattern) else {
        return format!("'{pattern}' is no regular expression");
    };
    let mut text = String::new();
    for arg in command.get_arguments().filter(|arg| !arg.is_positional()) {
        if names(arg).any(|name| regex.is_match(&format!("-{name}"))) {
            let value = arg
                .get_value_names()
                .filter(|_| arg.get_action().takes_values());
            let value: String = value
                .unwrap_or_default()
                .iter()
                .map(|name| format!(" <{name}>"))
                .collect();
            let spelled: Vec<String> = names(arg).map(|name| format!("-{name}{value}")).collect();
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "{}\n\t{help}", spelled.join(", "));
        }
    }
    text
}

/// A text of the parser with single dashes.
pub fn shown(text: &str) -> String {
    let option = Regex::new(r"(^|[\s\[,'(|])--([A-Za-z])").expect("the pattern is correct");
    let text = option.replace_all(text, "$1-$2").into_owned();
    text.replace("'--'", "'-'")
}
