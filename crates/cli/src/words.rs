//! The words of the command line, before they are parsed as options. `status` takes the options of
//! the version control system whose working copy it is called in.

use crate::arguments::Command;
use crate::as_git;
use crate::environment;
use crate::failure::Failure;
use crate::git_options;
use crate::global::Color;
use crate::spelling::spelled_out;
use crate::trees;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::ValueEnum;
use hedgerow::numbers::in_plain_words;
use hedgerow::shim;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Global options whose value is a separate word.
const WITH_VALUE: [&str; 5] = ["-C", "-j", "--jobs", "--color", "--trace"];

/// The name of a link to the program that runs `upload-pack-hook`: git starts a hook of one word
/// directly, but uses a shell for one with a space.
const HOOK: &str = "hedgerow-upload-pack-hook";

/// Obeys git's global options in the words of the command line: they are gone from there. For `git
/// hedgerow`, git calls `git-hedgerow`.
///
/// # Errors
/// An option without its value, or the environment cannot be changed.
pub fn obey_git_globals() -> Result<(), Failure> {
    let taken = shim::take(environment::words(), &WITH_VALUE, environment::variable);
    let taken = taken.map_err(|misuse| {
        let failure = if misuse.is_usage {
            Failure::usage
        } else {
            Failure::fatal
        };
        failure(misuse.reason)
    })?;
    environment::obey(taken).map_err(Failure::fatal)
}

/// The words in the form in which they are parsed as options.
///
/// # Errors
/// An option that the command does not have.
pub fn spelled(mut words: Vec<OsString>) -> Result<Vec<OsString>, Failure> {
    let own = words.first().map(Path::new);
    if own
        .and_then(Path::file_name)
        .is_some_and(|name| name == HOOK)
    {
        words.insert(1, "upload-pack-hook".into());
    }
    ask_for_help(&mut words);
    let Some(at) = command(&words) else {
        return Ok(words);
    };
    match words[at].as_bytes() {
        b"status" if is_mercurial(&words[..at]) => words[at] = "hg-status".into(),
        b"status" => {
            let of_status = words.split_off(at);
            words.extend(spelled_out(of_status));
        }
        b"stash" => {
            let of_stash = words.split_off(at);
            words.extend(trees::stash::spelled_out(of_stash)?);
        }
        b"rev-list" => {
            // It passes on the words after a revision.
            let given = words.iter().skip(at).take_while(|word| *word != "--");
            if let Some(after) = given.into_iter().position(|word| word == "--json") {
                words[at..=at + after].rotate_right(1);
            }
        }
        b"archive" => {
            let of_archive = words.split_off(at);
            words.extend(trees::archive::spelled_out(of_archive)?);
        }
        name => {
            let rest = words.get(at + 1..).unwrap_or_default();
            let subcommand = rest.iter().find(|word| !word.as_bytes().starts_with(b"-"));
            let subcommand = subcommand.map(|word| word.as_bytes()).unwrap_or_default();
            let options = trees::options(name);
            if let Some(options) = options.or(trees::subcommand_options(name, subcommand)) {
                let of_command = words.split_off(at);
                words.extend(git_options::spelled_out(options, of_command)?);
            }
        }
    }
    Ok(words)
}

/// Rewrites `--help` for commands that pass on the words after them.
fn ask_for_help(words: &mut Vec<OsString>) {
    let named = command(words).map_or(&[][..], |at| &words[at..]);
    let names = match named {
        [name, asked] if name == "help" && (asked == "-h" || asked == "--help") => 0,
        [name, ..]
            if ["fetch", "rev-list", "upload-pack-hook"]
                .iter()
                .any(|it| name == it) =>
        {
            1
        }
        // As git, they make "--help" the message of the entry.
        [name, verb, _] if name == "stash" && !as_git::is_active() => {
            usize::from(verb == "create" || verb == "store") * 2
        }
        _ => return,
    };
    let at = words.len() - named.len();
    if names == 0 && words[at] == "help" {
        words.truncate(at + 1);
    } else if names > 0 && words.get(at + names).is_some_and(|word| word == "--help") {
        words[at + names] = "help".into();
        words[at..=at + names].rotate_right(1);
    }
}

/// Whether errors are to be JSON, as far as can be told from words that cannot be parsed.
pub fn wants_json(words: &[OsString]) -> bool {
    let options = words.iter().take_while(|word| *word != "--");
    options
        .into_iter()
        .any(|word| word.as_bytes().split(|byte| *byte == b'=').next() == Some(b"--json"))
}

/// When errors are to be colored, likewise.
pub fn color(words: &[OsString]) -> Color {
    let mut wanted = Color::Auto;
    let mut words = words.iter().take_while(|word| *word != "--");
    while let Some(word) = words.next() {
        let value = match word.to_str() {
            Some("--color") => words.next().and_then(|word| word.to_str()),
            Some(word) => word.strip_prefix("--color="),
            None => None,
        };
        let named = value.and_then(|value| Color::from_str(value, false).ok());
        wanted = named.unwrap_or(wanted);
    }
    wanted
}

/// Whether clap answers with a help text: one that was asked for, or that of a command which lacks its
/// own command.
pub fn is_help(error: &clap::Error, words: &[OsString]) -> bool {
    !error.use_stderr() || (lacks_command(error) && !wants_json(words))
}

fn lacks_command(error: &clap::Error) -> bool {
    error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
}

/// What was perhaps meant, or where the arguments are described.
pub fn hint(error: &clap::Error, words: &[OsString]) -> String {
    let suggested = [
        ContextKind::SuggestedSubcommand,
        ContextKind::SuggestedArg,
        ContextKind::SuggestedValue,
    ];
    let meant = suggested.iter().find_map(|kind| match error.get(*kind)? {
        ContextValue::String(meant) => Some(meant),
        ContextValue::Strings(all) => all.first(),
        _ => None,
    });
    match (meant, command(words)) {
        (Some(meant), _) => format!("did you mean '{meant}'?"),
        (None, Some(at)) if words[at] == "help" => "'hedgerow help' lists the commands".to_owned(),
        (None, Some(at)) => format!("see 'hedgerow {} --help'", names(&words[at..])),
        (None, None) => "see 'hedgerow --help'".to_owned(),
    }
}

/// The name of the command with which the words begin, with that of its own command.
pub fn names(words: &[OsString]) -> String {
    let name = words[0].to_string_lossy();
    let nested = command(words).map(|at| words[at].to_string_lossy());
    let definition = Command::definition(&name);
    match nested.and_then(|nested| definition?.find_subcommand(&*nested).map(|_| nested)) {
        Some(nested) => format!("{name} {nested}"),
        None => name.into_owned(),
    }
}

/// The error in the arguments, without clap's advice.
pub fn sentence(error: &clap::Error) -> String {
    if lacks_command(error) {
        return "a command is missing".to_owned();
    }
    let text = in_plain_words(&error.to_string());
    let first = text.split("\n\n").next().unwrap_or_default();
    first.trim_start_matches("error: ").trim_end().to_owned()
}

/// The position of the first word that is neither an option nor an option's value.
pub fn command(words: &[OsString]) -> Option<usize> {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        if !word.as_bytes().starts_with(b"-") {
            return Some(at);
        }
        at += if WITH_VALUE.iter().any(|name| word == name) {
            2
        } else {
            1
        };
    }
    None
}

/// Whether the nearest working copy is Mercurial's: a `.hg` deeper than any `.git`.
fn is_mercurial(before: &[OsString]) -> bool {
    let Some(directory) = environment::start_directory(&directories(before)) else {
        return false;
    };
    if environment::variable("GIT_DIR").is_some() {
        return false;
    }
    let depth = |root: &Path| root.components().count();
    let git = directory
        .ancestors()
        .find(|path| hedgerow_fs::is_there(&path.join(".git")).unwrap_or(false));
    let hg = hedgerow::status::mercurial::find_root(&directory);
    match (hg, git) {
        (Some(hg), Some(git)) => depth(&hg) > depth(git),
        (hg, _) => hg.is_some(),
    }
}

/// The values of all `-C` options.
fn directories(words: &[OsString]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_bytes().strip_prefix(b"-C") {
            Some(b"") => found.extend(words.next().map(PathBuf::from)),
            Some(attached) => found.push(PathBuf::from(OsStr::from_bytes(attached))),
            None => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn the_command_is_found_behind_global_options() {
        for (line, expected) in [
            ("hedgerow status", Some(1)),
            ("hedgerow -C status status", Some(3)),
            ("hedgerow -Cx -j 4 --json status -s", Some(5)),
            ("hedgerow --color never -q", None),
            ("hedgerow", None),
        ] {
            assert_eq!(command(&words(line)), expected, "{line}");
        }
    }

    #[test]
    fn every_global_option_with_a_word_of_its_own_is_known() {
        let command = <crate::arguments::Arguments as clap::CommandFactory>::command();
        let global = command.get_arguments().filter(|arg| {
            arg.is_global_set() && arg.get_action().takes_values() && !arg.is_require_equals_set()
        });
        for arg in global {
            let short = arg.get_short().map(|short| format!("-{short}"));
            let long = arg.get_long().map(|long| format!("--{long}"));
            for name in short.into_iter().chain(long) {
                assert!(WITH_VALUE.contains(&name.as_str()), "{name}");
            }
        }
    }

    #[test]
    fn help_is_asked_for_in_more_than_one_way() {
        for (line, expected) in [
            ("hedgerow help -h", "hedgerow help"),
            ("hedgerow -q help --help", "hedgerow -q help"),
            ("hedgerow fetch --help x", "hedgerow help fetch x"),
            ("hedgerow stash create --help", "hedgerow help stash create"),
            ("hedgerow stash store --help", "hedgerow help stash store"),
            (
                "hedgerow stash create x --help",
                "hedgerow stash create x --help",
            ),
            ("hedgerow stash push --help", "hedgerow stash push --help"),
            ("hedgerow help walk", "hedgerow help walk"),
        ] {
            let mut asked = words(line);
            ask_for_help(&mut asked);
            assert_eq!(asked, words(expected), "{line}");
        }
    }

    #[test]
    fn json_is_wanted_however_badly() {
        assert!(wants_json(&words("hedgerow --json=1 status")));
        assert!(!wants_json(&words("hedgerow --jsonp status -- --json")));
    }

    #[test]
    fn the_last_valid_choice_of_colors_counts() {
        for (line, expected) in [
            ("hedgerow walk --none", Color::Auto),
            ("hedgerow --color never walk --none", Color::Never),
            (
                "hedgerow --color=never walk --none --color=always",
                Color::Always,
            ),
            ("hedgerow --color=sometimes", Color::Auto),
            ("hedgerow restore -- --color=never", Color::Auto),
        ] {
            assert_eq!(color(&words(line)), expected, "{line}");
        }
    }

    #[test]
    fn directories_add_up() {
        let found = directories(&words("hedgerow -C a -q -Cb"));
        assert_eq!(found, [PathBuf::from("a"), PathBuf::from("b")]);
    }
}
