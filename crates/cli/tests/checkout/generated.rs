//! Repositories drawn from seeds, taken through the same steps by git and by hedgerow.
//!
//! `HEDGEROW_TEST_SEED=N` replays one of them, `N,M` two; `HEDGEROW_TEST_SEEDS=all` plays all of them
//! and not a sample.

use crate::support::{generate, Generated, Pair, Random, Repository};
use hedgerow_testkit::play_sample;

const JOBS: [&str; 5] = ["1", "2", "3", "8", "64"];

#[test]
fn seeds_0_to_59() {
    play(0..60);
}

#[test]
fn seeds_60_to_119() {
    play(60..120);
}

#[test]
fn seeds_120_to_179() {
    play(120..180);
}

#[test]
fn seeds_180_to_239() {
    play(180..240);
}

fn play(seeds: std::ops::Range<u64>) {
    play_sample(seeds, play_one);
}

fn play_one(seed: u64) {
    let generated = generate(seed);
    let mut pair = Pair::of_git_dir(&generated.repository, &format!("seed {seed}"));
    let random = &mut Random::new(seed ^ 0xdead);
    pair.options = vec![format!("-j{}", random.pick(&JOBS)), "--threshold=0".into()];
    if random.chance(30) {
        let value = (seed + 1).to_string();
        pair.environment.push(("HEDGEROW_TEST_DELAY".into(), value));
    }
    take_through(&mut pair, &generated, random);
}

/// Whatever the number of workers, and however long each call takes, the outcome is the same.
#[test]
fn any_number_of_workers() {
    for seed in [3, 7, 12, 25, 31, 44, 58, 61] {
        let generated = generate(seed);
        for (number, jobs) in JOBS.iter().enumerate() {
            let label = format!("seed {seed}, all workers");
            let mut pair = Pair::of_git_dir(&generated.repository, &label);
            pair.options = vec![format!("-j{jobs}"), "--threshold=0".into()];
            let delay = (seed * 10 + number as u64).to_string();
            pair.environment = vec![("HEDGEROW_TEST_DELAY".into(), delay)];
            let last = generated.branches.last().unwrap().clone();
            pair.checkout::<&str>(&[]);
            pair.checkout(&[&last]);
            make_dirty(&mut pair, &generated, &mut Random::new(seed));
            pair.checkout(&["-f", "main"]);
            pair.assert_fresh();
        }
    }
}

/// Nobody named a number: the engine chooses.
#[test]
fn workers_chosen_by_measuring() {
    for seed in 300..310 {
        let generated = generate(seed);
        let mut pair = Pair::of_git_dir(&generated.repository, &format!("seed {seed}, auto"));
        pair.checkout::<&str>(&[]);
        pair.checkout(&[generated.branches.last().unwrap()]);
        pair.checkout(&["main"]);
        pair.assert_fresh();
    }
}

fn take_through(pair: &mut Pair, generated: &Generated, random: &mut Random) {
    let branch = |random: &mut Random| random.pick(&generated.branches).clone();
    pair.checkout(&[&b"-f"[..]][..random.below(2)]);
    pair.assert_fresh();
    assert_rehashed(pair);
    for _ in 0..2 {
        pair.checkout(&[branch(random)]);
        pair.assert_fresh();
    }
    pair.checkout(&["--detach".to_owned(), branch(random)]);
    pair.checkout(&["-"]);
    pair.checkout(&[format!("{}~0", branch(random))]);
    pair.checkout(&["main"]);
    assert_rehashed(pair);
    for _ in 0..2 {
        make_dirty(pair, generated, random);
        pair.checkout(&[branch(random)]);
        let last = branch(random);
        let outcome = pair.checkout(&["-f", &last]);
        assert_eq!(outcome.code, 0, "{}", pair.story());
    }
    check_out_paths(pair, generated, random);
    let last = branch(random);
    pair.checkout(&["-f", &last]);
    pair.assert_fresh();
    let fsck = ["fsck", "--no-dangling", "--no-progress"];
    pair.hedgerow.git(&fsck);
}

/// Throws the stat data away, so that git reads every file again, and finds no difference.
fn assert_rehashed(pair: &Pair) {
    let repository = &pair.hedgerow;
    let index = repository.root.join(".git/index");
    let kept = std::fs::read(&index).unwrap();
    std::fs::remove_file(&index).unwrap();
    repository.git(&["read-tree", "HEAD"]);
    repository.git(&["update-index", "-q", "--refresh"]);
    let differing = repository.git(&["diff-files", "--name-only"]);
    let shown = String::from_utf8_lossy(&differing);
    assert!(
        differing.is_empty(),
        "{}\ndiffers from HEAD: {shown}",
        pair.story()
    );
    std::fs::write(&index, kept).unwrap();
}

/// The user at work: files changed, removed, replaced, added.
pub fn make_dirty(pair: &mut Pair, generated: &Generated, random: &mut Random) {
    for _ in 0..1 + random.below(5) {
        let path = random.pick(&generated.paths).clone();
        let shown = String::from_utf8_lossy(&path).into_owned();
        if path.starts_with(b".git") {
            continue;
        }
        match random.below(6) {
            0 | 1 => pair.each_edited(&format!("change {shown:?}"), |pair, repository| {
                if repository.path(&path).is_file() && !is_link(repository, &path) {
                    pair.edit(repository, &path, b"changed\n");
                }
            }),
            2 => pair.each(&format!("remove {shown:?}"), |repository| {
                repository.remove(&path)
            }),
            3 => pair.each_edited(&format!("write {shown:?}"), |pair, repository| {
                if fits_on_disk(repository, &path) {
                    pair.edit(repository, &path, b"untracked\n");
                }
            }),
            4 => pair.each_edited(&format!("touch {shown:?}"), |pair, repository| {
                if repository.path(&path).is_file() && !is_link(repository, &path) {
                    let content = std::fs::read(repository.path(&path)).unwrap();
                    pair.edit(repository, &path, &content);
                }
            }),
            _ => pair.each(&format!("replace {shown:?} by a link"), |repository| {
                if repository.path(&path).is_file() {
                    repository.remove(&path);
                    repository.symlink(&path, "elsewhere");
                }
            }),
        }
    }
}

fn is_link(repository: &Repository, path: &[u8]) -> bool {
    std::fs::symlink_metadata(repository.path(path)).is_ok_and(|stat| stat.is_symlink())
}

fn fits_on_disk(repository: &Repository, path: &[u8]) -> bool {
    let mut place = repository.root.clone();
    let full = repository.path(path);
    for part in full.strip_prefix(&repository.root).unwrap() {
        place.push(part);
        match std::fs::symlink_metadata(&place) {
            Ok(stat) if place != full && stat.is_dir() => {}
            Ok(_) => return false,
            Err(_) => return true,
        }
    }
    false
}

fn check_out_paths(pair: &mut Pair, generated: &Generated, random: &mut Random) {
    make_dirty(pair, generated, random);
    let path = random.pick(&generated.paths).clone();
    pair.checkout(&[b"--".as_slice(), &literal(&path)]);
    let tree = random.pick(&generated.branches).clone();
    let path = random.pick(&generated.paths).clone();
    pair.checkout(&[tree.as_bytes(), b"--", &literal(&path)]);
    if let Some(directory) = generated.directories.first() {
        let directory = literal(directory);
        pair.checkout(&[tree.as_bytes(), b"--", &directory]);
        pair.checkout(&[b"--".as_slice(), &directory, b":(glob)**/*.txt"]);
    }
    pair.checkout(&["--", "."]);
}

/// A pathspec for exactly this path.
pub fn literal(path: &[u8]) -> Vec<u8> {
    [b":(literal)", path].concat()
}
