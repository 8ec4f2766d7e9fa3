//! The words of the command line, before they are options: `status` has the options of the system
//! whose working copy it is called in.

use crate::checkout_options;
use crate::environment;
use crate::failure::{Failure, USAGE};
use crate::spelling::spelled_out;
use clap::error::ContextKind;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Global options whose value is a word of its own.
const WITH_VALUE: [&str; 4] = ["-C", "-j", "--jobs", "--color"];

/// The name of a link to the program that is `upload-pack-hook`: git starts a hook that is one word
/// by itself, and a shell for one that has a space.
const HOOK: &str = "hedgerow-upload-pack-hook";

/// The words of the command line. Git calls `git-hedgerow` for `git hedgerow`.
///
/// # Errors
/// An option that `checkout` does not have.
pub fn words() -> Result<Vec<OsString>, Failure> {
    let mut words = environment::words();
    let own = words.first().map(Path::new);
    if own
        .and_then(Path::file_name)
        .is_some_and(|name| name == HOOK)
    {
        words.insert(1, "upload-pack-hook".into());
    }
    let Some(at) = command(&words) else {
        return Ok(words);
    };
    match words[at].as_bytes() {
        b"status" if is_mercurial(&words[..at]) => words[at] = "hg-status".into(),
        b"status" => {
            let of_status = words.split_off(at);
            words.extend(spelled_out(of_status));
        }
        b"checkout" => {
            let of_checkout = words.split_off(at);
            words.extend(checkout_options::spelled_out(of_checkout)?);
        }
        _ => {}
    }
    Ok(words)
}

/// Tells what is wrong with the arguments, with 129 as git's commands do where the command is not
/// one that git never had, and 2 there; or shows the help.
pub fn refuse(words: &[OsString], mut error: clap::Error) -> ExitCode {
    // It says to put `--` before a mistyped option: that makes paths to overwrite of what follows.
    error.remove(ContextKind::Suggested);
    // A closed pipe ends quietly.
    let _ = error.print();
    let command = command(words).and_then(|at| words[at].to_str());
    match (error.use_stderr(), command) {
        (false, _) => ExitCode::SUCCESS,
        (true, Some("image" | "walk" | "stats" | "tune")) => ExitCode::from(2),
        (true, _) => ExitCode::from(USAGE),
    }
}

/// The position of the first word that is neither an option nor the value of one.
fn command(words: &[OsString]) -> Option<usize> {
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

/// Whether the nearest working copy is one of Mercurial: a `.hg` further down than any `.git`.
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
        .find(|path| hedgerow_fs::exists(&path.join(".git")));
    let hg = hedgerow_hg::find_root(&directory);
    match (hg, git) {
        (Some(hg), Some(git)) => depth(&hg) > depth(git),
        (hg, _) => hg.is_some(),
    }
}

/// What `-C` names, as often as it is there.
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
    fn directories_add_up() {
        let found = directories(&words("hedgerow -C a -q -Cb"));
        assert_eq!(found, [PathBuf::from("a"), PathBuf::from("b")]);
    }
}
