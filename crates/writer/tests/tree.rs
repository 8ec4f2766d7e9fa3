//! Trees that are written and removed, against pictures of what is on the disk then.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests look at files"
)]

use hedgerow_engine::{CancelToken, Jobs, Options};
use hedgerow_fs::Dir;
use hedgerow_testkit::{snapshot, temporary, Node, Random, Snapshot, TempDir};
use hedgerow_writer::{
    remove_paths, write_tree, Error, Form, Plan, Problem, Removal, Removed, Sink, Written,
};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{symlink, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

/// A list of entries, and what became of them.
struct List {
    rows: Vec<(Vec<u8>, Form, Content)>,
    replaces: bool,
    /// Asks for the end when so many contents were given.
    cancel: Option<(usize, CancelToken)>,
    given: AtomicUsize,
    outcomes: Mutex<BTreeMap<Vec<u8>, Result<u64, String>>>,
}

#[derive(Clone)]
enum Content {
    /// In pieces of so many bytes.
    Pieces(Vec<u8>, usize),
    /// A hole, and text after it.
    Hole(u64, Vec<u8>),
    /// Text, and then no more.
    FailsAfter(Vec<u8>),
}

impl List {
    fn new(mut rows: Vec<(Vec<u8>, Form, Content)>, replaces: bool) -> List {
        rows.sort_by(|a, b| a.0.cmp(&b.0));
        List {
            rows,
            replaces,
            cancel: None,
            given: AtomicUsize::new(0),
            outcomes: Mutex::default(),
        }
    }

    fn outcomes(&self) -> BTreeMap<Vec<u8>, Result<u64, String>> {
        self.outcomes.lock().unwrap().clone()
    }

    /// The paths that failed, and why.
    fn failures(&self) -> Vec<(String, String)> {
        let outcomes = self.outcomes();
        let failed = outcomes.iter().filter_map(|(path, outcome)| {
            let reason = outcome.as_ref().err()?;
            Some((path.escape_ascii().to_string(), reason.clone()))
        });
        failed.collect()
    }
}

impl Plan for List {
    type Worker = ();

    fn count(&self) -> usize {
        self.rows.len()
    }

    fn path(&self, row: u32) -> &[u8] {
        &self.rows[row as usize].0
    }

    fn form(&self, row: u32) -> Form {
        self.rows[row as usize].1
    }

    fn replaces(&self, _: u32) -> bool {
        self.replaces
    }

    fn worker(&self) {}

    fn fill(&self, _: &mut (), row: u32, sink: &mut Sink<'_>) -> Result<(), Problem> {
        let given = self.given.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some((limit, cancel)) = &self.cancel {
            if given == *limit {
                cancel.cancel();
            }
        }
        match &self.rows[row as usize].2 {
            Content::Pieces(content, _) if content.is_empty() => sink.write(b""),
            Content::Pieces(content, size) => content
                .chunks(*size)
                .try_for_each(|piece| sink.write(piece)),
            Content::Hole(bytes, content) => {
                sink.write_hole(*bytes)?;
                sink.write(content)
            }
            Content::FailsAfter(content) => {
                sink.write(content)?;
                Err(Problem::content(std::io::Error::other("no more")))
            }
        }
    }

    fn written(&self, batch: Vec<Written>) {
        let mut outcomes = self.outcomes.lock().unwrap();
        for written in batch {
            let path = self.path(written.row).to_vec();
            let outcome = written.outcome.map(|stat| stat.size);
            let outcome = outcome.map_err(|problem| problem.reason());
            assert!(outcomes.insert(path, outcome).is_none(), "told twice");
        }
    }
}

fn workers(count: usize) -> Options {
    Options {
        jobs: Jobs::Fixed(NonZeroUsize::new(count).unwrap()),
        ..Options::default()
    }
}

/// A directory to write to, and one beside it that nothing may touch.
struct Target {
    home: TempDir,
}

impl Target {
    fn new() -> Target {
        let home = temporary();
        std::fs::create_dir(home.path().join("target")).unwrap();
        std::fs::create_dir(home.path().join("outside")).unwrap();
        std::fs::write(home.path().join("outside/file"), "mine").unwrap();
        Target { home }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.home.path().join("target").join(path)
    }

    fn outside(&self) -> PathBuf {
        self.home.path().join("outside")
    }

    fn root(&self) -> Dir {
        Dir::open(&self.path("")).unwrap()
    }

    fn picture(&self) -> Snapshot {
        snapshot(&self.path(""), &|_| false)
    }

    fn assert_outside_untouched(&self) {
        let expected = [(b"file".to_vec(), Node::File(0o644, b"mine".to_vec()))];
        assert_eq!(snapshot(&self.outside(), &|_| false), expected.into());
    }
}

const NAMES: [&[u8]; 10] = [
    b"a",
    b"a.b",
    b"a-b",
    b"new\nline",
    b"\xff\xfe",
    b"sp ace",
    b"-dash",
    b"*",
    b"\x01",
    b"C:",
];

/// Entries of all forms with hostile names, and the picture they make.
fn drawn(seed: u64) -> (Vec<(Vec<u8>, Form, Content)>, Snapshot) {
    let random = &mut Random::new(seed);
    let mut rows = Vec::new();
    let mut picture = Snapshot::new();
    let mut directories: Vec<Vec<u8>> = vec![Vec::new()];
    for number in 0..500 {
        let mut path = random.pick(&directories).clone();
        path.extend_from_slice(NAMES[random.below(NAMES.len())]);
        path.extend_from_slice(format!("{number}").as_bytes());
        let content = vec![b'a' + (number % 26) as u8; random.below(3000)];
        let pieces = Content::Pieces(content.clone(), 1 + random.below(5000));
        let (form, node, content) = match random.below(8) {
            0 => {
                directories.push([&path[..], b"/"].concat());
                (
                    Form::Directory,
                    Node::Directory,
                    Content::Pieces(Vec::new(), 1),
                )
            }
            // A directory that is not in the list.
            1 => {
                picture.insert(path.clone(), Node::Directory);
                path.extend_from_slice(b"/in");
                (Form::File, Node::File(0o644, content), pieces)
            }
            2 => (Form::Executable, Node::File(0o755, content), pieces),
            3 => {
                let target = [b"../".as_slice(), NAMES[random.below(NAMES.len())]].concat();
                let pieces = Content::Pieces(target.clone(), 2);
                (Form::Symlink, Node::Symlink(target), pieces)
            }
            4 => {
                let whole = [vec![0; 9000], content.clone()].concat();
                (
                    Form::File,
                    Node::File(0o644, whole),
                    Content::Hole(9000, content),
                )
            }
            _ => (Form::File, Node::File(0o644, content), pieces),
        };
        picture.insert(path.clone(), node);
        rows.push((path, form, content));
    }
    // One directory that several workers share.
    picture.insert(b"many".to_vec(), Node::Directory);
    for number in 0..300 {
        let row = file(&format!("many/{number}"), "one of many");
        picture.insert(row.0.clone(), Node::File(0o644, b"one of many".to_vec()));
        rows.push(row);
    }
    (rows, picture)
}

#[test]
fn a_tree_is_on_the_disk_as_it_was_listed() {
    for (seed, jobs) in [(1, 1), (2, 2), (3, 8), (4, 64)] {
        let (rows, expected) = drawn(seed);
        let target = Target::new();
        let list = List::new(rows, false);
        write_tree(&target.root(), &list, &workers(jobs)).unwrap();
        assert_eq!(list.failures(), []);
        assert_eq!(list.outcomes().len(), list.rows.len(), "all are told");
        assert!(target.picture() == expected, "seed {seed}");
        for (path, size) in list.outcomes() {
            let on_disk = target.path("").join(OsStr::from_bytes(&path));
            let on_disk = on_disk.symlink_metadata().unwrap();
            // Directories have grown since.
            if !on_disk.is_dir() {
                assert_eq!(size, Ok(on_disk.len()), "{}", path.escape_ascii());
            }
        }
        target.assert_outside_untouched();
    }
}

fn file(path: &str, content: &str) -> (Vec<u8>, Form, Content) {
    let content = Content::Pieces(content.into(), 4);
    (path.into(), Form::File, content)
}

#[test]
fn nothing_is_written_through_a_link_in_the_way() {
    for replaces in [false, true] {
        let target = Target::new();
        symlink(target.outside(), target.path("d")).unwrap();
        symlink(target.outside(), target.path("deep")).unwrap();
        symlink(target.outside().join("file"), target.path("f")).unwrap();
        symlink("nowhere", target.path("dangling")).unwrap();
        let rows = vec![
            file("d/file", "not there"),
            file("deep/a/b", "nor there"),
            file("f", "through"),
            file("dangling", "through"),
            file("sound", "sound"),
        ];
        let list = List::new(rows, replaces);
        write_tree(&target.root(), &list, &workers(3)).unwrap();
        target.assert_outside_untouched();
        let failed: Vec<String> = list.failures().into_iter().map(|(path, _)| path).collect();
        let picture = target.picture();
        assert_eq!(picture[&b"sound"[..]], Node::File(0o644, b"sound".to_vec()));
        assert!(!target.path("nowhere").exists());
        if replaces {
            assert_eq!(failed, ["d/file", "deep/a/b"]);
            assert_eq!(picture[&b"f"[..]], Node::File(0o644, b"through".to_vec()));
            assert_eq!(
                picture[&b"dangling"[..]],
                Node::File(0o644, b"through".to_vec())
            );
        } else {
            assert_eq!(failed, ["d/file", "dangling", "deep/a/b", "f"]);
            assert!(matches!(picture[&b"f"[..]], Node::Symlink(_)));
        }
    }
}

#[test]
fn what_is_there_stays_unless_it_is_to_go() {
    let write = |replaces| {
        let target = Target::new();
        std::fs::write(target.path("a"), "old").unwrap();
        std::fs::create_dir(target.path("b")).unwrap();
        std::fs::write(target.path("b/kept"), "kept").unwrap();
        let mut rows = vec![file("a", "new"), file("b", "no file"), file("c", "third")];
        rows.push(("b2".into(), Form::Directory, Content::Pieces(Vec::new(), 1)));
        let list = List::new(rows, replaces);
        write_tree(&target.root(), &list, &workers(2)).unwrap();
        let picture = target.picture();
        assert_eq!(picture[&b"b/kept"[..]], Node::File(0o644, b"kept".to_vec()));
        assert_eq!(picture[&b"c"[..]], Node::File(0o644, b"third".to_vec()));
        assert_eq!(picture[&b"b2"[..]], Node::Directory);
        (list.failures(), picture[&b"a"[..]].clone())
    };
    let (failures, node) = write(false);
    let paths: Vec<&str> = failures.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["a", "b"]);
    assert!(failures[0].1.contains("in the way"), "{failures:?}");
    assert_eq!(node, Node::File(0o644, b"old".to_vec()));
    let (failures, node) = write(true);
    let paths: Vec<&str> = failures.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["b"]);
    assert_eq!(node, Node::File(0o644, b"new".to_vec()));
}

#[test]
fn content_that_fails_leaves_no_half_file_and_stops_nobody() {
    let target = Target::new();
    std::fs::write(target.path("old"), "old").unwrap();
    let fails = |path: &str, text: &str| {
        let content = Content::FailsAfter(text.into());
        (path.into(), Form::File, content)
    };
    let rows = vec![
        fails("d/half", "half"),
        fails("link", ""),
        file("d/whole", "whole"),
        file("z", "last"),
    ];
    let list = List::new(rows, true);
    write_tree(&target.root(), &list, &workers(2)).unwrap();
    let no_more = |path: &str| (path.to_owned(), "no more".to_owned());
    assert_eq!(list.failures(), [no_more("d/half"), no_more("link")]);
    let names: Vec<String> = target
        .picture()
        .keys()
        .map(|path| path.escape_ascii().to_string())
        .collect();
    assert_eq!(names, ["d", "d/whole", "old", "z"]);
}

#[test]
fn a_cancelled_run_leaves_whole_files_or_none() {
    for (limit, jobs) in [(1, 1), (40, 1), (100, 4)] {
        let (rows, expected) = drawn(9);
        let target = Target::new();
        let options = workers(jobs);
        let mut list = List::new(rows, false);
        list.cancel = Some((limit, options.cancel.clone()));
        let ended = write_tree(&target.root(), &list, &options);
        assert!(matches!(ended, Err(Error::Cancelled)), "{ended:?}");
        // What was begun is finished, and each worker has begun one at most.
        let given = list.given.load(Ordering::Relaxed);
        assert!((limit..limit + jobs).contains(&given), "{given} of {limit}");
        let picture = target.picture();
        for (path, node) in &picture {
            assert_eq!(expected.get(path), Some(node), "{}", path.escape_ascii());
        }
        let files = picture.values().filter(|node| **node != Node::Directory);
        assert_eq!(files.count(), given, "all that was given is there");
    }
}

#[test]
fn nothing_is_begun_if_the_end_was_asked_for_before() {
    let target = Target::new();
    let options = workers(2);
    options.cancel.cancel();
    let list = List::new(vec![file("a", "a")], false);
    assert!(matches!(
        write_tree(&target.root(), &list, &options),
        Err(Error::Cancelled)
    ));
    let doomed = Doomed::new(vec![b"a".to_vec()], None);
    std::fs::write(target.path("a"), "mine").unwrap();
    let ended = remove_paths(&target.root(), &doomed, &options);
    assert!(matches!(ended, Err(Error::Cancelled)));
    assert_eq!(std::fs::read(target.path("a")).unwrap(), b"mine");
}

/// Paths to remove, and what became of them.
struct Doomed {
    paths: Vec<Vec<u8>>,
    keep: Option<Vec<u8>>,
    failures: Mutex<Vec<(Vec<u8>, String)>>,
    told: Mutex<usize>,
}

impl Doomed {
    fn new(mut paths: Vec<Vec<u8>>, keep: Option<&str>) -> Doomed {
        paths.sort();
        Doomed {
            paths,
            keep: keep.map(Into::into),
            failures: Mutex::default(),
            told: Mutex::default(),
        }
    }
}

impl Removal for Doomed {
    fn count(&self) -> usize {
        self.paths.len()
    }

    fn path(&self, row: u32) -> &[u8] {
        &self.paths[row as usize]
    }

    fn is_directory(&self, _: u32) -> bool {
        false
    }

    fn keep(&self) -> Option<&[u8]> {
        self.keep.as_deref()
    }

    fn removed(&self, batch: Vec<Removed>) {
        *self.told.lock().unwrap() += batch.len();
        for removed in batch {
            if let Err(problem) = removed.outcome {
                let path = self.path(removed.row).to_vec();
                self.failures.lock().unwrap().push((path, problem.reason()));
            }
        }
    }

    fn left(&self, _: &[u8], _: Problem) {}
}

#[test]
fn what_is_removed_is_gone_with_the_directories_that_it_empties() {
    let (rows, expected) = drawn(11);
    let target = Target::new();
    write_tree(&target.root(), &List::new(rows, false), &workers(4)).unwrap();
    // Every second of what is no directory.
    let is_file = |node: &Node| !matches!(node, Node::Directory);
    let files = expected.iter().filter(|(_, node)| is_file(node));
    let doomed: Vec<Vec<u8>> = files.step_by(2).map(|(path, _)| path.clone()).collect();
    let doomed = Doomed::new(doomed, None);
    remove_paths(&target.root(), &doomed, &workers(4)).unwrap();
    assert_eq!(*doomed.failures.lock().unwrap(), []);
    assert_eq!(*doomed.told.lock().unwrap(), doomed.paths.len());

    let mut left = expected.clone();
    for path in &doomed.paths {
        left.remove(path);
    }
    // Bottom up: a directory that something was removed from goes when nothing is below it.
    for path in &doomed.paths {
        let mut place = path.as_slice();
        while let Some(slash) = place.iter().rposition(|byte| *byte == b'/') {
            place = &place[..slash];
            let inside = [place, b"/"].concat();
            let is_empty = !left.keys().any(|other| other.starts_with(&inside));
            if is_empty {
                left.remove(place);
            }
        }
    }
    assert!(
        left.len() < expected.len() - doomed.paths.len(),
        "directories go"
    );
    assert!(target.picture() == left);
    target.assert_outside_untouched();
}

#[test]
fn nothing_is_removed_through_a_link_and_what_is_gone_is_gone() {
    let target = Target::new();
    std::fs::create_dir_all(target.path("here/inner")).unwrap();
    std::fs::write(target.path("here/inner/file"), "x").unwrap();
    symlink(target.outside(), target.path("d")).unwrap();
    symlink(target.outside(), target.path("itself")).unwrap();
    let paths = ["d/file", "here/inner/file", "itself", "no/such/file"];
    let paths = paths.map(|path| path.as_bytes().to_vec()).to_vec();
    let doomed = Doomed::new(paths, Some("here"));
    remove_paths(&target.root(), &doomed, &workers(2)).unwrap();
    assert_eq!(*doomed.failures.lock().unwrap(), []);
    target.assert_outside_untouched();
    let picture = target.picture();
    let names: Vec<&[u8]> = picture.keys().map(Vec::as_slice).collect();
    assert_eq!(
        names,
        [&b"d"[..], b"here"],
        "the link is followed by nobody"
    );
}

#[test]
fn a_file_that_cannot_be_removed_is_named() {
    let target = Target::new();
    std::fs::create_dir_all(target.path("directory/file")).unwrap();
    std::fs::write(target.path("other"), "x").unwrap();
    let paths = vec![b"directory".to_vec(), b"other".to_vec()];
    let doomed = Doomed::new(paths, None);
    remove_paths(&target.root(), &doomed, &workers(1)).unwrap();
    let failures = doomed.failures.lock().unwrap();
    assert_eq!(failures.len(), 1, "{failures:?}");
    assert_eq!(failures[0].0, b"directory");
    assert!(!target.path("other").exists() && target.path("directory/file").exists());
}

#[test]
fn permissions_are_those_of_the_umask() {
    let target = Target::new();
    let probe = target.home.path().join("probe");
    std::fs::write(&probe, "").unwrap();
    let usual = mode(&probe);
    let list = List::new(vec![file("plain", "x")], false);
    write_tree(&target.root(), &list, &workers(1)).unwrap();
    assert_eq!(mode(&target.path("plain")), usual);
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode()
}
