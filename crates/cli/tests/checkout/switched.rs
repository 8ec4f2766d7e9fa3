//! What a switch does besides working tree and index: HEAD and its lock, logs, hooks, modes of
//! files, and what it ends.

use crate::support::RunHedgerow;
use crate::support::{run, Pair, Program, Repository};
use crate::HEDGEROW;
use hedgerow_testkit::git_is_at_least;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

/// Branches `main` and `other` that differ in `f`.
fn origin() -> Repository {
    let repository = Repository::init(&[]);
    repository.write("f", "1\n");
    repository.write("d/g", "1\n");
    repository.commit("first");
    repository.git(&["checkout", "-q", "-b", "other"]);
    repository.write("f", "2\n");
    repository.commit("second");
    repository.git(&["checkout", "-q", "main"]);
    repository
}

/// Git with `words`, whatever its exit code.
fn may_fail(repository: &Repository, words: &[&str]) {
    let mut command = Program::Git.command(&repository.root);
    command.args(words);
    run(command);
}

fn hook(repository: &Repository, name: &str, script: &str) {
    let path = format!(".git/hooks/{name}");
    repository.write(&path, format!("#!/bin/sh\n{script}\n"));
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(repository.path(&path), executable).unwrap();
}

#[test]
fn a_switch_is_told_before_the_hook_speaks() {
    let origin = origin();
    hook(&origin, "post-checkout", "echo hook");
    let mut pair = Pair::of(&origin, "hook");
    for words in [&["other"][..], &["-b", "new"], &["--detach"], &["main"]] {
        pair.checkout(words);
    }
    let answer = Program::Hedgerow(env!("CARGO_BIN_EXE_hedgerow"))
        .command(&origin.root)
        .args(["checkout", "other"])
        .output()
        .unwrap();
    assert_eq!(answer.stderr, b"Switched to branch 'other'\nhook\n");
}

#[test]
fn the_last_of_a_series_of_picks_ends_the_series() {
    for (picks, command) in [
        ("main..picks~1", "cherry-pick"),
        ("main..picks", "cherry-pick"),
        ("back~2..back", "revert"),
    ] {
        let origin = origin();
        origin.git(&["checkout", "-q", "-b", "picks"]);
        for content in ["3\n", "4\n"] {
            origin.write("f", content);
            origin.commit("pick");
        }
        origin.git(&["branch", "back"]);
        origin.git(&["checkout", "-q", "other"]);
        let mut pair = Pair::of(&origin, &format!("{command} {picks}"));
        pair.each("conflict", |repository| {
            may_fail(
                repository,
                &["-c", "advice.mergeConflict=false", command, picks],
            );
            assert!(!repository.ask(&["status", "--short"]).is_empty());
        });
        pair.checkout(&["-f", "HEAD"]);
        pair.checkout(&["main"]);
    }
}

#[test]
fn what_a_merge_put_aside_goes_to_the_stash() {
    let origin = origin();
    origin.write("f", "3\n");
    origin.commit("third");
    let mut pair = Pair::of(&origin, "autostash");
    pair.each("merge", |repository| {
        repository.write("d/g", "mine\n");
        let words = ["merge", "-q", "--autostash", "other"];
        may_fail(repository, &words);
        assert!(repository.git_dir().join("MERGE_AUTOSTASH").exists());
    });
    pair.checkout(&["-f", "HEAD"]);
    pair.checkout(&["-q", "other"]);
    let stash = pair.hedgerow.ask(&["show", "stash:d/g"]);
    assert_eq!(stash, "mine");
}

#[test]
fn hooks_are_told_of_index_and_references() {
    let mut pair = Pair::of(&origin(), "hooks");
    let names_all = git_is_at_least(2, 54, "the state 'preparing'");
    pair.each("hooks", |repository| {
        repository.git(&["update-ref", "refs/remotes/o/new", "other"]);
        repository.git(&["config", "remote.o.url", "."]);
        let fetch = "+refs/heads/*:refs/remotes/o/*";
        repository.git(&["config", "remote.o.fetch", fetch]);
        // Git also tells of a reference that it deletes without looking whether it is there.
        let left_out = if names_all { "" } else { "preparing*|" };
        let told = format!(
            "input=$(cat)\ncase \"$1 $input\" in\n{left_out}*AUTO_MERGE) ;;\n*) echo \"$1 $input\" \
             >>.git/info/refs ;;\nesac"
        );
        hook(repository, "reference-transaction", &told);
        let told = "test $TOLD && test -z \"$(cat)\" && test ! -e .git/index.lock && \
                    echo \"$@\" >>.git/info/told";
        hook(repository, "post-index-change", told);
    });
    for words in [
        &["other"][..],
        &["other"],
        &["--detach"],
        &["--detach"],
        &["-f", "main"],
        &["--", "f"],
        &["other", "--", "f"],
        &["-f"],
        &["nothing"],
        &["other~1"],
    ] {
        // Looking at the result writes the index, too.
        pair.checkout_in("", words, &[("TOLD", "yes")]);
    }
    for repository in [&pair.git, &pair.hedgerow] {
        repository.write(".git/info/refs", "");
    }
    let words = ["checkout", "-q", "new"];
    pair.git.git(&words);
    assert_eq!(pair.hedgerow.hedgerow(&words).code, 0);
    // All that may refuse is asked before the working tree is touched.
    let sorted = |repository: &Repository| {
        let told = std::fs::read_to_string(repository.path(".git/info/refs")).unwrap();
        let mut lines: Vec<String> = told.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&pair.git), sorted(&pair.hedgerow));
    assert_eq!(sorted(&pair.hedgerow).len(), if names_all { 6 } else { 4 });
}

#[test]
fn a_hook_may_refuse_before_anything_is_touched() {
    for refused in ["preparing", "prepared"] {
        let repository = origin();
        repository.write("f", "1\n");
        hook(
            &repository,
            "reference-transaction",
            &format!("echo \"$1 $(cat)\" >>.git/info/refs\ntest $1 != {refused}"),
        );
        let (tree, index) = (repository.tree(), repository.index());
        let outcome = repository.hedgerow(&["checkout", "other"]);
        assert_eq!(outcome.code, 128, "{outcome:?}");
        let words = format!(
            "fatal: in '{refused}' phase, update aborted by the reference-transaction hook\n"
        );
        assert!(outcome.stderr.ends_with(&words), "{outcome:?}");
        assert_eq!(repository.tree(), tree);
        assert_eq!(repository.index(), index);
        assert_eq!(repository.ask(&["symbolic-ref", "HEAD"]), "refs/heads/main");
        repository.assert_no_lock("refused");
        let told = std::fs::read_to_string(repository.path(".git/info/refs")).unwrap();
        let null = "0".repeat(40);
        let line = |state| format!("{state} {null} ref:refs/heads/other HEAD\n");
        let asked = match refused {
            "preparing" => line("preparing"),
            _ => line("preparing") + &line("prepared"),
        };
        assert_eq!(told, asked + &line("aborted"));
    }
}

#[test]
fn a_lock_on_head_is_waited_for_before_anything_is_touched() {
    let repository = origin();
    let lock = repository.git_dir().join("HEAD.lock");
    for (timeout, held_ms) in [
        ("0", None),
        ("20", None),
        ("10000", Some(100)),
        ("-1", Some(50)),
    ] {
        repository.git(&["config", "core.filesRefLockTimeout", timeout]);
        std::fs::write(&lock, "").unwrap();
        let (tree, index) = (repository.tree(), repository.index());
        let holder = held_ms.map(|ms| {
            let lock = lock.clone();
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(ms));
                std::fs::remove_file(lock).unwrap();
            })
        });
        let outcome = repository.hedgerow(&["checkout", "other"]);
        match holder {
            Some(holder) => {
                holder.join().unwrap();
                assert_eq!(outcome.code, 0, "{timeout}: {outcome:?}");
                repository.git(&["checkout", "-q", "main"]);
            }
            None => {
                assert_eq!(outcome.code, 128, "{timeout}: {outcome:?}");
                assert!(outcome.stderr.contains("HEAD.lock"), "{outcome:?}");
                assert_eq!(repository.tree(), tree);
                assert_eq!(repository.index(), index);
                std::fs::remove_file(&lock).unwrap();
            }
        }
        repository.assert_no_lock(timeout);
    }
}

#[test]
fn locks_of_a_new_branch_are_taken_before_anything_is_touched() {
    let repository = origin();
    repository.git(&["update-ref", "refs/remotes/o/new", "other"]);
    repository.git(&["config", "remote.o.url", "."]);
    repository.git(&["config", "remote.o.fetch", "+refs/heads/*:refs/remotes/o/*"]);
    repository.git(&["config", "core.filesRefLockTimeout", "0"]);
    for lock in ["refs/heads/new.lock", "config.lock", "HEAD.lock"] {
        let (tree, index) = (repository.tree(), repository.index());
        let path = repository.git_dir().join(lock);
        std::fs::write(&path, "").unwrap();
        let outcome = repository.hedgerow(&["checkout", "new"]);
        assert_eq!(outcome.code, 128, "{lock}: {outcome:?}");
        assert!(outcome.stderr.contains(lock), "{lock}: {outcome:?}");
        assert_eq!(repository.tree(), tree, "{lock}");
        assert_eq!(repository.index(), index, "{lock}");
        assert!(!repository.git_dir().join("refs/heads/new").exists());
        std::fs::remove_file(&path).unwrap();
    }
    assert_eq!(repository.hedgerow(&["checkout", "new"]).code, 0);
}

#[test]
fn files_are_shared_as_configured() {
    for value in ["group", "all", "0640", "1", "umask", "false"] {
        let mut pair = Pair::of(&origin(), value);
        pair.each("shared", |repository| {
            repository.git(&["config", "core.sharedRepository", value]);
            repository.git(&["update-ref", "refs/remotes/o/x/new", "other"]);
            repository.git(&["config", "remote.o.url", "."]);
            let fetch = "+refs/heads/*:refs/remotes/o/*";
            repository.git(&["config", "remote.o.fetch", fetch]);
            std::fs::remove_dir_all(repository.path(".git/logs")).unwrap();
        });
        for branch in ["other", "x/new"] {
            let words = ["checkout", "-q", branch];
            pair.git.git(&words);
            assert_eq!(pair.hedgerow.hedgerow(&words).code, 0);
        }
        for path in [
            "index",
            "HEAD",
            "logs",
            "logs/HEAD",
            "logs/refs/heads/x",
            "logs/refs/heads/x/new",
            "refs/heads/x",
            "refs/heads/x/new",
        ] {
            let mode = |repository: &Repository| {
                let path = repository.git_dir().join(path);
                std::fs::metadata(path).unwrap().permissions().mode()
            };
            let (git, our) = (mode(&pair.git), mode(&pair.hedgerow));
            assert_eq!(git, our, "{path} with {value}: {git:o} {our:o}");
        }
    }
    let repository = origin();
    repository.git(&["config", "core.sharedRepository", "0444"]);
    let outcome = repository.hedgerow(&["checkout", "other"]);
    assert_eq!(outcome.code, 128, "{outcome:?}");
    assert!(outcome.stderr.contains("0444"), "{outcome:?}");
}

#[test]
fn logs_and_hints_heed_the_environment() {
    let mut pair = Pair::of(&origin(), "environment");
    for action in ["rebase (start): checkout other", ""] {
        let environment = [("GIT_REFLOG_ACTION", action), ("GIT_ADVICE", "0")];
        pair.checkout_in("", &["other"], &environment);
        pair.checkout_in("", &["main~0"], &environment);
        pair.checkout_in("", &["-f", "main"], &environment);
    }
    pair.checkout_in("", &["main~0"], &[("GIT_ADVICE", "1")]);
}

#[test]
fn a_checkout_of_paths_keeps_what_was_resolved() {
    let origin = Repository::init(&[]);
    let write = |content: &str| {
        for path in ["a", "b", "c", "d/e"] {
            origin.write(path, content);
        }
        origin.commit(content);
    };
    write("base\n");
    origin.git(&["checkout", "-q", "-b", "other"]);
    write("theirs\n");
    origin.git(&["checkout", "-q", "main"]);
    write("ours\n");
    may_fail(&origin, &["merge", "-q", "other"]);
    origin.write("a", "resolved\n");
    origin.git(&["add", "a"]);
    let mut pair = Pair::of(&origin, "resolved");
    let resolved = |repository: &Repository| repository.ask(&["ls-files", "--resolve-undo"]);
    let mut last = resolved(&pair.hedgerow);
    for words in [
        &["--", "a"][..],
        &["main", "--", "b"],
        &["-f", "--", "."],
        &["other", "--", "d"],
        &["main", "--", "."],
        &["-f", "main"],
    ] {
        pair.checkout(words);
        last = resolved(&pair.git);
        assert_eq!(last, resolved(&pair.hedgerow), "{words:?}");
    }
    assert_eq!(last, "");
}

/// A repository with a submodule `sub` of two commits, of which `main` has the first and `other`
/// the second; `same` has a file more than `main`.
fn with_submodule(root: &std::path::Path) -> Repository {
    let module = Repository::init(&[]);
    module.write("x", "1\n");
    module.commit("1");
    module.write("x", "2\n");
    module.commit("2");
    std::fs::create_dir_all(root).unwrap();
    let mut command = Program::Git.command(root);
    command.args(["init", "-q", "-b", "main"]);
    run(command);
    let top = Repository::at(root.to_owned());
    let from = module.root.to_str().unwrap();
    let add = ["-c", "protocol.file.allow=always", "submodule", "add", "-q"];
    top.git(&[&add[..], &[from, "sub"]].concat());
    top.git(&["-C", "sub", "checkout", "-q", "HEAD~1"]);
    top.commit("1");
    top.git(&["checkout", "-q", "-b", "same"]);
    top.write("y", "y\n");
    top.commit("same");
    top.git(&["checkout", "-q", "-b", "other", "main"]);
    top.git(&["-C", "sub", "checkout", "-q", "main"]);
    top.commit("2");
    top.git(&["checkout", "-q", "main"]);
    top.git(&["-C", "sub", "checkout", "-q", "HEAD~1"]);
    top
}

#[test]
fn submodules_that_differ_are_listed() {
    let home = crate::support::temporary();
    let top = with_submodule(&home.path().join("top"));
    let both = |words: &[&str]| {
        let command = [&["checkout"], words].concat();
        let main = top.ask(&["rev-parse", "--abbrev-ref", "HEAD"]);
        let git = top.git(&command);
        top.git(&["checkout", "-q", &main]);
        let our = top.hedgerow(&command);
        assert_eq!(our.code, 0, "{our:?}");
        assert_eq!(our.stdout, git, "{words:?}: {}", git.escape_ascii());
        String::from_utf8(git).unwrap()
    };
    assert_eq!(both(&["same"]), "");
    assert_eq!(both(&["other"]), "M\tsub\n");
    both(&["main"]);
    top.write("sub/untracked", "");
    assert_eq!(both(&["same"]), "M\tsub\n");
    for setting in ["all", "dirty", "untracked", "none"] {
        top.git(&["config", "diff.ignoreSubmodules", setting]);
        both(&["main"]);
        both(&["other"]);
    }
    top.git(&["config", "--unset", "diff.ignoreSubmodules"]);
    top.git(&["config", "submodule.sub.ignore", "untracked"]);
    both(&["main"]);
}

#[test]
fn staged_changes_of_files_that_are_left_alone_are_listed() {
    let mut pair = Pair::of(&origin(), "left alone");
    pair.each("staged", |repository| {
        repository.write("d/g", "staged\n");
        repository.git(&["add", "d/g"]);
        repository.git(&["update-index", "--assume-unchanged", "d/g"]);
        repository.write("d/g", "more\n");
    });
    pair.checkout(&["other"]);
    pair.each("skipped", |repository| {
        repository.git(&["update-index", "--no-assume-unchanged", "d/g"]);
        repository.git(&["update-index", "--skip-worktree", "d/g"]);
    });
    pair.checkout(&["main"]);
    pair.each("only changed", |repository| {
        repository.git(&["update-index", "--no-skip-worktree", "d/g"]);
        repository.git(&["reset", "-q"]);
        repository.git(&["update-index", "--assume-unchanged", "d/g"]);
    });
    pair.checkout(&["other"]);
}

#[test]
fn the_cache_of_untracked_files_is_forgotten_where_paths_come_and_go() {
    let repository = origin();
    repository.git(&["checkout", "-q", "other"]);
    repository.write("new/file", "");
    repository.write("d/new", "");
    repository.commit("more");
    repository.git(&["checkout", "-q", "main"]);
    repository.git(&["config", "core.untrackedCache", "true"]);
    for path in ["d/untracked", "b/untracked", "untracked", "e/f/untracked"] {
        repository.write(path, "");
    }
    let fill = || {
        let mut command = Program::Git.command(&repository.root);
        command.arg("status").env("GIT_OPTIONAL_LOCKS", "1");
        run(command);
    };
    // What the cache says is believed where the directory is older than the index.
    for _ in 0..2 {
        std::thread::sleep(Duration::from_millis(1100));
        repository.git(&["update-index", "--force-untracked-cache"]);
        fill();
    }
    for branch in ["other", "main", "other"] {
        let outcome = repository.hedgerow(&["checkout", "-q", branch]);
        assert_eq!(outcome.code, 0, "{outcome:?}");
        let index = repository.index();
        let has = |text: &[u8]| index.windows(text.len()).any(|part| part == text);
        assert!(has(b"UNTR") && has(b"\0b\0"), "{branch}");
        let by_cache = repository.ask(&["status", "--porcelain"]);
        let words = ["-c", "core.untrackedCache=false", "status", "--porcelain"];
        assert_eq!(by_cache, repository.ask(&words), "{branch}");
        fill();
    }
}

/// As under git, a hook reads git's own scripts.
#[test]
fn a_hook_finds_the_programs_of_git() {
    let origin = origin();
    hook(
        &origin,
        "post-checkout",
        ". git-sh-setup && echo \"$GIT_DIR\"",
    );
    for words in [
        &["checkout", "other"][..],
        &["worktree", "add", "../added", "main"],
    ] {
        let outcome = origin.hedgerow(words);
        assert_eq!(outcome.code, 0, "{words:?}: {outcome:?}");
        let said = &outcome.stderr;
        assert!(said.contains(".git"), "{words:?}: {said}");
    }
}

#[test]
fn programs_are_told_where_the_user_is() {
    for inner in ["", "d"] {
        let mut pair = Pair::of(&origin(), inner);
        pair.each("programs", |repository| {
            let told = "echo \"$1 $GIT_PREFIX\" >>.git/info/told";
            hook(repository, "post-checkout", &format!("shift 2\n{told}"));
            let told = "echo \"filter $GIT_PREFIX\" >.git/info/filtered; cat";
            repository.git(&["config", "filter.x.smudge", told]);
            repository.write(".git/info/attributes", "* filter=x\n");
        });
        pair.checkout_in(inner, &["other"], &[]);
        let told = |repository: &Repository| {
            let read = |name: &str| repository.read(format!(".git/info/{name}"));
            (read("told"), read("filtered"))
        };
        assert_eq!(told(&pair.git), told(&pair.hedgerow), "{inner}");
    }
}

/// Hooks in a directory that may not be searched are not run, as with git.
#[test]
fn hooks_that_may_not_be_looked_at_are_ignored() {
    let is_root = hedgerow_fs::effective_uid() == 0;
    if is_root && !hedgerow_testkit::is_there("setpriv") {
        return hedgerow_testkit::skip(
            "permissions mean nothing to root, and setpriv(1) is missing",
        );
    }
    for words in [
        &["checkout", "-q", "other"][..],
        &["restore", "-q", "-s", "other", "-SW", "."],
    ] {
        let mut pair = Pair::of(&origin(), &format!("{words:?}"));
        let locked = |repository: &Repository, mode: u32| {
            let mode = PermissionsExt::from_mode(mode);
            std::fs::create_dir_all(repository.path(".git/hooks")).unwrap();
            std::fs::set_permissions(repository.path(".git/hooks"), mode).unwrap();
        };
        pair.each("locked", |repository| locked(repository, 0o000));
        let twins = [(Program::Git, &pair.git), (HEDGEROW, &pair.hedgerow)];
        let codes = twins.map(|(program, repository)| {
            let mut command = program.command(&repository.root);
            command.args(words);
            let outcome = run(if is_root {
                hedgerow_testkit::obeying_permissions(command)
            } else {
                command
            });
            locked(repository, 0o755);
            outcome.code
        });
        assert_eq!(codes, [0, 0], "{words:?}");
        pair.assert_same_state();
    }
}

/// What took the place of a tracked file is a change of it; what is elsewhere is untracked.
#[test]
fn discarded_changes_are_what_took_the_place_of_files() {
    for (name, code, arrange) in [
        (
            "a directory",
            0,
            (|it| {
                it.remove("f");
                it.write("f/in", "mine\n");
            }) as fn(&Repository),
        ),
        ("a directory for an unchanged file", 0, |it| {
            it.remove("d/g");
            it.write("d/g/in", "mine\n");
        }),
        ("a file", 0, |it| {
            it.remove("d/g");
            std::fs::remove_dir(it.path("d")).unwrap();
            it.write("d", "mine\n");
        }),
        ("a directory of a file that goes", 128, |it| {
            it.write("gone", "1\n");
            it.commit("one more");
            it.remove("gone");
            it.write("gone/in", "mine\n");
        }),
    ] {
        for flags in [&["--discard-changes"][..], &["--discard-changes", "-f"]] {
            let mut pair = Pair::of(&origin(), name);
            pair.any_words = true;
            pair.each(name, arrange);
            let outcome = pair.both("switch", "", &[flags, &["other"]].concat(), &[]);
            if flags.len() == 1 {
                assert_eq!(outcome.code, code, "{name}");
            }
        }
    }
}

/// A way out of a repository whose branch names nothing.
#[test]
fn a_forced_switch_leaves_a_commit_that_is_missing() {
    for words in [&["-f", "other"][..], &["-f", "-C", "main", "other"]] {
        let mut pair = Pair::of(&origin(), &format!("{words:?}"));
        pair.each("break", |repository| {
            let id = "a".repeat(repository.ask(&["rev-parse", "HEAD"]).len());
            repository.write(".git/refs/heads/main", id + "\n");
        });
        let outcome = pair.both("switch", "", words, &[]);
        assert_eq!(outcome.code, 0, "{words:?}");
    }
}

/// Hooks that the configuration names run like those of the directory, and before them: git does so since
/// 2.54.
#[test]
fn hooks_of_the_configuration_run() {
    let set = |repository: &Repository, settings: &[(&str, &str)]| {
        for (key, value) in settings {
            repository.git(&["config", "--add", key, value]);
        }
    };
    type Told = (&'static [(&'static str, &'static str)], i32, &'static str);
    let told: [Told; 7] = [
        (&[("hook.a.event", "post-checkout"), ("hook.a.command", "echo a")], 0, "a 0 1\ndir\n"),
        (
            &[
                ("hook.b.event", "post-checkout"),
                ("hook.b.command", "exit 3;"),
                ("hook.a.event", "post-checkout"),
                ("hook.a.command", "echo a"),
                ("hook.b.event", "post-checkout"),
            ],
            1,
            "a 0 1\ndir\n",
        ),
        (
            &[
                ("hook.a.event", "post-checkout"),
                ("hook.a.command", "echo a"),
                ("hook.a.enabled", "no"),
            ],
            0,
            "dir\n",
        ),
        (
            &[
                ("hook.a.event", "post-checkout"),
                ("hook.a.command", "echo a"),
                ("hook.post-checkout.enabled", "no"),
            ],
            0,
            "dir\n",
        ),
        (
            &[
                ("hook.a.event", "post-checkout"),
                ("hook.a.command", "echo a"),
                ("hook.a.event", ""),
            ],
            0,
            "dir\n",
        ),
        (
            &[("hook.a.event", "pre-push")],
            128,
            "fatal: 'hook.a.command' must be configured or 'hook.a.event' must be removed; aborting.\n",
        ),
        (
            &[("hook.update.event", "pre-push"), ("hook.update.command", "echo a")],
            128,
            "fatal: hook friendly-name 'update' collides with a known event name; please choose a \
             different friendly-name\n",
        ),
    ];
    let with_git = git_is_at_least(2, 55, "it has no hooks in its configuration");
    for (settings, code, words) in told {
        let origin = origin();
        hook(&origin, "post-checkout", "echo dir");
        set(&origin, settings);
        let pair = Pair::of(&origin, &format!("{settings:?}"));
        for (program, repository) in [(Program::Git, &pair.git), (HEDGEROW, &pair.hedgerow)] {
            if program == Program::Git && !with_git {
                continue;
            }
            let mut command = program.command(&repository.root);
            let answer = command.args(["checkout", "-q", "other"]).output().unwrap();
            let said = String::from_utf8(answer.stderr).unwrap();
            let ids = ["other", "main"].map(|name| repository.ask(&["rev-parse", name]));
            let said = said.replace(&format!("{} {} 1", ids[1], ids[0]), "0 1");
            assert_eq!(
                (answer.status.code(), &said[..]),
                (Some(code), words),
                "{settings:?}"
            );
        }
    }
    // What may be refused, is.
    let origin = origin();
    set(
        &origin,
        &[
            ("hook.a.event", "reference-transaction"),
            ("hook.a.command", "false"),
        ],
    );
    for words in [
        &["reset", "--hard", "other"][..],
        &["switch", "other"],
        &["checkout", "-b", "new"],
    ] {
        let mut command = HEDGEROW.command(&origin.root);
        let answer = command.args(words).output().unwrap();
        assert_eq!(answer.status.code(), Some(128), "{words:?}");
        assert_eq!(
            origin.ask(&["log", "-1", "--format=%s"]),
            "first",
            "{words:?}"
        );
        assert_eq!(origin.ask(&["status", "--porcelain"]), "", "{words:?}");
    }
}
