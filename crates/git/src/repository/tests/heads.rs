use super::fixture::{words, Scratch};
use crate::branches::HeadTarget;
use crate::refs::Head;
use crate::repository::{Hook, Repository};
use bstr::ByteSlice;
use gix_hash::ObjectId;
use hedgerow_testkit::git_is_at_least;
use std::os::unix::fs::PermissionsExt;

/// Does with the library in `own` what `git checkout` does in `gits`.
fn switch(scratch: &Scratch, target: &str) {
    scratch.ask("gits", &["checkout", "-q", target]);
    let found = scratch.open("own");
    let (place, name) = destination(&found, target);
    let old = found.head().unwrap();
    let message = found.checkout_message(&old, name.as_str().into());
    let committer = found.committer().unwrap();
    found
        .switch_head(&place, message.as_ref(), &committer)
        .unwrap();
    assert!(found.remove_branch_state().failures.is_empty());
}

/// What a name leads to, and how git's log calls it.
fn destination(found: &Repository, target: &str) -> (HeadTarget, String) {
    let expanded = found.expand_branch_name(target.into()).unwrap();
    let short = expanded
        .to_str()
        .unwrap()
        .trim_start_matches("refs/heads/")
        .to_owned();
    let full = format!("refs/heads/{short}");
    match found.reference(full.as_str().into()).unwrap() {
        Some(_) => (HeadTarget::Branch(full.into()), short),
        None => {
            let id = found.resolve_commit(target.into()).unwrap();
            (HeadTarget::Detached(id), short)
        }
    }
}

fn assert_same(scratch: &Scratch, context: &str) {
    for file in ["HEAD", "logs/HEAD", "MERGE_MSG", "ORIG_HEAD"] {
        let read = |directory: &str| scratch.read(&format!("{directory}/.git/{file}"));
        assert_eq!(read("own"), read("gits"), "{file} after {context}");
    }
    assert!(!scratch.path("own/.git/HEAD.lock").exists());
}

fn twins(configuration: &[(&str, &str)]) -> Scratch {
    let scratch = Scratch::with_history();
    scratch.ask("r", &["branch", "side", "HEAD~1"]);
    scratch.ask("r", &["tag", "-a", "-m", "x", "v1", "HEAD~2"]);
    for (key, value) in configuration {
        scratch.ask("r", &["config", key, value]);
    }
    for twin in ["own", "gits"] {
        let output = std::process::Command::new("cp")
            .args(["-a", "r", twin])
            .current_dir(scratch.path("."))
            .status();
        assert!(output.unwrap().success());
    }
    scratch
}

#[test]
fn switching_leaves_what_git_leaves() {
    let steps = [
        "side", "main", "v1", "-", "side", "-", "@{-1}", "@{-2}", "HEAD~1", "v1", "HEAD~0", "main",
    ];
    for configuration in [
        &[][..],
        &[("core.logAllRefUpdates", "false")],
        &[("core.logAllRefUpdates", "always")],
    ] {
        let scratch = twins(configuration);
        for (number, step) in steps.iter().enumerate() {
            switch(&scratch, step);
            assert_same(
                &scratch,
                &format!("{:?} with {configuration:?}", &steps[..=number]),
            );
        }
    }
}

#[test]
fn a_log_that_does_not_exist_stays_so() {
    let scratch = twins(&[("core.logAllRefUpdates", "false")]);
    for twin in ["own", "gits"] {
        std::fs::remove_dir_all(scratch.path(&format!("{twin}/.git/logs"))).unwrap();
    }
    switch(&scratch, "side");
    assert!(!scratch.path("own/.git/logs/HEAD").exists());
    assert_same(&scratch, "side");
    let found = scratch.open("own");
    assert_eq!(found.previous_branch(1).unwrap(), None);
    assert!(found.resolve("@{-1}".into()).is_err());
}

#[test]
fn a_lock_that_is_held_is_respected() {
    let scratch = Scratch::with_history();
    let before = scratch.read("r/.git/logs/HEAD");
    scratch.write("r/.git/HEAD.lock", "");
    let found = scratch.open("r");
    let target = HeadTarget::Branch("refs/heads/main".into());
    let committer = found.committer().unwrap();
    let said = words(found.switch_head(&target, "m".into(), &committer));
    assert!(said.ends_with("HEAD.lock': File exists"), "{said}");
    std::fs::remove_file(scratch.path("r/.git/HEAD.lock")).unwrap();
    let outside = HeadTarget::Branch("refs/../../x".into());
    let said = words(found.switch_head(&outside, "m".into(), &committer));
    assert_eq!(
        said,
        "cannot use reference 'refs/../../x': not the name of a reference"
    );
    assert_eq!(scratch.read("r/.git/logs/HEAD"), before);
    assert!(!scratch.path("r/.git/HEAD.lock").exists());
}

#[test]
fn heads_of_all_kinds() {
    let scratch = Scratch::with_history();
    let id = scratch.open("r").resolve("HEAD".into()).unwrap();
    let head = |content: &str| {
        scratch.write("r/.git/HEAD", content);
        scratch.open("r").head().unwrap()
    };
    let branch = |name: &str, id: Option<ObjectId>| Head::Branch {
        name: name.into(),
        id,
    };
    assert_eq!(
        head("ref: refs/heads/main\n"),
        branch("refs/heads/main", Some(id))
    );
    assert_eq!(
        head("ref:refs/heads/main"),
        branch("refs/heads/main", Some(id))
    );
    assert_eq!(
        head("ref: refs/heads/unborn\n"),
        branch("refs/heads/unborn", None)
    );
    assert_eq!(head(&format!("{id}\n")), Head::Detached { id });
    scratch.write("r/.git/refs/heads/alias", "ref: refs/heads/main\n");
    assert_eq!(
        head("ref: refs/heads/alias\n"),
        branch("refs/heads/main", Some(id))
    );
    std::fs::remove_file(scratch.path("r/.git/HEAD")).unwrap();
    std::os::unix::fs::symlink("refs/heads/main", scratch.path("r/.git/HEAD")).unwrap();
    assert_eq!(
        scratch.open("r").head().unwrap(),
        branch("refs/heads/main", Some(id))
    );
    scratch.ask(".", &["init", "-q", "empty"]);
    assert_eq!(
        scratch.open("empty").head().unwrap(),
        branch("refs/heads/main", None)
    );
}

#[test]
fn an_unborn_branch_is_left_without_a_log() {
    let scratch = twins(&[]);
    for twin in ["own", "gits"] {
        scratch.ask(twin, &["symbolic-ref", "HEAD", "refs/heads/unborn"]);
        scratch.ask(twin, &["reset", "-q", "--hard", "main"]);
        scratch.ask(twin, &["update-ref", "-d", "refs/heads/unborn"]);
    }
    scratch.ask("gits", &["checkout", "-q", "-f", "side"]);
    let found = scratch.open("own");
    let old = found.head().unwrap();
    assert_eq!(old.id(), None);
    let message = found.checkout_message(&old, "side".into());
    let target = HeadTarget::Branch("refs/heads/side".into());
    let committer = found.committer().unwrap();
    found
        .switch_head(&target, message.as_ref(), &committer)
        .unwrap();
    assert_eq!(last(&scratch, "own"), last(&scratch, "gits"));
    assert_eq!(
        scratch.read("own/.git/HEAD"),
        scratch.read("gits/.git/HEAD")
    );
}

fn last(scratch: &Scratch, twin: &str) -> String {
    let log = scratch.read(&format!("{twin}/.git/logs/HEAD"));
    log.lines().last().unwrap_or_default().to_owned()
}

#[test]
fn who_acts() {
    if !git_is_at_least(2, 47, "the committer of git without a name") {
        return;
    }
    let scratch = Scratch::with_history();
    let cases: [&[(&str, &str)]; 6] = [
        &[],
        &[
            ("GIT_COMMITTER_NAME", " X <Y>. "),
            ("GIT_COMMITTER_EMAIL", "<a@b>"),
        ],
        &[("GIT_COMMITTER_DATE", "2005-04-07T22:13:13 +0200")],
        &[("GIT_COMMITTER_DATE", "@1234567890 -0330")],
        &[("GIT_COMMITTER_DATE", "Thu, 07 Apr 2005 22:13:13 -0500")],
        &[("EMAIL", "e@f"), ("GIT_CONFIG_GLOBAL", "/dev/null")],
    ];
    let compare = |variables: &[(&str, &str)]| {
        let output = scratch.run("r", &["var", "GIT_COMMITTER_IDENT"], variables);
        let found = scratch.discover("r", variables).unwrap();
        let own = found.committer().unwrap();
        let own = format!("{} <{}> {}", own.name, own.email, own.time.seconds);
        let gits = super::fixture::text(&output.stdout);
        let (gits, _zone) = gits.rsplit_once(' ').unwrap();
        assert_eq!(own, gits, "{variables:?}");
    };
    for variables in cases {
        compare(variables);
    }
    scratch.ask("r", &["config", "committer.name", "Configured"]);
    compare(&[]);
    let bad = [("GIT_COMMITTER_DATE", "not a date")];
    let error = scratch
        .discover("r", &bad)
        .unwrap()
        .committer()
        .unwrap_err();
    assert_eq!(error.to_string(), "invalid date format: not a date");
}

#[test]
fn hooks_are_found_and_run() {
    let scratch = Scratch::with_history();
    let hook = scratch.path("r/.git/hooks/post-checkout");
    let found = scratch.open("r");
    assert_eq!(found.hook("post-checkout").unwrap(), Hook::Absent);
    let null = found.null_id();
    assert_eq!(found.run_post_checkout(&null, &null, true).unwrap(), None);
    scratch.write(
        "r/.git/hooks/post-checkout",
        "#!/bin/sh\necho \"$PWD $1 $2 $3\" >> seen\ngit rev-parse --git-dir >> seen\nexit 3\n",
    );
    assert_eq!(
        found.hook("post-checkout").unwrap(),
        Hook::NotExecutable(hook.clone())
    );
    std::fs::set_permissions(&hook, PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(found.hook("post-checkout").unwrap(), Hook::Found(hook));
    let exit = scratch
        .open("r/dir")
        .run_post_checkout(&null, &null, false)
        .unwrap();
    assert_eq!(exit, Some(hedgerow_fs::Exit::Status(3)));
    let expected = format!("{} {null} {null} 0\n.git\n", scratch.path("r").display());
    assert_eq!(scratch.read("r/seen"), expected);
    scratch.ask("r", &["config", "core.hooksPath", "own-hooks"]);
    scratch.write("r/own-hooks/post-checkout", "#!/bin/sh\n");
    let found = scratch.open("r/dir");
    let path = scratch.path("r/own-hooks/post-checkout");
    assert_eq!(
        found.hook("post-checkout").unwrap(),
        Hook::NotExecutable(path.clone())
    );
    // As of git: the shell reads what the kernel cannot run, and a directory is told.
    std::fs::write(&path, "exit 4\n").unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    let run = || found.run_post_checkout(&null, &null, false);
    assert_eq!(run().unwrap(), Some(hedgerow_fs::Exit::Status(4)));
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    let refused = run().unwrap_err().to_string();
    assert!(refused.contains("Permission denied"), "{refused}");
}

#[test]
fn advice_is_on_until_it_is_off() {
    let scratch = Scratch::with_history();
    assert!(scratch.open("r").advises("detachedHead").unwrap());
    scratch.ask("r", &["config", "advice.detachedHead", "false"]);
    let found = scratch.open("r");
    assert!(!found.advises("detachedHead").unwrap());
    assert!(found.config().file().num_values() > 0);
}

/// A lock that another program left behind does not keep the rest of a merge or pick alive.
#[test]
fn one_failure_does_not_keep_the_rest_of_an_operation() {
    let scratch = Scratch::with_history();
    let found = scratch.open("r");
    let tip = scratch.ask("r", &["rev-parse", "HEAD"]);
    let file = |name: &str| scratch.path("r").join(".git").join(name);
    for name in ["CHERRY_PICK_HEAD", "REVERT_HEAD", "AUTO_MERGE"] {
        std::fs::write(file(name), format!("{}\n", tip.trim())).unwrap();
    }
    std::fs::write(file("CHERRY_PICK_HEAD.lock"), "").unwrap();
    std::fs::write(file("MERGE_MSG"), "words\n").unwrap();
    std::fs::create_dir_all(file("sequencer")).unwrap();
    std::fs::write(file("sequencer/todo"), "pick 1234567 last\n").unwrap();
    let ended = found.remove_branch_state();
    assert_eq!(ended.operations, ["revert"]);
    assert_eq!(ended.failures.len(), 1, "{:?}", ended.failures);
    assert!(ended.failures[0].to_string().contains("CHERRY_PICK_HEAD"));
    assert!(file("CHERRY_PICK_HEAD").exists());
    for name in ["REVERT_HEAD", "AUTO_MERGE", "MERGE_MSG", "sequencer"] {
        assert!(!file(name).exists(), "{name}");
    }
}
