//! Names of commits in generated histories, beside those that git gives them.

use super::{describe, DescribeOptions};
use crate::config::Environment;
use crate::repository::Repository;
use bstr::{BString, ByteSlice};
use hedgerow_testkit::{play_sample, run, Program, Random};
use std::collections::BTreeSet;

const HISTORIES: u64 = 40;

/// Histories with merges and equal dates, and tags of every kind. `HEDGEROW_TEST_SEED=N` replays one.
#[test]
fn names_are_those_that_git_gives() {
    play_sample(0..HISTORIES, play);
}

fn play(seed: u64) {
    let random = &mut Random::new(seed);
    let (made, commits) = history(random);
    let environment = Environment {
        cwd: made.root.clone(),
        ..Environment::default()
    };
    let repository = Repository::discover(&environment).unwrap();
    for _ in 0..12 {
        let commit = random.pick(&commits);
        let options = DescribeOptions {
            all_tags: random.chance(50),
            digits: random.chance(50).then(|| random.below(45)),
            matches: patterns(random),
            excludes: patterns(random),
        };
        let mut words = vec!["describe".to_owned()];
        words.extend(options.all_tags.then(|| "--tags".to_owned()));
        words.extend(options.digits.map(|digits| format!("--abbrev={digits}")));
        words.extend(options.matches.iter().map(|at| format!("--match={at}")));
        words.extend(options.excludes.iter().map(|at| format!("--exclude={at}")));
        words.push(commit.clone());
        let outcome = made.run(&words, b"");
        let theirs = (outcome.code == 0).then(|| outcome.stdout.trim_end().to_vec());
        let id = gix_hash::ObjectId::from_hex(commit.as_bytes()).unwrap();
        let ours = describe(&repository, &id, &options).unwrap();
        assert_eq!(ours, theirs.map(BString::from), "seed {seed}: {words:?}");
    }
}

fn patterns(random: &mut Random) -> Vec<BString> {
    const PATTERNS: [&str; 6] = ["a*", "*1*", "[b-d]*", "*/*", "?3", "nothing"];
    let count = if random.chance(30) {
        1 + random.below(2)
    } else {
        0
    };
    (0..count)
        .map(|_| (*random.pick(&PATTERNS)).into())
        .collect()
}

/// A repository, and its commits.
fn history(random: &mut Random) -> (hedgerow_testkit::Repository, Vec<String>) {
    let made = hedgerow_testkit::Repository::init(&[]);
    let at = |seconds: usize, words: &[&str]| {
        let mut git = Program::Git.command(&made.root);
        git.env("GIT_COMMITTER_DATE", format!("{seconds} +0000"));
        git.args(words);
        String::from_utf8(run(git).ok("a step"))
            .unwrap()
            .trim_end()
            .to_owned()
    };
    let tree = made.ask(&["write-tree"]);
    let mut commits: Vec<String> = Vec::new();
    let mut seconds = 1_600_000_000;
    for number in 0..10 + random.below(40) {
        seconds += random.below(3) * 10;
        let message = number.to_string();
        let mut words = vec!["commit-tree", &tree, "-m", &message];
        let first = commits.len().saturating_sub(6);
        let parents: BTreeSet<usize> = (0..1 + random.below(3))
            .map(|_| first + random.below(6))
            .collect();
        let parents = parents.into_iter().filter_map(|parent| commits.get(parent));
        words.extend(parents.flat_map(|parent| ["-p", parent]));
        let commit = at(seconds, &words);
        commits.push(commit);
    }
    for number in 0..random.below(25) {
        let name = format!("{}{number}", random.pick(&["a", "b", "c", "d/e"]));
        let commit = random.pick(&commits);
        let seconds = seconds - random.below(20);
        if random.chance(50) {
            at(seconds, &["tag", &name, commit]);
            continue;
        }
        at(seconds, &["tag", "-a", "-m", "m", &name, commit]);
        match random.below(6) {
            // A tag of a tag, and one in another place.
            0 => drop(at(
                seconds,
                &["tag", "-a", "-m", "m", &format!("t{name}"), &name],
            )),
            1 => drop(at(
                seconds,
                &["update-ref", &format!("refs/tags/u{name}"), &name],
            )),
            _ => {}
        }
    }
    if random.chance(30) {
        made.git(&["tag", "a-tree", &tree]);
    }
    (made, commits)
}
