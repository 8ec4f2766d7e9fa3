//! The options of git's `checkout`, which may be abbreviated, negated and combined as git allows.
//! Options that hedgerow supports are rewritten to one word each; the others are refused, with the
//! git command to use instead.

use crate::failure::Failure;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// How an option is handled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// Supported.
    Has,
    /// Accepted: it asks for the default behavior.
    Default,
    /// Refused: only git has it.
    Git,
}

/// An option of git's.
struct Known {
    letter: Option<u8>,
    name: &'static str,
    plain: Fate,
    /// How `--no-NAME` is handled, if it exists.
    negated: Option<Fate>,
    /// The git command to use instead.
    git: &'static str,
}

const fn known(
    letter: Option<u8>,
    name: &'static str,
    plain: Fate,
    negated: Option<Fate>,
    git: &'static str,
) -> Known {
    Known {
        letter,
        name,
        plain,
        negated,
        git,
    }
}

use Fate::{Default, Git, Has};

const KNOWN: [Known; 27] = [
    known(Some(b'b'), "", Git, None, "-b <branch> [<start>]"),
    known(Some(b'B'), "", Git, None, "-B <branch> [<start>]"),
    known(Some(b'l'), "", Git, None, "-l -b <branch> [<start>]"),
    known(None, "guess", Has, Some(Has), ""),
    known(
        None,
        "overlay",
        Git,
        Some(Git),
        "--[no-]overlay [<revision>] -- <path>...",
    ),
    known(
        None,
        "auto-advance",
        Default,
        Some(Git),
        "--no-auto-advance --patch",
    ),
    known(Some(b'q'), "quiet", Has, Some(Default), ""),
    known(
        None,
        "recurse-submodules",
        Git,
        Some(Default),
        "--recurse-submodules <revision>",
    ),
    known(None, "progress", Has, Some(Has), ""),
    known(
        Some(b'm'),
        "merge",
        Git,
        Some(Default),
        "--merge <revision>, or --merge -- <path>...",
    ),
    known(
        None,
        "conflict",
        Git,
        Some(Default),
        "--conflict=<style> -- <path>...",
    ),
    known(Some(b'd'), "detach", Has, Some(Default), ""),
    known(
        Some(b't'),
        "track",
        Git,
        Some(Git),
        "--track <remote>/<branch>",
    ),
    known(Some(b'f'), "force", Has, Some(Default), ""),
    known(
        None,
        "orphan",
        Git,
        Some(Default),
        "--orphan <branch> [<start>]",
    ),
    known(
        None,
        "overwrite-ignore",
        Default,
        Some(Git),
        "--no-overwrite-ignore <revision>",
    ),
    known(
        None,
        "ignore-other-worktrees",
        Git,
        Some(Default),
        "--ignore-other-worktrees <branch>",
    ),
    known(Some(b'2'), "ours", Git, None, "--ours -- <path>..."),
    known(Some(b'3'), "theirs", Git, None, "--theirs -- <path>..."),
    known(
        Some(b'p'),
        "patch",
        Git,
        Some(Default),
        "--patch [<revision>] [-- <path>...]",
    ),
    known(Some(b'U'), "unified", Git, None, "--patch --unified=<n>"),
    known(
        None,
        "inter-hunk-context",
        Git,
        None,
        "--patch --inter-hunk-context=<n>",
    ),
    known(
        None,
        "ignore-skip-worktree-bits",
        Git,
        Some(Default),
        "--ignore-skip-worktree-bits -- <path>...",
    ),
    known(
        None,
        "pathspec-from-file",
        Git,
        Some(Default),
        "--pathspec-from-file=<file> [<revision>]",
    ),
    known(
        None,
        "pathspec-file-nul",
        Git,
        Some(Default),
        "--pathspec-from-file=<file> --pathspec-file-nul",
    ),
    known(Some(b'h'), "help", Has, None, ""),
    known(Some(b'v'), "verbose", Has, None, ""),
];

/// Options that git does not have; `true` if the option takes the next word as its value.
const OWN: [(&str, bool); 7] = [
    ("workers", true),
    ("threshold", true),
    ("jobs", true),
    ("color", true),
    ("json", false),
    ("stats", false),
    ("version", false),
];

/// The words from `checkout` on, in the form that the argument parser expects. The parser removes
/// the first `--`; since checkout needs it to tell paths from revisions, it is doubled.
///
/// # Errors
/// An option that hedgerow does not support.
pub fn spelled_out(words: impl IntoIterator<Item = OsString>) -> Result<Vec<OsString>, Failure> {
    let mut spelled = Spelled::default();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let takes_next = match word.as_bytes() {
            b"--" => {
                spelled.0.extend([word.clone(), word]);
                break;
            }
            b"--end-of-options" => {
                spelled.0.push("--".into());
                break;
            }
            [b'-', b'-', long @ ..] => spelled.long(&word, long)?,
            [b'-', letters @ ..] if !letters.is_empty() => spelled.letters(letters)?,
            _ => {
                spelled.0.push(word);
                false
            }
        };
        if takes_next {
            spelled.0.extend(words.next());
        }
    }
    spelled.0.extend(words);
    Ok(spelled.0)
}

#[derive(Default)]
struct Spelled(Vec<OsString>);

impl Spelled {
    /// Handles a word that begins with `--`; returns whether the next word is its value.
    fn long(&mut self, word: &OsStr, long: &[u8]) -> Result<bool, Failure> {
        let end = long.iter().position(|byte| *byte == b'=');
        let name = String::from_utf8_lossy(&long[..end.unwrap_or(long.len())]);
        if let Some((_, takes_value)) = OWN.iter().find(|(own, _)| *own == name) {
            self.0.push(word.to_owned());
            return Ok(*takes_value && end.is_none());
        }
        let (option, is_negated) = find(&name)?;
        self.take(option, is_negated)?;
        match end {
            // No option with a value exists in both git and hedgerow.
            Some(_) => Err(Failure::usage(format_args!(
                "option `{}' takes no value",
                option.spelled(is_negated)
            ))),
            None => Ok(false),
        }
    }

    /// Handles combined letters; the rest after a letter with a value is that value.
    fn letters(&mut self, letters: &[u8]) -> Result<bool, Failure> {
        for (at, letter) in letters.iter().enumerate() {
            if matches!(letter, b'j' | b'C') {
                let rest = letters.get(at..).unwrap_or_default();
                let word = [b"-", rest].concat();
                self.0.push(OsStr::from_bytes(&word).to_owned());
                return Ok(rest.len() == 1);
            }
            if *letter == b'V' {
                self.0.push("-V".into());
                continue;
            }
            let option = KNOWN.iter().find(|known| known.letter == Some(*letter));
            let option = option.ok_or_else(|| {
                let letter = char::from(*letter);
                unknown(format_args!("unknown switch `{letter}'"))
            })?;
            self.take(option, false)?;
        }
        Ok(false)
    }

    fn take(&mut self, option: &Known, is_negated: bool) -> Result<(), Failure> {
        let fate = if !is_negated {
            option.plain
        } else {
            option.negated.unwrap_or(Git)
        };
        if fate == Git {
            return Err(option.refusal(is_negated));
        }
        // The last of two contradicting options wins.
        let opposite = format!("--{}", option.spelled(!is_negated));
        self.0.retain(|word| *word != *opposite);
        if fate == Has {
            self.0
                .push(format!("--{}", option.spelled(is_negated)).into());
        }
        Ok(())
    }
}

impl Known {
    fn spelled(&self, is_negated: bool) -> String {
        let no = if is_negated { "no-" } else { "" };
        format!("{no}{}", self.name)
    }

    fn refusal(&self, is_negated: bool) -> Failure {
        let shown = match self.letter.filter(|_| self.name.is_empty()) {
            Some(letter) => format!("-{}", char::from(letter)),
            None => format!("--{}", self.spelled(is_negated)),
        };
        let message =
            format_args!("'hedgerow checkout' has no option {shown}; nothing was touched")
                .to_string();
        let git = if is_negated && self.name == "track" {
            "--no-track -b <branch> <remote>/<branch>"
        } else {
            self.git
        };
        Failure {
            hint: Some(format!("git has it: git checkout {git}")),
            ..Failure::usage(message)
        }
    }
}

/// The option with this name or abbreviation, and whether it is negated.
fn find(name: &str) -> Result<(&'static Known, bool), Failure> {
    let spellings = KNOWN.iter().filter(|known| !known.name.is_empty());
    let spellings: Vec<_> = spellings
        .flat_map(|known| {
            let negated = known.negated.map(|_| (known, true));
            [Some((known, false)), negated].into_iter().flatten()
        })
        .collect();
    let has = |(known, is_negated): &&(&'static Known, bool)| known.spelled(*is_negated) == name;
    if let Some(exact) = spellings.iter().find(has) {
        return Ok(*exact);
    }
    let begins = |(known, is_negated): &&(&'static Known, bool)| {
        known.spelled(*is_negated).starts_with(name)
    };
    let mut fitting = spellings.iter().filter(begins);
    match (fitting.next(), fitting.next()) {
        (Some(only), None) => Ok(*only),
        (Some((a, a_negated)), Some((b, b_negated))) => Err(Failure::usage(format_args!(
            "ambiguous option: {name} (could be --{} or --{})",
            a.spelled(*a_negated),
            b.spelled(*b_negated)
        ))),
        (None, _) => Err(unknown(format_args!("unknown option `{name}'"))),
    }
}

fn unknown(message: std::fmt::Arguments<'_>) -> Failure {
    Failure {
        hint: Some("see 'hedgerow checkout --help'".into()),
        ..Failure::usage(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(line: &str) -> Result<String, Failure> {
        let words = spelled_out(line.split(' ').map(OsString::from))?;
        Ok(words.join(OsStr::new(" ")).into_string().unwrap())
    }

    #[test]
    fn what_is_there_is_spelled_out() {
        for (line, expected) in [
            ("checkout -fq x", "checkout --force --quiet x"),
            ("checkout --det x --no-gu", "checkout --detach x --no-guess"),
            ("checkout -d --no-detach x", "checkout x"),
            ("checkout --no-quiet -q", "checkout --quiet"),
            ("checkout --guess --no-guess", "checkout --no-guess"),
            ("checkout --no-merge --overwrite-ignore x", "checkout x"),
            ("checkout x -- y -f", "checkout x -- -- y -f"),
            ("checkout -- -- -b", "checkout -- -- -- -b"),
            ("checkout --end-of-options -b -- y", "checkout -- -b -- y"),
            (
                "checkout -fj4 --workers 2 --stats=s -C d -",
                "checkout --force -j4 --workers 2 --stats=s -C d -",
            ),
        ] {
            assert_eq!(spelled(line).ok().as_deref(), Some(expected), "{line}");
        }
    }

    #[test]
    fn what_only_git_has_is_refused_by_name() {
        for (line, name) in [
            ("checkout -b x", "-b"),
            ("checkout -fBx", "-B"),
            ("checkout -l", "-l"),
            ("checkout --tr x", "--track"),
            ("checkout --no-track x", "--no-track"),
            ("checkout --conflict=diff3 x", "--conflict"),
            ("checkout -2 x", "--ours"),
            ("checkout -U3", "--unified"),
            ("checkout --no-overlay", "--no-overlay"),
        ] {
            let failure = spelled(line).unwrap_err();
            let words = format!("'hedgerow checkout' has no option {name}; nothing was touched");
            assert_eq!(failure.message, words, "{line}");
            assert_eq!(failure.exit_code, 129);
            let hint = failure.hint.unwrap();
            assert!(hint.starts_with("git has it: git checkout -"), "{hint}");
        }
    }

    #[test]
    fn what_nobody_has_is_told_in_gits_words() {
        for (line, words) in [
            ("checkout --nonsense", "unknown option `nonsense'"),
            ("checkout -fx", "unknown switch `x'"),
            ("checkout --no-ours", "unknown option `no-ours'"),
            (
                "checkout --over",
                "ambiguous option: over (could be --overlay or --overwrite-ignore)",
            ),
            ("checkout --force=yes", "option `force' takes no value"),
        ] {
            assert_eq!(spelled(line).unwrap_err().message, words, "{line}");
        }
    }
}
