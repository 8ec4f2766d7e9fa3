//! Which commands let a filter process delay files, and what it is told, with git in a copy.

use crate::support::{run, temporary, Program, Repository, Snapshot};
use crate::HEDGEROW;
use hedgerow_testkit::filter_server::{command, take_log};

const SERVED: [&str; 3] = ["1-delay.f", "2-delay.f", "plain.f"];

/// Two commits, the first one checked out, with edits, and a stash of an untracked file.
fn origin() -> Repository {
    let repository = Repository::init(&[]);
    repository.write(".gitattributes", "*.f filter=served\n");
    let write = |content: &str| {
        for path in SERVED {
            repository.write(path, content);
        }
    };
    for content in ["first\n", "second\n"] {
        write(content);
        repository.commit(content.trim());
    }
    repository.git(&["branch", "second"]);
    repository.git(&["reset", "-q", "--hard", "HEAD^"]);
    repository.write("untracked-delay.f", "untracked\n");
    repository.git(&["stash", "-q", "-u"]);
    write("mine\n");
    repository
}

/// How `words` end in a copy: the exit code, the files, and what the filter process was asked.
fn outcome(
    program: Program,
    origin: &Repository,
    prepare: fn(&Repository),
    words: &[&str],
) -> (i32, Snapshot, Vec<String>) {
    let home = temporary();
    let copy = origin.copy(&home.path().join("copy"));
    let log = copy.git_dir().join("filter-log");
    let served = command(log.to_str().expect("it is made of text"));
    copy.git(&["config", "filter.served.process", &served]);
    copy.git(&["config", "filter.served.required", "true"]);
    prepare(&copy);
    let _ = std::fs::remove_file(log);
    let mut command = program.command(&copy.root);
    command.args(words);
    let code = run(command).code;
    let is_smudge = |line: &&str| line.starts_with("command=smudge ");
    let log = take_log(&copy);
    let mut asked: Vec<String> = log.lines().filter(is_smudge).map(Into::into).collect();
    asked.sort();
    (code, copy.tree(), asked)
}

fn assert_same(prepare: fn(&Repository), words: &[&str], may_delay: bool) {
    let origin = origin();
    let expected = outcome(Program::Git, &origin, prepare, words);
    let found = outcome(HEDGEROW, &origin, prepare, words);
    assert_eq!(expected, found, "{words:?}: first git, then hedgerow");
    let delays = found.2.iter().any(|line| line.ends_with("can-delay=1"));
    assert!(!found.2.is_empty(), "{words:?}: the filter was asked");
    assert_eq!(delays, may_delay, "{words:?}: {:?}", found.2);
}

#[test]
fn what_git_copies_or_patches_is_not_delayed() {
    let stage = |repository: &Repository| drop(repository.git(&["add", "-A"]));
    assert_same(|_| {}, &["stash", "push", "--", "1-delay.f"], false);
    assert_same(|_| {}, &["stash", "push", "-u", "--", "."], false);
    assert_same(stage, &["stash", "push", "-S"], false);
    assert_same(stage, &["stash", "push", "-S", "-k"], false);
    assert_same(|_| {}, &["checkout-index", "-f", "-a"], false);
    assert_same(|_| {}, &["checkout-index", "-u", "-f", "1-delay.f"], false);
    assert_same(|_| {}, &["checkout-index", "--prefix=x/", "-a"], false);
    let restore = |repository: &Repository| drop(repository.git(&["reset", "-q", "--hard"]));
    assert_same(restore, &["stash", "apply", "-q"], false);
}

#[test]
fn what_git_checks_out_is_delayed() {
    let gone = |repository: &Repository| SERVED.iter().for_each(|path| repository.remove(path));
    assert_same(|_| {}, &["checkout", "--", "."], true);
    assert_same(gone, &["restore", "."], true);
    assert_same(|_| {}, &["stash", "push"], true);
    assert_same(|_| {}, &["reset", "-q", "--hard"], true);
    assert_same(|_| {}, &["checkout", "-q", "-f", "second"], true);
    assert_same(|_| {}, &["read-tree", "-u", "--reset", "second"], true);
}
