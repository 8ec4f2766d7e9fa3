//! Partial clones: what is missing is fetched in one request before anything is touched, or nothing
//! happens.

use crate::support::{Repository, RunHedgerow};
use crate::HEDGEROW;
use hedgerow_testkit::{run, use_global_config, Outcome};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;

/// A repository with two branches, and a clone of it with the filter.
fn clone(filter: &str) -> (Repository, Repository) {
    let origin = Repository::init(&[]);
    for number in 0..20 {
        origin.write(
            format!("dir{}/file{number}", number % 4),
            "one\n".repeat(number + 1),
        );
    }
    origin.symlink("link", "dir0/file0");
    origin.commit("one");
    origin.git(&["branch", "old"]);
    for number in 0..20 {
        origin.write(
            format!("dir{}/file{number}", number % 4),
            "two\n".repeat(number + 1),
        );
    }
    origin.write("new/deep/file", "new\n");
    origin.commit("two");
    origin.git(&["config", "uploadpack.allowFilter", "true"]);
    origin.git(&["config", "uploadpack.allowAnySHA1InWant", "true"]);
    let partial = Repository::init(&[]);
    let url = format!("file://{}", origin.root.display());
    partial.git(&["remote", "add", "origin", &url]);
    let filter = format!("--filter={filter}");
    partial.git(&[
        "fetch",
        "-q",
        &filter,
        "origin",
        "+refs/heads/*:refs/remotes/origin/*",
    ]);
    (origin, partial)
}

/// The packs that came from the remote.
fn packs(repository: &Repository) -> usize {
    let packs = repository.root.join(".git/objects/pack");
    let names = std::fs::read_dir(packs).unwrap();
    let paths = names.map(|entry| entry.unwrap().path());
    paths
        .filter(|path: &PathBuf| path.extension().is_some_and(|it| it == "promisor"))
        .count()
}

fn done(outcome: Outcome) {
    assert_eq!(outcome.code, 0, "{outcome:?}");
}

#[test]
fn files_are_fetched_in_one_request() {
    let (_origin, partial) = clone("blob:none");
    let before = packs(&partial);
    done(partial.hedgerow(&["checkout", "-q", "origin/old"]));
    assert_eq!(packs(&partial), before + 1);
    done(partial.hedgerow(&["checkout", "-q", "origin/main"]));
    assert_eq!(packs(&partial), before + 2);
    assert!(partial.git(&["status", "--porcelain"]).is_empty());
    // What is here is not asked for again.
    done(partial.hedgerow(&["reset", "-q", "--hard", "origin/old"]));
    partial.remove("dir1");
    done(partial.hedgerow(&["restore", "."]));
    assert_eq!(packs(&partial), before + 2);
    assert!(partial.git(&["status", "--porcelain"]).is_empty());
}

#[test]
fn directories_may_be_missing_too() {
    let (_origin, partial) = clone("tree:0");
    done(partial.hedgerow(&["checkout", "-q", "origin/old"]));
    done(partial.hedgerow(&["reset", "-q", "--hard", "origin/main"]));
    assert!(partial.git(&["status", "--porcelain"]).is_empty());
}

#[test]
fn an_interrupted_fetch_is_not_taken_for_a_remote_that_fails() {
    let (_origin, partial) = clone("blob:none");
    // All processes of the group hear it, as at a terminal.
    partial.write(".git/interrupting", "#!/bin/sh\nkill -INT 0\nsleep 5\n");
    let server = partial.root.join(".git/interrupting");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&server, mode).unwrap();
    let server = server.to_str().unwrap();
    partial.git(&["config", "remote.origin.uploadpack", server]);
    let mut command = HEDGEROW.command(&partial.root);
    command.args(["checkout", "-q", "origin/old"]);
    command.process_group(0);
    let ended = run(command);
    assert_eq!(ended.code, 130, "{ended:?}");
    assert!(!ended.stderr.contains("is missing"), "{ended:?}");
    assert!(partial.tree().is_empty());
    assert!(!partial.root.join(".git/index.lock").exists());
}

#[test]
fn without_the_remote_nothing_is_touched() {
    let (origin, partial) = clone("blob:none");
    done(partial.hedgerow(&["checkout", "-q", "origin/old"]));
    let before = (
        partial.tree(),
        partial.index(),
        partial.ask(&["rev-parse", "HEAD"]),
    );
    let forbidden = partial.hedgerow_with(
        &["checkout", "-q", "origin/main"],
        &[("GIT_NO_LAZY_FETCH", "1")],
    );
    std::fs::rename(origin.root.join(".git"), origin.root.join("gone")).unwrap();
    let offline = partial.hedgerow(&["checkout", "-q", "origin/main"]);
    for outcome in [forbidden, offline] {
        assert_eq!(outcome.code, 128, "{outcome:?}");
        assert!(
            outcome
                .stderr
                .contains("is missing, and those of 20 other files"),
            "{outcome:?}"
        );
    }
    let after = (
        partial.tree(),
        partial.index(),
        partial.ask(&["rev-parse", "HEAD"]),
    );
    assert!(before == after);
}

#[test]
fn packs_from_a_repository_on_this_machine_are_made_here() {
    let requests_served = |setting: Option<[&str; 2]>| {
        let (_origin, partial) = clone("blob:none");
        let place = hedgerow_testkit::temporary();
        let (log, settings) = (place.path().join("log"), place.path().join("config"));
        let settings = settings.to_str().unwrap();
        let set =
            |name: &str, value: &str| partial.git(&["config", "--file", settings, name, value]);
        set("hedgerow.serveLog", log.to_str().unwrap());
        if let Some([name, value]) = setting {
            set(name, value);
        }
        let mut command = HEDGEROW.command(&partial.root);
        use_global_config(&mut command, settings).args(["checkout", "-q", "origin/old"]);
        done(run(command));
        assert!(partial.git(&["status", "--porcelain"]).is_empty());
        let log = std::fs::read_to_string(log).unwrap_or_default();
        log.lines().count()
    };
    assert_eq!(requests_served(None), 1);
    // Whoever says how it is served is obeyed.
    for setting in [
        ["uploadpack.packObjectsHook", "env"],
        ["remote.origin.uploadpack", "git upload-pack"],
        ["url./nowhere/.insteadOf", "nothing:"],
    ] {
        assert_eq!(requests_served(Some(setting)), 0, "{setting:?}");
    }
}

#[test]
fn contents_that_are_compared_are_fetched_in_one_request() {
    let (_origin, partial) = clone("blob:none");
    done(partial.hedgerow(&["checkout", "-q", "origin/old"]));
    let before = packs(&partial);
    let words = ["diff-index", "--raw", "origin/main"];
    done(partial.hedgerow(&words));
    assert_eq!(packs(&partial), before, "a list needs no contents");
    partial.write("dir0/file0", "three\n");
    let words = ["diff-index", "-p", "--stat", "origin/main"];
    let copy = partial.copy(&partial.root.with_file_name("copy"));
    let found = partial.hedgerow(&words);
    assert_eq!(packs(&partial), before + 1);
    assert_eq!(found.ok("diff-index"), copy.git(&words));
    // Without a remote that gives them, nothing is shown.
    let (origin, partial) = clone("blob:none");
    partial.git(&["read-tree", "origin/old"]);
    std::fs::remove_dir_all(&origin.root).unwrap();
    let outcome = partial.hedgerow(&["diff-index", "--cached", "-p", "origin/main"]);
    assert_eq!((outcome.code, outcome.stdout.len()), (128, 0));
    assert!(outcome.stderr.contains("unable to read "), "{outcome:?}");
}

#[test]
fn what_an_archive_lacks_is_fetched_in_one_request() {
    let (_origin, partial) = clone("blob:none");
    let before = packs(&partial);
    let part = ["archive", "origin/main", "dir1", "link"];
    let copy = partial.copy(&partial.root.with_file_name("copy"));
    let found = partial.hedgerow(&part).ok("a part");
    assert_eq!(packs(&partial), before + 1);
    assert_eq!(found, copy.git(&part));
    // Nothing else was fetched: the rest comes now.
    let whole = ["archive", "origin/main"];
    assert_eq!(partial.hedgerow(&whole).ok("all"), copy.git(&whole));
    assert_eq!(packs(&partial), before + 2);
    for revision in ["origin/main", "origin/main^{tree}", "origin/main:new"] {
        let (_origin, partial) = clone("tree:0");
        let copy = partial.copy(&partial.root.with_file_name("copy"));
        let words = ["archive", "--mtime=2001-01-01T00:00:00Z", revision];
        let found = partial.hedgerow(&words).ok(revision);
        assert_eq!(found, copy.git(&words), "{revision}");
    }
    let (origin, partial) = clone("blob:none");
    std::fs::remove_dir_all(&origin.root).unwrap();
    let outcome = partial.hedgerow(&whole);
    assert_eq!((outcome.code, outcome.stdout.len()), (128, 0));
    assert!(outcome.stderr.contains("unable to read "), "{outcome:?}");
}

#[test]
fn directories_that_are_compared_are_fetched() {
    let (_origin, partial) = clone("tree:0");
    done(partial.hedgerow(&["checkout", "-q", "origin/old"]));
    let copy = partial.copy(&partial.root.with_file_name("copy"));
    for words in [
        &["diff-index", "--raw", "--cached", "origin/main"][..],
        &["diff-index", "-p", "origin/main"],
    ] {
        assert_eq!(partial.hedgerow(words).ok("diff-index"), copy.git(words));
    }
}

#[test]
fn commands_without_a_checkout_fetch_directories() {
    for words in [
        &["status", "--porcelain"][..],
        &["stash", "push", "-q"],
        &["stash", "push", "-q", "-u"],
        &["stash", "create"],
    ] {
        let (_origin, partial) = clone("tree:0");
        partial.git(&["update-ref", "HEAD", "origin/main"]);
        partial.write("dir0/file0", "three\n");
        let copy = partial.copy(&partial.root.with_file_name("copy"));
        let found = partial.hedgerow(words).ok("without a checkout");
        assert_eq!(found, copy.git(words), "{words:?}");
    }
}

#[test]
fn a_diffstat_fetches_what_it_counts() {
    let (_origin, partial) = clone("blob:none");
    partial.git(&["sparse-checkout", "set", "new"]);
    partial.git(&["checkout", "-q", "-B", "main", "origin/old"]);
    let copy = partial.copy(&partial.root.with_file_name("copy"));
    let words = ["merge", "--ff-only", "origin/main"];
    assert_eq!(partial.hedgerow(&words).ok("merge"), copy.git(&words));
}
