use super::program::{git, run, Outcome, Program};
use super::snapshot::{snapshot, Snapshot};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// A repository with a working tree, in a directory that goes away.
pub struct Repository {
    pub root: PathBuf,
    _home: Option<tempfile::TempDir>,
}

impl Repository {
    /// An empty one, `words` given to `git init`.
    pub fn init(words: &[&str]) -> Repository {
        let home = super::temporary();
        let root = home.path().join("work");
        std::fs::create_dir(&root).unwrap();
        let repository = Repository {
            root,
            _home: Some(home),
        };
        let init: Vec<&str> = ["init", "-q", "-b", "main"]
            .into_iter()
            .chain(words.iter().copied())
            .collect();
        repository.git(&init);
        repository.git(&["config", "core.fsync", "none"]);
        repository.git(&["config", "gc.auto", "0"]);
        repository
    }

    /// One whose directory someone else looks after.
    pub fn at(root: PathBuf) -> Repository {
        Repository { root, _home: None }
    }

    pub fn git<S: AsRef<OsStr>>(&self, words: &[S]) -> Vec<u8> {
        git(&self.root, words, b"")
    }

    pub fn git_with<S: AsRef<OsStr>>(&self, words: &[S], input: &[u8]) -> Vec<u8> {
        git(&self.root, words, input)
    }

    /// Git's answer as one trimmed line.
    pub fn ask<S: AsRef<OsStr>>(&self, words: &[S]) -> String {
        String::from_utf8(self.git(words))
            .unwrap()
            .trim()
            .to_owned()
    }

    /// Runs `hedgerow` with `words`, whatever its exit code.
    pub fn hedgerow<S: AsRef<OsStr>>(&self, words: &[S]) -> Outcome {
        self.hedgerow_with(words, &[])
    }

    /// The same with more environment.
    pub fn hedgerow_with<S: AsRef<OsStr>>(&self, words: &[S], more: &[(&str, &str)]) -> Outcome {
        let mut command = Program::Hedgerow.command(&self.root);
        command.args(words).envs(more.iter().copied());
        let outcome = run(command);
        outcome.assert_civil(&format!(
            "{:?}",
            words.iter().map(|w| w.as_ref()).collect::<Vec<_>>()
        ));
        outcome
    }

    pub fn path(&self, path: impl AsRef<[u8]>) -> PathBuf {
        self.root.join(OsStr::from_bytes(path.as_ref()))
    }

    /// Writes a file, making the directories above it.
    pub fn write(&self, path: impl AsRef<[u8]>, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub fn symlink(&self, path: impl AsRef<[u8]>, target: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(OsStr::from_bytes(target.as_ref()), path).unwrap();
    }

    /// Removes whatever is there, if anything is.
    pub fn remove(&self, path: impl AsRef<[u8]>) {
        let path = self.path(path);
        match std::fs::symlink_metadata(&path) {
            Ok(stat) if stat.is_dir() => std::fs::remove_dir_all(path).unwrap(),
            Ok(_) => std::fs::remove_file(path).unwrap(),
            Err(_) => {}
        }
    }

    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A", "-f"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.ask(&["rev-parse", "HEAD"])
    }

    pub fn git_dir(&self) -> PathBuf {
        let dir = self.root.join(".git");
        match dir.is_dir() {
            true => dir,
            false => PathBuf::from(self.ask(&["rev-parse", "--absolute-git-dir"])),
        }
    }

    /// The working tree without `.git`.
    pub fn tree(&self) -> Snapshot {
        snapshot(&self.root, &|path| path == b".git")
    }

    /// What is in `.git`, without the index and the objects.
    pub fn metadata(&self) -> Snapshot {
        let left_out = |path: &[u8]| path.ends_with(b"index") || path == b"objects";
        snapshot(&self.root.join(".git"), &left_out)
    }

    pub fn index(&self) -> Vec<u8> {
        std::fs::read(self.git_dir().join("index")).unwrap_or_default()
    }

    pub fn assert_no_lock(&self, what: &str) {
        for name in ["index.lock", "HEAD.lock"] {
            assert!(
                !self.git_dir().join(name).exists(),
                "{what}: {name} was left"
            );
        }
    }

    /// A second repository with the same `.git`, beside this one, without its working tree.
    pub fn copy_git_dir(&self, root: &Path) -> Repository {
        std::fs::create_dir_all(root).unwrap();
        copy_tree(&self.root.join(".git"), &root.join(".git"));
        Repository::at(root.to_owned())
    }

    /// A second one with the same everything. Stat data in the index are those of the original.
    pub fn copy(&self, root: &Path) -> Repository {
        copy_tree(&self.root, root);
        Repository::at(root.to_owned())
    }
}

fn copy_tree(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        let kind = entry.file_type().unwrap();
        if kind.is_symlink() {
            symlink(std::fs::read_link(entry.path()).unwrap(), target).unwrap();
        } else if kind.is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
