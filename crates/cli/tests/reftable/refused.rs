//! What is refused, and that nothing was touched then.

use crate::twins::Twins;
use crate::{git_knows_tables, HEDGEROW};
use hedgerow_testkit::{git_is_at_least, run, snapshot, Program};

#[test]
fn locks_and_names_in_the_way_refuse_in_the_words_of_git() {
    if !git_knows_tables() {
        return;
    }
    let mut twins = Twins::new("refused", "sha1");
    twins.run("", &["checkout", "-q", "-b", "a/b"]);
    for words in [
        ["checkout", "-b", "a"],
        ["checkout", "-b", "a/b/c"],
        ["switch", "-c", "a"],
    ] {
        let before = twins.repositories[1].metadata();
        assert_eq!(twins.run("", &words).code, 128);
        assert_eq!(before, twins.repositories[1].metadata());
    }
    twins.assert_same(&[""]);
    let our = twins.repositories[1].root.clone();
    let lock = our.join(".git/reftable/tables.list.lock");
    std::fs::write(&lock, "").unwrap();
    let before = snapshot(&our, &|_| false);
    for words in [
        ["checkout", "-b", "new"].as_slice(),
        &["checkout", "main"],
        &["reset", "--hard", "HEAD~1"],
    ] {
        let mut command = HEDGEROW.command(&our);
        command.args(words);
        let outcome = run(command);
        assert_eq!(outcome.code, 128, "{words:?}");
        assert_eq!(
            outcome.stderr, "fatal: cannot lock references\n",
            "{words:?}"
        );
        assert_eq!(before, snapshot(&our, &|_| false), "{words:?}");
    }
}

#[test]
fn settings_that_git_does_not_take_hinder_only_who_writes() {
    // Older versions refuse to read, too.
    if !git_knows_tables() || !git_is_at_least(2, 55, "settings of tables that are refused") {
        return;
    }
    let mut twins = Twins::new("settings", "sha1");
    for (key, value) in [
        ("reftable.blockSize", "16777216"),
        ("reftable.geometricFactor", "256"),
        ("reftable.geometricFactor", "-1"),
    ] {
        twins.by_git_in_tables(&["config", key, value]);
        for (at, repository) in twins.repositories[..2].iter().enumerate() {
            let program = if at == 0 { Program::Git } else { HEDGEROW };
            let mut command = program.command(&repository.root);
            command.args(["status", "--short"]);
            run(command).ok(key);
        }
        let ask = |at: usize, program: Program| {
            let mut command = program.command(&twins.repositories[at].root);
            command.args(["checkout", "-q", "-b", "new"]);
            run(command)
        };
        let (expected, found) = (ask(0, Program::Git), ask(1, HEDGEROW));
        assert_eq!((expected.code, found.code), (128, 128), "{key}");
        // Here files are named by their whole paths.
        let root = format!("{}/", twins.repositories[1].root.display());
        assert_eq!(expected.stderr, found.stderr.replace(&root, ""), "{key}");
        twins.by_git_in_tables(&["config", "--unset", key]);
    }
    // Zero stands for what is so without a setting.
    for key in [
        "reftable.blockSize",
        "reftable.restartInterval",
        "reftable.geometricFactor",
    ] {
        twins.by_git_in_tables(&["config", key, "0"]);
    }
    assert_eq!(twins.run("", &["checkout", "-q", "-b", "new"]).code, 0);
    twins.assert_same(&[""]);
}

#[test]
fn a_damaged_table_is_named() {
    if !git_knows_tables() {
        return;
    }
    let twins = Twins::new("damaged", "sha1");
    let our = &twins.repositories[1];
    let list = our.read(".git/reftable/tables.list");
    let list = String::from_utf8(list).unwrap();
    let path = our
        .root
        .join(".git/reftable")
        .join(list.lines().next().unwrap());
    let mut table = std::fs::read(&path).unwrap();
    let end = table.len() - 1;
    table[end] ^= 1;
    std::fs::write(&path, &table).unwrap();
    let mut command = HEDGEROW.command(&our.root);
    command.args(["checkout", "-b", "x"]);
    let outcome = run(command);
    assert_eq!(outcome.code, 128);
    let words = "is no table of references: a footer with a wrong checksum at byte 0";
    assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
}

#[test]
fn hooks_are_told_of_what_changes() {
    if !git_knows_tables() {
        return;
    }
    let mut twins = Twins::new("hooks", "sha1");
    for repository in &twins.repositories {
        let hook = "#!/bin/sh\n{ echo \"$1\"; cat; } >>\"$(git rev-parse --git-dir)/told\"\n\
                    ! grep -q refused \"$(git rev-parse --git-dir)/told\"\n";
        let path = repository.root.join(".git/hooks/reference-transaction");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, hook).unwrap();
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let our = twins.repositories[1].root.clone();
    let mut command = HEDGEROW.command(&our);
    command.args(["checkout", "-q", "-b", "told"]);
    run(command).ok("checkout");
    let told = std::fs::read_to_string(our.join(".git/told")).unwrap();
    for words in [
        "prepared\n",
        "refs/heads/told\n",
        "ref:refs/heads/told HEAD\n",
        "committed\n",
    ] {
        assert!(told.contains(words), "{told}");
    }
    let mut command = HEDGEROW.command(&our);
    command.args(["checkout", "-q", "-b", "refused"]);
    let before = twins.repositories[1].ask(&["for-each-ref"]);
    assert_eq!(run(command).code, 128);
    assert_eq!(before, twins.repositories[1].ask(&["for-each-ref"]));
    twins.by_git(&["status"]);
}
