//! Stacks: how they grow and shrink, and who else is at them.

use super::{edit, empty, git_knows_tables, id, listed, open, options, tables};
use crate::config::Sharing;
use crate::refs::tests::change;
use crate::refs::{Expected, LogMessage, Logged, RefStore, RefValue, Signature, WriteOptions};
use crate::repository::Scratch;
use bstr::BStr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

fn entries(store: &dyn RefStore, name: &str) -> Vec<String> {
    let mut entries = Vec::new();
    let mut visit = |entry: crate::refs::LogEntry| entries.push(entry.message.to_string());
    store.read_log(name.into(), &mut visit).unwrap();
    entries
}

fn files(directory: &Path) -> usize {
    std::fs::read_dir(directory.join("reftable"))
        .unwrap()
        .count()
}

#[test]
fn a_hundred_changes_leave_few_tables() {
    let scratch = Scratch::new();
    let store = empty(&scratch);
    let home = scratch.path("home");
    for number in 0..100 {
        let name = format!("refs/heads/b{number}");
        change(&*store, &[edit(&name, Some(id('1')), Expected::Absent)]).unwrap();
        if number % 3 == 0 {
            change(&*store, &[edit(&name, None, Expected::Anything)]).unwrap();
        }
        assert!(tables(&home).len() <= 8, "{:?}", tables(&home));
    }
    assert_eq!(listed(&*store, "refs/").len(), 66);
    // Nothing else is left: no lock, and no table that is in no list.
    assert_eq!(files(&home), tables(&home).len() + 1);
    // When all is gone, nothing says so any more.
    for number in 0..100 {
        let name = format!("refs/heads/b{number}");
        change(&*store, &[edit(&name, None, Expected::Anything)]).unwrap();
    }
    assert_eq!(listed(&*store, "refs/"), []);
    let size = |name: &String| {
        std::fs::metadata(home.join("reftable").join(name))
            .unwrap()
            .len()
    };
    let sum: u64 = tables(&home).iter().map(size).sum();
    assert!(sum < 4000, "{sum}");
}

#[test]
fn entries_of_logs_are_deleted_and_follow_on_each_other() {
    let scratch = Scratch::new();
    let store = empty(&scratch);
    let name: &BStr = "refs/stash".into();
    let committer = Signature {
        name: "Ada".into(),
        email: "a@b".into(),
        time: gix_date::Time::new(1_700_000_000, -5 * 3600 - 1800),
    };
    for digit in ['1', '2', '3'] {
        let set = [edit("refs/stash", Some(id(digit)), Expected::Anything)];
        let text = format!("  entry\n {digit} ");
        let message = LogMessage {
            text: text.as_str().into(),
            committer: &committer,
        };
        store
            .prepare(&set, &options())
            .unwrap()
            .commit(Some(message))
            .unwrap();
    }
    assert_eq!(
        entries(&*store, "refs/stash"),
        ["entry 3", "entry 2", "entry 1"]
    );
    assert!(!store.drop_log_entry(name, 1, &options()).unwrap());
    let mut log = Vec::new();
    store.read_log(name, &mut |entry| log.push(entry)).unwrap();
    assert_eq!((log[0].old, log[0].new), (id('1'), id('3')));
    assert_eq!(log[0].time, committer.time);
    assert!(store.drop_log_entry(name, 2, &options()).is_err());
    assert!(!store.drop_log_entry(name, 0, &options()).unwrap());
    assert_eq!(store.read(name).unwrap(), Some(RefValue::Direct(id('1'))));
    assert!(store.drop_log_entry(name, 0, &options()).unwrap());
    assert_eq!(store.read(name).unwrap(), Some(RefValue::Direct(id('1'))));
    assert!(store.has_log(name), "an empty log is one");
    assert_eq!(entries(&*store, "refs/stash"), [""; 0]);
    store.delete_log(name, &options()).unwrap();
    assert!(!store.has_log(name));

    let other: &BStr = "refs/heads/other".into();
    let logged = |create| Logged {
        old: None,
        new: id('4'),
        create,
    };
    let message = LogMessage {
        text: "more".into(),
        committer: &committer,
    };
    store
        .append_log(other, None, logged(false), &options(), message)
        .unwrap();
    assert!(!store.has_log(other));
    store.create_log(other, &options()).unwrap();
    assert!(store.has_log(other));
    store
        .append_log(other, None, logged(false), &options(), message)
        .unwrap();
    assert_eq!(entries(&*store, "refs/heads/other"), ["more"]);
}

#[test]
fn names_that_are_in_the_way_of_each_other_are_refused() {
    let scratch = Scratch::new();
    let store = empty(&scratch);
    let set = |name| edit(name, Some(id('1')), Expected::Anything);
    let delete = |name| edit(name, None, Expected::Anything);
    let refused = |edits: &[_]| change(&*store, edits).unwrap_err().to_string();
    change(&*store, &[set("refs/heads/a/b")]).unwrap();
    for (name, words) in [
        (
            "refs/heads/a",
            "'refs/heads/a/b' exists; cannot create 'refs/heads/a'",
        ),
        (
            "refs/heads/a/b/c",
            "'refs/heads/a/b' exists; cannot create 'refs/heads/a/b/c'",
        ),
    ] {
        assert_eq!(refused(&[set(name)]), words);
    }
    let long = format!("refs/heads/{}", "long".repeat(1100));
    let words = "reftable: transaction failure: entry too large";
    assert_eq!(refused(&[set(&long)]), words);
    let both = refused(&[set("refs/heads/x"), set("refs/heads/x/y")]);
    assert_eq!(
        both,
        "cannot process 'refs/heads/x' and 'refs/heads/x/y' at the same time"
    );
    change(&*store, &[delete("refs/heads/a/b"), set("refs/heads/a")]).unwrap();
    assert_eq!(listed(&*store, "refs/heads/").len(), 1);
}

#[test]
fn a_lock_is_waited_for_and_then_refuses_before_anything_is_done() {
    let scratch = Scratch::new();
    let store = empty(&scratch);
    let lock = scratch.path("home/reftable/tables.list.lock");
    std::fs::write(&lock, "").unwrap();
    let mut options = options();
    options.reftable.lock_timeout = Some(Duration::from_millis(20));
    let set = [edit("refs/heads/a", Some(id('1')), Expected::Absent)];
    let error = store.prepare(&set, &options).unwrap_err();
    assert_eq!(error.to_string(), "cannot lock references");
    std::fs::remove_file(&lock).unwrap();
    // What is prepared holds no lock, so that others can go on meanwhile.
    let prepared = store.prepare(&set, &options).unwrap();
    change(
        &*store,
        &[edit("refs/heads/b", Some(id('2')), Expected::Absent)],
    )
    .unwrap();
    prepared.commit(None).unwrap();
    assert_eq!(listed(&*store, "refs/").len(), 2);
    let prepared = store
        .prepare(
            &[edit("refs/heads/c", Some(id('1')), Expected::Absent)],
            &options,
        )
        .unwrap();
    change(
        &*store,
        &[edit("refs/heads/c", Some(id('2')), Expected::Absent)],
    )
    .unwrap();
    assert!(prepared.commit(None).is_err());
    assert_eq!(
        store.read("refs/heads/c".into()).unwrap(),
        Some(RefValue::Direct(id('2')))
    );
    assert!(!lock.exists());
}

#[test]
fn files_are_open_to_whom_they_should_be() {
    let scratch = Scratch::new();
    let store = empty(&scratch);
    let options = WriteOptions {
        sharing: Sharing::Exactly(0o640),
        ..options()
    };
    let set = [edit("refs/heads/a", Some(id('1')), Expected::Absent)];
    store.prepare(&set, &options).unwrap().commit(None).unwrap();
    for entry in std::fs::read_dir(scratch.path("home/reftable")).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o640, "{entry:?}");
    }
}

#[test]
fn many_write_and_read_at_once() {
    let scratch = Scratch::new();
    let store = empty(&scratch);
    change(
        &*store,
        &[edit("refs/heads/kept", Some(id('9')), Expected::Absent)],
    )
    .unwrap();
    let home = scratch.path("home");
    std::thread::scope(|scope| {
        for writer in 0..3 {
            let home = home.clone();
            scope.spawn(move || {
                let store = open(&home, gix_hash::Kind::Sha1);
                for number in 0..60 {
                    let name = format!("refs/heads/w{writer}/{number}");
                    let set = [edit(&name, Some(id('1')), Expected::Absent)];
                    let prepared = store.prepare(&set, &options()).unwrap();
                    prepared.commit(None).unwrap();
                    assert!(store.read(name.as_str().into()).unwrap().is_some());
                }
            });
        }
        for _ in 0..2 {
            let home = home.clone();
            scope.spawn(move || {
                let store = open(&home, gix_hash::Kind::Sha1);
                let mut count = 0;
                while count < 181 {
                    let now = listed(&*store, "refs/");
                    assert!(now.len() >= count, "references became fewer");
                    count = now.len();
                    assert!(store.read("refs/heads/kept".into()).unwrap().is_some());
                }
            });
        }
    });
    assert!(tables(&home).len() < 10);
    assert_eq!(files(&home), tables(&home).len() + 1);
}

#[test]
fn git_and_we_write_at_once() {
    if !git_knows_tables() {
        return;
    }
    let scratch = Scratch::new();
    scratch.ask(".", &["init", "-q", "--ref-format=reftable", "r"]);
    scratch.commit("r", 1);
    scratch.ask("r", &["config", "reftable.lockTimeout", "10000"]);
    let git_dir = scratch.path("r/.git");
    let tip = scratch.ask("r", &["rev-parse", "HEAD"]);
    let tip = gix_hash::ObjectId::from_hex(tip.as_bytes()).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..40 {
                scratch.ask("r", &["update-ref", &format!("refs/git/{number}"), "HEAD"]);
            }
        });
        let store = open(&git_dir, gix_hash::Kind::Sha1);
        for number in 0..80 {
            let name = format!("refs/ours/{number}");
            let set = [edit(&name, Some(tip), Expected::Absent)];
            store
                .prepare(&set, &options())
                .unwrap()
                .commit(None)
                .unwrap();
        }
    });
    let listed = scratch.ask("r", &["for-each-ref", "--format=%(refname)"]);
    assert_eq!(listed.lines().count(), 121);
    scratch.ask("r", &["fsck"]);
    assert_eq!(files(&git_dir), tables(&git_dir).len() + 1);
}

#[test]
fn a_table_that_is_missing_and_a_list_of_other_files_are_errors() {
    let scratch = Scratch::new();
    let store = empty(&scratch);
    change(
        &*store,
        &[edit("refs/heads/a", Some(id('1')), Expected::Absent)],
    )
    .unwrap();
    let home = scratch.path("home");
    let list = home.join("reftable/tables.list");
    let good = std::fs::read(&list).unwrap();
    std::fs::write(&list, [&good[..], b"gone.ref\n"].concat()).unwrap();
    let other = open(&home, gix_hash::Kind::Sha1);
    let error = other.read("refs/heads/a".into()).unwrap_err().to_string();
    assert!(error.contains("reftable/gone.ref"), "{error}");
    std::fs::write(&list, "../../etc/passwd\n").unwrap();
    let error = other.read("refs/heads/a".into()).unwrap_err().to_string();
    assert!(error.ends_with("tables.list' names no tables"), "{error}");
    std::fs::write(&list, good).unwrap();
    assert!(other.read("refs/heads/a".into()).unwrap().is_some());
}
