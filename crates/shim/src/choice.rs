//! Whether a call of `git` is hedgerow's, from its words and its environment alone.

use crate::globals::{take, Taken};
use crate::table;
use crate::variables::Variables;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Global options whose value is a separate word, besides those that [`take`] takes.
const WITH_VALUE: [&str; 1] = ["-C"];

/// A call that hedgerow answers.
#[derive(Debug, PartialEq)]
pub struct Ours {
    /// The command.
    pub command: &'static str,
    /// The words without git's global options, and the variables that these set.
    pub taken: Taken,
}

/// A call that the real git answers.
#[derive(Debug, PartialEq)]
pub struct Gits {
    /// The command, if the words have one.
    pub command: Option<OsString>,
    /// Why it is left to git: the word that hedgerow does not know, or another reason.
    pub because: String,
    /// The programs that git starts may be hedgerow: the caller did not choose them itself.
    pub may_call_us: bool,
}

/// What git calls for `git hedgerow`.
const OWN_NAME: &[u8] = b"hedgerow";

/// The words of a call of `git`, if `words` are one: of a link `git`, or of one `git-COMMAND`, which is
/// `git COMMAND`.
pub fn words_of_git(mut words: Vec<OsString>) -> Option<Vec<OsString>> {
    let name = Path::new(words.first()?).file_name()?.as_bytes();
    if name == b"git" {
        return Some(words);
    }
    let command = name.strip_prefix(b"git-")?;
    if command.is_empty() || command == OWN_NAME {
        return None;
    }
    let command = OsStr::from_bytes(command).to_owned();
    words.splice(..1, ["git".into(), command]);
    Some(words)
}

/// Decides about the call with these words, of which the first is the program.
///
/// # Errors
/// It is left to git.
pub fn choose(words: &[OsString], variables: &Variables) -> Result<Ours, Gits> {
    let left = |command: Option<&OsStr>, because: &str| Gits {
        command: command.map(OsStr::to_owned),
        because: because.to_owned(),
        may_call_us: false,
    };
    if variables.is_off("HEDGEROW_SHIM") {
        return Err(left(None, "HEDGEROW_SHIM is off"));
    }
    if let Some(name) = variables.tracing() {
        return Err(left(None, &name.to_string_lossy()));
    }
    let taken = take(words.to_vec(), &WITH_VALUE, |name| variables.get(name))
        .map_err(|misuse| left(None, &misuse.reason))?;
    let at = command(&taken.words).map_err(|word| left(None, &word.to_string_lossy()))?;
    let (name, rest) = (&taken.words[at], &taken.words[at + 1..]);
    let gits = |because: String| Gits {
        may_call_us: true,
        ..left(Some(name), &because)
    };
    if variables
        .get("GIT_NAMESPACE")
        .is_some_and(|it| !it.is_empty())
    {
        return Err(gits("GIT_NAMESPACE".to_owned()));
    }
    // An index with entries of no object is git's own tool for mending trees.
    if variables.get("GIT_ALLOW_NULL_SHA1").is_some() {
        return Err(gits("GIT_ALLOW_NULL_SHA1".to_owned()));
    }
    // Git takes relative paths from the top of the working tree. Those in quotes are not looked into.
    let alternates = variables.get("GIT_ALTERNATE_OBJECT_DIRECTORIES");
    let alternates = alternates.unwrap_or_default();
    let mut parts = alternates.as_bytes().split(|byte| *byte == b':');
    if parts.any(|part| !part.is_empty() && !part.starts_with(b"/")) {
        return Err(gits("GIT_ALTERNATE_OBJECT_DIRECTORIES".to_owned()));
    }
    if let Some(name) = unlike_git(name, variables, &taken) {
        return Err(gits(name.to_owned()));
    }
    let known = table::commands().find(|known| name == *known);
    let command = known.ok_or_else(|| gits(name.to_string_lossy().into_owned()))?;
    match not_ours(command, rest) {
        Some(because) => Err(gits(because)),
        None => Ok(Ours { command, taken }),
    }
}

/// The variable with which hedgerow does not do what git does with this command.
fn unlike_git(command: &OsStr, variables: &Variables, taken: &Taken) -> Option<&'static str> {
    let is_taken = |name: &str| taken.variables.iter().any(|(other, _)| *other == name);
    let is_set = |name: &&str| variables.get(name).is_some() || is_taken(name);
    let is_empty = |name: &&str| variables.get(name).is_some_and(|value| value.is_empty());
    if command == "worktree" {
        ["GIT_INDEX_FILE"].into_iter().find(is_set)
    } else if command == "stash" {
        // Git refuses to write a commit of nobody.
        ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"]
            .into_iter()
            .find(is_empty)
    } else if ["reset", "restore"].iter().any(|name| command == *name) {
        // It may name what is no directory.
        ["GIT_WORK_TREE"].into_iter().find(is_set)
    } else {
        None
    }
}

/// The position of the command; the word that is neither that nor a known global option.
fn command(words: &[OsString]) -> Result<usize, &OsStr> {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        if !word.as_bytes().starts_with(b"-") {
            return Ok(at);
        }
        if !WITH_VALUE.iter().any(|name| word == name) {
            return Err(word);
        }
        at += 2;
    }
    Err(OsStr::new("no command"))
}

/// Why the words after the command are git's.
fn not_ours(command: &str, words: &[OsString]) -> Option<String> {
    let is_there = |word: &str| words.iter().any(|other| other == word);
    let first = words.iter().find(|word| !word.as_bytes().starts_with(b"-"));
    let first = first.and_then(|word| word.to_str());
    let refused = match (command, first) {
        // A merge that needs a commit.
        ("merge", _) if !is_there("--ff-only") => Some("no --ff-only"),
        ("multi-pack-index", Some("compact")) => Some("compact"),
        ("stash", Some(verb @ ("show" | "list" | "export" | "import" | "create" | "store"))) => {
            Some(verb)
        }
        ("submodule", Some("update" | "init" | "status")) => None,
        ("submodule", _) => Some("a subcommand"),
        ("rev-list" | "pack-objects", _)
            if words.iter().any(|word| contains(word, b"sparse:oid")) =>
        {
            Some("sparse:oid")
        }
        // Filters by depth.
        ("rev-list" | "pack-objects", _)
            if words
                .iter()
                .any(|word| contains(word, b"tree:") && word != "--filter=tree:0") =>
        {
            Some("tree:")
        }
        ("archive", _) if words.iter().any(|word| contains(word, b"zip")) => Some("zip"),
        _ => None,
    };
    let refused = refused.map(str::to_owned);
    refused.or_else(|| unknown(table::row(command)?, command, words))
}

fn contains(word: &OsStr, part: &[u8]) -> bool {
    word.as_bytes().windows(part.len()).any(|it| it == part)
}

/// The first word that `row` does not know.
fn unknown(row: &str, command: &str, words: &[OsString]) -> Option<String> {
    let known: Vec<&str> = row.split_ascii_whitespace().collect();
    let letters = known.iter().find_map(|word| word.strip_prefix("-@"));
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let bytes = word.as_bytes();
        if !bytes.starts_with(b"-") || bytes == b"-" && known.contains(&"-") {
            continue;
        }
        if bytes == b"--" && known.contains(&"--") {
            return None;
        }
        let is_number = bytes.get(1).is_some_and(u8::is_ascii_digit);
        let takes_numbers = matches!(command, "rev-list" | "archive");
        match word.to_str().map(|word| fit(word, &known, letters)) {
            _ if is_number && takes_numbers => {}
            Some(Fit::Known) => {}
            Some(Fit::ValueFollows) => {
                words.next();
            }
            Some(Fit::Unknown) | None => {
                let shown = word.to_string_lossy();
                let name = shown.split('=').next().unwrap_or_default();
                return Some(name.to_owned());
            }
        }
    }
    None
}

/// How a word fits a row of the table.
enum Fit {
    Known,
    ValueFollows,
    Unknown,
}

fn fit(word: &str, known: &[&str], letters: Option<&str>) -> Fit {
    let is = |mark: &str, part: &str| {
        known
            .iter()
            .any(|other| other.strip_suffix(mark) == Some(part))
    };
    let attached = word.split_once('=').is_some_and(|(name, _)| is("=", name));
    if is("", word) || attached {
        return Fit::Known;
    }
    if is(":", word) {
        return Fit::ValueFollows;
    }
    let Some(letter) = word.get(..2).filter(|_| !word.starts_with("--")) else {
        return Fit::Unknown;
    };
    let combined = letters.is_some_and(|letters| {
        let mut given = word[1..].chars();
        word.len() > 1 && given.all(|letter| letters.contains(letter))
    });
    if is("*", letter) || combined {
        Fit::Known
    } else {
        Fit::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(line: &str, variables: &[(&str, &str)]) -> Result<&'static str, String> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let variables = variables
            .iter()
            .map(|(name, value)| (name.into(), value.into()));
        let variables = Variables::new(variables.collect());
        match choose(&words, &variables) {
            Ok(ours) => Ok(ours.command),
            Err(gits) => Err(gits.because),
        }
    }

    #[test]
    fn a_link_called_like_a_command_is_a_call_of_git() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        for (called, expected) in [
            ("git status", Some("git status")),
            ("./git-status -s", Some("git status -s")),
            ("/usr/bin/git-upload-pack dir", Some("git upload-pack dir")),
            ("git-log -1", Some("git log -1")),
            ("git-hedgerow status", None),
            ("git-", None),
            ("hedgerow git-status", None),
        ] {
            assert_eq!(words_of_git(words(called)), expected.map(words), "{called}");
        }
    }

    #[test]
    fn a_call_whose_words_are_all_known_is_ours() {
        for (line, command) in [
            (
                "git checkout -q -b topic origin/main -- x --patch",
                "checkout",
            ),
            ("git -C dir -c a.b=c --no-pager status -sb", "status"),
            ("git clean -ffdx", "clean"),
            ("git checkout -btopic", "checkout"),
            ("git checkout -", "checkout"),
            ("git reset --hard", "reset"),
            ("git rev-list -5 HEAD", "rev-list"),
            ("git merge --ff-only @{u}", "merge"),
            ("git clone --depth 1 -b main url -- dir", "clone"),
            ("git --git-dir=x ls-files -z", "ls-files"),
        ] {
            assert_eq!(chosen(line, &[]), Ok(command), "{line}");
        }
    }

    #[test]
    fn every_other_call_is_gits() {
        for (line, because) in [
            ("git", "no command"),
            ("git --version", "--version"),
            ("git -p status", "-p"),
            ("git --exec-path", "--exec-path"),
            ("git log", "log"),
            ("git co", "co"),
            ("git checkout -p", "-p"),
            ("git checkout -h", "-h"),
            ("git checkout --json", "--json"),
            ("git checkout -qp", "-qp"),
            ("git merge topic", "no --ff-only"),
            ("git stash show", "show"),
            ("git submodule add url", "a subcommand"),
            ("git clean -i", "-i"),
            ("git -c", "-c expects a configuration string"),
            ("git archive -o x.zip HEAD", "zip"),
        ] {
            assert_eq!(chosen(line, &[]), Err(because.to_owned()), "{line}");
        }
    }

    #[test]
    fn variables_decide_too() {
        for (name, value, is_ours) in [
            ("HEDGEROW_SHIM", "off", false),
            ("HEDGEROW_SHIM", "0", false),
            ("HEDGEROW_SHIM", "on", true),
            ("GIT_TRACE", "1", false),
            ("GIT_TRACE", "0", true),
            ("GIT_TRACE2_EVENT", "/tmp/x", false),
            ("GIT_TRACE2_PARENT_SID", "x", true),
            ("GIT_TRACE_BARE", "1", true),
            ("GIT_NAMESPACE", "x", false),
        ] {
            let chosen = chosen("git status", &[(name, value)]);
            assert_eq!(chosen.is_ok(), is_ours, "{name}={value}");
        }
        for (line, name, value, is_ours) in [
            ("git worktree list", "GIT_INDEX_FILE", "x", false),
            ("git stash", "GIT_COMMITTER_NAME", "", false),
            ("git stash", "GIT_COMMITTER_NAME", "me", true),
            ("git reset --hard", "GIT_WORK_TREE", "x", false),
            ("git --work-tree=x reset --hard", "NONE", "", false),
            ("git status", "GIT_WORK_TREE", "x", true),
        ] {
            let chosen = chosen(line, &[(name, value)]);
            assert_eq!(chosen.is_ok(), is_ours, "{line} {name}={value}");
        }
    }
}
