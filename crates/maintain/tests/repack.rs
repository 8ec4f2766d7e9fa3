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
use std::path::{Path, PathBuf};

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

/// Which objects are in each pack, and which are loose.
#[derive(Debug, PartialEq, Eq)]
struct Kept {
    packs: BTreeSet<BTreeSet<String>>,
    cruft: Vec<BTreeSet<String>>,
    loose: BTreeSet<String>,
}

impl Kept {
    fn of(repository: &Repository) -> Kept {
        let in_file = |file: &PathBuf| ids_in(repository, file);
        Kept {
            packs: repository.pack_files("pack").iter().map(in_file).collect(),
            cruft: repository
                .pack_files("mtimes")
                .iter()
                .map(in_file)
                .collect(),
            loose: loose(repository),
        }
    }
}

/// Repacks as git does with `words` in a copy: each pack must have the same objects. Returns what
/// was warned of.
fn repack(repository: &Repository, request: &Request, words: &[&str]) -> Vec<String> {
    let home = hedgerow_testkit::temporary();
    let twin = repository.copy(&home.path().join("twin"));
    twin.git(&[&["repack", "-q"], words].concat());
    let warnings = repack_alone(repository, request);
    assert_eq!(Kept::of(repository), Kept::of(&twin), "{words:?}");
    warnings
}

fn repack_alone(repository: &Repository, request: &Request) -> Vec<String> {
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
fn ids_in(repository: &Repository, pack: &Path) -> BTreeSet<String> {
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

/// A repository with several packs, loose objects, a tag, and objects that nothing reaches, of which
/// the ids are given: some packed, some loose.
fn scene(format: &str) -> (Repository, BTreeSet<String>) {
    let repository = Repository::bare(format);
    // Each history begins anew, so that nothing reaches the one before.
    for number in 0..3 {
        repository.import("refs/heads/main", number * 4..number * 4 + 4);
        repository.git(&["repack", "-dq"]);
    }
    repository.add_loose(b"loose and unreachable", 6);
    repository.import("refs/heads/other", 20..23);
    repository.git(&["tag", "-a", "-m", "tagged", "v1", "main"]);
    let in_use = ids(&reachable(&repository));
    let unreachable: BTreeSet<String> = repository.all_ids().into_iter().collect();
    let unreachable: BTreeSet<String> = unreachable.difference(&in_use).cloned().collect();
    assert!(unreachable.len() > 20);
    (repository, unreachable)
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
        assert!(repository.pack_files("pack").len() >= 3);
        repack(&repository, &whole(), &["-a", "-d"]);
        assert_kept(&repository, &before, format);
        let pack = repository.only_pack_file("pack");
        assert_eq!(ids_in(&repository, &pack), ids(&before));
        // What nothing reaches is gone from packs, and stays if it is loose.
        assert!(loose(&repository).is_subset(&lost));
        assert_eq!(loose(&repository).len(), 1);
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
    repack(&repository, &request, &["-a"]);
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
    repack(&repository, &request, &["-d"]);
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
        repack(&repository, &request, &["-d", "--cruft"]);
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
        assert!(repository.pack_files("mtimes").is_empty());
        assert_kept(&repository, &before, format);
    }
}

#[test]
fn unreachable_objects_that_are_old_are_dropped_and_others_stay() {
    for (expiration, are_kept) in [("2005-01-01", true), ("now", false)] {
        let (repository, unreachable) = scene("sha1");
        let before = reachable(&repository);
        let request = Request {
            cruft: true,
            cruft_expiration: Some(expiration.into()),
            ..whole()
        };
        let option = format!("--cruft-expiration={expiration}");
        repack(&repository, &request, &["-d", "--cruft", &option]);
        assert_kept(&repository, &before, expiration);
        let all: BTreeSet<String> = repository.all_ids().into_iter().collect();
        assert_eq!(all.is_superset(&unreachable), are_kept, "{expiration}");
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
    repack(&repository, &request, &["-A", "-d"]);
    assert_kept(&repository, &before, "loosened");
    assert_eq!(loose(&repository), unreachable);
    let request = Request {
        keep_unreachable: true,
        ..whole()
    };
    repack(&repository, &request, &["-a", "-d", "-k"]);
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
        let mut option = String::new();
        if by_name {
            let name = kept.file_name().unwrap().to_str().unwrap();
            request.keep_packs = vec![name.to_owned()];
            option = format!("--keep-pack={name}");
        } else {
            std::fs::write(kept.with_extension("keep"), "").unwrap();
        }
        let words = ["-a", "-d", &option];
        repack(&repository, &request, &words[..2 + usize::from(by_name)]);
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
        for (number, commits) in [200, 1, 1, 12, 2, 1].into_iter().enumerate() {
            let first = number * 500;
            repository.import("refs/heads/main", first..first + commits);
            repository.git(&["repack", "-dq"]);
        }
        repository.import("refs/heads/main", 9000..9002);
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
        repack(
            &repository,
            &request,
            &["-d", &format!("--geometric={factor}")],
        );
        assert_kept(&repository, &before, "geometric");
        assert_eq!(repository.all_ids(), all);
        assert_eq!(loose(&repository), BTreeSet::new());
        let packs = repository.pack_files("pack");
        assert!(
            packs.len() < 6 && packs.contains(&large),
            "{factor}: {packs:?}"
        );
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
        let words = ["-a", "-d", "-b", "--write-midx"];
        let words = &words[..3 + usize::from(with_midx)];
        assert_eq!(repack(&repository, &request, words), [""; 0]);
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
    // Either of them may be the first to read the damaged pack.
    let is_done = match Plan::make(&opened, &settings, &listener) {
        Ok(plan) => carry_out(&opened, plan, &settings, &listener).is_ok(),
        Err(_) => false,
    };
    assert!(!is_done, "what is damaged is not packed");
    assert_eq!(names(&repository), before);
}
