//! Parts of a listing, merged, are the listing that one machine writes.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests make and look at files"
)]

use hedgerow_engine::Execution;
use hedgerow_fs::OpenDirectory;
use hedgerow_listing::{
    given, merge, read_rest, write_listing, write_part, write_rest, Error, Format, Output, Part,
    PartOptions,
};
use hedgerow_walk::{Budget, Patterns, Selection, WalkOptions};
use std::collections::VecDeque;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

struct Scene {
    directory: TempDir,
}

impl Scene {
    /// A tree of 15 directories a level, with odd names and links.
    fn new() -> Self {
        let scene = Scene {
            directory: tempfile::tempdir().unwrap(),
        };
        for a in 0..15 {
            for b in ["x", "x.y", "x y", "\u{e4}", "z\n\\x41"] {
                let directory = scene.tree().join(format!("d{a}")).join(b);
                fs::create_dir_all(&directory).unwrap();
                for file in 0..a {
                    fs::write(directory.join(format!("f{file}")), "x".repeat(file)).unwrap();
                }
                std::os::unix::fs::symlink("nowhere", directory.join("link")).unwrap();
            }
        }
        scene
    }

    fn tree(&self) -> PathBuf {
        self.directory.path().join("tree")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn whole(&self) -> Vec<u8> {
        let target = self.path("whole");
        let root = OpenDirectory::open(&self.tree()).unwrap();
        let output = Output::to(&target, true).unwrap();
        let options = WalkOptions::default();
        let failed = |omission| panic!("{omission}");
        write_listing(
            root,
            &self.tree(),
            output,
            Format::Parquet,
            &options,
            &failed,
        )
        .unwrap();
        fs::read(target).unwrap()
    }

    fn options(&self, budget: Budget) -> PartOptions {
        let jobs = NonZeroUsize::new(3).unwrap();
        PartOptions {
            root: self.tree(),
            walk: WalkOptions {
                execution: Execution::with_threads(jobs),
                ..WalkOptions::default()
            },
            budget,
            temporary: self.directory.path().to_owned(),
        }
    }

    fn part(&self, given: Vec<Vec<u8>>, budget: Budget, target: &Path) -> Part {
        part_of(given, target, &self.options(budget))
    }

    /// Lists everything in parts, with two directories for each.
    fn parts(&self, budget: Budget) -> Vec<PathBuf> {
        let mut parts = Vec::new();
        let mut pending = VecDeque::from([vec![Vec::new()]]);
        while let Some(given) = pending.pop_front() {
            let target = self.path(&format!("part{}", parts.len()));
            let part = self.part(given, budget, &target);
            assert_eq!(part.omitted, 0);
            pending.extend(part.left.chunks(2).map(<[Vec<u8>]>::to_vec));
            parts.push(target);
        }
        parts
    }

    fn merged(&self, parts: &[PathBuf]) -> Result<Vec<u8>, Error> {
        let target = self.path("merged");
        let output = Output::to(&target, true).unwrap();
        let (temporary, execution) = (self.directory.path(), Execution::default());
        merge(parts, output, Format::Parquet, temporary, &execution)?;
        Ok(fs::read(target).unwrap())
    }
}

fn part_of(given: Vec<Vec<u8>>, target: &Path, options: &PartOptions) -> Part {
    let root = OpenDirectory::open(&options.root).unwrap();
    let output = Output::to(target, true).unwrap();
    write_part(root, given, output, options, &|_| ()).unwrap()
}

#[test]
fn parts_become_what_one_machine_writes() {
    let scene = Scene::new();
    let whole = scene.whole();
    for (entries, least) in [(0, 80), (1, 80), (50, 10), (u64::MAX, 1)] {
        let parts = scene.parts(Budget::Entries(entries));
        assert!(parts.len() >= least, "{} parts", parts.len());
        assert!(scene.merged(&parts).unwrap() == whole, "budget {entries}");
        let again: Vec<PathBuf> = parts.iter().chain(parts.iter().rev()).cloned().collect();
        assert!(scene.merged(&again).unwrap() == whole, "twice");
    }
    let parts = scene.parts(Budget::Time(Duration::ZERO));
    assert!(parts.len() > 64 && scene.merged(&parts).unwrap() == whole);
}

/// A second run with another budget lists and leaves other directories.
#[test]
fn a_part_in_two_versions_is_merged() {
    let scene = Scene::new();
    let whole = scene.whole();
    let mut parts = scene.parts(Budget::Entries(100));
    let other = scene.path("other");
    let left = scene
        .part(vec![Vec::new()], Budget::Entries(1), &other)
        .left;
    assert!(!left.is_empty());
    parts.push(other);
    assert!(scene.merged(&parts).unwrap() == whole);
    // The same directory from two sides: given, and below another that is given.
    let given = [&b"d3"[..], b"d3/x", b"d4"].map(<[u8]>::to_vec).to_vec();
    let other = scene.path("nested");
    assert!(scene
        .part(given, Budget::Entries(1 << 20), &other)
        .left
        .is_empty());
    parts.push(other);
    assert!(scene.merged(&parts).unwrap() == whole);
}

#[test]
fn a_missing_part_is_noticed() {
    let scene = Scene::new();
    let parts = scene.parts(Budget::Entries(50));
    for missing in 0..parts.len() {
        let mut rest = parts.clone();
        rest.remove(missing);
        let error = scene.merged(&rest).unwrap_err();
        assert!(matches!(error, Error::Incomplete { .. }), "{error}");
        assert!(!scene.path("merged").exists());
    }
}

#[test]
fn damaged_parts_are_refused() {
    let scene = Scene::new();
    let part = scene.path("part");
    scene.part(vec![Vec::new()], Budget::Entries(u64::MAX), &part);
    let whole = scene.merged(std::slice::from_ref(&part)).unwrap();
    let sound = fs::read(&part).unwrap();
    let broken = scene.path("broken");
    let mut refused = 0;
    for position in (0..sound.len()).step_by(3) {
        let mut bytes = sound.clone();
        bytes[position] ^= 1 << (position % 8);
        fs::write(&broken, &bytes).unwrap();
        match scene.merged(std::slice::from_ref(&broken)) {
            // A byte that nothing depends on, such as the least value of a column.
            Ok(merged) => assert!(merged == whole, "byte {position}"),
            Err(_) => refused += 1,
        }
    }
    assert!(
        refused > sound.len() / 6,
        "{refused} of {}",
        sound.len() / 3
    );
    for length in (0..sound.len()).step_by(97) {
        fs::write(&broken, &sound[..length]).unwrap();
        assert!(scene.merged(std::slice::from_ref(&broken)).is_err());
    }
}

/// The directories that a part was given or has left are as precious as its rows: without one of
/// them, everything below it would be missing, and nobody would know.
#[test]
fn no_flipped_bit_changes_what_is_merged() {
    let place = tempfile::tempdir().unwrap();
    let scene = Scene { directory: place };
    for directory in ["a", "b", "a/c"] {
        fs::create_dir_all(scene.tree().join(directory)).unwrap();
        fs::write(scene.tree().join(directory).join("f"), "x").unwrap();
    }
    let (first, second) = (scene.path("first"), scene.path("second"));
    let left = scene
        .part(vec![Vec::new()], Budget::Entries(1), &first)
        .left;
    assert_eq!(left, [b"a".to_vec(), b"b".to_vec()]);
    assert!(scene
        .part(left, Budget::Entries(100), &second)
        .left
        .is_empty());
    let whole = scene.merged(&[first.clone(), second.clone()]).unwrap();
    let broken = scene.path("broken");
    for (part, other) in [(&first, &second), (&second, &first)] {
        let sound = fs::read(part).unwrap();
        let header = b"hedgerow.part.";
        let note = sound.windows(header.len()).position(|own| own == header);
        let note = note.unwrap();
        // In the rows, and in what other programs read, one bit of every third byte.
        let rows = (0..note)
            .step_by(3)
            .map(|position| (position, position % 8));
        let notes = (note..sound.len()).flat_map(|position| (0..8).map(move |bit| (position, bit)));
        for (position, bit) in rows.chain(notes) {
            let mut bytes = sound.clone();
            bytes[position] ^= 1 << bit;
            fs::write(&broken, &bytes).unwrap();
            let what = format!("byte {position} bit {bit} of {part:?}");
            if let Ok(merged) = scene.merged(&[broken.clone(), other.clone()]) {
                assert!(merged == whole, "{what}");
            }
            // A list that is read from a part is whole, too.
            if let Ok(left) = read_rest(&broken) {
                assert_eq!(left, read_rest(part).unwrap());
                assert!(
                    scene.merged(std::slice::from_ref(&broken)).is_err(),
                    "{what}"
                );
            }
        }
    }
}

#[test]
fn parts_of_different_listings_are_refused() {
    let scene = Scene::new();
    let (first, second) = (scene.path("first"), scene.path("second"));
    let (merged, rest) = (scene.path("merged"), scene.path("rest"));
    let made = scene.part(vec![Vec::new()], Budget::Entries(40), &first);
    write_rest(Output::to(&rest, false).unwrap(), &made).unwrap();
    let own = scene.options(Budget::Entries(u64::MAX));
    let selecting = |selection| PartOptions {
        walk: WalkOptions {
            selection,
            ..own.walk.clone()
        },
        ..own.clone()
    };
    let excluding = |exclude: &[u8]| {
        selecting(Selection {
            exclude: Patterns::parse(exclude),
            ..Selection::default()
        })
    };
    // The same tree, by another name.
    let other_name = scene.path("other");
    std::os::unix::fs::symlink(scene.tree(), &other_name).unwrap();
    let others = [
        ("(exclude '*.o')", excluding(b"*.o")),
        ("(exclude '/d3/', exclude '!x')", excluding(b"/d3/\n!x")),
        (
            "(max_depth 2)",
            selecting(Selection {
                max_depth: Some(2),
                ..Selection::default()
            }),
        ),
        (
            "(one_file_system)",
            PartOptions {
                walk: WalkOptions {
                    one_file_system: true,
                    ..own.walk.clone()
                },
                ..own.clone()
            },
        ),
        (
            "other' (all entries)",
            PartOptions {
                root: other_name,
                ..own.clone()
            },
        ),
    ];
    let tree = format!("'{}' (all entries)", scene.tree().display());
    for (words, options) in &others {
        part_of(made.left.clone(), &second, options);
        let error = scene.merged(&[first.clone(), second.clone()]).unwrap_err();
        assert!(matches!(error, Error::Differs { .. }), "{error}");
        let said = error.to_string();
        for word in [words, &*tree, "first'", "second'"] {
            assert!(said.contains(word), "{said}");
        }
        assert!(!merged.exists());
        for list in [&rest, &first] {
            let error = given(std::slice::from_ref(list), None, options).unwrap_err();
            let said = error.to_string();
            assert!(said.contains(words) && said.contains(&tree), "{said}");
        }
    }
    // The same in other words.
    let same = PartOptions {
        root: scene.tree().join("./"),
        walk: WalkOptions {
            metadata: true,
            selection: Selection {
                exclude: Patterns::parse(b"# nothing\n\n"),
                ..Selection::default()
            },
            ..own.walk.clone()
        },
        ..own
    };
    assert_eq!(
        given(&[rest, first.clone()], None, &same).unwrap().len(),
        2 * made.left.len()
    );
    part_of(made.left, &second, &same);
    assert!(scene.merged(&[first, second]).unwrap() == scene.whole());
}

#[test]
fn a_part_of_another_version_is_refused() {
    let scene = Scene::new();
    let part = scene.path("part");
    scene.part(vec![Vec::new()], Budget::Entries(40), &part);
    let mut bytes = fs::read(&part).unwrap();
    let header = b"hedgerow.part.v2";
    let at = bytes.windows(header.len()).position(|own| own == header);
    bytes[at.unwrap() + header.len() - 1] = b'1';
    fs::write(&part, bytes).unwrap();
    let said = scene.merged(&[part]).unwrap_err().to_string();
    assert!(
        said.contains("another version of hedgerow: list it again"),
        "{said}"
    );
}

#[test]
fn a_directory_that_vanished_is_told() {
    let scene = Scene::new();
    let part = scene.path("part");
    let first = scene.part(vec![Vec::new()], Budget::Entries(1), &part);
    assert!(first.left.contains(&b"d3".to_vec()));
    fs::remove_dir_all(scene.tree().join("d3")).unwrap();
    let other = scene.path("other");
    let second = scene.part(first.left, Budget::Entries(u64::MAX), &other);
    assert_eq!(second.omitted, 1);
    let target = scene.path("merged");
    let output = Output::to(&target, false).unwrap();
    let (temporary, execution) = (scene.directory.path(), Execution::default());
    let merged = merge(
        &[part, other],
        output,
        Format::Parquet,
        temporary,
        &execution,
    )
    .unwrap();
    let [omitted] = &merged.omitted[..] else {
        panic!("{:?}", merged.omitted);
    };
    assert_eq!(omitted.path, b"d3");
    assert_eq!(omitted.reason, "No such file or directory");
}

#[test]
fn lists_of_directories_are_read_again() {
    let scene = Scene::new();
    let (rest, part) = (scene.path("rest"), scene.path("part"));
    let made = scene.part(vec![Vec::new()], Budget::Entries(40), &part);
    write_rest(Output::to(&rest, false).unwrap(), &made).unwrap();
    let left = made.left;
    assert!(!left.is_empty());
    assert_eq!(read_rest(&rest).unwrap(), left);
    assert_eq!(read_rest(&part).unwrap(), left);
    let sound = fs::read_to_string(&rest).unwrap();
    for length in 0..sound.len() {
        fs::write(&rest, &sound.as_bytes()[..length]).unwrap();
        assert!(read_rest(&rest).is_err(), "{length}");
    }
    let count = left.len();
    for (line, is_sound) in [
        ("a/b", true),
        (".", true),
        ("max_depth\t3", false),
        ("/etc", false),
        ("..", false),
        ("a/../b", false),
        ("a//b", false),
        ("", false),
        ("a\\x00", false),
        ("a\\", false),
    ] {
        let changed = sound.replace(
            &format!("end {count}"),
            &format!("{line}\nend {}", count + 1),
        );
        fs::write(&rest, changed).unwrap();
        assert_eq!(read_rest(&rest).is_ok(), is_sound, "{line}");
    }
    // A list that was made by hand need not tell the root and the options.
    fs::write(&rest, "hedgerow.rest.v1\nd3\nd4/x\nend 2\n").unwrap();
    let options = scene.options(Budget::Entries(1));
    let listed = given(std::slice::from_ref(&rest), None, &options).unwrap();
    assert_eq!(listed, [b"d3".to_vec(), b"d4/x".to_vec()]);
    fs::write(&rest, "hedgerow.rest.v1\nwhat\tever\nd3\nend 1\n").unwrap();
    let said = read_rest(&rest).unwrap_err().to_string();
    assert!(said.contains("line 2 is no root and no option"), "{said}");
}
