//! What a walk lists, against find(1) and git.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests make trees and look at them"
)]

use hedgerow_engine::{CancelToken, Failure, Jobs};
use hedgerow_fs::OpenDirectory;
use hedgerow_testkit::{isolated, run, Random, Repository};
use hedgerow_tree::{canonical_order, Entry, NodeKind, Omission};
use hedgerow_walk::{walk, walk_sorted, Patterns, Receiver, Selection, WalkOptions};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Mutex;

const NAMES: [&[u8]; 12] = [
    b"a",
    b"a.b",
    b"a-b",
    b"A",
    b"new\nline",
    b"tab\t",
    b"\xff\xfe",
    b"sp ace",
    b"-dash",
    b"\x01",
    "\u{e4}".as_bytes(),
    b"...",
];

/// Files, links, fifos and directories with hostile names, one directory of many files, and one
/// chain of deep directories.
fn plant(root: &Path, seed: u64) {
    let random = &mut Random::new(seed);
    let mut directories = vec![root.to_owned()];
    for number in 0..400 {
        let name = [
            NAMES[random.below(NAMES.len())],
            format!("{number}").as_bytes(),
        ]
        .concat();
        let path = random.pick(&directories).join(OsStr::from_bytes(&name));
        match random.below(8) {
            0 | 1 => {
                std::fs::create_dir(&path).unwrap();
                // In the order of bytes these stand between a directory and what is in it.
                for end in [b"-x", b"!x"] {
                    let beside = [path.as_os_str().as_bytes(), end].concat();
                    std::fs::write(OsStr::from_bytes(&beside), b"").unwrap();
                }
                directories.push(path);
            }
            2 => std::os::unix::fs::symlink("..", path).unwrap(),
            3 => std::os::unix::fs::symlink(OsStr::from_bytes(&name), path).unwrap(),
            4 => make_fifo(&path),
            _ => std::fs::write(path, vec![b'x'; random.below(300)]).unwrap(),
        }
    }
    for mode in [0o4755, 0o2700, 0o1777] {
        let path = root.join(format!("mode-{mode:o}"));
        std::fs::write(&path, b"").unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let many = root.join("many");
    std::fs::create_dir(&many).unwrap();
    for number in 0..1000 {
        std::fs::write(many.join(format!("{number}")), b"").unwrap();
    }
    let deep = (0..60).fold(root.join("deep"), |path, number| {
        path.join(format!("d{number}"))
    });
    std::fs::create_dir_all(&deep).unwrap();
}

fn make_fifo(path: &Path) {
    let mut mkfifo = isolated("mkfifo");
    mkfifo.arg("--").arg(path);
    run(mkfifo).ok("mkfifo");
}

/// What find(1) prints below `root`, one entry a NUL: kind, mode, links, owner, group, size, time,
/// inode, path.
fn by_find(root: &Path, options: &[&str]) -> BTreeSet<Vec<u8>> {
    let mut find = isolated("find");
    find.arg(root).args(["-mindepth", "1"]).args(options);
    find.args(["-printf", r"%y %m %n %U %G %s %T@ %i %P\0"]);
    let printed = run(find).ok("find");
    let entries = printed
        .split(|byte| *byte == 0)
        .filter(|entry| !entry.is_empty());
    entries.map(<[u8]>::to_vec).collect()
}

/// Every entry as find(1) prints it, in the order in which they were told.
#[derive(Default)]
struct Told {
    lines: Mutex<Vec<Vec<u8>>>,
    paths: Mutex<Vec<Vec<u8>>>,
}

impl Receiver for Told {
    type Worker = ();
    type Error = Omission;

    fn worker(&self) {}

    fn entry(&self, _: &mut (), entry: Entry<'_>) -> Result<(), Omission> {
        let known = entry.metadata.copied().unwrap_or_default();
        let letter = entry.kind.letter();
        let line = format!(
            "{letter} {:o} {} {} {} {} {}.{:09}0 {} ",
            known.mode,
            known.nlink,
            known.uid,
            known.gid,
            known.size_bytes,
            known.mtime_s,
            known.mtime_ns,
            known.ino
        );
        let line = [line.as_bytes(), entry.path].concat();
        self.lines.lock().unwrap().push(line);
        self.paths.lock().unwrap().push(entry.path.to_vec());
        Ok(())
    }

    fn omitted(&self, _: &mut (), omission: Omission) -> Result<(), Omission> {
        Err(omission)
    }
}

fn options(jobs: usize, selection: Selection) -> WalkOptions {
    WalkOptions {
        execution: hedgerow_engine::Execution {
            jobs: Jobs::Fixed(NonZeroUsize::new(jobs).unwrap()),
            ..hedgerow_engine::Execution::default()
        },
        metadata: true,
        selection,
        ..WalkOptions::default()
    }
}

fn told(root: &Path, sorted: bool, options: &WalkOptions) -> Told {
    let told = Told::default();
    let opened = OpenDirectory::open(root).unwrap();
    let done = if sorted {
        walk_sorted(opened, root, &told, options)
    } else {
        walk(opened, root, &told, options)
    };
    assert!(done.is_ok(), "{:?}", done.err());
    told
}

/// Each entry once, and those that find(1) lists.
fn compare(root: &Path, words: &[&str], selection: &Selection) {
    let expected = by_find(root, words);
    for (sorted, jobs) in [(false, 1), (false, 8), (true, 1), (true, 8)] {
        let told = told(root, sorted, &options(jobs, selection.clone()));
        let lines = told.lines.into_inner().unwrap();
        let set: BTreeSet<Vec<u8>> = lines.iter().cloned().collect();
        assert_eq!(set.len(), lines.len(), "{words:?}: an entry is told twice");
        let shown = |set: BTreeSet<&Vec<u8>>| -> Vec<String> {
            set.iter()
                .map(|line| line.escape_ascii().to_string())
                .collect()
        };
        let (missing, extra) = (
            shown(expected.difference(&set).collect()),
            shown(set.difference(&expected).collect()),
        );
        assert!(
            missing.is_empty() && extra.is_empty(),
            "{words:?} -{missing:?} +{extra:?}"
        );
    }
}

#[test]
fn entries_and_their_states_are_those_that_find_shows() {
    for seed in 1..=3 {
        let home = hedgerow_testkit::temporary();
        plant(home.path(), seed);
        compare(home.path(), &[], &Selection::default());
    }
}

#[test]
fn a_selection_is_what_find_selects() {
    let home = hedgerow_testkit::temporary();
    plant(home.path(), 4);
    for depth in [0, 1, 2, 30] {
        let selection = Selection {
            max_depth: Some(depth),
            ..Selection::default()
        };
        compare(home.path(), &["-maxdepth", &depth.to_string()], &selection);
    }
    for (letter, kind) in [
        ("f", NodeKind::File),
        ("d", NodeKind::Directory),
        ("l", NodeKind::Symlink),
        ("p", NodeKind::Fifo),
    ] {
        let selection = Selection {
            kinds: vec![kind],
            ..Selection::default()
        };
        compare(home.path(), &["-type", letter], &selection);
    }
    let selection = Selection {
        exclude: Patterns::parse(b"many\n"),
        ..Selection::default()
    };
    compare(home.path(), &["-name", "many", "-prune", "-o"], &selection);
}

#[test]
fn sorted_is_in_canonical_order_and_the_same_for_any_number_of_workers() {
    let home = hedgerow_testkit::temporary();
    plant(home.path(), 5);
    let paths = |jobs| {
        let told = told(home.path(), true, &options(jobs, Selection::default()));
        told.paths.into_inner().unwrap()
    };
    let one = paths(1);
    assert!(one.is_sorted_by(|a, b| canonical_order(a, b).is_lt()));
    // A directory comes right before what is in it: `/` is the lowest byte of all.
    let key = |path: &Vec<u8>| -> Vec<u16> {
        let low = |byte: &u8| {
            if *byte == b'/' {
                0
            } else {
                u16::from(*byte) + 1
            }
        };
        path.iter().map(low).collect()
    };
    assert!(one.is_sorted_by_key(key));
    assert_eq!(paths(16), one);
}

#[test]
fn ignored_files_are_those_that_git_ignores() {
    let repository = Repository::init(&[]);
    for path in [
        "a.o",
        "keep.o",
        "d/a.o",
        "d/e/x",
        "build/x",
        "d/build/y",
        "e/b.c",
    ] {
        repository.write(path, path);
    }
    repository.write(".gitignore", "*.o\n!keep.o\n/build/\n");
    repository.write("d/.gitignore", "!a.o\nx\n");
    let listed = repository.git(&["ls-files", "-z", "--others", "--exclude-standard"]);
    let expected: BTreeSet<Vec<u8>> = listed
        .split(|byte| *byte == 0)
        .filter(|path| !path.is_empty())
        .map(<[u8]>::to_vec)
        .collect();
    assert!(expected.contains(&b"d/a.o"[..]) && !expected.contains(&b"a.o"[..]));
    let selection = Selection {
        kinds: vec![NodeKind::File],
        gitignore: true,
        ..Selection::default()
    };
    for sorted in [false, true] {
        let told = told(&repository.root, sorted, &options(3, selection.clone()));
        let paths: BTreeSet<Vec<u8>> = told.paths.into_inner().unwrap().into_iter().collect();
        assert_eq!(paths, expected);
    }
}

#[test]
fn a_cancelled_walk_says_so() {
    let home = hedgerow_testkit::temporary();
    plant(home.path(), 6);
    let mut options = options(2, Selection::default());
    options.execution.cancel = CancelToken::default();
    options.execution.cancel.cancel();
    let told = Told::default();
    let opened = OpenDirectory::open(home.path()).unwrap();
    let ended = walk(opened, home.path(), &told, &options);
    assert!(matches!(ended, Err(Failure::Cancelled)));
    assert!(told.lines.into_inner().unwrap().len() < 1500);
}
