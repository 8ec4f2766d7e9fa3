//! Each verb of the facade, once, on a repository that git has made.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "a test looks at files itself"
)]

use hedgerow::image::{
    ArchiveOptions, ArchiveOutput, Body, CreateOptions, ExtractOptions, Hooks, Image, Recipe,
    Source, WriteError,
};
use hedgerow::numbers::Shard;
use hedgerow::pack::HashKind;
use hedgerow::pack::{IndexOptions, Observer, PackError, PackOptions, Question, RepackRequest};
use hedgerow::plumbing::pack::TrailerHasher;
use hedgerow::walk::{CountedLinks, Entry, Omission, OpenDirectory, Receiver, Totals};
use hedgerow::{checkout, image, pack, status, walk, Environment, Execution, Repository, Stage};
use hedgerow_testkit::git_text;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// A repository with two commits: `first` has `a` and `d/b`; `main` has `a` changed and `d/c` added.
struct Scene {
    directory: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let scene = Scene {
            directory: tempfile::tempdir().unwrap(),
        };
        fs::create_dir_all(scene.path("tree/d")).unwrap();
        scene.ask(&["init", "-q", "-b", "main"]);
        fs::write(scene.path("tree/a"), "one\n").unwrap();
        fs::write(scene.path("tree/d/b"), "two\n").unwrap();
        scene.ask(&["add", "."]);
        scene.ask(&["commit", "-q", "-m", "first"]);
        scene.ask(&["tag", "first"]);
        fs::write(scene.path("tree/a"), "three\n").unwrap();
        fs::write(scene.path("tree/d/c"), "four\n").unwrap();
        scene.ask(&["add", "."]);
        scene.ask(&["commit", "-q", "-m", "second"]);
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn ask(&self, words: &[&str]) -> String {
        git_text(&self.path("tree"), words)
    }

    fn repository(&self) -> Repository {
        let environment = Environment {
            cwd: self.path("tree"),
            no_system_config: true,
            unaided: true,
            ..Environment::default()
        };
        Repository::discover(&environment).unwrap()
    }
}

fn cancelled() -> Execution {
    let execution = Execution::default();
    execution.cancel.cancel();
    execution
}

#[test]
fn a_working_tree_is_moved_and_its_status_told() {
    let scene = Scene::new();
    let repository = scene.repository();
    let target = checkout::Target::of_revision(&repository, "first".into()).unwrap();
    let options = checkout::SwitchOptions::default();
    let switched = checkout::switch(&repository, &target, &options).unwrap();
    let checkout::Outcome::Done(done) = switched.outcome else {
        panic!("{:?}", switched.outcome);
    };
    assert_eq!((done.written, done.removed), (1, 1));
    let files = options.execution.progress.stage(Stage::Files);
    assert_eq!((files.done(), files.total(), files.bytes()), (1, 1, 4));
    assert_eq!(fs::read(scene.path("tree/a")).unwrap(), b"one\n");
    assert_eq!(scene.ask(&["status", "--porcelain"]), "");

    fs::write(scene.path("tree/a"), "changed\n").unwrap();
    fs::write(scene.path("tree/new"), "").unwrap();
    let status = status::status(&repository, &status::Options::default()).unwrap();
    let changed: Vec<_> = status.changes.iter().map(|it| it.path.clone()).collect();
    assert_eq!(changed, ["a"]);

    let back = checkout::Target::of_revision(&repository, "main".into()).unwrap();
    let switched = checkout::switch(&repository, &back, &options).unwrap();
    assert!(matches!(switched.outcome, checkout::Outcome::Rejected(_)));
    assert_eq!(fs::read(scene.path("tree/a")).unwrap(), b"changed\n");

    let options = checkout::SwitchOptions {
        discard_changes: true,
        overwrite_untracked: true,
        execution: cancelled(),
        ..checkout::SwitchOptions::default()
    };
    assert!(checkout::switch(&repository, &back, &options).is_err());
    let unknown = checkout::Target::of_revision(&repository, "nothing".into());
    assert_eq!(
        unknown.unwrap_err().to_string(),
        "invalid reference: nothing"
    );
}

#[derive(Default)]
struct Sum {
    totals: Mutex<Totals>,
    links: CountedLinks,
}

impl Receiver for &Sum {
    type Worker = ();
    type Error = std::convert::Infallible;

    fn worker(&self) {}

    fn entry(&self, (): &mut (), entry: Entry<'_>) -> Result<(), Self::Error> {
        self.totals.lock().unwrap().add(&entry, &self.links);
        Ok(())
    }

    fn omitted(&self, (): &mut (), omission: Omission) -> Result<(), Self::Error> {
        panic!("{omission:?}");
    }
}

#[test]
fn a_tree_is_walked_and_added_up() {
    let scene = Scene::new();
    fs::hard_link(scene.path("tree/a"), scene.path("tree/d/again")).unwrap();
    fs::remove_dir_all(scene.path("tree/.git")).unwrap();
    let sum = Sum::default();
    let options = walk::WalkOptions {
        metadata: true,
        ..walk::WalkOptions::default()
    };
    let root = scene.path("tree");
    walk::walk(OpenDirectory::open(&root).unwrap(), &root, &&sum, &options).unwrap();
    let totals = sum.totals.into_inner().unwrap();
    assert_eq!(totals.files, 4);
    assert_eq!((totals.bytes, totals.repeated_links), (6 + 4 + 5, 1));
}

/// The tree is listed twice, once to learn how much there is to divide.
#[test]
fn entries_of_a_part_are_counted_once() {
    let scene = Scene::new();
    fs::remove_dir_all(scene.path("tree/.git")).unwrap();
    let options = CreateOptions::default();
    let hooks = Hooks {
        part: Some((Shard::new(1, 1).unwrap(), b"")),
        ..Hooks::default()
    };
    let (tree, target) = (scene.path("tree"), scene.path("part"));
    let source = Source::directory(&tree);
    let created = image::create_with(source, Recipe::default(), &target, &options, hooks).unwrap();
    let entries = options.execution.progress.stage(Stage::Entries);
    assert_eq!(entries.done(), u64::from(created.inodes));
}

#[test]
fn an_image_is_made_checked_and_taken_apart() {
    let scene = Scene::new();
    let repository = scene.repository();
    let target = scene.path("image");
    let options = CreateOptions::default();
    let source = Source::commit(&repository, "first".into());
    let created = image::create(source, &target, &options).unwrap();
    assert_eq!(created.inodes, 4);
    let entries = options.execution.progress.stage(Stage::Entries);
    assert_eq!((entries.done(), entries.bytes()), (4, 8));

    let opened = Arc::new(Image::open(&target, 0).unwrap());
    let mut content = Vec::new();
    image::write_content(&opened, b"d/b", &mut content, &Execution::default()).unwrap();
    assert_eq!(content, b"two\n");
    let Body::File(file) = opened.find(b"d/b").unwrap().body else {
        panic!("d/b is a file");
    };
    for (range, expected) in [
        (0..9, &b"two\n"[..]),
        (1..3, b"wo"),
        (4..9, b""),
        (4..4, b""),
    ] {
        let read = image::read_range(&opened, &file, range, &Execution::default());
        assert_eq!(read.unwrap(), expected);
    }
    let absent = image::write_content(&opened, b"d", &mut content, &Execution::default());
    assert!(absent.is_err());

    let file = hedgerow_fs::ReadFile::open(&target).unwrap();
    let report = image::verify(Box::new(file), 0, &Execution::default()).unwrap();
    assert!(report.findings.is_empty());

    let out = scene.path("out");
    let extracted = image::extract(&opened, &out, &ExtractOptions::default(), |failed| {
        panic!("{failed:?}")
    });
    assert_eq!(extracted.unwrap().entries, 3);
    assert_eq!(fs::read(scene.path("out/d/b")).unwrap(), b"two\n");
    let again = image::extract(&opened, &out, &ExtractOptions::default(), |_| {});
    assert!(matches!(again, Err(image::ExtractError::NotEmpty { .. })));

    // The archive of the image makes the same image.
    let archive = scene.path("archive.tar");
    let output = ArchiveOutput::File {
        path: &archive,
        replace: false,
    };
    let skipped = image::to_archive(&opened, output, &ArchiveOptions::default()).unwrap();
    assert!(skipped.is_empty());
    let source = Source::archive(hedgerow_fs::ReadFile::open(&archive).unwrap());
    let second = scene.path("second");
    image::create(source, &second, &options).unwrap();
    assert!(fs::read(&target).unwrap() == fs::read(&second).unwrap());

    let options = CreateOptions {
        execution: cancelled(),
        ..CreateOptions::default()
    };
    let third = scene.path("third");
    let tree = scene.path("tree");
    let outcome = image::create(Source::directory(&tree), &third, &options);
    assert!(matches!(outcome, Err(WriteError::Cancelled)), "{outcome:?}");
    assert!(!third.exists());
}

struct Silent;

impl Observer for Silent {
    fn warn(&self, warning: &dyn std::fmt::Display) {
        panic!("{warning}");
    }
}

#[test]
fn packs_are_made_indexed_and_replaced() {
    let scene = Scene::new();
    let repository = scene.repository();
    let question = Question {
        wants: repository.head().unwrap().id().into_iter().collect(),
        threads: 2,
        ..Question::default()
    };
    let options = PackOptions::configured(&repository).unwrap();
    let packed = scene.path("made.pack");
    let mut file = fs::File::create(&packed).unwrap();
    pack::serve(&repository, &question, &options, &mut file).unwrap();
    let objects = scene.ask(&["rev-list", "--objects", "--all"]);
    let objects = objects.lines().count();
    let progress = options.execution.progress.stage(Stage::Writing);
    assert_eq!(progress.done(), objects as u64);

    let hash = repository.hash_kind();
    let given_up = IndexOptions {
        execution: cancelled(),
        ..IndexOptions::new(hash)
    };
    let outcome = pack::index(&packed, &given_up);
    assert!(
        matches!(outcome, Err(PackError::Interrupted)),
        "{outcome:?}"
    );
    assert!(!scene.path("made.idx").exists());
    let indexed = pack::index(&packed, &IndexOptions::new(hash)).unwrap();
    assert_eq!(indexed.entries.len(), objects);
    let index = scene.path("made.idx");
    scene.ask(&["verify-pack", index.to_str().unwrap()]);

    let request = RepackRequest {
        all: true,
        delete: true,
        ..RepackRequest::default()
    };
    pack::repack(&repository, &request, &Silent).unwrap();
    let counted = scene.ask(&["count-objects", "-v"]);
    assert!(counted.starts_with("count: 0\n"), "{counted}");
    let in_pack = format!("in-pack: {objects}\n");
    assert!(counted.contains(&in_pack), "{counted}");
    scene.ask(&["fsck", "--strict"]);
}

/// A repack believes no accelerator, however the repository was opened: objects that a wrong one does
/// not know of would be deleted.
#[test]
fn a_repack_opens_the_repository_without_accelerators() {
    let scene = Scene::new();
    scene.ask(&["commit-graph", "write", "--reachable"]);
    let graph = scene.path("tree/.git/objects/info/commit-graph");
    let mut content = fs::read(&graph).unwrap();
    let chunks = (0..usize::from(content[6])).map(|number| 8 + 12 * number);
    let commits = chunks.map(|at| &content[at..at + 12]);
    let commits = commits.into_iter().find(|entry| &entry[..4] == b"CDAT");
    let start = u64::from_be_bytes(commits.unwrap()[4..].try_into().unwrap()) as usize;
    // Both commits have no parents, says the file: a tree, two parents, and eight bytes more.
    for commit in 0..2 {
        let parent = start + commit * 36 + 20;
        content[parent..parent + 4].copy_from_slice(&0x7000_0000_u32.to_be_bytes());
    }
    let end = content.len() - 20;
    let mut hasher = TrailerHasher::new(HashKind::Sha1);
    hasher.update(&content[..end]);
    let trailer = hasher.finish();
    content[end..].copy_from_slice(trailer.as_bytes());
    fs::remove_file(&graph).unwrap();
    fs::write(&graph, &content).unwrap();

    let environment = Environment {
        unaided: false,
        ..scene.repository().environment().clone()
    };
    let repository = Repository::discover(&environment).unwrap();
    let request = RepackRequest {
        all: true,
        delete: true,
        ..RepackRequest::default()
    };
    pack::repack(&repository, &request, &Silent).unwrap();
    fs::remove_file(&graph).unwrap();
    scene.ask(&["fsck", "--strict"]);
}
