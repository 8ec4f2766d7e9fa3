//! Repositories to pack, and git to look at what came of it.

use hedgerow_engine::Execution;
use hedgerow_pack::{HashKind, Location, ObjectId, ObjectStore, Reader, StoreOptions};
use hedgerow_serve::{name_hash, write_pack, Contents, PackOptions, Wanted};
use std::num::NonZeroUsize;
use std::ops::Deref;

pub struct Repository {
    repository: hedgerow_testkit::Repository,
    pub hash: HashKind,
}

impl Deref for Repository {
    type Target = hedgerow_testkit::Repository;

    fn deref(&self) -> &hedgerow_testkit::Repository {
        &self.repository
    }
}

impl Repository {
    pub fn new(hash: HashKind) -> Self {
        let repository = hedgerow_testkit::Repository::bare(&hash.to_string());
        Repository { repository, hash }
    }

    /// One with a history of `commits`, each of which changes some of its files.
    pub fn with_history(hash: HashKind, commits: usize) -> Self {
        let repository = Self::new(hash);
        repository.git_with(&["fast-import", "--quiet"], &history(commits));
        repository
    }

    pub fn store(&self) -> ObjectStore {
        let options = StoreOptions {
            hash: self.hash,
            ..StoreOptions::default()
        };
        ObjectStore::open(&self.objects(), options).unwrap()
    }

    /// The ids and paths that `git rev-list --objects` lists, edges among them.
    pub fn listed(&self, revisions: &[&str]) -> Vec<(ObjectId, String)> {
        let arguments = [&["rev-list", "--objects"], revisions].concat();
        let text = self.ask(&arguments);
        let line = |line: &str| {
            let (id, path) = line.split_once(' ').unwrap_or((line, ""));
            (ObjectId::from_hex(id.as_bytes()).unwrap(), path.to_owned())
        };
        text.lines().map(line).collect()
    }

    /// Receives `pack` as a server does.
    pub fn receive(&self, pack: &[u8], options: &[&str]) {
        let arguments = [&["index-pack", "--stdin", "--strict"], options].concat();
        self.git_with(&arguments, pack);
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
    receiver.git_with(&["index-pack", "--stdin"], pack);
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
