//! Random sequences of commands that change references, of hedgerow and of git by turns.

use crate::twins::Twins;
use crate::{git_knows_tables, HEDGEROW};
use hedgerow_testkit::{run, Program, Random};

/// Branch names, of which some are in the way of others.
const BRANCHES: [&str; 6] = ["a", "a/b", "topic", "x/y/z", "x/y", "main"];
const COMMITS: [&str; 5] = ["HEAD", "HEAD~1", "main", "main~2", "topic"];

#[test]
fn what_hedgerow_and_git_do_by_turns_is_what_git_does_alone() {
    if !git_knows_tables() {
        return;
    }
    let seeds = match std::env::var("HEDGEROW_TEST_SEED") {
        Ok(seed) => vec![seed.parse().unwrap()],
        Err(_) => (1..=5).collect(),
    };
    for seed in seeds {
        let format = if seed % 3 == 0 { "sha256" } else { "sha1" };
        let mut twins = Twins::new(&format!("seed {seed}"), format);
        let mut random = Random::new(seed);
        let mut trees = vec![""];
        for step in 0..40 {
            one(&mut twins, &mut random, &mut trees, step);
            if step % 8 == 7 {
                twins.assert_same(&trees);
            }
        }
        twins.assert_same(&trees);
        twins.assert_sound();
    }
}

fn one(twins: &mut Twins, random: &mut Random, trees: &mut Vec<&'static str>, step: usize) {
    let branch = *random.pick(&BRANCHES);
    let commit = *random.pick(&COMMITS);
    let place = *random.pick(trees);
    let content = format!("step {step}\n");
    match random.below(20) {
        at @ 0..=2 => {
            let words: &[&str] = if at == 2 {
                &["checkout", "-f", "-B", branch, commit]
            } else {
                &["checkout", "-q", "-b", branch, commit]
            };
            // Where a name is in the way, git has changed the files already when it says so.
            if twins.run(place, words).code != 0 {
                let place = if place.is_empty() { "." } else { place };
                twins.by_git(&["-C", place, "reset", "-q", "--hard"]);
            }
        }
        3 | 4 => drop(twins.run(place, &["checkout", "-f", branch])),
        5 => drop(twins.run(place, &["checkout", "-f", "--detach", commit])),
        6 => drop(twins.run(place, &["switch", "--discard-changes", "-"])),
        7 => drop(twins.run(place, &["switch", "-c", branch])),
        8 => drop(twins.run(place, &["reset", "--hard", commit])),
        9 => drop(twins.run(place, &["reset", "--soft", commit])),
        10 | 11 => {
            twins.write("file", &content);
            twins.run("", &["stash", "push", "-m", &format!("m {step}")]);
        }
        12 => {
            // git answers otherwise once the oldest entry was dropped from tables.
            let count = twins.repositories[1]
                .ask(&["stash", "list"])
                .lines()
                .count();
            let entry = if count > 2 { "stash@{1}" } else { "stash@{0}" };
            twins.run("", &["stash", "drop", entry]);
        }
        13 => drop(twins.run("", &["stash", "clear"])),
        14 if trees.len() < 3 => {
            let path = ["../w1", "../w2"][trees.len() - 1];
            let words: &[&str] = match random.below(3) {
                0 => &["worktree", "add", "-f", path, branch],
                1 => &["worktree", "add", "-f", "--detach", path, commit],
                _ => &["worktree", "add", "-f", "-B", branch, path, commit],
            };
            if twins.run("", words).code == 0 {
                trees.push(path);
            }
        }
        14 | 15 => {
            twins.write("file", &content);
            twins.by_git(&["commit", "-q", "-a", "-m", &content]);
        }
        16 => twins.by_git(&["tag", "-a", "-m", "x", &format!("v{step}")]),
        17 => twins.by_git(&["branch", "-q", "-D", branch]),
        18 => twins.by_git(&["pack-refs", "--all"]),
        _ => twins.by_git(&["reflog", "delete", "HEAD@{1}"]),
    }
}

#[test]
fn what_only_logs_in_tables_name_is_kept_when_packs_are_replaced() {
    if !git_knows_tables() {
        return;
    }
    let mut twins = Twins::new("repack", "sha1");
    twins.run("", &["worktree", "add", "-q", "-b", "side", "../w1"]);
    let mut ids = Vec::new();
    for place in ["", "../w1"] {
        let root = twins.repositories[1].root.join(place);
        std::fs::write(root.join("file"), format!("only in {place:?}\n")).unwrap();
        let ask = |words: &[&str]| hedgerow_testkit::git_text(&root, words);
        ask(&["commit", "-q", "-a", "-m", "left behind"]);
        ids.push(ask(&["rev-parse", "HEAD"]).trim().to_owned());
        ask(&["reset", "-q", "--hard", "HEAD~1"]);
        ask(&["update-ref", "refs/worktree/own", "HEAD~2"]);
    }
    let our = &twins.repositories[1];
    let unused = our.ask_with(&["hash-object", "-w", "--stdin"], b"unused\n");
    our.ask(&["repack", "-q", "-a", "-d"]);
    let pack = ["pack-objects", "-q", ".git/objects/pack/pack"];
    our.ask_with(&pack, format!("{unused}\n").as_bytes());
    our.ask(&["prune-packed"]);
    let mut command = HEDGEROW.command(&our.root);
    command.args(["repack", "-q", "-a", "-d"]);
    run(command).ok("repack");
    for id in &ids {
        our.ask(&["cat-file", "-e", id]);
    }
    let mut gone = Program::Git.command(&our.root);
    gone.args(["cat-file", "-e", &unused]);
    assert_ne!(run(gone).code, 0, "what nothing names was kept");
    our.ask(&["fsck", "--no-dangling", "--no-progress"]);
}
