//! A stopped rebase, and the commands of an interactive one.

use super::{branch, is_there, small_file, Am, Operation, STEPS_LIMIT_BYTES};
use crate::refs::Head;
use crate::repository::Repository;
use crate::Result;
use bstr::{BString, ByteSlice};
use gix_hash::ObjectId;
use std::collections::VecDeque;

/// Number of commands to keep of those done and of those remaining.
const KEPT_STEPS: usize = 2;

/// `git rebase` stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rebase {
    /// The branch that is being rebased, by its short name; `None` if HEAD was detached.
    pub branch: Option<BString>,
    /// The commit to rebase onto, by its short id.
    pub onto: Option<BString>,
    /// The commands, if it is an interactive rebase (also without `--interactive`).
    pub steps: Option<Steps>,
    /// A commit message is prepared, so that a commit comes next.
    pub has_message: bool,
    /// The commit to edit was reset, so that it can be split if the working tree has changes.
    pub is_split: bool,
}

/// The commands of an interactive rebase as the user sees them: ids are abbreviated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// Number of commands done.
    pub done: usize,
    /// The last two of them.
    pub last: Vec<BString>,
    /// Number of commands remaining.
    pub remaining: usize,
    /// The first two of them.
    pub next: Vec<BString>,
    /// The list of remaining commands is missing.
    pub todo_is_missing: bool,
}

/// Detects a rebase in progress, or `git am`, which shares a directory with it.
pub(super) fn read(repository: &Repository, found: &mut Operation) -> Result<()> {
    if is_there(repository, "rebase-apply") {
        if is_there(repository, "rebase-apply/applying") {
            let patch = repository.git_dir().join("rebase-apply/patch");
            let is_empty = |stat: hedgerow_fs::Stat| stat.size == 0;
            found.am = Some(Am {
                is_empty: hedgerow_fs::stat(&patch)?.is_some_and(is_empty),
            });
            return Ok(());
        }
        found.rebase = Some(of_directory(repository, "rebase-apply")?);
    } else if is_there(repository, "rebase-merge") {
        let mut rebase = of_directory(repository, "rebase-merge")?;
        if is_there(repository, "rebase-merge/interactive") {
            rebase.steps = Some(steps(repository)?);
            rebase.is_split = is_split(repository)?;
        }
        found.rebase = Some(rebase);
    }
    Ok(())
}

fn of_directory(repository: &Repository, directory: &str) -> Result<Rebase> {
    Ok(Rebase {
        branch: branch(repository, &format!("{directory}/head-name"))?,
        onto: branch(repository, &format!("{directory}/onto"))?,
        steps: None,
        has_message: is_there(repository, "MERGE_MSG"),
        is_split: false,
    })
}

/// Whether HEAD has moved since the rebase stopped for an edit, so that the commit is being redone:
/// git's split_commit_in_progress.
fn is_split(repository: &Repository) -> Result<bool> {
    let Head::Detached { id: head } = repository.head()? else {
        return Ok(false);
    };
    let original = match repository.reference("ORIG_HEAD".into()) {
        Ok(Some(found)) if found.target.is_none() => found.id,
        _ => None,
    };
    let line = |name| {
        let content = small_file(repository, name)?;
        Some(BString::from(content.lines().next().unwrap_or_default()))
    };
    let amended = line("rebase-merge/amend");
    let started = line("rebase-merge/orig-head");
    let (Some(original), Some(amended), Some(started)) = (original, amended, started) else {
        return Ok(false);
    };
    Ok(if amended == started {
        amended != head.to_string()
    } else {
        started != original.to_string()
    })
}

fn steps(repository: &Repository) -> Result<Steps> {
    let comment = comment_start(repository);
    let done = read_steps(repository, "rebase-merge/done", &comment, Keep::Last)?;
    let todo = read_steps(
        repository,
        "rebase-merge/git-rebase-todo",
        &comment,
        Keep::First,
    )?;
    let todo_is_missing = todo.is_none();
    let (done, last) = done.unwrap_or_default();
    let (remaining, next) = todo.unwrap_or_default();
    Ok(Steps {
        done,
        last,
        remaining,
        next,
        todo_is_missing,
    })
}

fn comment_start(repository: &Repository) -> BString {
    let config = repository.config();
    let asked = config.string("core.commentString");
    let asked = asked.or_else(|| config.string("core.commentChar"));
    asked
        .filter(|text| !text.is_empty() && text != "auto")
        .unwrap_or_else(|| "#".into())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    First,
    Last,
}

/// The number of commands in a list and the ones to keep; `None` if the file does not exist.
fn read_steps(
    repository: &Repository,
    name: &str,
    comment: &BString,
    keep: Keep,
) -> Result<Option<(usize, Vec<BString>)>> {
    let path = repository.git_dir().join(name);
    let Some(content) = hedgerow_fs::read_file(&path, STEPS_LIMIT_BYTES)? else {
        return Ok(None);
    };
    let mut count = 0;
    let mut kept: VecDeque<&[u8]> = VecDeque::with_capacity(KEPT_STEPS + 1);
    for line in content.split(|byte| *byte == b'\n') {
        let line = line.split(|byte| *byte == 0).next().unwrap_or_default();
        let command = line.trim_with(|letter| letter.is_ascii_whitespace() || letter == '\x0b');
        if line.starts_with(comment) || command.is_empty() {
            continue;
        }
        count += 1;
        if keep == Keep::Last || kept.len() < KEPT_STEPS {
            kept.push_back(command);
        }
        if kept.len() > KEPT_STEPS {
            kept.pop_front();
        }
    }
    let kept: Result<Vec<BString>> = kept
        .into_iter()
        .map(|command| abbreviated(repository, command))
        .collect();
    Ok(Some((count, kept?)))
}

/// The command with the ids of its commits abbreviated. A name that is not all hexadecimal digits
/// stays, and so does a label that `merge` or `reset` names.
fn abbreviated(repository: &Repository, command: &[u8]) -> Result<BString> {
    let end = command.find_byteset(BLANKS).unwrap_or(command.len());
    let (verb, arguments) = command.split_at(end);
    let mut line = Abbreviation {
        repository,
        text: verb.into(),
        rest: arguments,
    };
    match verb {
        b"pick" | b"p" | b"edit" | b"e" | b"reword" | b"r" | b"squash" | b"s" | b"drop" | b"d"
        | b"revert" => line.name(Naming::Commit)?,
        b"fixup" | b"f" => {
            line.message_option();
            line.name(Naming::Commit)?;
        }
        b"reset" | b"t" => line.name(Naming::LabelOrCommit)?,
        b"merge" | b"m" => {
            if line.message_option() {
                line.name(Naming::Commit)?;
            }
            while line.has_names() {
                line.name(Naming::LabelOrCommit)?;
            }
        }
        // The others take a text or a reference, or nothing.
        _ => {}
    }
    line.text.extend_from_slice(line.rest);
    Ok(line.text)
}

/// What stands between the words of a command.
const BLANKS: &[u8] = b" \t";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Naming {
    Commit,
    LabelOrCommit,
}

/// A command that is being abbreviated.
struct Abbreviation<'a> {
    repository: &'a Repository,
    /// What is done.
    text: BString,
    /// What follows in the command.
    rest: &'a [u8],
}

impl<'a> Abbreviation<'a> {
    /// Passes over blanks and one word, whose id is abbreviated.
    fn name(&mut self, naming: Naming) -> Result<()> {
        let word = self.pass_blanks();
        let end = word.find_byteset(BLANKS).unwrap_or(word.len());
        let (word, rest) = word.split_at(end);
        let short = self.short(word, naming)?;
        self.text
            .extend_from_slice(short.as_deref().unwrap_or(word));
        self.rest = rest;
        Ok(())
    }

    /// Passes over `-c` or `-C`, after which a commit gives the message. Returns whether there is one.
    fn message_option(&mut self) -> bool {
        let blanks = self.rest.len() - blanks_trimmed(self.rest).len();
        let option = self.rest.get(blanks..blanks + 2).filter(|option| {
            let next = self.rest.get(blanks + 2);
            [&b"-c"[..], b"-C"].contains(option) && next.is_none_or(|byte| BLANKS.contains(byte))
        });
        if option.is_some() {
            let (passed, rest) = self.rest.split_at(blanks + 2);
            self.text.extend_from_slice(passed);
            self.rest = rest;
        }
        option.is_some()
    }

    /// Whether a word follows that does not begin a comment.
    fn has_names(&self) -> bool {
        match blanks_trimmed(self.rest) {
            [] | [b'#'] | [b'#', b' ' | b'\t', ..] => false,
            [..] => true,
        }
    }

    fn pass_blanks(&mut self) -> &'a [u8] {
        let rest = blanks_trimmed(self.rest);
        let (blanks, rest) = self.rest.split_at(self.rest.len() - rest.len());
        self.text.extend_from_slice(blanks);
        rest
    }

    /// The abbreviation of the id `word`; `None` if it is none, or already shorter.
    fn short(&self, word: &[u8], naming: Naming) -> Result<Option<Vec<u8>>> {
        if word.is_empty() || !word.iter().all(u8::is_ascii_hexdigit) {
            return Ok(None);
        }
        if naming == Naming::LabelOrCommit {
            let label = BString::from([b"refs/rewritten/", word].concat());
            if !matches!(self.repository.reference(label.as_bstr()), Ok(None)) {
                return Ok(None);
            }
        }
        // A whole id names its object, whether that is here or not.
        let id = match ObjectId::from_hex(word) {
            Ok(id) if id.kind() == self.repository.hash_kind() => id,
            _ => match self.repository.resolve(word.as_bstr()) {
                Ok(id) => id,
                Err(_) => return Ok(None),
            },
        };
        let short = self.repository.short_id(&id)?.into_bytes();
        // A branch may be named like an id.
        Ok(Some(short).filter(|short| word.starts_with(short)))
    }
}

fn blanks_trimmed(text: &[u8]) -> &[u8] {
    let blanks = text.iter().take_while(|byte| BLANKS.contains(byte));
    text.get(blanks.count()..).unwrap_or_default()
}
