//! Where hedgerow refuses what git does, and is right. Both run in copies first; if git loses
//! something there, or stops halfway, hedgerow must refuse before it has touched anything, and the
//! histories go on without that command.

use super::answer;
use crate::support::{Pair, Repository};
use crate::HEDGEROW;
use hedgerow_testkit::{run, Outcome, Program, Snapshot};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// A command in copies of the repositories of a pair.
pub struct Trial<'p> {
    pair: &'p Pair,
    name: &'p str,
    git: Repository,
    expected: Outcome,
    found: Outcome,
    /// What hedgerow changed.
    is_touched: bool,
    _home: tempfile::TempDir,
}

impl<'p> Trial<'p> {
    pub fn run(pair: &'p Pair, name: &'p str, words: &[Vec<u8>]) -> Trial<'p> {
        let home = crate::support::temporary();
        let git = pair.git.copy(&home.path().join("git"));
        let our = pair.hedgerow.copy(&home.path().join("our"));
        let told = |program: Program, repository: &Repository| {
            let mut command = program.command(&repository.root);
            command.arg(name);
            command.args(words.iter().map(|word| OsStr::from_bytes(word)));
            run(command)
        };
        let before = picture(&our);
        let expected = told(Program::Git, &git);
        let mut found = told(HEDGEROW, &our);
        let (git_root, our_root) = (git.root.to_string_lossy(), our.root.to_string_lossy());
        found.stderr = found.stderr.replace(&*our_root, &git_root);
        let is_touched = before != picture(&our);
        Trial {
            pair,
            name,
            expected,
            found,
            is_touched,
            git,
            _home: home,
        }
    }

    /// Whether hedgerow refuses rightly what git does, or git has not done what it says.
    pub fn is_refused_rightly(&self) -> bool {
        let (expected, found) = (&self.expected, &self.found);
        if self.leaves_settings() || self.puts_aside_but_leaves() {
            return true;
        }
        let is_refused = matches!(found.code, 1 | 128) && found.stderr != expected.stderr;
        if !is_refused || self.is_touched {
            return false;
        }
        self.stops_halfway()
            || self.cannot_put_aside()
            || self.brings_back()
            || self.loses()
            || self.overlooks()
    }

    /// Git puts changes aside that it cannot put aside: one name is a file here and a directory there.
    pub fn is_unstashable(&self) -> bool {
        let unprocessed = "fatal: Unable to process path ";
        let is_left = self.expected.code == 1 && self.expected.stderr.contains(unprocessed);
        if self.name == "stash" && is_left && self.found.code == 0 {
            return true;
        }
        self.expected.stderr.ends_with("Cannot autostash\n") && self.found.code != 128
    }

    /// Git finds something in the way of a directory when others are written already, and dies.
    fn stops_halfway(&self) -> bool {
        let (expected, found) = (&self.expected, &self.found);
        let last = expected.stderr.lines().last().unwrap_or("");
        let dies = expected.code == 128 && last.starts_with("fatal: cannot create directory at ");
        dies && found.code == 128 && found.stderr.lines().last() == Some(last)
    }

    /// Git makes the entry of a stash before it finds that it cannot remove what is staged.
    fn cannot_put_aside(&self) -> bool {
        let says = |outcome: &Outcome| {
            let words = "\nCannot remove worktree changes\n";
            outcome.code == 1 && outcome.stderr.ends_with(words)
        };
        self.name == "stash" && says(&self.expected) && says(&self.found)
    }

    /// A sparse checkout is refused by both, but git has written its settings already.
    fn leaves_settings(&self) -> bool {
        let (expected, found) = (&self.expected, &self.found);
        let is_refused = expected.code != 0 && expected.code == found.code;
        self.name == "sparse-checkout" && is_refused && !self.is_touched
    }

    /// Git makes the entry of a stash, then fails to reset paths outside of a sparse checkout.
    fn puts_aside_but_leaves(&self) -> bool {
        let outside =
            "The following paths and/or pathspecs matched paths that exist\noutside of your";
        let (expected, found) = (&self.expected, &self.found);
        let is_left = expected.code == 1 && expected.stderr.starts_with(outside);
        self.name == "stash" && is_left && found.code == 0
    }

    /// Git puts local changes aside before it finds that untracked files prevent the switch, and brings
    /// them back, but not what was staged.
    fn brings_back(&self) -> bool {
        let says = |words| self.expected.stderr.contains(words);
        let code = self.expected.code;
        code == 1 && says("Applied autostash") || code == 128 && says("could not reset --hard")
    }

    /// Git succeeds, but untracked or staged content is gone; or it replaced an untracked file that was
    /// in the place of a tracked directory, without looking at it.
    fn loses(&self) -> bool {
        let tracked = listed(&self.pair.git, &["ls-files", "-z"]);
        let is_above = |path: &[u8]| {
            let below = [path, b"/"].concat();
            tracked.iter().any(|other| other.starts_with(&below))
        };
        let kept = |path: &[u8], content: &[u8]| {
            std::fs::read(self.git.path(path)).is_ok_and(|now| now == content)
        };
        let now = listed(&self.git, &["ls-files", "-z"]);
        let untracked = untracked(&self.pair.git);
        let mut files = untracked.iter();
        let is_lost = |(path, content): &(Vec<u8>, Vec<u8>)| {
            !kept(path, content) || is_above(path) && now.contains(path)
        };
        if files.any(is_lost) {
            return true;
        }
        let entries = listed(&self.git, &["ls-files", "-s", "-z"]);
        staged(&self.pair.git).iter().any(|(entry, path)| {
            let id = id_of(entry);
            let is_there = entries.iter().any(|entry| id_of(entry) == id);
            !is_there && self.hash(path) != id
        })
    }

    /// Git refuses as well, but overlooks staged changes below a directory that is to become a file, or
    /// in the place of a directory.
    fn overlooks(&self) -> bool {
        let (expected, found) = (&self.expected, &self.found);
        let paths = |text: &str| -> BTreeSet<String> {
            let lines = text.lines().filter_map(|line| line.strip_prefix('\t'));
            lines.map(str::to_owned).collect()
        };
        let (told, ours) = (paths(&expected.stderr), paths(&found.stderr));
        let staged: Vec<String> = staged(&self.pair.git)
            .iter()
            .map(|(_, path)| String::from_utf8_lossy(path).into_owned())
            .collect();
        let is_staged = |path: &String| {
            let below = format!("{path}/");
            staged
                .iter()
                .any(|staged| staged == path || staged.starts_with(&below))
        };
        let mut more = ours.difference(&told);
        (expected.code, found.code) == (1, 1)
            && !told.is_empty()
            && told.is_subset(&ours)
            && more.all(is_staged)
    }

    /// The id of a file as git adds it; empty if there is none.
    fn hash(&self, path: &[u8]) -> Vec<u8> {
        let words = [&b"hash-object"[..], b"--", path];
        let said = answer(&self.git, &words).stdout;
        said.trim_ascii().to_vec()
    }
}

/// Files, `.git` and index.
fn picture(repository: &Repository) -> (Snapshot, Snapshot, Vec<u8>) {
    let entries = repository.git(&["ls-files", "-s", "-z"]);
    (repository.tree(), repository.metadata(), entries)
}

/// The untracked files and their contents.
fn untracked(repository: &Repository) -> Vec<(Vec<u8>, Vec<u8>)> {
    let paths = listed(repository, &["ls-files", "-o", "-z"]).into_iter();
    let read = |path: Vec<u8>| {
        let content = std::fs::read(repository.path(&path)).ok()?;
        Some((path, content))
    };
    paths.filter_map(read).collect()
}

/// The entries of the index that HEAD does not have, each with its path.
fn staged(repository: &Repository) -> Vec<(Vec<u8>, Vec<u8>)> {
    let words: [&[u8]; 4] = [b"ls-tree", b"-rz", b"--full-tree", b"HEAD"];
    let in_head = answer(repository, &words).stdout;
    let in_head: BTreeSet<(Vec<u8>, Vec<u8>)> = records(&in_head)
        .filter_map(|record| split(record, 2))
        .collect();
    let entries = listed(repository, &["ls-files", "-s", "-z"]);
    let entries = entries.into_iter().filter_map(|entry| {
        let (id, path) = split(&entry, 1)?;
        (!in_head.contains(&(id, path.clone()))).then_some((entry, path))
    });
    entries.collect()
}

/// The column with the id, and the path, of a line of `ls-tree` or `ls-files -s`.
fn split(record: &[u8], column: usize) -> Option<(Vec<u8>, Vec<u8>)> {
    let tab = record.iter().position(|byte| *byte == b'\t')?;
    let id = record[..tab].split(|byte| *byte == b' ').nth(column)?;
    Some((id.to_vec(), record[tab + 1..].to_vec()))
}

fn id_of(entry: &[u8]) -> Vec<u8> {
    split(entry, 1).map_or(Vec::new(), |(id, _)| id)
}

fn listed(repository: &Repository, words: &[&str]) -> Vec<Vec<u8>> {
    records(&repository.git(words))
        .map(<[u8]>::to_vec)
        .collect()
}

fn records(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|byte| *byte == 0)
        .filter(|record| !record.is_empty())
}
