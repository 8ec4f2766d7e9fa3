//! Repositories to pack, and git to look at what came of it.

use hedgerow_engine::Execution;
use hedgerow_pack::{HashKind, Location, ObjectId, ObjectStore, Reader, StoreOptions};
use hedgerow_serve::{name_hash, write_pack, Contents, PackOptions, Wanted};
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub struct Repository {
    directory: tempfile::TempDir,
    pub hash: HashKind,
}

impl Repository {
    pub fn new(hash: HashKind) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let repository = Repository { directory, hash };
        let format = format!("--object-format={}", hash);
        repository.git(&["init", "-q", "--bare", &format, "."], b"");
        repository
    }

    /// One with a history of `commits`, each of which changes some of its files.
    pub fn with_history(hash: HashKind, commits: usize) -> Self {
        let repository = Self::new(hash);
        repository.git(&["fast-import", "--quiet"], &history(commits));
        repository
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn objects(&self) -> PathBuf {
        self.path().join("objects")
    }

    pub fn store(&self) -> ObjectStore {
        let options = StoreOptions {
            hash: self.hash,
            ..StoreOptions::default()
        };
        ObjectStore::open(&self.objects(), options).unwrap()
    }

    /// Runs git, which must succeed.
    pub fn git(&self, arguments: &[&str], input: &[u8]) -> Vec<u8> {
        let mut child = Command::new("git")
            .current_dir(self.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("HOME", self.path())
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writer = std::thread::spawn(move || {
            let _ = stdin.write_all(&input);
        });
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "git {arguments:?}: {error}");
        output.stdout
    }

    pub fn text(&self, arguments: &[&str]) -> String {
        String::from_utf8(self.git(arguments, b"")).unwrap()
    }

    /// The ids and paths that `git rev-list --objects` lists, edges among them.
    pub fn listed(&self, revisions: &[&str]) -> Vec<(ObjectId, String)> {
        let arguments = [&["rev-list", "--objects"], revisions].concat();
        let text = self.text(&arguments);
        let line = |line: &str| {
            let (id, path) = line.split_once(' ').unwrap_or((line, ""));
            (ObjectId::from_hex(id.as_bytes()).unwrap(), path.to_owned())
        };
        text.lines().map(line).collect()
    }

    /// All objects there are.
    pub fn all_ids(&self) -> Vec<String> {
        let check = "--batch-check=%(objectname)";
        let text = self.text(&["cat-file", "--batch-all-objects", check]);
        text.lines().map(str::to_owned).collect()
    }

    /// Receives `pack` as a server does.
    pub fn receive(&self, pack: &[u8], options: &[&str]) {
        let arguments = [&["index-pack", "--stdin", "--strict"], options].concat();
        self.git(&arguments, pack);
    }
}

pub fn wanted(store: &ObjectStore, listed: &[(ObjectId, String)]) -> Vec<Wanted> {
    let mut reader = Reader::new(store);
    let object = |(id, path): &(ObjectId, String)| {
        let location = store.locate(id).unwrap().unwrap();
        Wanted {
            id: *id,
            location,
            kind: reader.kind(id, location).unwrap(),
            name_hash: name_hash(path.as_bytes()),
        }
    };
    listed.iter().map(object).collect()
}

pub fn with_threads(threads: usize) -> PackOptions {
    PackOptions {
        execution: Execution::with_threads(NonZeroUsize::new(threads).unwrap()),
        delta_base_offset: true,
        ..PackOptions::default()
    }
}

pub fn pack(store: &ObjectStore, contents: &Contents<'_>, options: &PackOptions) -> Vec<u8> {
    let mut bytes = Vec::new();
    let written = write_pack(store, contents, options, false, &mut bytes).unwrap();
    assert_eq!(written.bytes, bytes.len() as u64);
    assert!(bytes.ends_with(written.checksum.as_bytes()));
    bytes
}

/// What is in `pack`, sorted, if it stands by itself.
pub fn ids_in(pack: &[u8], hash: HashKind) -> Vec<String> {
    let receiver = Repository::new(hash);
    // Objects may refer to what is not sent: their links are not looked at.
    receiver.git(&["index-pack", "--stdin"], pack);
    receiver.all_ids()
}

pub fn sorted_ids(ids: impl IntoIterator<Item = ObjectId>) -> Vec<String> {
    let mut ids: Vec<String> = ids.into_iter().map(|id| id.to_string()).collect();
    ids.sort();
    ids.dedup();
    ids
}

/// The copy of `id` in the pack `number`.
pub fn copy_in(store: &ObjectStore, id: &ObjectId, number: u32) -> Location {
    let is_it = |copy: &Location| matches!(copy, Location::Packed { pack, .. } if *pack == number);
    store.all_copies(id).find(is_it).unwrap()
}

fn history(commits: usize) -> Vec<u8> {
    let mut stream = String::new();
    for commit in 1..=commits {
        let time = 1_700_000_000 + commit * 60;
        stream += &format!("commit refs/heads/main\nmark :{commit}\n");
        stream += &format!("committer A <a@example.com> {time} +0000\ndata 4\nwork\n");
        for file in 0..12 {
            if (commit + file) % 4 != 0 && commit > 1 {
                continue;
            }
            let content = content(file, commit);
            let path = format!("d{}/file{file}.c", file % 3);
            let length = content.len();
            stream += &format!("M 100644 inline {path}\ndata {length}\n{content}\n");
        }
        stream += "\n";
    }
    stream += "reset refs/tags/base\nfrom :1\n\n";
    stream.into_bytes()
}

/// A text whose lines change one after the other, and that grows.
fn content(file: usize, version: usize) -> String {
    let lines = 40 + file * 13 + version;
    let line = |line: usize| {
        let changed = if line % 9 == version % 9 { version } else { 0 };
        let word = (line * 2_654_435_761 + file * 97 + changed * 31) % 1_000_003;
        format!(
            "line {line} of {file} says {word} and {}\n",
            word * 7 % 8191
        )
    };
    (0..lines).map(line).collect()
}
