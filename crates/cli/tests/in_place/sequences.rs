//! Sequences of commands drawn from seeds, in twins: what is hedgerow's and what is handed over, with
//! options known and unknown, settings, variables and directories. After each command both have said
//! the same and left the same.
//!
//! `HEDGEROW_TEST_SEED=N` replays one; `HEDGEROW_TEST_SEQUENCES=N` plays N of them, `A..B` those from A
//! up to B.

use crate::grammar::{Call, PATHS};
use crate::judge;
use crate::twins::{real_git, typed, Side, Twins};
use hedgerow_testkit::{git, git_is_at_least, isolated, run, use_global_config, Random};
use std::path::Path;

/// Sequences of an ordinary run.
const SEQUENCES: u64 = 16;
/// Commands in each.
const COMMANDS: usize = 30;

#[test]
fn sequences() {
    if !git_is_at_least(2, 55, "sequences of commands by git and by the link") {
        return;
    }
    let asked = std::env::var("HEDGEROW_TEST_SEQUENCES").ok();
    let seeds = asked.map_or(0..SEQUENCES, |asked| seeds(&asked));
    let only = std::env::var("HEDGEROW_TEST_SEED").ok();
    let only: Option<u64> = only.map(|seed| seed.parse().expect("HEDGEROW_TEST_SEED: a number"));
    let seeds = only.map_or(seeds, |seed| seed..seed + 1);
    let next = std::sync::atomic::AtomicU64::new(seeds.start);
    let any_words = !git_is_at_least(2, 55, "sequences word for word");
    let failed = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| loop {
                let seed = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                if seed >= seeds.end {
                    break;
                }
                if std::panic::catch_unwind(|| play(seed, any_words)).is_err() {
                    failed.lock().unwrap().push(seed);
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "these seeds failed: {failed:?}");
}

/// `N` or `A..B`.
fn seeds(asked: &str) -> std::ops::Range<u64> {
    let number = |text: &str| text.parse().expect("HEDGEROW_TEST_SEQUENCES: N or A..B");
    match asked.split_once("..") {
        Some((first, end)) => number(first)..number(end),
        None => 0..number(asked),
    }
}

fn play(seed: u64, any_words: bool) {
    let random = &mut Random::new(seed ^ 0x5e9);
    let mut twins = Twins::new(make);
    twins.trees = vec!["work", "work/sub", "linked", "linked2"];
    twins.story.push(format!("sequence {seed}"));
    let mut edits = 0;
    let mut found = Vec::new();
    for _ in 0..COMMANDS {
        if random.chance(60) {
            edit(&mut twins, random, &mut edits);
        }
        let call = Call::draw(random);
        let what = format!(
            "{}: {:?} git {}",
            call.directory,
            call.variables,
            typed(&call.words)
        );
        let links = twins.links();
        let place = twins.place();
        let run_in = |side: Side| {
            let directory = if place.join(call.directory).is_dir() {
                call.directory
            } else {
                "work"
            };
            let mut command = isolated(match side {
                Side::Plain => real_git(),
                Side::Linked => links.join("git"),
            });
            let like = Twins::environment(&links, side);
            command.current_dir(place.join(directory)).envs(like);
            use_global_config(&mut command, place.join("config"));
            command
                .args(&call.words)
                .envs(call.variables.iter().copied());
            (command, b"HEAD\nmain:f1\nnonsense\n".to_vec())
        };
        let difference = twins.both(&what, run_in);
        if !difference.is_none() && judge::accepts(&difference, any_words).is_none() {
            found.push(format!("{}\n{difference}", twins.story.join("\n")));
        }
        if !difference.is_none() {
            twins.make_alike();
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Someone works in both.
fn edit(twins: &mut Twins, random: &mut Random, edits: &mut u32) {
    *edits += 1;
    let path = *random.pick(&PATHS[..]);
    let path = if [".", "*.o", "sub"].contains(&path) {
        "x.o"
    } else {
        path
    };
    let action = random.below(7);
    let number = *edits;
    twins.story.push(format!("edit {action} {path}"));
    let place = twins.place();
    twins.each(|_| {
        let file = place.join("work").join(path);
        let script = match action {
            0 | 1 => format!("mkdir -p \"${{1%/*}}\"; echo line {number} >> \"$1\""),
            2 => "rm -rf \"$1\"".to_owned(),
            3 => format!("rm -rf \"$1\"; echo {number} > \"$1\""),
            4 => format!("rm -f \"$1\"; mkdir -p \"$1\"; echo {number} > \"$1/a\""),
            5 => "test -f \"$1\" && chmod +x \"$1\"".to_owned(),
            _ => format!("sed -i '1s/.*/first {number}/' \"$1\""),
        };
        // The times are the same in both, and long ago.
        let dated = format!(
            "({script}) 2>/dev/null; find \"$1\" -type f -newer ../start -exec touch -d @{} {{}} + 2>/dev/null",
            1_600_000_000 + number
        );
        let mut shell = isolated("sh");
        shell.current_dir(place.join("work"));
        shell.arg("-c").arg(dated).arg("sh").arg(file);
        run(shell);
    });
}

/// A repository with an upstream, branches that differ, and a submodule.
fn make(place: &Path) {
    let config = "[alias]\n\tco = checkout\n\tst = status -s\n\tshout = !echo shouted && git status -s\n\
                  [protocol \"file\"]\n\tallow = always\n[gc]\n\tauto = 0\n\tautoDetach = false\n\
                  [maintenance]\n\tauto = false\n[core]\n\tfsync = none\n\tcheckStat = minimal\n\ttrustctime = false\n[init]\n\tdefaultBranch = main\n";
    std::fs::write(place.join("config"), config).unwrap();
    let script = "set -e
        git init -q library; cd library; echo s >s; git add s; git commit -qm s; cd ..
        git init -q up; cd up; mkdir -p d1 d2/deep
        echo one >f1; echo two >f2; echo a >d1/a; seq 20 >d1/b; echo c >d2/deep/c; echo '*.o' >.gitignore
        git add .; git commit -qm one; git tag mark
        git submodule -q add ../library sub; git commit -qm sub
        git checkout -q -b side; echo more >>f1; echo new >new-file; git rm -q f2; git add .; git commit -qm side
        git checkout -q -b other main~1; sed -i 3s/.*/changed/ d1/b; git rm -q -r d2; echo d2 >d2; git add .; git commit -qm other
        git branch onlyremote; git checkout -q main; seq 2 21 >d1/b; git commit -qam three
        cd ..; git clone -q up work; cd work; git branch side origin/side; git branch other origin/other
        git submodule -q update --init; git commit -q --allow-empty -m local; cd ..
        (cd up; echo later >>f1; git commit -qam later)
        find . -exec touch -h -d @1500000000 {} +; GIT_OPTIONAL_LOCKS=1 git -C work status >/dev/null; touch -d @1500000001 start";
    let mut shell = isolated("sh");
    shell.current_dir(place).arg("-c").arg(script);
    use_global_config(&mut shell, place.join("config"));
    run(shell).ok("the repositories are made");
    git(&place.join("work"), &["fsck"], b"");
}
