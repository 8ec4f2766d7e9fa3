//! Where hedgerow refuses what git does, and is right. Both run in copies first; if git loses
//! something there, or stops halfway, hedgerow must refuse before it has touched anything, and the
//! histories go on without that command.

use super::answer;
use crate::support::{Pair, Repository};
use crate::HEDGEROW;
use hedgerow_testkit::{run, Outcome, Program, Snapshot};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

/// Files, `.git`, and the entries of the index.
type Picture = (Snapshot, Snapshot, Vec<u8>);

/// A command in copies of the repositories of a pair.
pub struct Trial<'p> {
    pair: &'p Pair,
    name: &'p str,
    words: Vec<OsString>,
    git: Repository,
    our: Repository,
    expected: Outcome,
    found: Outcome,
    /// Whether hedgerow changed anything.
    is_touched: bool,
    /// Git's copy before and after.
    pictures: [Picture; 2],
    /// Hedgerow's copy after.
    ours: Picture,
    _home: tempfile::TempDir,
}

impl<'p> Trial<'p> {
    pub fn run(pair: &'p Pair, name: &'p str, words: &[Vec<u8>]) -> Trial<'p> {
        let home = crate::support::temporary();
        let git = dated_copy(&pair.git, &home.path().join("git"));
        let our = dated_copy(&pair.hedgerow, &home.path().join("our"));
        // The files are other ones than those that the indexes know, with the same times.
        for copy in [&git, &our] {
            copy.git(&["config", "core.checkStat", "minimal"]);
            copy.git(&["config", "core.trustCtime", "false"]);
        }
        let words = words.iter().map(|word| OsString::from_vec(word.clone()));
        let words: Vec<OsString> = words.collect();
        let told = |program: Program, repository: &Repository| {
            let mut command = program.command(&repository.root);
            command.arg(name).args(&words);
            run(command)
        };
        let (before, git_before) = (picture(&our), picture(&git));
        let expected = told(Program::Git, &git);
        let mut found = told(HEDGEROW, &our);
        let (git_root, our_root) = (git.root.to_string_lossy(), our.root.to_string_lossy());
        found.stderr = found.stderr.replace(&*our_root, &git_root);
        let ours = picture(&our);
        let is_touched = before != ours;
        Trial {
            pair,
            name,
            words,
            expected,
            found,
            is_touched,
            pictures: [git_before, picture(&git)],
            ours,
            git,
            our,
            _home: home,
        }
    }

    /// Whether hedgerow refuses rightly what git does, or git has not done what it says.
    pub fn is_refused_rightly(&self) -> bool {
        let (expected, found) = (&self.expected, &self.found);
        let [before, after] = &self.pictures;
        if self.leaves_settings() || self.leaves_auto_merge() {
            return true;
        }
        if self.aborts() || self.lists_outside() || self.leaves_out() {
            return true;
        }
        if self.puts_aside_what_git_loses() || self.adds_nothing() || self.warns_of_whitespace() {
            return true;
        }
        if self.records_what_git_skips()
            || self.tells_of_no_move()
            || self.names_links()
            || self.differs_when_collapsed()
        {
            return true;
        }
        if self.stops_in_a_list() || self.explains_encoding() || self.brings_submodule_back() {
            return true;
        }
        let is_refused = matches!(found.code, 1 | 128) && found.stderr != expected.stderr;
        if !is_refused || self.is_touched {
            return false;
        }
        self.stops_halfway()
            || self.cannot_put_aside()
            || before != after && self.brings_back()
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

    /// Git makes the entry of a stash, then has nothing to take back of paths outside of a sparse
    /// checkout, no file to add where its deletion is staged, or a patch that does not fit because of
    /// line ends.
    fn adds_nothing(&self) -> bool {
        let (expected, found) = (&self.expected, &self.found);
        let is_left = expected.stderr.lines().last().is_some_and(|line| {
            line == "Cannot remove worktree changes"
                || line == "error: No valid patches in input (allow with \"--allow-empty\")"
                || line.starts_with("fatal: pathspec ':(")
                    && line.ends_with("' did not match any files")
        });
        let is_saved = (found.code, &found.stdout) == (0, &expected.stdout);
        self.name == "stash" && expected.code == 1 && is_left && is_saved
    }

    /// Git pipes a patch to itself, and warns of white space in it.
    fn warns_of_whitespace(&self) -> bool {
        let (expected, found) = (&self.expected, &self.found);
        let patch = "<stdin>:";
        let is_warned = expected.stderr.starts_with(patch)
            && expected.stderr.lines().last().is_some_and(|line| {
                line.starts_with("warning: ") && line.contains("whitespace error")
            });
        self.name == "stash"
            && is_warned
            && found.stderr.is_empty()
            && (expected.code, &expected.stdout) == (found.code, &found.stdout)
            && self.leaves_the_same()
    }

    /// A file is in the place of a submodule outside of the sparse checkout, and stays there: git does
    /// not have it in the stash.
    fn records_what_git_skips(&self) -> bool {
        let [expected, found] = [&self.git, &self.our].map(|repository| {
            let words = [&b"ls-tree"[..], b"-rz", b"stash"];
            let listed = answer(repository, &words).stdout;
            records(&listed)
                .map(<[u8]>::to_vec)
                .collect::<BTreeSet<_>>()
        });
        let more: BTreeSet<_> = found
            .difference(&expected)
            .filter_map(|row| split(row, 2))
            .collect();
        let less: Vec<_> = expected.difference(&found).collect();
        let is_replaced = |row: &&Vec<u8>| {
            let path = split(row, 2).map(|(_, path)| path).unwrap_or_default();
            let [git, our] = [&self.git, &self.our].map(|it| std::fs::read(it.path(&path)).ok());
            row.starts_with(b"160000 ")
                && more.iter().any(|(_, other)| *other == path)
                && git.is_some()
                && git == our
        };
        self.name == "stash"
            && (self.expected.code, self.found.code) == (0, 0)
            && !less.is_empty()
            && less.len() == more.len()
            && less.iter().all(is_replaced)
            && self.leaves_the_same()
    }

    /// Git tells that it moves a file that it leaves out, because it has not changed.
    fn tells_of_no_move(&self) -> bool {
        let (expected, found) = (&self.expected, &self.found);
        let ours: Vec<&[u8]> = lines(&found.stdout).collect();
        let said: Vec<&[u8]> = lines(&expected.stdout).collect();
        let is_move = |line: &&&[u8]| {
            line.starts_with(b"CONFLICT (file/directory): directory in the way of ")
                && line.ends_with(b" instead.")
        };
        let (more, same): (Vec<&[u8]>, Vec<&[u8]>) =
            said.into_iter().partition(|line| !ours.contains(line));
        !more.is_empty()
            && more.iter().all(|line| is_move(&line))
            && same == ours
            && (expected.code, &expected.stderr) == (found.code, &found.stderr)
            && self.leaves_the_same()
    }

    /// Links that cannot be made are named here as all files are.
    fn names_links(&self) -> bool {
        let (expected, found) = (&self.expected, &self.found);
        let reason = ": No such file or directory";
        let ours = |line: &str| {
            let path = line.strip_prefix("error: unable to create symlink ");
            let path = path.and_then(|it| it.strip_suffix(reason));
            path.map_or(line.to_owned(), |path| {
                format!("error: cannot create symlink '{path}'{reason}")
            })
        };
        expected.stderr != found.stderr
            && expected.stderr.lines().map(ours).eq(found.stderr.lines())
            && (expected.code, &expected.stdout) == (found.code, &found.stdout)
            && self.leaves_the_same()
    }

    /// Git does something else with a sparse index than with a full one, and hedgerow does the latter.
    fn differs_when_collapsed(&self) -> bool {
        let said =
            |outcome: &Outcome| (outcome.code, outcome.stdout.clone(), outcome.stderr.clone());
        if said(&self.expected) == said(&self.found) && self.leaves_the_same() {
            return false;
        }
        let is_collapsed = |repository: &Repository| {
            let entries = repository.git(&["ls-files", "--sparse", "-s", "-z"]);
            let mut entries = records(&entries);
            entries.any(|entry| entry.starts_with(b"040000 "))
        };
        if !is_collapsed(&self.pair.git) {
            return false;
        }
        let home = crate::support::temporary();
        // As long as the name of the other copy, for messages that name it.
        let full = dated_copy(&self.pair.git, &home.path().join("git"));
        full.git(&["config", "core.checkStat", "minimal"]);
        full.git(&["config", "core.trustCtime", "false"]);
        full.git(&["config", "--worktree", "index.sparse", "false"]);
        full.git(&["update-index", "--force-write-index"]);
        let mut command = Program::Git.command(&full.root);
        command.arg(self.name).args(&self.words);
        let mut outcome = run(command);
        let roots = [&full, &self.git].map(|it| it.root.to_string_lossy().into_owned());
        outcome.stderr = outcome.stderr.replace(&roots[0], &roots[1]);
        let [(tree, _, entries), ours] = [&picture(&full), &self.ours];
        said(&outcome) == said(&self.found) && (tree, entries) == (&ours.0, &ours.2)
    }

    /// Whether both leave the same files and entries.
    fn leaves_the_same(&self) -> bool {
        let (git, ours) = (&self.pictures[1], &self.ours);
        (&git.0, &git.2) == (&ours.0, &ours.2)
    }

    /// A sparse checkout is refused by both, but git has written its settings already.
    fn leaves_settings(&self) -> bool {
        let (expected, found) = (&self.expected, &self.found);
        let is_refused = expected.code != 0 && expected.code == found.code;
        self.name == "sparse-checkout" && is_refused && !self.is_touched
    }

    /// Git puts local changes aside before it finds that untracked files prevent the switch, and brings
    /// them back, but not what was staged.
    fn brings_back(&self) -> bool {
        let says = |words| self.expected.stderr.contains(words);
        let code = self.expected.code;
        code == 1 && says("Applied autostash") || code == 128 && says("could not reset --hard")
    }

    /// Git does that without saying so, and all is as before but for the name of the merged tree.
    fn leaves_auto_merge(&self) -> bool {
        let (expected, found) = (&self.expected, &self.found);
        let [mut before, mut after] = self.pictures.clone();
        let name = &b"AUTO_MERGE"[..];
        let is_left = before.1.remove(name) != after.1.remove(name);
        let is_refused = (expected.code, found.code) == (1, 1) && !self.is_touched;
        is_refused && is_left && before == after
    }

    /// Git finds a contradiction in itself.
    fn aborts(&self) -> bool {
        self.expected.code == 134 && self.expected.stderr.contains(": Assertion `")
    }

    /// Having met a submodule, git lists files among the changes that are outside of the sparse
    /// checkout; otherwise it does not.
    fn lists_outside(&self) -> bool {
        let (expected, found) = (&self.expected, &self.found);
        let is_switch = ["checkout", "switch"].contains(&self.name) && expected.code == 0;
        if !is_switch || (found.code, &found.stderr) != (0, &expected.stderr) {
            return false;
        }
        let ours: Vec<&[u8]> = lines(&found.stdout).collect();
        let more = lines(&expected.stdout).filter(|line| !ours.contains(line));
        let more: Vec<&[u8]> = more.map(|line| line.get(2..).unwrap_or(line)).collect();
        let mut entries = records(&self.pictures[1].2);
        let has_submodule = entries.any(|entry| entry.starts_with(b"160000 "));
        has_submodule && !more.is_empty() && self.in_rules(&more).is_some_and(|it| it.is_empty())
    }

    /// Where a directory of a sparse index becomes a file that is inside of the sparse checkout, git
    /// does not write that file.
    fn leaves_out(&self) -> bool {
        if self.name == "sparse-checkout" || (self.expected.code, self.found.code) != (0, 0) {
            return false;
        }
        let [before, after] = [&self.pair.git, &self.git]
            .map(|repository| answer(repository, &[b"ls-files", b"-t"]).stdout);
        let known: BTreeSet<&[u8]> = lines(&before).collect();
        let skipped = lines(&after).filter(|line| !known.contains(line));
        let skipped = skipped.filter_map(|line| line.strip_prefix(b"S "));
        let skipped: Vec<&[u8]> = skipped.collect();
        !skipped.is_empty() && self.in_rules(&skipped).is_some_and(|it| !it.is_empty())
    }

    /// Which of these paths are inside of the sparse checkout, as git says.
    fn in_rules(&self, paths: &[&[u8]]) -> Option<Vec<u8>> {
        let input = paths.join(&b'\n');
        let outcome = self.git.run(&["sparse-checkout", "check-rules"], &input);
        (outcome.code == 0).then_some(outcome.stdout)
    }

    /// Git tells of some submodules before it finds one that `.gitmodules` does not name.
    fn stops_in_a_list(&self) -> bool {
        let (expected, found) = (&self.expected, &self.found);
        let is_refused = (expected.code, found.code) == (128, 128);
        self.name == "submodule"
            && is_refused
            && expected.stderr == found.stderr
            && found.stdout.is_empty()
            && !self.is_touched
    }

    /// Git overwrites staged or untracked content, which hedgerow puts into the stash.
    fn puts_aside_what_git_loses(&self) -> bool {
        let words = "our local changes are stashed";
        let is_kept = self.found.code == 0 && self.found.stderr.contains(words);
        is_kept && !self.expected.stderr.contains(words) && self.loses()
    }

    /// Git has more words for a file that lacks the mark of its encoding.
    fn explains_encoding(&self) -> bool {
        let (expected, found) = (&self.expected, &self.found);
        let is_hint = |line: &&str| {
            line.contains("BOM is required in '") || line.contains(" byte order mark (BOM). ")
        };
        let others = |outcome: &'_ Outcome| -> Vec<String> {
            let lines = outcome.stderr.lines().filter(|line| !is_hint(line));
            lines.map(str::to_owned).collect()
        };
        expected.stderr.lines().any(|line| is_hint(&line))
            && others(expected) == others(found)
            && (expected.code, &expected.stdout) == (found.code, &found.stdout)
    }

    /// Where git puts changes aside, it brings a submodule back that was no longer in the index, for as
    /// long as the switch takes; then it cannot remove the directory. Here it has never come back.
    fn brings_submodule_back(&self) -> bool {
        let (expected, found) = (&self.expected, &self.found);
        let line = "warning: unable to rmdir 'submodule': Directory not empty\n";
        let is_tracked = |picture: &Picture| {
            let mut entries = records(&picture.2);
            entries.any(|entry| entry.ends_with(b"\tsubmodule"))
        };
        expected.stderr.replacen(line, "", 1) == found.stderr
            && expected.stderr.contains("our local changes are stashed")
            && (expected.code, &expected.stdout) == (found.code, &found.stdout)
            && !self.pictures.iter().any(is_tracked)
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

/// A copy whose files have the times of the original.
fn dated_copy(repository: &Repository, root: &Path) -> Repository {
    let mut command = hedgerow_testkit::isolated("cp");
    command.arg("-a").args([repository.root.as_path(), root]);
    run(command).ok("cp -a");
    Repository::at(root.to_owned())
}

fn picture(repository: &Repository) -> Picture {
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

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = text.split(|byte| *byte == b'\n');
    lines.filter(|line| !line.is_empty())
}

fn records(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|byte| *byte == 0)
        .filter(|record| !record.is_empty())
}
