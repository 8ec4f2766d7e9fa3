//! What a builder refuses, and what it takes over from the previous index.

use super::*;
use hedgerow_testkit::Random;

fn push(builder: &mut Builder, path: &str, stage: u8) -> crate::Result<()> {
    let mode = if path.ends_with('/') {
        Mode::SparseDirectory
    } else {
        Mode::File
    };
    let flags = Flags {
        stage: Stage::from_number(stage).unwrap(),
        ..Flags::default()
    };
    let id = Kind::Sha1.empty_blob();
    builder.push(path.into(), id, mode, EntryStat::default(), flags)
}

fn built(paths: &[&str]) -> Index {
    let mut builder = Builder::new(Kind::Sha1, Version::V2);
    for path in paths {
        push(&mut builder, path, 0).unwrap();
    }
    builder.finish()
}

/// Pushes all entries and returns the text of the first error.
fn refusal(entries: &[(&str, u8)]) -> Option<String> {
    let mut builder = Builder::new(Kind::Sha1, Version::V2);
    let mut results = entries
        .iter()
        .map(|(path, stage)| push(&mut builder, path, *stage));
    results.find_map(|result| result.err().map(|error| error.to_string()))
}

#[test]
fn order_is_by_bytes_then_stage() {
    assert_eq!(
        refusal(&[("a", 0), ("a-b", 0), ("a/b", 1), ("a0", 0)]),
        None
    );
    assert_eq!(refusal(&[("a", 1), ("a", 2), ("a", 3), ("b", 0)]), None);
    let order = "cannot add 'a' to the index: it is not behind the last entry in order";
    assert_eq!(refusal(&[("b", 0), ("a", 0)]).as_deref(), Some(order));
    assert_eq!(refusal(&[("a", 0), ("a", 0)]).as_deref(), Some(order));
    assert_eq!(refusal(&[("a", 2), ("a", 1)]).as_deref(), Some(order));
    let both = "cannot add 'a' to the index: it is both merged and in conflict";
    assert_eq!(refusal(&[("a", 0), ("a", 2)]).as_deref(), Some(both));
}

#[test]
fn a_path_is_not_a_file_and_a_directory() {
    let clash = Some("cannot add 'a/b/c' to the index: a directory that leads to it is a file");
    assert_eq!(refusal(&[("a", 0), ("a/b/c", 0)]).as_deref(), clash);
    assert_eq!(refusal(&[("a/b", 0), ("a/b/c", 0)]).as_deref(), clash);
    assert_eq!(
        refusal(&[("a/b", 0), ("a/b-", 0), ("a/b/c", 0)]).as_deref(),
        clash
    );
    assert_eq!(
        refusal(&[("a/b", 2), ("a/b/c", 3)]),
        None,
        "in a conflict it can be"
    );
    assert!(refusal(&[("a", 0), ("a/", 0)]).is_some());
    let sparse = "cannot add 'a/b' to the index: it lies in a sparse directory";
    assert_eq!(refusal(&[("a/", 0), ("a/b", 0)]).as_deref(), Some(sparse));
}

/// Some names in order, each with a stage; many of them begin with others.
fn some_names(random: &mut Random, stages: usize) -> Vec<(String, u8)> {
    let count = 2 + random.below(12);
    let name = |random: &mut Random| {
        let letters = 1 + random.below(5);
        let letters = (0..letters).map(|_| *random.pick(&['a', 'b', '-', '/', '/']));
        let name: String = letters.collect();
        (name, random.below(stages) as u8)
    };
    let mut names: Vec<_> = (0..count).map(|_| name(random)).collect();
    names.retain(|(name, _)| !name.starts_with('/') && !name.ends_with('/'));
    names.sort();
    names.dedup();
    names
}

/// Whether a path is taken does not depend on what lies between it and a file that it would be below.
#[test]
fn any_paths_are_taken_that_clash_with_no_other() {
    let mut random = Random::new(7);
    for _ in 0..2000 {
        let names = some_names(&mut random, 4);
        let is_clash = |(path, stage): &(String, u8), (file, of): &(String, u8)| {
            stage == of && path.starts_with(&format!("{file}/"))
        };
        let is_mixed = |(path, stage): &(String, u8), (file, of): &(String, u8)| {
            path == file && *stage != 0 && *of == 0
        };
        let is_refused = names.iter().any(|path| {
            let mut others = names.iter();
            others.any(|file| is_clash(path, file) || is_mixed(path, file))
        });
        let entries: Vec<_> = names.iter().map(|(name, of)| (&**name, *of)).collect();
        assert_eq!(refusal(&entries).is_some(), is_refused, "{entries:?}");
    }
}

/// Entries that are taken over all at once are the same as one by one, and so is what may follow them.
#[test]
fn entries_of_another_index_are_taken_as_one_by_one() {
    let mut random = Random::new(8);
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..4000 {
        let pool = some_names(&mut random, 2);
        let mut builder = Builder::new(Kind::Sha1, Version::V2);
        let fits = |(path, stage): &&(String, u8)| push(&mut builder, path, *stage).is_ok();
        let names: Vec<_> = pool.iter().filter(fits).collect();
        let old = builder.finish();
        if names.is_empty() {
            continue;
        }
        let start = random.below(names.len());
        let rows = start..start + 1 + random.below(names.len() - start);
        let chosen = |name: &&(String, u8)| name.1 == 0 || name.0.len() < 3;
        let before: Vec<_> = pool
            .iter()
            .filter(|name| *name < names[rows.start])
            .filter(chosen)
            .collect();
        let after: Vec<_> = pool
            .iter()
            .filter(|name| *name > names[rows.end - 1])
            .filter(chosen)
            .collect();
        let (at_once, one_by_one) = [true, false]
            .map(|at_once| {
                let mut builder = Builder::new(Kind::Sha1, Version::V2);
                let push_all = |builder: &mut Builder, list: &[&(String, u8)]| {
                    list.iter()
                        .try_for_each(|(path, of)| push(builder, path, *of))
                };
                push_all(&mut builder, &before)?;
                if at_once {
                    builder.extend_from(&old, rows.clone())?;
                } else {
                    let mut rows = names[rows.clone()].iter();
                    rows.try_for_each(|(path, of)| push(&mut builder, path, *of))?;
                }
                push_all(&mut builder, &after)?;
                Ok::<Index, crate::Error>(builder.finish())
            })
            .into();
        match (at_once, one_by_one) {
            (Ok(a), Ok(b)) => {
                taken += usize::from(rows.len() > 3);
                assert!(
                    a.has_content_of(&b) && a.entries() == b.entries(),
                    "{pool:?}"
                );
            }
            (Err(_), Err(_)) => refused += 1,
            (a, b) => panic!("{pool:?} {rows:?}: {:?}, {:?}", a.err(), b.err()),
        }
    }
    assert!(taken > 100 && refused > 100, "{taken} {refused}");
}

#[test]
fn impossible_entries_are_refused() {
    assert!(refusal(&[("", 0)]).is_some());
    assert!(refusal(&[("a\0b", 0)]).is_some());
    assert!(refusal(&[("a/", 1)]).is_some());
    let mut builder = Builder::new(Kind::Sha1, Version::V2);
    let mut push = |path: &str, id, mode| {
        builder.push(
            path.into(),
            id,
            mode,
            EntryStat::default(),
            Flags::default(),
        )
    };
    assert!(push("a", Kind::Sha1.null(), Mode::File).is_err());
    assert!(push("a", Kind::Sha256.empty_blob(), Mode::File).is_err());
    assert!(push("a", Kind::Sha1.empty_tree(), Mode::SparseDirectory).is_err());
    assert!(push("a/", Kind::Sha1.empty_blob(), Mode::File).is_err());
}

#[test]
fn ranges_under_directories() {
    let index = built(&["a-", "a-b", "a/b/c", "a/d", "a/e/f", "a0", "b/x"]);
    for (dir, expected) in [
        ("", 0..7),
        ("a", 2..5),
        ("a/b", 2..3),
        ("a/d", 4..4),
        ("a/e", 4..5),
        ("b", 6..7),
        ("c", 7..7),
        ("0", 0..0),
    ] {
        assert_eq!(index.range_under(dir.into()), expected, "{dir}");
    }
}

#[test]
fn every_entry_is_found() {
    let index = built(&["a", "a-b", "a.d/b", "ab"]);
    for (at, (path, _)) in index.iter().enumerate() {
        assert_eq!(index.find(path, Stage::Merged), Ok(at));
        assert_eq!(index.find(path, Stage::Ours), Err(at + 1));
    }
    assert_eq!(index.find("".into(), Stage::Merged), Err(0));
    assert_eq!(index.find("b".into(), Stage::Merged), Err(4));
}

#[test]
fn extensions_are_kept_while_they_are_true() {
    let missing = OuterFile {
        stat: EntryStat::default(),
        id: Kind::Sha1.null(),
    };
    let record = |name: &str, children, untracked: &[u8]| UntrackedRecord {
        name: name.into(),
        children,
        untracked: untracked.into(),
        stat: Some(EntryStat::default()),
        ..UntrackedRecord::default()
    };
    let untracked = UntrackedCache {
        identity: "id".into(),
        flags: FOLDED,
        outer: [missing.clone(), missing],
        per_directory: ".gitignore".into(),
        directories: vec![record("", 1, b"here\0"), record("d", 0, b"there\0")],
    };

    let mut old = built(&["a", "b"]);
    old.extensions.untracked = Some(untracked.clone());
    old.extensions.fsmonitor_token = Some(b"token".to_vec());
    old.extensions.resolve_undo = Some(b"conflicts".to_vec());
    let replacing = |paths: &[&str]| {
        let mut builder = Builder::new(Kind::Sha1, Version::V2);
        for path in paths {
            push(&mut builder, path, 0).unwrap();
        }
        builder.finish_replacing(&old).extensions
    };
    let same = replacing(&["a", "b"]);
    assert_eq!(same.untracked.as_ref(), Some(&untracked));
    assert_eq!(same.fsmonitor_token.as_deref(), Some(&b"token"[..]));
    assert_eq!(same.resolve_undo, None);
    for other in [&["a", "c"][..], &["a"], &["a", "b", "c"], &["ab", "b"]] {
        let found = replacing(other).untracked.unwrap();
        let top = UntrackedRecord {
            children: 1,
            ..UntrackedRecord::default()
        };
        assert_eq!(found.directories[0], top);
        assert_eq!(found.directories[1], untracked.directories[1]);
    }
    let is_valid = |old: &Index| {
        let mut builder = Builder::new(Kind::Sha1, Version::V2);
        for path in ["a", "b", "d/c"] {
            push(&mut builder, path, 0).unwrap();
        }
        let found = builder.finish_replacing(old).extensions.untracked.unwrap();
        [0, 1].map(|row: usize| found.directories[row].is_valid())
    };
    assert_eq!(is_valid(&old), [false, false]);
    // Where each file is listed, the directory above does not change.
    let mut each = old.clone();
    each.extensions.untracked.as_mut().unwrap().flags = ALL_FILES;
    assert_eq!(is_valid(&each), [true, false]);
    assert!(!same.sparse);
    assert!(replacing(&["a/"]).sparse);
    old.extensions.sparse = true;
    let kept = Builder::new(Kind::Sha1, Version::V2).finish_replacing(&old);
    assert!(kept.has_sparse_directories());
}
