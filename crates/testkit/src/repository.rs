//! Repositories that git makes, in directories that go away.

use crate::program::shown;
use crate::snapshot::{snapshot, Snapshot};
use crate::{run, run_with, temporary, Outcome, Program};
use gix_hash::ObjectId;
use std::ffi::OsStr;
use std::io::Write;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// What every repository is told: nothing is flushed to the disk, and nothing runs unasked.
const SETTINGS: &str = "[core]\n\tfsync = none\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n";

/// A repository, with a working tree unless it is bare.
pub struct Repository {
    pub root: PathBuf,
    /// Variables for each git that this runs, beside those of [`crate::isolate`].
    variables: Vec<(&'static str, &'static str)>,
    _home: Option<tempfile::TempDir>,
}

/// What git says an object is.
#[derive(Debug, PartialEq, Eq)]
pub struct Known {
    pub id: ObjectId,
    pub kind: String,
    pub content: Vec<u8>,
}

impl Repository {
    /// An empty one, `words` given to `git init`.
    pub fn init(words: &[&str]) -> Repository {
        let home = temporary();
        let root = home.path().join("work");
        std::fs::create_dir(&root).unwrap();
        let repository = Repository {
            root,
            variables: Vec::new(),
            _home: Some(home),
        };
        repository.git(&[&["init", "-q", "-b", "main"], words].concat());
        repository.configure(SETTINGS);
        repository
    }

    /// Adds lines to its configuration, as fast as a file is written.
    fn configure(&self, lines: &str) {
        let path = self.git_dir().join("config");
        let file = std::fs::OpenOptions::new().append(true).open(path);
        let written = file.and_then(|mut file| file.write_all(lines.as_bytes()));
        written.expect("a repository has a configuration");
    }

    /// An empty bare one of that object format (`sha1` or `sha256`), whose packs are the same for
    /// any number of processors.
    pub fn bare(format: &str) -> Repository {
        let repository = Repository::init(&["--bare", &format!("--object-format={format}")]);
        repository.git(&["config", "pack.threads", "1"]);
        repository.git(&["config", "core.compression", "6"]);
        repository
    }

    /// A bare one with `versions` commits of a few growing files, all packed by `git repack` with
    /// `arguments`.
    pub fn with_history(format: &str, versions: usize, arguments: &[&str]) -> Repository {
        let repository = Repository::bare(format);
        repository.import("refs/heads/main", 0..versions);
        repository.git(arguments);
        repository
    }

    /// One whose directory someone else looks after.
    pub fn at(root: PathBuf) -> Repository {
        Repository {
            root,
            variables: Vec::new(),
            _home: None,
        }
    }

    /// Sets variables for each git that this runs: other dates or identities than usual.
    pub fn set_variables(&mut self, variables: &[(&'static str, &'static str)]) {
        self.variables.extend_from_slice(variables);
    }

    /// Runs git, however it ends.
    pub fn run<S: AsRef<OsStr>>(&self, words: &[S], input: &[u8]) -> Outcome {
        let mut command = Program::Git.command(&self.root);
        command.args(words).envs(self.variables.iter().copied());
        run_with(command, input)
    }

    /// Runs git, which must succeed; returns what it prints.
    pub fn git<S: AsRef<OsStr>>(&self, words: &[S]) -> Vec<u8> {
        self.git_with(words, b"")
    }

    /// The same with `input`.
    pub fn git_with<S: AsRef<OsStr>>(&self, words: &[S], input: &[u8]) -> Vec<u8> {
        self.run(words, input).ok(&shown(words))
    }

    /// What git prints, as text without white space around it.
    pub fn ask<S: AsRef<OsStr>>(&self, words: &[S]) -> String {
        self.ask_with(words, b"")
    }

    /// The same with `input`.
    pub fn ask_with<S: AsRef<OsStr>>(&self, words: &[S], input: &[u8]) -> String {
        let text = String::from_utf8(self.git_with(words, input)).unwrap();
        text.trim().to_owned()
    }

    /// A path in the working tree.
    pub fn path(&self, path: impl AsRef<[u8]>) -> PathBuf {
        self.root.join(OsStr::from_bytes(path.as_ref()))
    }

    /// Writes a file, making the directories above it.
    pub fn write(&self, path: impl AsRef<[u8]>, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub fn read(&self, path: impl AsRef<Path>) -> Vec<u8> {
        let path = self.root.join(path);
        std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
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

    /// Commits the working tree, ignored files included; returns the id.
    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A", "-f"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        let loose = self.loose_head();
        loose.unwrap_or_else(|| self.ask(&["rev-parse", "HEAD"]))
    }

    /// What is in the file of the branch that is checked out; `None` if there is no such file.
    fn loose_head(&self) -> Option<String> {
        let directory = self.root.join(".git");
        let head = std::fs::read_to_string(directory.join("HEAD")).ok()?;
        let branch = head.strip_prefix("ref: refs/heads/")?.trim_end();
        let id = std::fs::read_to_string(directory.join("refs/heads").join(branch)).ok()?;
        Some(id.trim_end().to_owned())
    }

    /// Writes files and commits them with what is there; returns the id.
    pub fn commit_files(&self, files: &[(&str, &str)], message: &str) -> String {
        for (path, content) in files {
            self.write(path, content);
        }
        self.commit(message)
    }

    /// Adds a commit for each of `versions` to the branch `name`: texts that grow and change in a
    /// few lines.
    pub fn import(&self, name: &str, versions: Range<usize>) {
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
        self.git_with(&["fast-import", "--quiet", "--force"], &stream);
    }

    /// Stores `content` as a loose blob, compressed at that level.
    pub fn add_loose(&self, content: &[u8], level: u32) -> ObjectId {
        let level = format!("core.looseCompression={level}");
        let words = ["-c", &level, "hash-object", "-w", "--stdin"];
        let printed = self.git_with(&words, content);
        ObjectId::from_hex(printed.trim_ascii_end()).unwrap()
    }

    /// Where git keeps what it knows.
    pub fn git_dir(&self) -> PathBuf {
        let inside = self.root.join(".git");
        if inside.is_dir() {
            inside
        } else if self.root.join("objects").is_dir() && self.root.join("HEAD").is_file() {
            self.root.clone()
        } else {
            PathBuf::from(self.ask(&["rev-parse", "--absolute-git-dir"]))
        }
    }

    pub fn objects(&self) -> PathBuf {
        self.git_dir().join("objects")
    }

    /// The files of `objects/pack` with that extension, sorted.
    pub fn pack_files(&self, extension: &str) -> Vec<PathBuf> {
        let listing = std::fs::read_dir(self.objects().join("pack")).unwrap();
        let paths = listing.map(|entry| entry.unwrap().path());
        let mut files: Vec<PathBuf> = paths
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

    /// The object format.
    pub fn hash(&self) -> gix_hash::Kind {
        match self.ask(&["rev-parse", "--show-object-format"]).as_str() {
            "sha256" => gix_hash::Kind::Sha256,
            _ => gix_hash::Kind::Sha1,
        }
    }

    /// Every object as git knows it, in order of ids.
    pub fn known(&self) -> Vec<Known> {
        let printed = self.git(&["cat-file", "--batch-all-objects", "--batch", "--buffer"]);
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

    /// The ids of all objects there are, sorted.
    pub fn all_ids(&self) -> Vec<String> {
        let check = "--batch-check=%(objectname)";
        let text = self.ask(&["cat-file", "--batch-all-objects", check]);
        text.lines().map(str::to_owned).collect()
    }

    /// The bytes of the index; none if there is none.
    pub fn index(&self) -> Vec<u8> {
        std::fs::read(self.git_dir().join("index")).unwrap_or_default()
    }

    /// Neither the index nor HEAD is locked.
    pub fn assert_no_lock(&self, what: &str) {
        for name in ["index.lock", "HEAD.lock"] {
            let lock = self.git_dir().join(name);
            assert!(!lock.exists(), "{what}: {name} was left");
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

    /// A second repository with the same `.git`, at `root`, without its working tree.
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

    /// `git fsck` finds nothing, not even a word.
    pub fn assert_sound(&self) {
        let mut command = Program::Git.command(&self.root);
        command.args([
            "fsck",
            "--full",
            "--strict",
            "--no-dangling",
            "--no-progress",
        ]);
        let outcome = run(command);
        assert_eq!(
            (outcome.code, outcome.stderr.as_str()),
            (0, ""),
            "{outcome:?}"
        );
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
    let lines = (0..lines).map(line).chain([tail]);
    lines.collect::<String>().into_bytes()
}

/// Replaces a file that git wrote read-only.
pub fn overwrite(path: &Path, content: &[u8]) {
    let _ = std::fs::remove_file(path);
    std::fs::write(path, content).unwrap();
}

/// The SHA-1 name of a blob.
pub fn blob_id(content: &[u8]) -> ObjectId {
    let mut hasher = gix_hash::hasher(gix_hash::Kind::Sha1);
    hasher.update(format!("blob {}\0", content.len()).as_bytes());
    hasher.update(content);
    hasher.try_finalize().unwrap()
}
