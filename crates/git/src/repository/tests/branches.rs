use super::fixture::{words, Scratch};
use crate::branches::{NewBranch, RemoteMatch, Upstream};
use crate::repository::Repository;
use bstr::ByteSlice;
use gix_hash::ObjectId;
use std::os::unix::fs::PermissionsExt;

/// A repository `own` and its twin `gits`, both clones with two remotes.
fn clones() -> Scratch {
    let scratch = Scratch::with_history();
    scratch.ask("r", &["branch", "topic", "HEAD~1"]);
    scratch.ask("r", &["branch", "both", "HEAD~2"]);
    scratch.ask("r", &["branch", "a/b", "HEAD~2"]);
    for twin in ["own", "gits"] {
        scratch.ask(".", &["clone", "-q", "r", twin]);
        scratch.ask(twin, &["remote", "add", "up", "../r"]);
        scratch.ask(
            twin,
            &[
                "config",
                "remote.up.fetch",
                "+refs/heads/b*:refs/remotes/up/b*",
            ],
        );
        scratch.ask(twin, &["fetch", "-q", "up"]);
    }
    scratch
}

fn branch(found: &Repository, name: &str, message: &str) -> NewBranch {
    NewBranch {
        name: format!("refs/heads/{name}").into(),
        id: found.resolve("HEAD~1".into()).unwrap(),
        may_exist: false,
        message: message.into(),
    }
}

#[test]
fn a_name_may_mean_a_remote_branch() {
    let scratch = clones();
    let found = scratch.open("own");
    let guess = |name: &str| found.dwim_remote_branch(name.into()).unwrap();
    let upstream = |remote: &str, name: &str| Upstream {
        remote: remote.into(),
        merge: format!("refs/heads/{name}").into(),
        tracking: format!("refs/remotes/{remote}/{name}").into(),
    };
    assert_eq!(
        guess("topic"),
        RemoteMatch::One(upstream("origin", "topic"))
    );
    assert_eq!(guess("a/b"), RemoteMatch::One(upstream("origin", "a/b")));
    assert_eq!(guess("absent"), RemoteMatch::None);
    assert_eq!(guess("../x"), RemoteMatch::None);
    let several = vec![upstream("origin", "both"), upstream("up", "both")];
    assert_eq!(guess("both"), RemoteMatch::Several(several));
    scratch.ask("own", &["config", "checkout.defaultRemote", "up"]);
    let found = scratch.open("own");
    let guess = found.dwim_remote_branch("both".into()).unwrap();
    assert_eq!(guess, RemoteMatch::One(upstream("up", "both")));
    assert_eq!(found.remotes(), ["origin", "up"]);
    let tracked = found.tracked("refs/remotes/up/both".into()).unwrap();
    assert_eq!(tracked, Some(upstream("up", "both")));
    assert_eq!(found.tracked("refs/heads/main".into()).unwrap(), None);
}

#[test]
fn a_guessed_branch_is_what_git_makes() {
    let scratch = clones();
    for twin in ["own", "gits"] {
        let config = scratch.read(&format!("{twin}/.git/config"));
        let odd =
            "; a comment\n[Core]\n  filemode=true # kept\n[branch \"topic\"]\n\tdescription = d\n";
        scratch.write(&format!("{twin}/.git/config"), config + odd);
    }
    for name in ["topic", "a/b"] {
        scratch.ask("gits", &["checkout", "-q", name]);
        let found = scratch.open("own");
        let RemoteMatch::One(upstream) = found.dwim_remote_branch(name.into()).unwrap() else {
            panic!("no match for {name}");
        };
        let tracking = upstream.tracking.to_str().unwrap();
        let new = NewBranch {
            name: format!("refs/heads/{name}").into(),
            id: found.resolve_commit(tracking.into()).unwrap(),
            may_exist: false,
            message: format!("branch: Created from {tracking}").into(),
        };
        found
            .create_branch(&new, &found.committer().unwrap())
            .unwrap();
        found.set_upstream(name.into(), &upstream).unwrap();
        for file in [
            "config",
            &format!("refs/heads/{name}"),
            &format!("logs/refs/heads/{name}"),
        ] {
            let read = |twin: &str| scratch.read(&format!("{twin}/.git/{file}"));
            assert_eq!(read("own"), read("gits"), "{file}");
            assert_ne!(read("own"), "");
        }
        let expected = format!("origin/{name}");
        let arguments = ["rev-parse", "--abbrev-ref", &format!("{name}@{{u}}")];
        assert_eq!(scratch.ask("own", &arguments), expected);
    }
}

#[test]
fn rebasing_is_set_up_where_that_is_wanted() {
    let scratch = clones();
    for (setting, remote, expected) in [
        ("always", "origin", "true"),
        ("remote", "origin", "true"),
        ("remote", ".", ""),
        ("local", ".", "true"),
        ("never", "origin", ""),
    ] {
        scratch.ask("own", &["config", "branch.autoSetupRebase", setting]);
        let upstream = Upstream {
            remote: remote.into(),
            merge: "refs/heads/main".into(),
            tracking: "refs/heads/main".into(),
        };
        scratch
            .open("own")
            .set_upstream("x \"y\\".into(), &upstream)
            .unwrap();
        let found = scratch.open("own");
        let read = |name| found.config().string_in("branch", "x \"y\\".into(), name);
        assert_eq!(read("rebase").unwrap_or_default(), expected, "{setting}");
        assert_eq!(read("remote").unwrap(), remote);
        scratch.ask("own", &["config", "--remove-section", "branch.x \"y\\"]);
    }
    let config = scratch.path("own/.git/config");
    let private: std::fs::Permissions = PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&config, private.clone()).unwrap();
    let upstream = scratch
        .open("own")
        .upstream("refs/heads/main".into())
        .unwrap()
        .unwrap();
    scratch
        .open("own")
        .set_upstream("main".into(), &upstream)
        .unwrap();
    assert_eq!(
        std::fs::metadata(&config).unwrap().permissions().mode() & 0o777,
        0o600
    );
    scratch.write("own/.git/config.lock", "");
    let upstream = scratch
        .open("own")
        .upstream("refs/heads/main".into())
        .unwrap()
        .unwrap();
    let said = words(scratch.open("own").set_upstream("main".into(), &upstream));
    assert!(said.ends_with("config.lock': File exists"), "{said}");
}

#[test]
fn what_stands_in_the_way_is_told() {
    let scratch = clones();
    let found = scratch.open("own");
    let committer = found.committer().unwrap();
    let create = |name: &str| words(found.create_branch(&branch(&found, name, "m"), &committer));
    assert_eq!(create("main"), "a branch named 'main' already exists");
    assert_eq!(
        create("main/sub"),
        "cannot lock ref 'refs/heads/main/sub': 'refs/heads/main' exists; \
         cannot create 'refs/heads/main/sub'"
    );
    assert_eq!(create("x/y"), "no error");
    scratch.ask("own", &["pack-refs", "--all"]);
    assert_eq!(
        create("x"),
        "cannot lock ref 'refs/heads/x': 'refs/heads/x/y' exists; \
         cannot create 'refs/heads/x'"
    );
    for name in ["", "-x", "HEAD", "a..b", "a b", "a/../b", "x.lock"] {
        assert_eq!(create(name), format!("'{name}' is not a valid branch name"));
    }
    let mut moved = branch(&found, "x/y", "branch: Reset to HEAD");
    moved.may_exist = true;
    moved.id = found.resolve("HEAD".into()).unwrap();
    found.create_branch(&moved, &committer).unwrap();
    assert_eq!(found.resolve("x/y".into()).unwrap(), moved.id);
    assert_eq!(scratch.ask("own", &["reflog", "x/y"]).lines().count(), 2);
}

#[test]
fn an_empty_directory_does_not_stand_in_the_way() {
    let scratch = clones();
    std::fs::create_dir_all(scratch.path("own/.git/refs/heads/e/f")).unwrap();
    let found = scratch.open("own");
    let committer = found.committer().unwrap();
    found
        .create_branch(&branch(&found, "e", "m"), &committer)
        .unwrap();
    let id = scratch.ask("own", &["rev-parse", "refs/heads/e"]);
    assert_eq!(
        ObjectId::from_hex(id.as_bytes()).unwrap(),
        found.resolve("HEAD~1".into()).unwrap()
    );
}

#[test]
fn other_working_trees_hold_their_branches() {
    let scratch = Scratch::with_history();
    scratch.ask("r", &["worktree", "add", "-q", "-b", "side", "../linked"]);
    scratch.ask("r", &["worktree", "add", "-q", "--detach", "../free"]);
    let elsewhere = |directory: &str, name: &str| {
        let full = format!("refs/heads/{name}");
        let found = scratch.open(directory);
        found
            .branch_checked_out_elsewhere(full.as_str().into())
            .unwrap()
    };
    assert_eq!(elsewhere("r", "side"), Some(scratch.path("linked")));
    assert_eq!(elsewhere("linked", "side"), None);
    assert_eq!(elsewhere("linked", "main"), Some(scratch.path("r")));
    assert_eq!(elsewhere("free", "main"), Some(scratch.path("r")));
    assert_eq!(elsewhere("r", "main"), None);
    assert_eq!(elsewhere("r", "absent"), None);
    let state = |file: &str, content: &str| {
        let path = format!("r/.git/worktrees/free/{file}");
        scratch.write(&path, content);
        let found = elsewhere("r", "held");
        std::fs::remove_file(scratch.path(&path)).unwrap();
        assert_eq!(found, Some(scratch.path("free")), "{file}");
    };
    state("rebase-merge/head-name", "refs/heads/held\n");
    state("rebase-apply/head-name", "refs/heads/held\n");
    state("BISECT_START", "held\n");
    state(
        "rebase-merge/update-refs",
        "refs/heads/o\n1\n2\nrefs/heads/held\n1\n2\n",
    );
    assert_eq!(elsewhere("r", "held"), None);
}
