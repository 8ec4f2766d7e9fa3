//! States generated at random, read by git and by the store.

use super::{edit, git_knows_tables, listed, open, options};
use crate::refs::{Expected, LogEntry, LogMessage, Logged, RefStore, RefValue, Signature};
use crate::repository::Scratch;
use bstr::{BString, ByteSlice};
use gix_hash::{Kind, ObjectId};
use hedgerow_testkit::Random;
use std::fmt::Write;

/// A repository with tables, some commits and a tag; with what may be named by references.
fn repository(scratch: &Scratch, hash: Kind) -> Vec<ObjectId> {
    let format = if hash == Kind::Sha1 { "sha1" } else { "sha256" };
    let format = format!("--object-format={format}");
    scratch.ask(".", &["init", "-q", "--ref-format=reftable", &format, "r"]);
    (1..=4).for_each(|number| scratch.commit("r", number));
    scratch.ask("r", &["tag", "-a", "-m", "x", "annotated"]);
    scratch.ask("r", &["config", "core.logAllRefUpdates", "always"]);
    let names = [
        "HEAD",
        "HEAD~1",
        "HEAD~2",
        "HEAD~3",
        "annotated",
        "HEAD^{tree}",
    ];
    let ids = names.map(|name| scratch.ask("r", &["rev-parse", name]));
    ids.map(|id| ObjectId::from_hex(id.as_bytes()).unwrap())
        .into()
}

/// All references, as git lists them.
fn by_git(scratch: &Scratch, directory: &str) -> Vec<String> {
    let format = "--format=%(refname) %(if)%(symref)%(then)%(symref)%(else)%(objectname)%(end)";
    let text = scratch.ask(directory, &["for-each-ref", format]);
    text.lines().map(str::to_owned).collect()
}

fn by_us(store: &dyn RefStore) -> Vec<String> {
    let lines = listed(store, "refs/")
        .into_iter()
        .map(|(name, value)| match value {
            Some(RefValue::Direct(id)) => format!("{name} {id}"),
            Some(RefValue::Symbolic(target)) => format!("{name} {target}"),
            None => format!("{name} broken"),
        });
    lines.collect()
}

/// The log of `name` as git shows it, without the name, which git shortens.
fn log_by_git(scratch: &Scratch, directory: &str, name: &str) -> Vec<String> {
    let format = "--format=%H %gd %gs";
    let words = [
        "reflog",
        "show",
        "--no-abbrev",
        "--date=raw",
        format,
        name,
        "--",
    ];
    let text = scratch.ask(directory, &words);
    let lines = text.lines().map(|line| {
        let (id, rest) = line.split_once(' ').unwrap();
        let (_, rest) = rest.split_once("@{").unwrap();
        format!("{id} @{{{rest}").trim_end().to_owned()
    });
    lines.collect()
}

fn log_by_us(store: &dyn RefStore, name: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut visit = |entry: LogEntry| {
        let (seconds, offset) = (entry.time.seconds, entry.time.offset);
        let zone = offset / 3600 * 100 + offset % 3600 / 60;
        let line = format!("{} @{{{seconds} {zone:+05}}} {}", entry.new, entry.message);
        lines.push(line.trim_end().to_owned());
    };
    store.read_log(name.into(), &mut visit).unwrap();
    lines
}

fn name(random: &mut Random, number: usize) -> String {
    let rooms = [
        "refs/heads/",
        "refs/tags/",
        "refs/remotes/origin/",
        "refs/a/b/c/",
        "refs/x",
    ];
    let filling = "long-".repeat(random.below(9) * random.below(4));
    format!("{}{filling}{}", random.pick(&rooms), number)
}

/// Lets git make `count` changes in one transaction of `update-ref`.
fn changed_by_git(
    scratch: &Scratch,
    random: &mut Random,
    known: &mut Vec<String>,
    ids: &[ObjectId],
    count: usize,
) {
    let mut input = String::new();
    let mut touched = std::collections::BTreeSet::new();
    for _ in 0..count {
        if random.chance(20) && !known.is_empty() {
            let gone = known.swap_remove(random.below(known.len()));
            if touched.insert(gone.clone()) {
                writeln!(input, "delete {gone}").unwrap();
            } else {
                known.push(gone);
            }
        } else {
            let name = if random.chance(30) && !known.is_empty() {
                random.pick(known).clone()
            } else {
                let number = random.below(1 << 30);
                name(random, number)
            };
            if touched.insert(name.clone()) {
                // Branches have commits only.
                let limit = if name.starts_with("refs/heads/") {
                    4
                } else {
                    ids.len()
                };
                writeln!(input, "update {name} {}", ids[random.below(limit)]).unwrap();
                known.retain(|other| *other != name);
                known.push(name);
            }
        }
    }
    let zone = random.pick(&["+0000", "+0530", "-0830", "+1200"]);
    let date = format!("{} {zone}", 1_700_000_000 + random.below(1_000_000));
    let message = format!("change {}", random.below(1000));
    let size = random.pick(&["512", "1024", "4096", "65536"]);
    let size = format!("reftable.blockSize={size}");
    let words = ["-c", &size, "update-ref", "-m", &message, "--stdin"];
    scratch.ask_at("r", &words, input.as_bytes(), &date);
}

fn compare(scratch: &Scratch, store: &dyn RefStore, known: &[String], what: &str) {
    let all = scratch.ask("r", &["rev-list", "--all"]);
    let commits: Vec<&str> = all.lines().collect();
    let expected = by_git(scratch, "r");
    let found = by_us(store);
    assert_eq!(expected.len(), found.len(), "{what}");
    for (expected, found) in expected.iter().zip(&found) {
        assert_eq!(expected, found, "{what}");
    }
    for name in known
        .iter()
        .take(5)
        .map(String::as_str)
        .chain(["HEAD", "refs/heads/main"])
    {
        // git shows only what happened to commits.
        let found = log_by_us(store, name);
        if found
            .iter()
            .all(|line| commits.iter().any(|id| line.starts_with(id)))
        {
            assert_eq!(found, log_by_git(scratch, "r", name), "{what}: {name}");
        }
    }
    for name in known.iter().take(200) {
        assert!(
            store.read(name.as_str().into()).unwrap().is_some(),
            "{what}: {name}"
        );
    }
    for absent in [
        "refs/heads/none",
        "refs/zzz",
        "refs/heads",
        "refs/a/b/c",
        "none",
    ] {
        assert_eq!(store.read(absent.into()).unwrap(), None, "{what}: {absent}");
    }
}

#[test]
fn what_git_wrote_is_read_as_git_reads_it() {
    if !git_knows_tables() {
        return;
    }
    for (seed, hash) in [(1, Kind::Sha1), (2, Kind::Sha256), (3, Kind::Sha1)] {
        let scratch = Scratch::new();
        let mut random = Random::new(seed);
        let ids = repository(&scratch, hash);
        let store = open(&scratch.path("r/.git"), hash);
        let mut known = Vec::new();
        for round in 0..12 {
            let count = [1, 3, 40, 900][random.below(4)];
            changed_by_git(&scratch, &mut random, &mut known, &ids, count);
            if random.chance(30) {
                scratch.ask(
                    "r",
                    &[
                        "symbolic-ref",
                        "refs/remotes/origin/HEAD",
                        "refs/heads/main",
                    ],
                );
            }
            if random.chance(20) {
                scratch.ask("r", &["pack-refs", "--all"]);
            }
            compare(
                &scratch,
                &*store,
                &known,
                &format!("seed {seed}, round {round}"),
            );
        }
        let logs = store.logs().unwrap();
        let names: Vec<String> = logs.iter().map(|log| log.name.to_string()).collect();
        if hedgerow_testkit::git_is_at_least(2, 45, "reflog list") {
            assert_eq!(names.join("\n"), scratch.ask("r", &["reflog", "list"]));
        }
    }
}

/// Changes by git and by the store, by turns.
#[test]
fn git_and_the_store_write_by_turns() {
    if !git_knows_tables() {
        return;
    }
    for (seed, hash) in [(11, Kind::Sha1), (12, Kind::Sha256)] {
        let scratch = Scratch::new();
        let mut random = Random::new(seed);
        let ids = repository(&scratch, hash);
        let store = open(&scratch.path("r/.git"), hash);
        let mut known = Vec::new();
        for round in 0..25 {
            if random.chance(40) {
                let count = [1, 5, 200][random.below(3)];
                changed_by_git(&scratch, &mut random, &mut known, &ids, count);
            } else {
                let count = [1, 5, 300][random.below(3)];
                changed_by_us(&*store, &mut random, &mut known, &ids, count);
            }
            compare(
                &scratch,
                &*store,
                &known,
                &format!("seed {seed}, round {round}"),
            );
        }
        let checked = scratch.run("r", &["fsck", "--no-dangling"], &[]);
        assert!(
            checked.status.success() && checked.stderr.is_empty(),
            "{checked:?}"
        );
        if hedgerow_testkit::git_is_at_least(2, 52, "refs verify of tables") {
            let checked = scratch.run("r", &["refs", "verify", "--strict"], &[]);
            assert!(
                checked.status.success() && checked.stderr.is_empty(),
                "{checked:?}"
            );
        }
    }
}

fn changed_by_us(
    store: &dyn RefStore,
    random: &mut Random,
    known: &mut Vec<String>,
    ids: &[ObjectId],
    count: usize,
) {
    let mut changes: std::collections::BTreeMap<String, Option<ObjectId>> = Default::default();
    for _ in 0..count {
        if random.chance(25) && !known.is_empty() {
            changes.insert(known[random.below(known.len())].clone(), None);
        } else {
            let number = random.below(1 << 30);
            // Only commits: nothing else is set by the store.
            changes.insert(name(random, number), Some(ids[random.below(4)]));
        }
    }
    let edits = changes
        .iter()
        .map(|(name, value)| edit(name, *value, Expected::Anything));
    let edits: Vec<_> = edits.collect();
    let offset = [0, 19_800, -30_600][random.below(3)];
    let committer = Signature {
        name: "Ada".into(),
        email: "a@b".into(),
        time: gix_date::Time::new(1_700_000_000 + random.below(1 << 20) as i64, offset),
    };
    let message = LogMessage {
        text: "ours".into(),
        committer: &committer,
    };
    let mut options = options();
    options.reftable.block_size = *random.pick(&[512, 1024, 4096, 1 << 16]);
    store
        .prepare(&edits, &options)
        .unwrap()
        .commit(Some(message))
        .unwrap();
    for (name, value) in &changes {
        known.retain(|other| other != name);
        known.extend(value.map(|_| name.clone()));
    }
}

#[test]
fn working_trees_have_references_of_their_own() {
    if !git_knows_tables() {
        return;
    }
    let scratch = Scratch::new();
    let ids = repository(&scratch, Kind::Sha1);
    scratch.ask(
        "r",
        &["worktree", "add", "-q", "--detach", "../w", "HEAD~1"],
    );
    scratch.ask("w", &["update-ref", "refs/bisect/bad", "HEAD~1"]);
    scratch.ask("w", &["update-ref", "refs/worktree/x", "HEAD"]);
    scratch.ask("r", &["update-ref", "refs/bisect/good", "HEAD"]);
    scratch.ask("r", &["update-ref", "ORIG_HEAD", "HEAD~2"]);
    let main = open(&scratch.path("r/.git"), Kind::Sha1);
    let linked = main.worktree_refs(&scratch.path("r/.git/worktrees/w"));
    assert_eq!(by_us(&*main), by_git(&scratch, "r"));
    assert_eq!(by_us(&*linked), by_git(&scratch, "w"));
    let read = |store: &dyn RefStore, name: &str| store.read(name.into()).unwrap();
    let direct = |at: usize| Some(RefValue::Direct(ids[at]));
    for (store, name, expected) in [
        (
            &main,
            "HEAD",
            Some(RefValue::Symbolic("refs/heads/main".into())),
        ),
        (&main, "worktrees/w/HEAD", direct(1)),
        (&main, "worktrees/w/refs/bisect/bad", direct(2)),
        (&main, "refs/bisect/bad", None),
        (&main, "ORIG_HEAD", direct(2)),
        (&linked, "HEAD", direct(1)),
        (
            &linked,
            "main-worktree/HEAD",
            Some(RefValue::Symbolic("refs/heads/main".into())),
        ),
        (&linked, "main-worktree/refs/bisect/good", direct(0)),
        (&linked, "refs/heads/main", direct(0)),
        (&linked, "refs/bisect/good", None),
    ] {
        assert_eq!(read(&**store, name), expected, "{name}");
    }
    assert_eq!(
        log_by_us(&*linked, "HEAD"),
        log_by_git(&scratch, "w", "HEAD")
    );
    // What is a file in every repository.
    scratch.write("r/.git/FETCH_HEAD", format!("{}\t\tx\n", ids[3]));
    assert_eq!(read(&*main, "FETCH_HEAD"), direct(3));
    // What belongs to a working tree is written to its stack.
    for (store, directory) in [(&main, "r"), (&linked, "w")] {
        let name: BString = "HEAD".into();
        let logged = Logged {
            old: None,
            new: ids[2],
            create: true,
        };
        let committer = super::super::committer();
        let message = LogMessage {
            text: "entry".into(),
            committer: &committer,
        };
        let old = Some(ids[0]);
        store
            .append_log(name.as_bstr(), old, logged, &options(), message)
            .unwrap();
        assert_eq!(
            log_by_us(&**store, "HEAD"),
            log_by_git(&scratch, directory, "HEAD")
        );
    }
    scratch.ask("r", &["fsck"]);
}
