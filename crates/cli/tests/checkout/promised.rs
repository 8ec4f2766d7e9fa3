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
    clone_branches(filter, "*")
}

fn clone_branches(filter: &str, branches: &str) -> (Repository, Repository) {
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
    let wanted = format!("+refs/heads/{branches}:refs/remotes/origin/{branches}");
    partial.git(&["fetch", "-q", &filter, "origin", &wanted]);
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

/// What `git` makes of `words` in a copy of `partial`, and hedgerow in `partial`: the same.
fn same(partial: &Repository, words: &[&str], variables: &[(&str, &str)]) -> Outcome {
    let copy = partial.copy(&partial.root.with_file_name("copy"));
    let mut command = hedgerow_testkit::Program::Git.command(&copy.root);
    command.args(words).envs(variables.iter().copied());
    let git = run(command);
    let here = partial.hedgerow_with(words, variables);
    let told = format!("{words:?}: {} {}", here.stderr, git.stderr);
    here.assert_civil(&told);
    assert_eq!(here.code, git.code, "{told}");
    assert!(here.stdout == git.stdout, "{told}");
    for question in [
        &["ls-files", "-s"][..],
        &["status", "--porcelain"],
        &["stash", "list", "--format=%T"],
        &["for-each-ref"],
    ] {
        // The times of an entry are those of its making.
        if words[0] == "stash" && question[0] == "for-each-ref" {
            continue;
        }
        assert_eq!(partial.ask(question), copy.ask(question), "{told}");
    }
    let [head, other] =
        [partial, &copy].map(|it| it.run(&["rev-parse", "-q", "--verify", "HEAD"], b"").stdout);
    assert_eq!(head, other, "{told}");
    std::fs::remove_dir_all(&copy.root).unwrap();
    here
}

/// A commit or a tag that is named by its whole id and is not here yet is fetched, as by git.
#[test]
fn what_is_named_by_its_whole_id_is_fetched() {
    for words in [
        "checkout -q ID",
        "checkout -q -b new ID",
        "checkout -q ID -- dir0",
        "switch -q --detach ID~0",
        "reset -q --hard ID",
        "reset -q ID -- dir0/file0",
        "restore -s ID dir0",
        "read-tree ID",
        "worktree add -f --detach linked ID",
        "merge -q --ff-only ID",
        "diff-index --cached ID",
        "archive ID dir0",
    ] {
        for names_tag in [false, true] {
            let (origin, partial) = clone_branches("blob:none", "old");
            partial.git(&["checkout", "-q", "origin/old"]);
            origin.git(&["tag", "-a", "-m", "a tag", "v1"]);
            let id = origin.ask(&["rev-parse", if names_tag { "v1" } else { "main" }]);
            let words = words.replace("ID", &id);
            let words: Vec<&str> = words.split(' ').collect();
            let outcome = same(&partial, &words, &[]);
            assert_eq!(outcome.code, 0, "{outcome:?}");
        }
    }
}

/// It is not where git does not fetch it either.
#[test]
fn what_is_named_otherwise_or_nowhere_is_not_fetched() {
    let (origin, partial) = clone_branches("blob:none", "old");
    partial.git(&["checkout", "-q", "origin/old"]);
    let id = origin.ask(&["rev-parse", "main"]);
    let before = packs(&partial);
    let unknown = "1234567890123456789012345678901234567890";
    let forbidden = [("GIT_NO_LAZY_FETCH", "1")];
    for command in [
        &["checkout", "-q"][..],
        &["switch", "-q", "--detach"],
        &["reset", "-q", "--hard"],
        &["read-tree"],
    ] {
        let refused = |name: &str, variables: &[(&str, &str)]| {
            let outcome = same(&partial, &[command, &[name]].concat(), variables);
            assert_ne!(outcome.code, 0, "{outcome:?}");
        };
        refused(unknown, &[]);
        refused(&id[..12], &[]);
        refused(&id, &forbidden);
    }
    std::fs::rename(origin.root.join(".git"), origin.root.join("gone")).unwrap();
    assert_ne!(same(&partial, &["checkout", "-q", &id], &[]).code, 0);
    assert_eq!(packs(&partial), before);
}

/// What is put aside is fetched: directories of HEAD, and contents that only the index names.
#[test]
fn a_stash_fetches_what_it_records() {
    for filter in ["tree:1", "tree:2", "combine:blob:none+tree:3"] {
        for words in [&["stash"][..], &["stash", "push", "-q", "-u"]] {
            let (_origin, partial) = clone(filter);
            partial.git(&["update-ref", "HEAD", "origin/main"]);
            partial.write("dir0/file0", "three\n");
            assert_eq!(same(&partial, words, &[]).code, 0, "{filter}");
        }
    }
    for words in [&["stash"][..], &["stash", "push", "-q", "--staged"]] {
        for is_reachable in [true, false] {
            let (origin, partial) = clone("blob:none");
            partial.git(&["checkout", "-q", "-B", "main", "origin/main"]);
            for path in ["dir0/file0", "dir1/file1"] {
                let id = origin.ask(&["rev-parse", &format!("old:{path}")]);
                let entry = format!("100644,{id},{path}");
                partial.git(&["update-index", "--cacheinfo", &entry]);
            }
            if !is_reachable {
                std::fs::remove_dir_all(&origin.root).unwrap();
            }
            let copy = partial.copy(&partial.root.with_file_name("before"));
            let fetches = packs(&partial);
            let here = partial.hedgerow(words);
            let git = copy.run(words, b"");
            assert_eq!(here.code == 0, git.code == 0, "{words:?} {here:?} {git:?}");
            if is_reachable {
                assert_eq!(packs(&partial), fetches + 1, "one request");
                let list = ["ls-tree", "-r", "stash@{0}^2"];
                assert_eq!(partial.ask(&list), copy.ask(&list));
            } else {
                let entries = ["ls-files", "-s"];
                assert_eq!(partial.ask(&entries), copy.ask(&entries));
            }
        }
    }
}

/// The attributes above what is archived count, and are fetched with it.
#[test]
fn an_archive_of_a_part_fetches_the_attributes_for_it() {
    let (origin, _) = clone("blob:none");
    origin.write(".gitattributes", "file1 eol=crlf text\n");
    origin.write("dir1/.gitattributes", "file5 export-ignore\n");
    origin.write("dir2/.gitattributes", "* text\n");
    origin.commit("attributes");
    for words in [
        &["archive", "origin/main", "dir1"][..],
        &["archive", "origin/main", "new/deep"],
        &["archive", "origin/main", "dir1/file1", "link"],
        &["archive", "origin/main", ":(attr:text)dir1"],
    ] {
        for is_reachable in [true, false] {
            let partial = Repository::init(&[]);
            let url = format!("file://{}", origin.root.display());
            partial.git(&["remote", "add", "origin", &url]);
            let wanted = "+refs/heads/*:refs/remotes/origin/*";
            partial.git(&["fetch", "-q", "--filter=blob:none", "origin", wanted]);
            if is_reachable {
                let outcome = same(&partial, words, &[]);
                assert_eq!(outcome.code, 0);
            } else {
                partial.git(&["remote", "set-url", "origin", "/nowhere"]);
                let outcome = partial.hedgerow(words);
                assert_eq!((outcome.code, outcome.stdout.len()), (128, 0), "{words:?}");
            }
        }
    }
}

/// Sizes and line ends that are listed, and contents that may be copied, are read, and so are fetched.
#[test]
fn listed_sizes_line_ends_and_copies_are_fetched_in_one_request() {
    for words in [
        &["ls-files", "--eol"][..],
        &["ls-files", "--format=%(objectsize:padded) %(path)"],
        &["ls-files", "--format=%(eolinfo:index) %(path)", "dir0"],
        &["diff-index", "--cached", "-C", "origin/old"],
        &["diff-index", "--cached", "-C", "-C", "origin/old"],
        &["diff-index", "--cached", "-p", "-C", "origin/old"],
    ] {
        for is_reachable in [true, false] {
            let (origin, partial) = clone("blob:none");
            partial.git(&["read-tree", "origin/main"]);
            if !is_reachable {
                std::fs::remove_dir_all(&origin.root).unwrap();
            }
            let before = packs(&partial);
            let outcome = same(&partial, words, &[]);
            assert_eq!(outcome.code, if is_reachable { 0 } else { 128 });
            assert_eq!(packs(&partial), before + usize::from(is_reachable));
        }
    }
    // What needs none of that fetches nothing.
    let (_origin, partial) = clone("blob:none");
    partial.git(&["read-tree", "origin/main"]);
    let before = packs(&partial);
    for words in [
        &["ls-files", "-s"][..],
        &["ls-files", "--format=%(objectname) %(path)"],
        &["diff-index", "--cached", "-C", "origin/main"],
    ] {
        same(&partial, words, &[]);
    }
    assert_eq!(packs(&partial), before);
}

/// The attributes of the index count for what is compared, and are fetched.
#[test]
fn attributes_of_what_is_compared_are_fetched() {
    let (origin, partial) = clone("blob:none");
    origin.write(".gitattributes", "dir0/* -diff\n");
    origin.commit("attributes");
    partial.git(&["fetch", "-q", "origin"]);
    partial.git(&["read-tree", "origin/main"]);
    let words = ["diff-index", "--cached", "-p", "origin/old", "--", "dir0"];
    assert_eq!(same(&partial, &words, &[]).code, 0);
}

/// What is only tried reads no contents.
#[test]
fn a_dry_run_of_read_tree_needs_no_contents() {
    let (origin, partial) = clone("blob:none");
    partial.git(&["checkout", "-q", "origin/old"]);
    let before = packs(&partial);
    std::fs::remove_dir_all(&origin.root).unwrap();
    let words = ["read-tree", "-n", "--reset", "-u", "origin/main"];
    assert_eq!(same(&partial, &words, &[]).code, 0);
    assert_eq!(packs(&partial), before);
}
