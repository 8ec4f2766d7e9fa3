//! Repacking, against git: what is reachable before and after, what git fsck says, and which files
//! are there.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests make repositories and look at files"
)]

use hedgerow_git::repository::{Environment, Repository as Opened};
use hedgerow_maintain::repack::{carry_out, Plan, Request, Settings};
use hedgerow_maintain::Observer;
use hedgerow_testkit::Repository;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::path::PathBuf;

/// Keeps the warnings.
#[derive(Default)]
struct Listener(RefCell<Vec<String>>);

impl Observer for Listener {
    fn warn(&self, warning: &dyn Display) {
        self.0.borrow_mut().push(warning.to_string());
    }
}

fn open(repository: &Repository) -> Opened {
    let environment = Environment {
        cwd: repository.root.clone(),
        config_global: Some("/dev/null".into()),
        no_system_config: true,
        ..Environment::default()
    };
    Opened::discover(&environment).unwrap()
}

/// Repacks, and returns what was warned of.
fn repack(repository: &Repository, request: &Request) -> Vec<String> {
    let (opened, listener) = (open(repository), Listener::default());
    let settings = Settings::resolve(request, &opened, &listener).unwrap();
    let plan = Plan::make(&opened, &settings, &listener).unwrap();
    carry_out(&opened, plan, &settings, &listener).unwrap();
    listener.0.into_inner()
}

/// All that references reach, with paths, as git lists it.
fn reachable(repository: &Repository) -> String {
    repository.ask(&["rev-list", "--objects", "--all"])
}

/// The ids of all objects that are loose.
fn loose(repository: &Repository) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    for number in 0..=255 {
        let fan = format!("{number:02x}");
        let Ok(files) = std::fs::read_dir(repository.objects().join(&fan)) else {
            continue;
        };
        ids.extend(files.map(|file| fan.clone() + file.unwrap().file_name().to_str().unwrap()));
    }
    ids
}

/// The ids in a pack, as git shows them.
fn ids_in(repository: &Repository, pack: &PathBuf) -> BTreeSet<String> {
    let index = pack.with_extension("idx");
    let text = repository.git(&["verify-pack".as_ref(), "-v".as_ref(), index.as_os_str()]);
    let text = String::from_utf8(text).unwrap();
    let is_object = |line: &&str| {
        let kind = line.split_whitespace().nth(1);
        matches!(kind, Some("commit" | "tree" | "blob" | "tag"))
    };
    let lines = text.lines().filter(is_object);
    lines
        .map(|line| line.split(' ').next().unwrap().to_owned())
        .collect()
}

fn ids(listing: &str) -> BTreeSet<String> {
    let lines = listing.lines();
    lines
        .map(|line| line.split(' ').next().unwrap().to_owned())
        .collect()
}

/// A repository with three packs, loose objects, a tag, and objects that nothing reaches, of which
/// the ids are given: some packed, some loose.
fn scene(format: &str) -> (Repository, BTreeSet<String>) {
    let repository = Repository::bare(format);
    for number in 0..3 {
        repository.import("refs/heads/main", number * 4..number * 4 + 4);
        repository.git(&["repack", "-dq"]);
    }
    let blob = repository
        .add_loose(b"packed and unreachable", 6)
        .to_string();
    let list = format!("{blob}\n");
    repository.git_with(
        &["pack-objects", "-q", "objects/pack/pack"],
        list.as_bytes(),
    );
    repository.git(&["prune-packed", "-q"]);
    let second = repository
        .add_loose(b"loose and unreachable", 6)
        .to_string();
    repository.import("refs/heads/other", 20..23);
    repository.git(&["tag", "-a", "-m", "tagged", "v1", "main"]);
    let unpacked = [blob, second].into();
    (repository, unpacked)
}

fn whole() -> Request {
    Request {
        all: true,
        delete: true,
        ..Request::default()
    }
}

/// Reachable objects are as before, and git finds nothing wrong.
fn assert_kept(repository: &Repository, before: &str, what: &str) {
    repository.assert_sound();
    assert_eq!(reachable(repository), before, "{what}");
    // Every object is read.
    repository.git(&[
        "cat-file",
        "--batch-all-objects",
        "--batch-check",
        "--unordered",
    ]);
}

#[test]
fn all_that_is_reachable_goes_into_one_pack() {
    for format in ["sha1", "sha256"] {
        let (repository, lost) = scene(format);
        let before = reachable(&repository);
        assert_eq!(repository.pack_files("pack").len(), 4);
        repack(&repository, &whole());
        assert_kept(&repository, &before, format);
        let pack = repository.only_pack_file("pack");
        assert_eq!(ids_in(&repository, &pack), ids(&before));
        // What nothing reaches is gone from packs, and stays if it is loose.
        let remaining = loose(&repository);
        assert_eq!(lost.intersection(&remaining).count(), 1, "{remaining:?}");
        assert_eq!(remaining.len(), 1);
    }
}

#[test]
fn without_deleting_all_packs_stay() {
    let (repository, _) = scene("sha1");
    let (before, packs) = (reachable(&repository), repository.pack_files("pack"));
    let all = repository.all_ids();
    let request = Request {
        delete: false,
        ..whole()
    };
    repack(&repository, &request);
    assert_kept(&repository, &before, "without deleting");
    assert_eq!(repository.all_ids(), all);
    let now = repository.pack_files("pack");
    assert!(packs.iter().all(|pack| now.contains(pack)));
    assert_eq!(now.len(), packs.len() + 1);
}

#[test]
fn what_is_loose_goes_into_a_pack_of_its_own() {
    let (repository, _) = scene("sha1");
    let (before, packs) = (reachable(&repository), repository.pack_files("pack"));
    let in_use = ids(&before);
    let expected: BTreeSet<String> = loose(&repository).intersection(&in_use).cloned().collect();
    let request = Request {
        delete: true,
        ..Request::default()
    };
    repack(&repository, &request);
    assert_kept(&repository, &before, "what is loose");
    let now = repository.pack_files("pack");
    let new: Vec<&PathBuf> = now.iter().filter(|pack| !packs.contains(pack)).collect();
    assert_eq!((new.len(), now.len()), (1, packs.len() + 1));
    assert_eq!(ids_in(&repository, new[0]), expected);
    assert_eq!(loose(&repository).len(), 1, "what nothing reaches stays");
}

#[test]
fn what_nothing_reaches_goes_into_a_cruft_pack_with_its_times() {
    for format in ["sha1", "sha256"] {
        let (repository, unreachable) = scene(format);
        let before = reachable(&repository);
        let request = Request {
            cruft: true,
            ..whole()
        };
        repack(&repository, &request);
        assert_kept(&repository, &before, format);
        let mtimes = repository.only_pack_file("mtimes");
        assert_eq!(
            ids_in(&repository, &mtimes.with_extension("pack")),
            unreachable
        );
        assert_eq!(repository.pack_files("pack").len(), 2);
        assert_eq!(loose(&repository), BTreeSet::new());
        // Git takes it for a cruft pack: it drops what is old enough.
        repository.git(&["repack", "-dq", "--cruft", "--cruft-expiration=now"]);
        assert_eq!(repository.pack_files("mtimes"), [PathBuf::new(); 0]);
        assert_kept(&repository, &before, format);
    }
}

#[test]
fn unreachable_objects_that_are_old_are_dropped_and_others_stay() {
    let dates = [("2005-01-01", true), ("now", false)];
    for (expiration, are_kept) in dates {
        let (repository, unreachable) = scene("sha1");
        let before = reachable(&repository);
        let request = Request {
            cruft: true,
            cruft_expiration: Some(expiration.into()),
            ..whole()
        };
        repack(&repository, &request);
        assert_kept(&repository, &before, expiration);
        let all: BTreeSet<String> = repository.all_ids().into_iter().collect();
        assert_eq!(all.is_superset(&unreachable), are_kept, "{expiration}");
        assert_eq!(all.is_disjoint(&unreachable), !are_kept, "{expiration}");
    }
}

#[test]
fn unreachable_objects_become_loose_or_are_packed_if_asked() {
    let (repository, unreachable) = scene("sha1");
    let before = reachable(&repository);
    let request = Request {
        all_and_loosen: true,
        delete: true,
        ..Request::default()
    };
    repack(&repository, &request);
    assert_kept(&repository, &before, "loosened");
    assert_eq!(loose(&repository), unreachable);
    let request = Request {
        keep_unreachable: true,
        ..whole()
    };
    repack(&repository, &request);
    assert_kept(&repository, &before, "kept");
    let pack = repository.only_pack_file("pack");
    let expected: BTreeSet<String> = ids(&before).union(&unreachable).cloned().collect();
    assert_eq!(ids_in(&repository, &pack), expected);
}

#[test]
fn a_pack_that_is_to_be_kept_stays_byte_for_byte() {
    for by_name in [false, true] {
        let (repository, _) = scene("sha1");
        let before = reachable(&repository);
        // One that has something in use.
        let in_use = ids(&before);
        let packs = repository.pack_files("pack");
        let is_of_use = |pack: &&PathBuf| !ids_in(&repository, pack).is_disjoint(&in_use);
        let kept = packs.iter().find(is_of_use).unwrap().clone();
        let bytes = std::fs::read(&kept).unwrap();
        let held = ids_in(&repository, &kept);
        let mut request = whole();
        if by_name {
            let name = kept.file_name().unwrap().to_str().unwrap();
            request.keep_packs = vec![name.to_owned()];
        } else {
            std::fs::write(kept.with_extension("keep"), "").unwrap();
        }
        repack(&repository, &request);
        assert_kept(&repository, &before, "kept");
        assert!(std::fs::read(&kept).unwrap() == bytes);
        let now = repository.pack_files("pack");
        assert_eq!(now.len(), 2);
        let new = now.iter().find(|pack| **pack != kept).unwrap();
        let expected: BTreeSet<String> = in_use.difference(&held).cloned().collect();
        assert_eq!(ids_in(&repository, new), expected, "nothing twice");
    }
}

#[test]
fn a_geometric_repack_leaves_a_progression_and_loses_nothing() {
    for factor in [2, 3, 5] {
        let repository = Repository::bare("sha1");
        // Packs of very different sizes.
        for (number, commits) in [40, 1, 1, 12, 2, 1].into_iter().enumerate() {
            let first = number * 50;
            repository.import("refs/heads/main", first..first + commits);
            repository.git(&["repack", "-dq"]);
        }
        repository.import("refs/heads/main", 400..402);
        let (before, all) = (reachable(&repository), repository.all_ids());
        let largest = |repository: &Repository| {
            let packs = repository.pack_files("pack").into_iter();
            let sizes = packs.map(|pack| (ids_in(repository, &pack).len(), pack));
            sizes.max().unwrap()
        };
        let (_, large) = largest(&repository);
        let request = Request {
            geometric: Some(factor),
            delete: true,
            ..Request::default()
        };
        repack(&repository, &request);
        assert_kept(&repository, &before, "geometric");
        assert_eq!(repository.all_ids(), all);
        assert_eq!(loose(&repository), BTreeSet::new());
        let packs = repository.pack_files("pack");
        assert!(
            packs.len() < 6 && packs.contains(&large),
            "{factor}: {packs:?}"
        );
        let mut counts: Vec<usize> = packs
            .iter()
            .map(|pack| ids_in(&repository, pack).len())
            .collect();
        counts.sort_unstable();
        let is_progression = counts
            .windows(2)
            .all(|two| two[1] >= factor as usize * two[0]);
        assert!(is_progression, "{factor}: {counts:?}");
    }
}

#[test]
fn bitmaps_and_multi_pack_indexes_are_those_that_git_takes() {
    for with_midx in [false, true] {
        let (repository, _) = scene("sha1");
        let before = reachable(&repository);
        let request = Request {
            write_bitmaps: Some(true),
            write_midx: with_midx,
            ..whole()
        };
        assert_eq!(repack(&repository, &request), [""; 0]);
        assert_kept(&repository, &before, "bitmaps");
        assert_eq!(repository.pack_files("bitmap").len(), 1);
        let midx = repository.objects().join("pack/multi-pack-index");
        assert_eq!(midx.exists(), with_midx);
        if with_midx {
            repository.git(&["multi-pack-index", "verify"]);
        }
        let counted = repository.ask(&[
            "rev-list",
            "--count",
            "--objects",
            "--use-bitmap-index",
            "--all",
        ]);
        assert_eq!(counted, before.lines().count().to_string());
        for branch in ["main", "other"] {
            repository.git(&["rev-list", "--test-bitmap", branch]);
        }
    }
}

#[test]
fn a_pack_that_cannot_be_read_lets_nothing_be_deleted() {
    let (repository, _) = scene("sha1");
    let in_use = ids(&reachable(&repository));
    let packs = repository.pack_files("pack");
    let is_of_use = |pack: &&PathBuf| !ids_in(&repository, pack).is_disjoint(&in_use);
    let damaged = packs.iter().find(is_of_use).unwrap();
    let mut bytes = std::fs::read(damaged).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..].iter_mut().for_each(|byte| *byte ^= 0x55);
    hedgerow_testkit::overwrite(damaged, &bytes);
    let names = |repository: &Repository| {
        let mut names = repository.pack_files("pack");
        names.extend(repository.pack_files("idx"));
        (names, loose(repository))
    };
    let before = names(&repository);
    let (opened, listener) = (open(&repository), Listener::default());
    let request = Request {
        no_reuse_delta: true,
        no_reuse_object: true,
        ..whole()
    };
    let settings = Settings::resolve(&request, &opened, &listener).unwrap();
    let done = Plan::make(&opened, &settings, &listener)
        .and_then(|plan| carry_out(&opened, plan, &settings, &listener));
    assert!(done.is_err(), "what is damaged is not packed");
    assert_eq!(names(&repository), before);
}
