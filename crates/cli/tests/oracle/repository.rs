use super::program::git;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

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

    pub fn path(&self, path: impl AsRef<[u8]>) -> PathBuf {
        self.root.join(OsStr::from_bytes(path.as_ref()))
    }

    /// Writes a file, making the directories above it.
    pub fn write(&self, path: impl AsRef<[u8]>, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
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
}
