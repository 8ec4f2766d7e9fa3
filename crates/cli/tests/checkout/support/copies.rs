//! Repositories as the tests of checkout need them: run hedgerow there, look at them, copy them.

use super::snapshot::{snapshot, Snapshot};
use super::{run, Outcome, Program, Repository};
use crate::oracle::program::git;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

impl Repository {
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

    pub fn symlink(&self, path: impl AsRef<[u8]>, target: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(OsStr::from_bytes(target.as_ref()), path).unwrap();
    }

    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A", "-f"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.ask(&["rev-parse", "HEAD"])
    }

    pub fn git_dir(&self) -> PathBuf {
        let dir = self.root.join(".git");
        if dir.is_dir() {
            dir
        } else {
            PathBuf::from(self.ask(&["rev-parse", "--absolute-git-dir"]))
        }
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

    /// The working tree without `.git`.
    pub fn tree(&self) -> Snapshot {
        snapshot(&self.root, &|path| path == b".git")
    }

    /// What is in `.git`, without the index and the objects.
    pub fn metadata(&self) -> Snapshot {
        let left_out = |path: &[u8]| path.ends_with(b"index") || path == b"objects";
        snapshot(&self.root.join(".git"), &left_out)
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
