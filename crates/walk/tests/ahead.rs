//! A reader who goes through a tree depth first sees what a listing at that moment would show.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test makes its own trees"
)]

use hedgerow_walk::{Ahead, AheadOptions, Contents, Entered, Position};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Directories that changed in the last seconds are listed again; these must be older.
const SETTLING: Duration = Duration::from_millis(3100);

/// What a walk finds: the names in each directory.
type Found = BTreeMap<PathBuf, Vec<String>>;

fn plant(top: &Path) {
    for number in 0..400_u32 {
        let directory = top
            .join(format!("a{}", number % 4))
            .join(format!("b{}", number % 23))
            .join(format!("c{number}"));
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("file"), "").unwrap();
    }
    std::os::unix::fs::symlink("a0", top.join("link")).unwrap();
}

fn entered(ahead: &Ahead, position: &Position, path: &Path) -> Arc<Contents> {
    match ahead.enter(position, path, &|| false) {
        Entered::Contents(contents) => contents,
        other => panic!("{}: {other:?}", path.display()),
    }
}

fn names(contents: &Contents) -> Vec<String> {
    let listing = contents.listing();
    let names = listing.entries().iter().map(|entry| listing.name(entry));
    let mut names: Vec<String> = names
        .map(|name| String::from_utf8(name.to_vec()).unwrap())
        .collect();
    names.sort();
    names
}

/// Enters all directories; `between` is called before each.
fn walk(ahead: &Ahead, top: &Path, between: &mut dyn FnMut(usize)) -> Found {
    let mut found = Found::new();
    let mut pending = vec![(Position::new(), top.to_owned())];
    while let Some((position, path)) = pending.pop() {
        between(found.len());
        let contents = entered(ahead, &position, &path);
        for index in (0..contents.entered().len() as u32).rev() {
            let name = contents.entered_name(index).unwrap();
            let name = std::str::from_utf8(name).unwrap();
            pending.push(([&position[..], &[index]].concat(), path.join(name)));
        }
        found.insert(path, names(&contents));
    }
    found
}

fn expected(top: &Path) -> Found {
    let mut found = Found::new();
    let mut pending = vec![top.to_owned()];
    while let Some(path) = pending.pop() {
        let mut names = Vec::new();
        for entry in fs::read_dir(&path).unwrap() {
            let entry = entry.unwrap();
            names.push(entry.file_name().into_string().unwrap());
            if entry.file_type().unwrap().is_dir() {
                pending.push(entry.path());
            }
        }
        names.sort();
        found.insert(path, names);
    }
    found
}

/// Threads start at once: the trees here are small.
fn with_threads() -> AheadOptions {
    AheadOptions {
        alone: Duration::ZERO,
        ..AheadOptions::default()
    }
}

#[test]
fn the_whole_tree_is_found_also_with_pauses() {
    let root = tempfile::tempdir().unwrap();
    plant(root.path());
    std::thread::sleep(SETTLING);
    let expected = expected(root.path());
    assert!(expected.len() > 450);
    let walked = walk(&Ahead::new(with_threads()), root.path(), &mut |_| {});
    assert_eq!(walked, expected);
    // Threads end and start again, as around a fork.
    let ahead = Ahead::new(with_threads());
    let walked = walk(&ahead, root.path(), &mut |step| match step % 50 {
        10 => ahead.stop(),
        30 => ahead.resume(),
        _ => {}
    });
    assert_eq!(walked, expected);
}

#[test]
fn what_changed_since_is_listed_again() {
    let root = tempfile::tempdir().unwrap();
    plant(root.path());
    std::thread::sleep(SETTLING);
    let ahead = Ahead::new(with_threads());
    let top = root.path();
    let contents = entered(&ahead, &vec![], top);
    ahead.expect_sorted(top, &contents);
    entered(&ahead, &vec![3], &top.join("a3"));
    // Everything is listed by now.
    std::thread::sleep(Duration::from_millis(300));
    fs::write(top.join("a0/new"), "").unwrap();
    fs::rename(top.join("a1"), top.join("moved")).unwrap();
    let contents = entered(&ahead, &vec![0], &top.join("a0"));
    assert!(names(&contents).contains(&"new".to_owned()));
    assert_eq!(contents.entered().len(), 23);
    let gone = ahead.enter(&vec![1], &top.join("a1"), &|| false);
    assert!(matches!(gone, Entered::Failed(error) if error.kind() == std::io::ErrorKind::NotFound));
}

#[test]
fn a_new_link_is_not_entered() {
    let root = tempfile::tempdir().unwrap();
    plant(root.path());
    std::thread::sleep(SETTLING);
    let ahead = Ahead::new(AheadOptions {
        skip_new_links: true,
        ..with_threads()
    });
    let contents = entered(&ahead, &vec![], root.path());
    let name = contents.entered_name(1).unwrap().to_vec();
    let path = root.path().join(String::from_utf8(name).unwrap());
    fs::rename(&path, root.path().join("moved")).unwrap();
    std::os::unix::fs::symlink("moved", &path).unwrap();
    assert!(matches!(
        ahead.enter(&vec![1], &path, &|| false),
        Entered::Link
    ));
    assert!(matches!(
        ahead.enter_unknown(&root.path().join("link")),
        Entered::Link
    ));
}

#[test]
fn a_reader_of_sorted_names_finds_the_same() {
    let root = tempfile::tempdir().unwrap();
    plant(root.path());
    std::thread::sleep(SETTLING);
    let ahead = Ahead::new(with_threads());
    let contents = entered(&ahead, &vec![], root.path());
    let sorted = ahead.expect_sorted(root.path(), &contents);
    let names: Vec<_> = (0..4).map(|index| sorted.entered_name(index)).collect();
    assert_eq!(
        names,
        ["a0", "a1", "a2", "a3"].map(|name| Some(name.as_bytes()))
    );
    for index in 0..4 {
        let path = root.path().join(format!("a{index}"));
        let below = entered(&ahead, &vec![index], &path);
        let names: Vec<_> = (0..23).map(|index| below.entered_name(index)).collect();
        assert!(
            names.is_sorted() && names[22].is_some(),
            "{}",
            path.display()
        );
    }
}
