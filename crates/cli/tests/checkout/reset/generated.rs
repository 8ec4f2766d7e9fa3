//! Repositories drawn from seeds, reset by git and by hedgerow.
//!
//! `HEDGEROW_TEST_SEED=N` replays one of them; `HEDGEROW_TEST_SEEDS=all` plays all of them.

use crate::support::{generate, Generated, Pair, Random, Repository};
use hedgerow_testkit::play_sample;

const JOBS: [&str; 4] = ["1", "2", "8", "64"];
const MODES: [&str; 5] = ["--soft", "--mixed", "--hard", "--merge", "--keep"];

#[test]
fn seeds_0_to_59() {
    play(0..60);
}

#[test]
fn seeds_60_to_119() {
    play(60..120);
}

fn play(seeds: std::ops::Range<u64>) {
    play_sample(seeds, play_one);
}

fn play_one(seed: u64) {
    let generated = generate(seed);
    let mut pair = Pair::of_git_dir(&generated.repository, &format!("seed {seed}"));
    let random = &mut Random::new(seed ^ 0xbeef);
    pair.options = vec![format!("-j{}", random.pick(&JOBS))];
    pair.both("reset", "", &["--hard"], &[]);
    pair.assert_fresh();
    for _ in 0..8 {
        // Git loses a staged change where a directory becomes a file, and hedgerow refuses.
        let mode = *random.pick(&MODES);
        let stages = !matches!(mode, "--merge" | "--keep");
        if !stages {
            pair.both("reset", "", &["--hard"], &[]);
        }
        make_dirty(&mut pair, &generated, random, stages);
        let branch = random.pick(&generated.branches).clone();
        if stages && random.chance(30) {
            let path = random.pick(&generated.paths).clone();
            let path = [b":(literal)", &path[..]].concat();
            pair.both("reset", "", &[branch.as_bytes(), b"--", &path], &[]);
        } else {
            pair.both("reset", "", &[mode, &branch], &[]);
        }
        if random.chance(40) {
            pair.both("reset", "", &["--hard", &branch], &[]);
            pair.assert_fresh();
        }
    }
    let fsck = ["fsck", "--no-dangling", "--no-progress"];
    pair.hedgerow.git(&fsck);
}

/// The user at work: files changed, removed, staged.
fn make_dirty(pair: &mut Pair, generated: &Generated, random: &mut Random, stages: bool) {
    for _ in 0..random.below(4) {
        let path = random.pick(&generated.paths).clone();
        if path.starts_with(b".git") {
            continue;
        }
        let shown = String::from_utf8_lossy(&path).into_owned();
        let is_file = |it: &Repository| {
            let found = std::fs::symlink_metadata(it.path(&path));
            found.is_ok_and(|stat| stat.is_file())
        };
        let stages = stages && random.chance(50);
        let literal = [b":(literal)", &path[..]].concat();
        let stage = |it: &Repository| {
            if stages {
                use std::os::unix::ffi::OsStrExt;
                let literal = std::ffi::OsStr::from_bytes(&literal);
                let words = ["add", "-A", "-f", "--"].map(std::ffi::OsStr::new);
                it.run(&[&words[..], &[literal]].concat(), b"");
            }
        };
        if random.chance(60) {
            pair.each(&format!("change {shown:?}, {stages}"), |it| {
                if is_file(it) {
                    it.write(&path, b"changed\n");
                    stage(it);
                }
            });
        } else {
            pair.each(&format!("remove {shown:?}, {stages}"), |it| {
                if is_file(it) {
                    it.remove(&path);
                    stage(it);
                }
            });
        }
    }
}
