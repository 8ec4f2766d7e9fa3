//! A repository that git makes, in a directory that goes away.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use gix_hash::ObjectId;

pub struct Repository {
    pub root: PathBuf,
}

impl Drop for Repository {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

pub struct GitOutput {
    pub stdout: Vec<u8>,
    pub stderr: String,
    pub code: Option<i32>,
}

impl Repository {
    pub fn new() -> Repository {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("hedgerow-convert-{}-{number}", std::process::id());
        let root = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&root).unwrap();
        let repository = Repository { root };
        repository.git(&["init", "-q", "."]);
        repository.git(&["config", "core.fsync", "none"]);
        repository
    }

    pub fn run(&self, args: &[&str], input: &[u8]) -> GitOutput {
        let mut child = Command::new("git")
            .args(args)
            .current_dir(&self.root)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_ATTR_NOSYSTEM", "1")
            .env("GIT_AUTHOR_NAME", "A")
            .env("GIT_AUTHOR_EMAIL", "a@example.com")
            .env("GIT_COMMITTER_NAME", "A")
            .env("GIT_COMMITTER_EMAIL", "a@example.com")
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let output = std::thread::scope(|scope| {
            scope.spawn(move || stdin.write_all(input));
            child.wait_with_output().unwrap()
        });
        GitOutput {
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code(),
        }
    }

    pub fn git(&self, args: &[&str]) -> Vec<u8> {
        self.git_with(args, b"")
    }

    pub fn git_with(&self, args: &[&str], input: &[u8]) -> Vec<u8> {
        let output = self.run(args, input);
        assert_eq!(output.code, Some(0), "git {args:?}: {}", output.stderr);
        output.stdout
    }

    pub fn write(&self, path: &str, content: &[u8]) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub fn read(&self, path: impl AsRef<Path>) -> Vec<u8> {
        let path = self.root.join(path);
        std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Puts blobs of exactly these contents into the index; tells their ids.
    pub fn index(&self, files: &BTreeMap<String, Vec<u8>>) -> BTreeMap<String, ObjectId> {
        let mut ids = BTreeMap::new();
        let mut names = String::new();
        let mut by_content: BTreeMap<&[u8], ObjectId> = BTreeMap::new();
        for (number, content) in files.values().enumerate() {
            if !by_content.contains_key(content.as_slice()) {
                by_content.insert(content, blob_id(content));
                let name = format!(".git/raw/{number}");
                self.write(&name, content);
                names.push_str(&name);
                names.push('\n');
            }
        }
        let store = ["hash-object", "-w", "--no-filters", "--stdin-paths"];
        self.git_with(&store, names.as_bytes());
        let mut lines = String::new();
        for (path, content) in files {
            let id = by_content[content.as_slice()];
            lines.push_str(&format!("100644 {id}\t{path}\n"));
            ids.insert(path.clone(), id);
        }
        self.git_with(&["update-index", "--index-info"], lines.as_bytes());
        ids
    }
}

pub fn blob_id(content: &[u8]) -> ObjectId {
    gix_object::compute_hash(gix_hash::Kind::Sha1, gix_object::Kind::Blob, content).unwrap()
}

/// A generator of the same numbers on every machine.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}
