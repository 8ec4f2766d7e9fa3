//! Repositories made by git, and git's own answers about them.

pub mod craft;

use hedgerow_pack::{ObjectId, ObjectStore, StoreOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A bare repository in a directory that goes away with it.
pub struct Repository {
    pub path: PathBuf,
}

/// What git says an object is.
#[derive(Debug, PartialEq, Eq)]
pub struct Known {
    pub id: ObjectId,
    pub kind: String,
    pub content: Vec<u8>,
}

impl Repository {
    /// An empty repository of that object format (`sha1` or `sha256`).
    pub fn new(format: &str) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("pack-{}-{number}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        let repository = Repository { path };
        repository.git(
            &[
                "init",
                "-q",
                "--bare",
                &format!("--object-format={format}"),
                ".",
            ],
            b"",
        );
        for (key, value) in [
            ("gc.auto", "0"),
            ("pack.threads", "1"),
            ("core.compression", "6"),
        ] {
            repository.git(&["config", key, value], b"");
        }
        repository
    }

    /// A repository with `versions` commits of a few growing files, all packed by
    /// `git repack` with `arguments`.
    pub fn with_history(format: &str, versions: usize, arguments: &[&str]) -> Self {
        let repository = Repository::new(format);
        repository.import("refs/heads/main", 0..versions);
        repository.git(arguments, b"");
        repository
    }

    /// Adds a commit for each of `versions` to the branch `name`.
    pub fn import(&self, name: &str, versions: std::ops::Range<usize>) {
        let mut stream = Vec::new();
        for version in versions {
            let when = 1_700_000_000 + version;
            write!(stream, "commit {name}\ncommitter A <a@b> {when} +0000\n").unwrap();
            write!(stream, "data 1\nx\n").unwrap();
            let files = [
                ("one.txt", text(version, 400)),
                ("dir/two.txt", text(version / 3, 90)),
                ("dir/empty", Vec::new()),
                (&format!("dir/new-{version}"), text(version * 7919, 3)),
            ];
            for (path, content) in files {
                writeln!(stream, "M 100644 inline {path}\ndata {}", content.len()).unwrap();
                stream.extend_from_slice(&content);
                stream.push(b'\n');
            }
        }
        self.git(&["fast-import", "--quiet", "--force"], &stream);
    }

    /// Runs git in the repository with `input`; returns what it printed.
    pub fn git(&self, arguments: &[&str], input: &[u8]) -> Vec<u8> {
        let mut child = Command::new("git")
            .args(arguments)
            .current_dir(&self.path)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let feeder = std::thread::spawn(move || stdin.write_all(&input));
        let output = child.wait_with_output().unwrap();
        let _ = feeder.join().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {errors}");
        output.stdout
    }

    /// Stores `content` as a loose blob.
    pub fn add_loose(&self, content: &[u8], level: u32) -> ObjectId {
        let level = format!("core.looseCompression={level}");
        let printed = self.git(&["-c", &level, "hash-object", "-w", "--stdin"], content);
        ObjectId::from_hex(printed.trim_ascii_end()).unwrap()
    }

    pub fn objects(&self) -> PathBuf {
        self.path.join("objects")
    }

    /// The files of `objects/pack` with that extension.
    pub fn pack_files(&self, extension: &str) -> Vec<PathBuf> {
        let listing = std::fs::read_dir(self.objects().join("pack")).unwrap();
        let paths = listing.map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = paths
            .filter(|path| path.extension().is_some_and(|e| e == extension))
            .collect();
        files.sort();
        files
    }

    pub fn only_pack_file(&self, extension: &str) -> PathBuf {
        let mut files = self.pack_files(extension);
        assert_eq!(files.len(), 1, "{files:?}");
        files.remove(0)
    }

    pub fn options(&self) -> StoreOptions {
        let format = self.git(&["rev-parse", "--show-object-format"], b"");
        let hash = match format.as_slice() {
            b"sha256\n" => hedgerow_pack::HashKind::Sha256,
            _ => hedgerow_pack::HashKind::Sha1,
        };
        StoreOptions {
            hash,
            ..StoreOptions::default()
        }
    }

    pub fn store(&self) -> ObjectStore {
        ObjectStore::open(&self.objects(), self.options()).unwrap()
    }

    /// Every object as git knows it, in order of ids.
    pub fn known(&self) -> Vec<Known> {
        let printed = self.git(
            &["cat-file", "--batch-all-objects", "--batch", "--buffer"],
            b"",
        );
        let mut rest = printed.as_slice();
        let mut known = Vec::new();
        while !rest.is_empty() {
            let end = rest.iter().position(|byte| *byte == b'\n').unwrap();
            let line = std::str::from_utf8(&rest[..end]).unwrap();
            let fields: Vec<&str> = line.split(' ').collect();
            let size: usize = fields[2].parse().unwrap();
            known.push(Known {
                id: ObjectId::from_hex(fields[0].as_bytes()).unwrap(),
                kind: fields[1].to_owned(),
                content: rest[end + 1..end + 1 + size].to_vec(),
            });
            rest = &rest[end + size + 2..];
        }
        known
    }
}

impl Drop for Repository {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// Lines of which a few differ from one version to the next.
pub fn text(version: usize, lines: usize) -> Vec<u8> {
    let line = |number: usize| {
        let changed = version.saturating_sub(number) / 50;
        format!(
            "line {number} of some text, {} and {changed}\n",
            number * 48_271 % 65_537
        )
    };
    let tail = format!("this is version {version}\n");
    (0..lines)
        .map(line)
        .chain([tail])
        .collect::<String>()
        .into_bytes()
}

/// Replaces a file that git wrote read-only.
pub fn overwrite(path: &Path, content: &[u8]) {
    let _ = std::fs::remove_file(path);
    std::fs::write(path, content).unwrap();
}
