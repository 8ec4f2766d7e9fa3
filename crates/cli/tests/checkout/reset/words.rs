//! What words mean, what is refused, and what is logged.

use super::matrix::{conflict, origin};
use crate::support::{run, Pair, Repository, RunHedgerow};
use crate::HEDGEROW;
use hedgerow_testkit::{git_is_at_least, run_with};

#[test]
fn words_mean_what_they_mean_to_git() {
    let origin = origin();
    for words in [
        &["HEAD"][..],
        &["@"],
        &["--hard", "@"],
        &["--hard", "@~1"],
        &["--hard", "second~"],
        &["nothing"],
        &["--hard", "nothing"],
        &["nothing", "--"],
        &["nothing", "--", "same"],
        &["same", "--"],
        &["same", "nothing"],
        &["--", "nothing"],
        &["HEAD", "same"],
        &["HEAD", "--", "same"],
        &["HEAD:d", "--", "same"],
        &["HEAD^{tree}", "same"],
        &["HEAD^{tree}"],
        &["--hard", "HEAD:same"],
        &["d*"],
        &["*nothing*"],
        &[":/"],
        &[":(top)same"],
        &[":!same"],
        &["."],
        &[""],
        &["--", ""],
        &["both"],
        &["both", "--"],
        &["both", "same"],
        &["--", "both"],
        &["../same"],
        &["--soft", "--", "same"],
        &["--hard", "same"],
        &["--keep", "same"],
        &["--merge", "--", "same"],
        &["--mixed", "same"],
        &["-N", "--hard"],
        &["--intent-to-add", "--soft"],
        &["--hard", "--soft", "first"],
        &["--soft", "--hard", "first"],
        &["--no-refresh", "--refresh", "first"],
        &["-q", "--no-quiet", "first"],
        &["--pathspec-file-nul"],
        &["--pathspec-from-file=list"],
        &["--pathspec-from-file=list", "first"],
        &["--pathspec-from-file=list", "first", "--", "same"],
        &["--pathspec-from-file=list", "--hard"],
        &["--pathspec-from-file=nowhere"],
        &[
            "--pathspec-from-file=list.nul",
            "--pathspec-file-nul",
            "first",
        ],
        &["--pathspec-from-file=quoted"],
        &["--pathspec-from-file=badly-quoted"],
    ] {
        let mut pair = Pair::of(&origin, "words");
        pair.each("a branch and a file", |it| {
            it.git(&["branch", "both"]);
            it.write("both", "both\n");
            it.write("list", "changed\r\nd/changed\n");
            it.write("list.nul", "changed\0d/changed\0");
            it.write("quoted", "\"ch\\141nged\"\n");
            it.write("badly-quoted", "\"changed\n");
            it.write("changed", "mine\n");
            it.git(&["add", "changed"]);
        });
        pair.both("reset", "", words, &[]);
        if words.iter().all(|word| !word.contains("list")) {
            pair.both("reset", "d", words, &[]);
        }
    }
}

#[test]
fn pathspecs_come_from_standard_input() {
    let origin = origin();
    for (words, input) in [
        (&["--pathspec-from-file=-", "first"][..], "changed\nadded\n"),
        (&["--pathspec-from-file=-", "first"], ""),
        (
            &["--pathspec-from-file", "-", "--pathspec-file-nul", "first"],
            "changed\0",
        ),
    ] {
        let pair = Pair::of(&origin, "from standard input");
        let mut command = crate::support::Program::Git.command(&pair.git.root);
        command.arg("reset").args(words);
        let expected = run_with(command, input.as_bytes());
        let mut command = HEDGEROW.command(&pair.hedgerow.root);
        command.arg("reset").args(words);
        let found = run_with(command, input.as_bytes());
        assert_eq!(expected, found, "{words:?}");
        pair.assert_same_state();
    }
}

#[test]
fn logs_say_what_git_says() {
    let origin = origin();
    for (name, arrange) in [
        ("usual", (|_| {}) as fn(&Repository)),
        ("every log", |it| {
            it.git(&["config", "core.logAllRefUpdates", "always"]);
        }),
        ("no logs", |it| {
            it.git(&["config", "core.logAllRefUpdates", "false"]);
            it.remove(".git/logs");
        }),
        ("detached", |it| {
            it.git(&["checkout", "-q", "--detach"]);
        }),
        ("packed", |it| {
            it.git(&["pack-refs", "--all"]);
        }),
    ] {
        let mut pair = Pair::of(&origin, name);
        pair.each(name, arrange);
        pair.both("reset", "", &["--soft", "first"], &[]);
        pair.both("reset", "", &["--soft"], &[]);
        pair.both("reset", "", &["--hard", "second"], &[]);
        pair.both("reset", "", &["--hard"], &[]);
        let action = [("GIT_REFLOG_ACTION", "my action")];
        pair.both("reset", "", &["first"], &action);
        pair.both("reset", "", &["--keep", "second"], &action);
    }
}

#[test]
fn an_unborn_branch_is_reset_to_nothing() {
    let origin = origin();
    for words in [
        &[][..],
        &["--soft"],
        &["--hard"],
        &["--merge"],
        &["--keep"],
        &["HEAD"],
        &["--", "same"],
        &["same"],
        &["HEAD", "--", "same"],
        &["--hard", "first"],
        &["--soft", "first"],
        &["--keep", "first"],
    ] {
        let mut pair = Pair::of(&origin, "unborn");
        pair.each("an unborn branch", |it| {
            it.git(&["reset", "-q", "--hard", "first"]);
            it.git(&["symbolic-ref", "HEAD", "refs/heads/unborn"]);
        });
        pair.both("reset", "", words, &[]);
    }
    let empty = Repository::init(&[]);
    for words in [&[][..], &["--hard"], &["--soft"], &["--", "x"]] {
        let mut pair = Pair::of(&empty, "empty");
        pair.each("a file", |it| {
            it.write("x", "x\n");
            it.git(&["add", "x"]);
        });
        pair.both("reset", "", words, &[]);
    }
}

#[test]
fn a_bare_repository_only_moves_head() {
    let origin = origin();
    let home = crate::support::temporary();
    let mut heads = Vec::new();
    for program in ["git", "hedgerow"] {
        let root = home.path().join(program);
        let source = origin.root.to_str().unwrap();
        origin.git(&["clone", "-q", "--bare", source, root.to_str().unwrap()]);
        let bare = Repository::at(root);
        let mut said = Vec::new();
        for words in [
            &["reset"][..],
            &["reset", "--hard"],
            &["reset", "--merge"],
            &["reset", "--keep"],
            &["reset", "--soft", "first"],
            &["reset", "--", "same"],
        ] {
            let outcome = if program == "git" {
                bare.run(words, b"")
            } else {
                bare.hedgerow(words)
            };
            said.push(outcome);
        }
        heads.push((said, bare.ask(&["rev-parse", "HEAD", "ORIG_HEAD"])));
    }
    assert_eq!(heads[0], heads[1]);
}

#[test]
fn what_only_git_has_is_refused_by_name() {
    let origin = origin();
    for (word, name) in [
        ("-p", "--patch"),
        ("--no-auto-advance", "--no-auto-advance"),
        ("-U3", "--unified"),
    ] {
        let before = (origin.tree(), origin.metadata());
        let outcome = origin.hedgerow(&["reset", "--hard", word, "first"]);
        assert_eq!(outcome.code, 129);
        let words = format!("error: 'hedgerow reset' has no option {name}; nothing was touched");
        assert!(outcome.stderr.starts_with(&words), "{}", outcome.stderr);
        assert_eq!(before, (origin.tree(), origin.metadata()));
    }
}

/// A hook that writes down what it is told.
const HOOK: &str = "#!/bin/sh\n{ echo \"$0\" \"$@\" | sed 's,.*/,,'; cat; } >>\"$(git rev-parse --git-dir)/told\"\n";

#[test]
fn hooks_are_told() {
    use std::os::unix::fs::PermissionsExt;
    let origin = origin();
    for words in [
        &["first"][..],
        &["--hard", "first"],
        &["--keep", "first"],
        &["--", "same"],
    ] {
        let mut pair = Pair::of(&origin, "hooks");
        pair.each("hooks", |it| {
            for name in ["post-index-change", "post-checkout"] {
                let path = format!(".git/hooks/{name}");
                it.write(&path, HOOK);
                let mode = std::fs::Permissions::from_mode(0o755);
                std::fs::set_permissions(it.path(&path), mode).unwrap();
            }
        });
        pair.both("reset", "", words, &[]);
        let told = pair.hedgerow.read(".git/told");
        assert!(told.starts_with(b"post-index-change "), "{words:?}");
    }
}

/// One transaction: git has two, and tells of `ORIG_HEAD` first.
#[test]
fn a_hook_may_refuse_before_anything_is_touched() {
    use std::os::unix::fs::PermissionsExt;
    for (words, refuses) in [
        (&["--hard", "first"][..], true),
        (&["--soft", "first"], true),
        (&["first"], true),
        (&["--hard", "first"], false),
    ] {
        let repository = origin();
        let end = if refuses {
            "test $1 != prepared"
        } else {
            "exit 0"
        };
        let hook = HOOK.to_owned() + end + "\n";
        repository.write(".git/hooks/reference-transaction", hook);
        let path = repository.path(".git/hooks/reference-transaction");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let [first, second] = ["first", "second"].map(|name| repository.ask(&["rev-parse", name]));
        repository.remove(".git/ORIG_HEAD");
        let (tree, index) = (repository.tree(), repository.index());
        let outcome = repository.hedgerow(&[&["reset"], words].concat());
        let told = String::from_utf8(repository.read(".git/told")).unwrap();
        let null = "0".repeat(40);
        let lines = format!("{null} {second} ORIG_HEAD\n{second} {first} refs/heads/main\n");
        let [prepared, aborted, committed] = ["prepared", "aborted", "committed"]
            .map(|state| format!("reference-transaction {state}\n{lines}"));
        let asked = lines.replace("refs/heads/main", "HEAD");
        let prepared = format!("reference-transaction preparing\n{asked}") + &prepared;
        if refuses {
            assert_eq!(outcome.code, 128);
            assert_eq!(told, prepared + &aborted, "{words:?}");
            assert_eq!((tree, index), (repository.tree(), repository.index()));
            assert_eq!(repository.ask(&["rev-parse", "HEAD"]), second);
        } else {
            assert_eq!(outcome.code, 0);
            assert_eq!(told, prepared + &committed);
            assert_eq!(repository.ask(&["rev-parse", "HEAD"]), first);
        }
    }
}

#[test]
fn changes_put_aside_by_a_merge_are_kept() {
    let origin = origin();
    for words in [&["--hard"][..], &["--merge"], &[]] {
        let mut pair = Pair::of(&origin, "autostash");
        pair.each("a merge with changes put aside", |it| {
            conflict(it);
            it.git(&["merge", "--abort"]);
            it.write("same", "mine\n");
            it.run(&["merge", "--autostash", "other"], b"");
        });
        pair.both("reset", "", words, &[]);
        pair.each("the stash is there", |it| {
            let mut command = crate::support::Program::Git.command(&it.root);
            command.args(["rev-parse", "-q", "--verify", "refs/stash"]);
            assert_eq!(run(command).code, 0);
        });
    }
}

/// What a monitor tells is listed; what it has vouched for and does not tell of is not looked at.
#[test]
fn a_mixed_reset_asks_the_monitor() {
    let origin = Repository::init(&[]);
    origin.commit_files(&[("f", "f\n"), ("x", "x\n"), ("y", "y\n")], "first");
    for (answer, code) in [("x\\0", 0), ("/\\0", 0), ("", 0), ("", 1)] {
        let mut pair = Pair::of(&origin, &format!("{answer} {code}"));
        pair.each("watch", |it| {
            let hook = |answer: &str, code| {
                let script = format!("#!/bin/sh\nprintf 'token\\0{answer}'\nexit {code}\n");
                it.write(".git/monitor", &script);
                let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
                std::fs::set_permissions(it.path(".git/monitor"), mode).unwrap();
            };
            hook("", 0);
            it.git(&["config", "core.fsmonitor", ".git/monitor"]);
            it.git(&["config", "core.fsmonitorHookVersion", "2"]);
            it.git(&["update-index", "--fsmonitor"]);
            it.git(&["status"]);
            it.write("x", "changed\n");
            it.write("y", "changed\n");
            hook(answer, code);
        });
        pair.both::<&str>("reset", "", &[], &[]);
    }
}

const MODES: [&[&str]; 5] = [
    &["--hard"],
    &["--soft"],
    &["--mixed"],
    &["--merge"],
    &["--keep"],
];

/// What cannot be remembered is told, and keeps HEAD from nothing.
#[test]
fn a_reset_moves_where_the_old_head_cannot_be_remembered() {
    if !git_is_at_least(2, 55, "words about ORIG_HEAD") {
        return;
    }
    for mode in MODES {
        for quiet in [&[][..], &["-q"]] {
            let mut pair = Pair::of(&origin(), "a lock");
            pair.each("lock", |it| it.write(".git/ORIG_HEAD.lock", ""));
            let words = [mode, quiet, &["first"]].concat();
            let outcome = pair.both("reset", "", &words, &[]);
            assert_eq!(outcome.code, 0, "{words:?}");
            assert!(outcome.stderr.contains("'ORIG_HEAD'"), "{outcome:?}");
        }
    }
}

/// A way out of a repository whose branch names nothing. Only what keeps changes asks what they are.
#[test]
fn a_reset_leaves_a_commit_that_is_missing() {
    if !git_is_at_least(2, 55, "words about ORIG_HEAD") {
        return;
    }
    for mode in MODES {
        let mut pair = Pair::of(&origin(), "a commit is missing");
        pair.any_words = true;
        pair.each("break", |it| {
            let id = "a".repeat(it.ask(&["rev-parse", "HEAD"]).len());
            it.write(".git/refs/heads/main", id + "\n");
        });
        let words = [mode, &["first"]].concat();
        if mode == ["--keep"] {
            assert_eq!(
                pair.hedgerow
                    .hedgerow(&[&["reset"], &words[..]].concat())
                    .code,
                128
            );
            continue;
        }
        let outcome = pair.both("reset", "", &words, &[]);
        assert_eq!(outcome.code, 0, "{words:?}");
        assert!(outcome.stderr.contains("nonexistent object"), "{outcome:?}");
    }
}

/// A hook that refuses to remember refuses the reset.
#[test]
fn a_hook_refuses_to_remember_the_old_head() {
    let repository = origin();
    let hook = repository.path(".git/hooks/reference-transaction");
    repository.write(
        ".git/hooks/reference-transaction",
        "#!/bin/sh\n! grep -q ORIG_HEAD\n",
    );
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(hook, mode).unwrap();
    let before = repository.ask(&["rev-parse", "HEAD"]);
    let outcome = repository.hedgerow(&["reset", "--hard", "first"]);
    assert_eq!(outcome.code, 128, "{outcome:?}");
    assert_eq!(repository.ask(&["rev-parse", "HEAD"]), before);
}

/// What is to be added later has an empty blob, which the attributes are read from if it is theirs.
#[test]
fn attributes_are_to_be_added_later() {
    let repository = Repository::init(&[]);
    repository.write(".gitattributes", "*.c foo\n");
    repository.write("a", "a\n");
    repository.commit("one");
    repository.git(&["rm", "-q", "--cached", ".gitattributes"]);
    repository.git(&["commit", "-q", "-m", "two"]);
    repository.git(&["tag", "second"]);
    repository.git(&["reset", "-q", "HEAD~1"]);
    repository.remove(".gitattributes");
    let mut pair = Pair::of(&repository, "attributes to be added");
    pair.both("reset", "", &["-N", "second"], &[]);
}
