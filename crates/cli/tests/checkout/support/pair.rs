use super::{run, skip, IndexEntry, IndexFile, Node, Outcome, Program, Repository, Snapshot};
use crate::HEDGEROW;
use bstr::ByteSlice;
use hedgerow_testkit::{differences, CacheTree};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// Two copies of one repository: git works in one, hedgerow in the other.
pub struct Pair {
    pub git: Repository,
    pub hedgerow: Repository,
    /// Bytes of an object id.
    pub id_bytes: usize,
    /// Put before hedgerow's words: options that git does not have.
    pub options: Vec<String>,
    /// Put into hedgerow's environment.
    pub environment: Vec<(String, String)>,
    /// Fatal errors may be worded otherwise: an older git has other words.
    pub any_words: bool,
    /// The cache tree may know less than git's, but nothing wrong.
    pub any_trees: bool,
    /// Edits are given times.
    pub is_dated: bool,
    /// For its status, git looks into every file, as if the index were older than all of them. Otherwise
    /// it looks into those that were written within the same tick of the clock as the index.
    pub reads_all: bool,
    /// Said when something differs: which repository, which seed.
    pub label: String,
    /// Git crashed: what it left is no measure.
    pub is_over: bool,
    steps: Vec<String>,
    home: Option<tempfile::TempDir>,
}

impl Pair {
    /// Copies of the `.git` of a repository, nothing being checked out.
    pub fn of_git_dir(origin: &Repository, label: &str) -> Pair {
        Pair::new(label, |root| origin.copy_git_dir(&root))
    }

    /// Copies of a repository with its working tree; both indexes are refreshed.
    pub fn of(origin: &Repository, label: &str) -> Pair {
        Pair::new(label, |root| {
            let copy = origin.copy(&root);
            let mut refresh = Program::Git.command(&copy.root);
            refresh.args(["update-index", "-q", "--refresh"]);
            run(refresh);
            copy
        })
    }

    /// Both made the same way, in two directories whose names are equally long.
    pub fn new(label: &str, make: impl Fn(PathBuf) -> Repository) -> Pair {
        let home = super::temporary();
        let git = make(home.path().join("git"));
        let hedgerow = make(home.path().join("our"));
        let format = git.ask(&["rev-parse", "--show-object-format"]);
        Pair {
            git,
            hedgerow,
            id_bytes: if format == "sha256" { 32 } else { 20 },
            options: Vec::new(),
            environment: Vec::new(),
            any_words: false,
            any_trees: false,
            is_dated: false,
            reads_all: false,
            label: label.to_owned(),
            is_over: false,
            steps: Vec::new(),
            home: Some(home),
        }
    }

    /// Does the same to both.
    pub fn each(&mut self, what: &str, change: impl Fn(&Repository)) {
        self.each_edited(what, |_, repository| change(repository));
    }

    /// Does the same to both, with [`Pair::edit`] at hand.
    pub fn each_edited(&mut self, what: &str, change: impl Fn(&Pair, &Repository)) {
        self.steps.push(what.to_owned());
        change(self, &self.git);
        change(self, &self.hedgerow);
    }

    /// `checkout` with these words by both: they must say and do the same.
    pub fn checkout<S: AsRef<[u8]>>(&mut self, words: &[S]) -> Outcome {
        self.checkout_in("", words, &[])
    }

    /// The same from a directory below the root, with more environment for both.
    pub fn checkout_in<S: AsRef<[u8]>>(
        &mut self,
        directory: &str,
        words: &[S],
        environment: &[(&str, &str)],
    ) -> Outcome {
        self.both("checkout", directory, words, environment)
    }

    /// Any command by both: they must say and do the same.
    pub fn both<S: AsRef<[u8]>>(
        &mut self,
        name: &str,
        directory: &str,
        words: &[S],
        environment: &[(&str, &str)],
    ) -> Outcome {
        let words: Vec<OsString> = words
            .iter()
            .map(|word| OsString::from_vec(word.as_ref().to_vec()))
            .collect();
        self.steps
            .push(format!("{name} {words:?} in '{directory}'"));
        self.keep_before();
        let mut command = Program::Git.command(&self.git.root.join(directory));
        command.arg(name).args(&words);
        command.envs(environment.iter().copied());
        let expected = run(command);
        let mut command = HEDGEROW.command(&self.hedgerow.root.join(directory));
        command.arg(name);
        // Not every command below these takes them.
        if !["stash", "worktree", "sparse-checkout", "submodule"].contains(&name) {
            command.args(&self.options);
        }
        command.args(&words);
        command.envs(environment.iter().copied());
        command.envs(self.environment.iter().map(|(k, v)| (k, v)));
        let found = run(command);
        found.assert_civil(&self.story());
        if expected.crashed() {
            skip(&format!(
                "git crashed in the last of these\n{}",
                self.story()
            ));
            self.is_over = true;
        }
        if self.is_over {
            return found;
        }
        self.assert_said_the_same(&expected, &found);
        self.assert_same_state();
        found
    }

    /// With `HEDGEROW_TEST_KEEP=1`, copies both, so that what failed can be run again.
    fn keep_before(&self) {
        let Some(home) = self.home.as_ref().filter(|_| keeps()) else {
            return;
        };
        for (repository, name) in [(&self.git, "git-before"), (&self.hedgerow, "our-before")] {
            let copy = home.path().join(name);
            let _ = std::fs::remove_dir_all(&copy);
            repository.copy(&copy);
        }
    }

    fn assert_said_the_same(&self, expected: &Outcome, found: &Outcome) {
        let story = self.story();
        let (git, our) = (
            self.git.root.to_string_lossy(),
            self.hedgerow.root.to_string_lossy(),
        );
        if self.any_words && (expected.code, found.code) == (128, 128) {
            return;
        }
        let stderr = found.stderr.replace(&*our, &git);
        let expected_stderr = without_untruths(&self.git, &expected.stderr, &stderr);
        let stdout = String::from_utf8_lossy(&found.stdout).replace(&*our, &git);
        assert_eq!(
            (
                expected.code,
                String::from_utf8_lossy(&expected.stdout),
                &expected_stderr
            ),
            (found.code, stdout.into(), &stderr),
            "{story}\nwhat was said differs: first git, then hedgerow"
        );
    }

    /// Working tree, `.git` and index are the same, but for stat data.
    pub fn assert_same_state(&self) {
        let story = self.story();
        let tree = differences(&self.git.tree(), &self.renamed(self.hedgerow.tree()));
        assert!(
            tree.is_empty(),
            "{story}\nworking trees differ:\n{}",
            tree.join("\n")
        );
        let metadata = differences(
            &self.git.metadata(),
            &self.renamed(self.hedgerow.metadata()),
        );
        assert!(
            metadata.is_empty(),
            "{story}\n.git differs:\n{}",
            metadata.join("\n")
        );
        self.assert_same_index();
        let status = ["status", "--porcelain=v2", "-z", "--ignored"];
        // Git has no status where a link is in the place of a submodule.
        let [expected, found] = [&self.git, &self.hedgerow].map(|it| {
            if self.reads_all {
                let index = std::fs::File::options()
                    .write(true)
                    .open(it.path(".git/index"));
                // Not the beginning of time, which git takes for no time.
                let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 20);
                index.unwrap().set_modified(long_ago).unwrap();
            }
            let outcome = it.run(&status, b"");
            (
                outcome.code,
                String::from_utf8_lossy(&outcome.stdout).into_owned(),
            )
        });
        assert_eq!(expected, found, "{story}\nstatus differs");
    }

    /// Files of linked working trees name their places: hedgerow's are called what git's are.
    fn renamed(&self, mut picture: Snapshot) -> Snapshot {
        let git = self.git.root.as_os_str().as_bytes();
        let our = self.hedgerow.root.as_os_str().as_bytes();
        for node in picture.values_mut() {
            if let Node::File(_, content) = node {
                *content = content.replace(our, git);
            }
        }
        picture
    }

    fn assert_same_index(&self) {
        let story = self.story();
        let (expected, found) = (self.git.index(), self.hedgerow.index());
        if expected.is_empty() || found.is_empty() {
            assert_eq!(expected, found, "{story}\nonly one has an index");
            return;
        }
        let expected = IndexFile::read(&expected, self.id_bytes);
        let found = IndexFile::read(&found, self.id_bytes);
        assert_eq!(expected.version, found.version, "{story}\nindex version");
        let entries = |repository: &Repository, index: &IndexFile| {
            let mut entries = index.without_stat();
            entries
                .iter_mut()
                .for_each(|entry| forget_skipping(repository, entry));
            entries
        };
        let (a, b) = (
            entries(&self.git, &expected),
            entries(&self.hedgerow, &found),
        );
        let paths = |list: &[super::IndexEntry]| -> Vec<String> {
            list.iter()
                .map(|e| String::from_utf8_lossy(&e.path).into())
                .collect()
        };
        let is_collapsed = a.iter().chain(&b).any(|entry| entry.mode == 0o040_000);
        if is_collapsed && paths(&a) != paths(&b) {
            // Which directories git leaves expanded depends on what it did before.
            let list = ["ls-files", "-s", "-t", "-z"];
            let [expected, found] = [&self.git, &self.hedgerow].map(|it| it.git(&list));
            let shown = String::from_utf8_lossy;
            assert_eq!(shown(&expected), shown(&found), "{story}\nexpanded index");
            return;
        }
        assert_eq!(paths(&a), paths(&b), "{story}\npaths of the index");
        for (a, b) in a.iter().zip(&b) {
            assert_eq!(
                a,
                b,
                "{story}\nentry {:?}",
                String::from_utf8_lossy(&a.path)
            );
        }
        // Git keeps what it knew of directories without conflicts; the next commit tells again.
        if expected
            .entries
            .iter()
            .any(|entry| entry.flags.0 & 0x3000 != 0)
        {
            return;
        }
        let (expected, found) = (
            expected.cache_tree(self.id_bytes),
            found.cache_tree(self.id_bytes),
        );
        for (path, (count, id)) in &expected {
            let name = String::from_utf8_lossy(path);
            // Where git has forgotten a tree, having it is better.
            if *count >= 0 && !self.any_trees {
                assert_eq!(
                    found.get(path),
                    Some(&(*count, id.clone())),
                    "{story}\ntree {name:?}"
                );
            }
        }
        if found != expected {
            self.assert_true_cache_tree(&found);
        }
    }

    /// The trees that the cache-tree names are those that git makes from the entries.
    fn assert_true_cache_tree(&self, found: &CacheTree) {
        let repository = &self.hedgerow;
        let index = repository.root.join(".git/index");
        let kept = std::fs::read(&index).unwrap();
        let entries = repository.git(&["ls-files", "-s", "-z"]);
        std::fs::remove_file(&index).unwrap();
        repository.git_with(&["update-index", "-z", "--index-info"], &entries);
        let mut true_trees = CacheTree::new();
        if run_git(repository, &["write-tree"]).code == 0 {
            let remade = IndexFile::read(&std::fs::read(&index).unwrap(), self.id_bytes);
            true_trees = remade.cache_tree(self.id_bytes);
        }
        std::fs::write(&index, kept).unwrap();
        for (path, node) in found.iter().filter(|(_, (count, _))| *count >= 0) {
            let name = String::from_utf8_lossy(path);
            assert_eq!(
                true_trees.get(path),
                Some(node),
                "{}\ntree {name:?}",
                self.story()
            );
        }
    }

    /// Every entry has the stat data of its file, as far as it has in git's index.
    pub fn assert_fresh(&self) {
        let expected = IndexFile::read(&self.git.index(), self.id_bytes);
        let found = IndexFile::read(&self.hedgerow.index(), self.id_bytes);
        for (a, b) in expected.entries.iter().zip(&found.entries) {
            let name = String::from_utf8_lossy(&a.path);
            let fresh = b.is_fresh(&self.hedgerow.root) || !a.is_fresh(&self.git.root);
            assert!(
                fresh,
                "{}\nstat data of {name:?} are stale: {b:?}",
                self.story()
            );
        }
    }

    /// Writes a file as an editor does. In a dated pair its time is that of the step, long ago: whether
    /// a file is of the second of its index must not depend on how fast a step was.
    pub fn edit(&self, repository: &Repository, path: &[u8], content: &[u8]) {
        repository.write(path, content);
        if self.is_dated {
            let since = std::time::Duration::from_secs(1_500_000_000 + self.steps.len() as u64);
            let mut options = std::fs::File::options();
            let file = options.append(true).open(repository.path(path)).unwrap();
            file.set_modified(std::time::UNIX_EPOCH + since).unwrap();
        }
    }

    /// Label and steps so far.
    pub fn story(&self) -> String {
        format!(
            "{}\noptions {:?} {:?}\n  {}",
            self.label,
            self.options,
            self.environment,
            self.steps.join("\n  ")
        )
    }
}

impl Drop for Pair {
    /// `HEDGEROW_TEST_KEEP=1` leaves the copies of what failed, before and after.
    fn drop(&mut self) {
        if std::thread::panicking() && keeps() {
            if let Some(home) = self.home.take() {
                let home = home.keep();
                for name in ["git", "git-before", "our", "our-before"] {
                    own_objects(&home, name);
                }
                skip(&format!("copies kept in {}", home.display()));
            }
        }
    }
}

/// Gives a copy the objects that it has from the repository it was made of, which is about to go.
fn own_objects(home: &std::path::Path, name: &str) {
    let objects = home.join(name).join(".git/objects");
    let Ok(others) = std::fs::read_to_string(objects.join("info/alternates")) else {
        return;
    };
    let mut command = hedgerow_testkit::isolated("cp");
    let others = format!("{}/.", others.trim_end());
    command.args(["-rn", &others]).arg(&objects);
    if command.status().is_ok_and(|status| status.success()) {
        let _ = std::fs::remove_file(objects.join("info/alternates"));
    }
}

/// What git said, without the lines that a changed file outside of a sparse checkout stays although
/// it is gone, unless `ours` has them, too: git says so of files that a forced switch or reset removes.
fn without_untruths(repository: &Repository, said: &str, ours: &str) -> String {
    let (start, words) = (
        "error: Path '",
        "' not uptodate; will not remove from working tree.\n",
    );
    // A path may have newlines.
    let mut lines = Vec::new();
    let mut rest = said;
    while !rest.is_empty() {
        let is_path = |length: &usize| rest.starts_with(start) && !rest[1..*length].contains(start);
        let path = rest.find(words).map(|at| at + words.len()).filter(is_path);
        let length = path
            .or_else(|| Some(rest.find('\n')? + 1))
            .unwrap_or(rest.len());
        lines.push(rest.split_at(length).0);
        rest = &rest[length..];
    }
    let is_true = |line: &&str| {
        let path = line.strip_prefix(start);
        let path = path.and_then(|it| it.strip_suffix(words));
        let stays = |path| {
            let stat = std::fs::symlink_metadata(repository.root.join(path));
            stat.is_ok_and(|stat| !stat.is_dir())
        };
        path.is_none_or(stays) || ours.contains(line)
    };
    lines.into_iter().filter(is_true).collect()
}

/// Takes the mark of a file outside of a sparse checkout from an entry whose file is there: whoever
/// reads the index does so.
fn forget_skipping(repository: &Repository, entry: &mut IndexEntry) {
    const EXTENDED: u16 = 0x4000;
    const SKIPPED: u16 = 0x4000;
    let is_there = || std::fs::symlink_metadata(repository.path(&entry.path)).is_ok();
    if entry.mode != 0o040_000 && entry.flags.1 & SKIPPED != 0 && is_there() {
        entry.flags.1 &= !SKIPPED;
        if entry.flags.1 == 0 {
            entry.flags.0 &= !EXTENDED;
        }
    }
}

fn keeps() -> bool {
    std::env::var_os("HEDGEROW_TEST_KEEP").is_some()
}

fn run_git(repository: &Repository, words: &[&str]) -> Outcome {
    let mut command = Program::Git.command(&repository.root);
    command.args(words);
    run(command)
}
