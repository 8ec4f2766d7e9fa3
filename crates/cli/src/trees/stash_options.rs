//! The options of `stash`, by verb: those of git-stash(1).

use super::diff_options::STASH_SHOW;
use crate::failure::Failure;
use crate::git_options::{self, GitOption, GitOptions};
use bstr::ByteSlice;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

const PUSH_OPTIONS: [GitOption; 11] = [
    GitOption::switch(Some(b'k'), "keep-index").or_not(),
    GitOption::switch(Some(b'S'), "staged"),
    GitOption::switch(Some(b'p'), "patch").refused("--patch [--] [<pathspec>...]"),
    GitOption::switch(None, "auto-advance")
        .by_default()
        .negation_refused("--patch --no-auto-advance"),
    GitOption::switch(Some(b'U'), "unified")
        .never_negated()
        .with_value()
        .refused("--patch --unified=<n>"),
    GitOption::switch(None, "inter-hunk-context")
        .never_negated()
        .with_value()
        .refused("--patch --inter-hunk-context=<n>"),
    GitOption::switch(Some(b'u'), "include-untracked"),
    GitOption::switch(Some(b'a'), "all"),
    GitOption::switch(Some(b'm'), "message").with_value(),
    GitOption::switch(None, "pathspec-from-file").with_value(),
    GitOption::switch(None, "pathspec-file-nul"),
];
const INDEX: GitOption = GitOption::switch(None, "index").or_not();

const fn table(command: &'static str, options: &'static [GitOption]) -> GitOptions {
    GitOptions {
        command,
        keeps_separator: false,
        options,
    }
}

const PUSH: GitOptions = GitOptions {
    keeps_separator: true,
    ..table("stash push", &PUSH_OPTIONS)
};
const SAVE: GitOptions = table("stash save", &PUSH_OPTIONS);
const POP: GitOptions = table("stash pop", &[INDEX]);
const APPLY: GitOptions = table(
    "stash apply",
    &[
        INDEX,
        GitOption::switch(None, "label-ours").with_value(),
        GitOption::switch(None, "label-theirs").with_value(),
        GitOption::switch(None, "label-base").with_value(),
    ],
);
const STORE: GitOptions = table(
    "stash store",
    &[GitOption::switch(Some(b'm'), "message").with_value()],
);

/// The words from `stash` on, in the form that clap expects. Without a verb, `push` is meant.
///
/// # Errors
/// An option that hedgerow does not support, or that git would not take.
pub fn spelled_out(mut words: Vec<OsString>) -> Result<Vec<OsString>, Failure> {
    let verb = words.get(1).map(|word| word.as_bytes().to_vec());
    let verb = verb.as_deref().unwrap_or_default();
    let options = match verb {
        b"push" => PUSH,
        b"save" => SAVE,
        b"pop" => POP,
        b"apply" => APPLY,
        b"store" => STORE,
        b"drop" => table("stash drop", &[]),
        b"clear" => table("stash clear", &[]),
        b"branch" => table("stash branch", &[]),
        b"create" => {
            // All words are the message.
            words.insert(2, "--".into());
            return Ok(words);
        }
        b"show" => STASH_SHOW,
        b"list" | b"export" | b"import" => return refuse_options(words, verb),
        b"help" | b"--help" | b"-h" => return Ok(words),
        _ => return pushed(words),
    };
    let of_verb = words.split_off(2);
    words.extend(git_options::spelled_out(&options, of_verb)?);
    Ok(words)
}

/// The words of `push`, where that verb was left out: only options may come before `--`.
fn pushed(mut words: Vec<OsString>) -> Result<Vec<OsString>, Failure> {
    let of_push = words.split_off(1);
    let separator = of_push.iter().position(|word| word == "--");
    let (before, behind) = of_push.split_at(separator.unwrap_or(of_push.len()));
    let spelled = git_options::spelled_out(&PUSH, before.to_vec())?;
    let is_word = |word: &&OsString| !word.as_bytes().starts_with(b"-");
    if let Some(word) = spelled.iter().find(is_word) {
        let word = word.as_bytes().as_bstr();
        return Err(Failure::fatal(format_args!(
            "subcommand wasn't specified; 'push' can't be assumed due to unexpected token '{word}'"
        )));
    }
    words.push("push".into());
    words.extend(spelled);
    if !behind.is_empty() {
        words.push("--".into());
        words.extend_from_slice(behind);
    }
    Ok(words)
}

/// Lists and patches are git's: only a bare `list` is done here.
fn refuse_options(words: Vec<OsString>, verb: &[u8]) -> Result<Vec<OsString>, Failure> {
    let verb = verb.as_bstr();
    let rest = words.get(2..).unwrap_or_default();
    if verb == "list" && rest.is_empty() {
        return Ok(words);
    }
    let what = match (verb == "list", rest.first()) {
        (true, Some(option)) => format!("option {}", option.to_string_lossy()),
        _ => format!("verb '{verb}'"),
    };
    let shown: Vec<_> = rest.iter().map(|word| word.to_string_lossy()).collect();
    Err(Failure {
        hint: Some(format!("use git: git stash {verb} {}", shown.join(" "))),
        ..Failure::usage(format_args!(
            "'hedgerow stash' has no {what}; nothing was touched"
        ))
    })
}
