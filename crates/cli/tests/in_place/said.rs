//! What is seldom said, by git and by the link.

use crate::callers::replay;
use hedgerow_testkit::{git_is_at_least, isolated, require, run, skip};

/// A commit that is named by its whole id and is not there.
#[test]
fn a_commit_that_is_not_there() {
    if !git_is_at_least(2, 55, "words about a missing commit") {
        return;
    }
    let id = "12345678901234567890123456789012345678ab";
    let mut steps: Vec<String> = [
        "checkout -q",
        "checkout --detach",
        "checkout -f",
        "checkout -b new",
        "checkout -B side",
        "switch",
        "switch --detach",
        "switch -c new",
        "merge --ff-only",
        "stash apply",
        "reset --hard",
        "read-tree",
    ]
    .map(|command| format!("git {command} {id}"))
    .into();
    steps.extend([
        format!("git checkout {id} -- .; git checkout {id} f1; git restore -s {id} f1"),
        format!("git checkout {id}~1; git checkout {id}^{{tree}}; git checkout {id}:f1; git restore -s {id}~1 f1"),
        format!("git merge --ff-only {id}~1; git merge --ff-only HEAD {id}; git stash apply {id}~1"),
        "git stash apply $(git rev-parse HEAD:f1); git stash apply $(git rev-parse HEAD^{tree})".into(),
        format!("echo {id} >.git/refs/heads/broken; git checkout broken; git switch broken; rm .git/refs/heads/broken"),
    ]);
    replay(&steps.iter().map(String::as_str).collect::<Vec<_>>());
}

/// Hooks that may not be executed, and some that cannot be.
#[test]
fn hooks_that_do_not_run() {
    if !git_is_at_least(2, 55, "words about hooks that do not run") {
        return;
    }
    let hook = |name: &str, first: &str, mode: u32| {
        format!("rm -rf .git/hooks; mkdir .git/hooks; printf '#!{first}\\n' >.git/hooks/{name}; chmod {mode} .git/hooks/{name}")
    };
    let checkout = "git checkout -q side; git checkout -q main; git switch -c new; git switch -q main; git branch -D new; \
                    cd d1; git checkout -- a; git -C .. restore f1; git worktree add ../w HEAD; rm -rf ../w; git worktree prune";
    let template = "mkdir -p ../t; rm -rf ../t/hooks; cp -r .git/hooks ../t; git clone -q --template=../t . c; echo $?; ls c; rm -rf c";
    let steps = [
        format!("{}; {checkout}", hook("post-checkout", "/bin/sh", 644)),
        format!("{}; git -c advice.ignoredHook=false checkout side; GIT_ADVICE=0 git checkout main", hook("post-checkout", "/bin/sh", 644)),
        format!("{}; GIT_DIR=.git git checkout side; GIT_DIR=$PWD/.git git checkout main", hook("post-checkout", "/bin/sh", 644)),
        format!("{}; {checkout}", hook("post-checkout", "/nowhere", 755)),
        format!("{}; {template}", hook("post-checkout", "/bin/sh", 644)),
        format!("{}; {template}", hook("post-checkout", "/nowhere", 755)),
        format!("rm -rf .git/hooks; mkdir -p .git/hooks/post-checkout; {template}; {checkout}"),
        format!("{}; git checkout side; git reset --hard main; git reset -q --hard HEAD@{{1}}; git checkout main",
            hook("reference-transaction", "/nowhere", 755)),
        format!("{}; git checkout -q --detach v1; git merge --ff-only main", hook("post-merge", "/bin/sh", 644)),
        format!("{}; git checkout -q --detach v1; git merge --ff-only main", hook("post-merge", "/nowhere", 755)),
    ];
    replay(&steps.each_ref().map(String::as_str));
}

/// A filter that is required and fails: what failed first is told first.
#[test]
fn required_filters_that_fail() {
    if !git_is_at_least(2, 55, "words about filters that fail") {
        return;
    }
    let of = |kind: &str, command: &str| {
        format!("git config filter.f.{kind} '{command}'; git config filter.f.required true; echo 'f1 filter=f' >.git/info/attributes")
    };
    let smudge = "rm f1; git checkout -- f1; git restore f1; git checkout-index f1; git reset -q --hard side; git worktree add -q ../w";
    let clean = "echo x >>f1; git checkout side; git stash";
    let end = "rm .git/info/attributes; git config --remove-section filter.f; rm -rf ../w; git worktree prune; git reset -q --hard main; git branch -D w";
    let steps = [
        (of("smudge", "false"), smudge),
        (of("smudge", "exit 7"), smudge),
        (of("smudge", "nowhere"), smudge),
        (of("clean", "false"), clean),
        (of("process", "nowhere"), "rm f1; git checkout -- f1"),
    ]
    .map(|(set, then)| format!("{set}; {then}; {end}"));
    replay(&steps.each_ref().map(String::as_str));
}

/// Words that programs look for, and the order in which a pipe gets them.
#[test]
fn words_and_their_order() {
    if !git_is_at_least(2, 55, "words of several commands") {
        return;
    }
    replay(&[
        "export GIT_TEST_ASSUME_DIFFERENT_OWNER=1; git checkout side; git stash; git reset --hard; git switch main",
        "git verify-pack nope; git verify-pack nope.idx; git verify-pack nope.pack; git verify-pack -v nope",
        "echo x >d1/a; for to in side main v1 main; do git checkout $to 2>&1 | cat; done; git reset -q --hard",
        "git checkout -q --detach; echo x >d1/a; git checkout main 2>&1 | cat; git checkout --detach v1 2>&1 | cat; git reset --hard main 2>&1 | cat",
        "git checkout -q main; echo x >f1; git stash push -m \"$(printf 'a\\377')\"; git stash drop -q",
    ]);
}

/// Words that are not UTF-8 are shown as they are.
#[test]
fn bytes_of_words() {
    if !git_is_at_least(2, 55, "words about names that are not UTF-8") {
        return;
    }
    let steps = [
        "checkout -q W",
        "checkout -b W",
        "checkout -b xW/y nope",
        "switch W",
        "restore W",
        "stash push W",
        "merge --ff-only W",
        "worktree add ../W",
        "checkout --orphan=W",
        "reset W",
    ]
    .map(|words| {
        let words = words.replace('W', "\"$W\"");
        format!("W=$(printf 'b\\377'); git {words} 2>&1 | od -c")
    });
    replay(&steps.each_ref().map(String::as_str));
}

/// Where `/proc` is not mounted, hedgerow finds itself, and the umask holds.
#[test]
fn without_proc() {
    if !require("unshare") {
        return;
    }
    let alone =
        |script: &str| format!("unshare -rm sh -c 'mount -t tmpfs none /proc && {{ {script}; }}'");
    let mut probe = isolated("sh");
    probe.arg("-c").arg(alone("true"));
    if run(probe).code != 0 {
        return skip("no namespace of mounts can be had");
    }
    let clone = "git clone -q . c; echo $?; git -c a.b=c clone -q --depth 1 file://$PWD d; echo $?; ls c d; rm -rf c d";
    let masked = "umask 077; git repack -adq; stat -c %a .git/objects/pack/*.pack .git/objects/pack/*.idx; git status -s";
    replay(&[&alone(clone), &alone(masked)]);
}

/// A link that is called like a command of git.
#[test]
fn links_called_like_commands() {
    let link = "ln -s $(command -v git) ../git-status; ln -s $(command -v git) ../git-checkout; ln -s $(command -v git) ../git-log";
    let call = "../git-status -s; echo x >>f1; ../git-status -sb; ../git-checkout f1; ../git-checkout -q side; \
                ../git-log -1 --format=%s; rm ../git-*";
    replay(&[&format!("{link}; {call}")]);
}

/// Numbers that are too large for git.
#[test]
fn large_numbers() {
    if !git_is_at_least(2, 55, "words about large numbers") {
        return;
    }
    let steps = ["4294967295", "99999999999999999999999999999999999999999"].map(|number| {
        format!(
            "git checkout HEAD~{number}; git checkout @{{-{number}}}; git checkout HEAD@{{{number}}}; git rev-list HEAD^{number}; \
             git rev-list -{number} HEAD; git rev-list --skip={number} HEAD; git rev-list --max-parents={number} HEAD; \
             echo x >>f1; git stash -q; git stash apply {number}; git stash drop {number}; git stash pop -q"
        )
    });
    replay(&steps.each_ref().map(String::as_str));
}
