//! A repository with a few files, beside which working trees are mounted.

use hedgerow_fs::{may_mount, mounts, unmount};
use hedgerow_testkit::{
    run, skip, snapshot, temporary, temporary_on_disk, Outcome, Program, Repository, Snapshot,
};
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

pub const HEDGEROW: Program = Program::Hedgerow(env!("CARGO_BIN_EXE_hedgerow"));

/// Whether this process may mount; if not, that is said.
pub fn can_mount() -> bool {
    let may = may_mount() == (true, true);
    if !may {
        skip("mounting is not allowed: working trees are not mounted");
    }
    may
}

/// A mount namespace has, when it is made, the mounts of all tests, and keeps what they unmount in use:
/// a test that makes one holds this alone.
static NAMESPACE: RwLock<()> = RwLock::new(());

/// A directory with the repository `r`. What is mounted below it goes with it.
pub struct Scene {
    pub root: PathBuf,
    pub repository: Repository,
    _home: Option<tempfile::TempDir>,
    _shared: Option<RwLockReadGuard<'static, ()>>,
    _alone: Option<RwLockWriteGuard<'static, ()>>,
}

impl Scene {
    /// One in memory, where there is such a file system.
    pub fn new() -> Self {
        Scene::in_home(temporary()).among_others()
    }

    /// One on disk.
    pub fn on_disk() -> Self {
        Scene::in_home(temporary_on_disk()).among_others()
    }

    /// One on disk, for a test that makes a mount namespace.
    pub fn alone() -> Self {
        let alone = NAMESPACE.write().unwrap_or_else(PoisonError::into_inner);
        let mut scene = Scene::in_home(temporary_on_disk());
        scene._alone = Some(alone);
        scene
    }

    /// Two of the same test.
    pub fn twins(on_disk: bool) -> [Self; 2] {
        let home = || {
            if on_disk {
                temporary_on_disk()
            } else {
                temporary()
            }
        };
        [
            Scene::in_home(home()).among_others(),
            Scene::in_home(home()),
        ]
    }

    pub fn among_others(mut self) -> Self {
        self._shared = Some(NAMESPACE.read().unwrap_or_else(PoisonError::into_inner));
        self
    }

    fn in_home(home: tempfile::TempDir) -> Self {
        let root = home.path().canonicalize().unwrap();
        let mut scene = Scene::at(&root);
        scene._home = Some(home);
        scene
    }

    /// One in a directory that somebody else looks after.
    pub fn at(root: &Path) -> Self {
        let place = root.join("r");
        std::fs::create_dir(&place).unwrap();
        let repository = Repository::at(place);
        repository.git(&["init", "-q", "-b", "main"]);
        repository.git(&["config", "gc.auto", "0"]);
        for (path, content) in [
            ("a", "one\n"),
            ("d/b", "two\n"),
            ("d/e/c", "three\n"),
            ("d/e/empty", ""),
            ("run.sh", "#!/bin/sh\n"),
            (".gitignore", "*.o\n"),
        ] {
            repository.write(path, content);
        }
        repository.symlink("link", "d/b");
        repository.git(&["add", "-A"]);
        repository.git(&["update-index", "--chmod=+x", "run.sh"]);
        repository.commit("one");
        repository.git(&["checkout", "-q", "-f", "HEAD"]);
        Scene {
            root: root.to_owned(),
            repository,
            _home: None,
            _shared: None,
            _alone: None,
        }
    }

    /// Runs hedgerow in the directory `place` of the scene.
    pub fn hedgerow(&self, place: &str, line: &str) -> Outcome {
        self.run(HEDGEROW, place, line)
    }

    /// Runs git there.
    pub fn by_git(&self, place: &str, line: &str) -> Outcome {
        self.run(Program::Git, place, line)
    }

    /// Runs a program with the words of `line`; `_` stands for a space in a word.
    pub fn run(&self, program: Program, place: &str, line: &str) -> Outcome {
        let mut command = program.command(&self.root.join(place));
        command.args(line.split(' ').map(|word| word.replace('_', " ")));
        let outcome = run(command);
        outcome.assert_civil(line);
        outcome
    }

    /// Adds a mounted working tree, which must succeed without a warning.
    pub fn add(&self, line: &str) {
        let added = self.hedgerow("r", &format!("worktree add --mount {line}"));
        assert!(!added.stderr.contains("warning"), "{}", added.stderr);
        added.ok(line);
    }

    /// Git is to ask what changed in working trees that are mounted from now on.
    pub fn watch(&self) {
        let setting = ["config", "hedgerow.worktreeMonitor", "always"];
        self.repository.git(&setting);
    }

    /// A path in the scene.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Writes a file of the scene.
    pub fn write(&self, path: &str, content: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Reads a file of the scene.
    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap()
    }

    /// All that is in a working tree, without its `.git`.
    pub fn tree(&self, place: &str) -> Snapshot {
        snapshot(&self.path(place), &|path| path == b".git")
    }

    /// What is mounted below the scene.
    pub fn mounted(&self) -> Vec<PathBuf> {
        let mounted = mounts().unwrap().into_iter().map(|mount| mount.path);
        mounted
            .filter(|path| path.starts_with(&self.root) && path != &self.root)
            .collect()
    }

    /// Loses all mounts, as a restart of the machine does.
    pub fn lose_mounts(&self) {
        for path in self.mounted().iter().rev() {
            unmount(path, true).unwrap();
        }
    }

    /// The images in the repository's store.
    pub fn images(&self) -> Vec<String> {
        let listed = self.hedgerow("r", "image-store list").ok("the list");
        let listed = String::from_utf8(listed).unwrap();
        listed.lines().map(str::to_owned).collect()
    }

    /// Git finds no change in a working tree, and opens none of its files to find that out.
    pub fn assert_clean(&self, place: &str) {
        let status = self.by_git(place, "status --porcelain --ignored -uall");
        assert_eq!(status.ok("status"), b"", "{place}");
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        for path in self.mounted().iter().rev() {
            let _ = unmount(path, true);
        }
    }
}
