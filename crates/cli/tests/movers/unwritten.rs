//! Files that cannot be written: index, HEAD and logs stay or move as with git.

use crate::HEDGEROW;
use hedgerow_testkit::{isolated, run, text, Outcome, Program, Repository};

/// A branch `old` with small files, and `main` with a large one, which cannot be written below.
fn scene() -> Repository {
    let repository = Repository::init(&["-b", "main"]);
    repository.write("a", "a\n");
    repository.write("large", "small\n");
    repository.commit("one");
    repository.git(&["branch", "old"]);
    repository.write("large", text(1, 40_000));
    repository.write("dir/large", text(2, 40_000));
    repository.write("new", "new\n");
    repository.commit("two");
    repository
}

/// The command where no file may be longer than 30 KiB. Git would be ended by the signal.
fn limited(program: Program, repository: &Repository, line: &str) -> Outcome {
    let command = program.command(&repository.root);
    let trap = match program {
        Program::Git => "trap '' XFSZ; ",
        _ => "",
    };
    let mut shell = isolated("sh");
    shell
        .current_dir(&repository.root)
        .args(["-c", &format!("{trap}ulimit -f 60; exec \"$@\""), "sh"])
        .arg(command.get_program())
        .args(command.get_args())
        .args(line.split(' '));
    run(shell)
}

/// What must not depend on how far a command came.
fn state(repository: &Repository) -> Vec<String> {
    let questions: [&[&str]; 6] = [
        &["symbolic-ref", "HEAD"],
        &["for-each-ref"],
        &["log", "-g", "--format=%gd %gs %H", "HEAD"],
        &["ls-files", "-s"],
        &["stash", "list"],
        &["config", "list", "--local"],
    ];
    let answers = questions.map(|words| repository.ask(words));
    answers.into()
}

#[test]
fn a_commit_whose_files_are_missing_is_not_moved_to() {
    let start = |repository: &Repository, line: &str| match line {
        "stash apply" | "stash pop" => {
            repository.git(&["checkout", "-q", "old"]);
            repository.git(&["read-tree", "-m", "-u", "old", "main"]);
            repository.git(&["stash", "-q"]);
        }
        "stash" => repository.write("large", "other\n"),
        "checkout-index -f -a" => repository.remove("large"),
        _ => drop(repository.git(&["checkout", "-q", "old"])),
    };
    let lines = [
        ("merge --ff-only main", 1),
        ("reset --hard main", 128),
        ("reset --keep main", 128),
        ("reset --merge main", 128),
        ("read-tree -m -u HEAD main", 128),
        ("read-tree --reset -u main", 128),
        ("stash apply", 1),
        ("stash pop", 1),
        ("stash", 1),
        ("checkout -f main", 1),
        ("checkout main -- .", 255),
        ("restore --source main -SW .", 255),
        ("checkout-index -f -a", 1),
        ("worktree add ../tree main", 128),
    ];
    for (line, code) in lines {
        let (git, our) = (scene(), scene());
        start(&git, line);
        start(&our, line);
        let expected = limited(Program::Git, &git, line);
        assert_eq!(expected.code, code, "git {line}: {expected:?}");
        let found = limited(HEDGEROW, &our, line);
        assert_eq!(found.code, code, "{line}: {found:?}");
        assert!(
            found.stderr.contains("large': File too large\n"),
            "{line}: {found:?}"
        );
        let last = |outcome: &Outcome| outcome.text().lines().next().map(str::to_owned);
        if line.starts_with("merge") {
            assert_eq!(expected.text(), found.text());
        } else if line.starts_with("reset") {
            assert_eq!(last(&expected), last(&found));
            assert!(found.stderr.ends_with("to revision 'main'.\n"), "{found:?}");
        }
        assert_eq!(state(&git), state(&our), "{line}");
        our.assert_no_lock(line);
    }
}

/// Git says so, but ends as if nothing had happened.
#[test]
fn a_switch_moves_head_and_fails() {
    let (git, our) = (scene(), scene());
    for repository in [&git, &our] {
        repository.git(&["checkout", "-q", "old"]);
    }
    assert_eq!(limited(Program::Git, &git, "switch main").code, 0);
    let found = limited(HEDGEROW, &our, "switch main");
    assert_eq!(found.code, 1, "{found:?}");
    assert_eq!(state(&git), state(&our));
}

#[test]
fn rules_whose_files_are_missing_do_not_hold() {
    let lines = [
        ("set --cone", "add dir", 254),
        ("set --cone", "set dir", 254),
        ("set --no-cone /a", "add /dir", 254),
        ("set --cone", "disable", 128),
    ];
    for (before, line, code) in lines {
        let our = scene();
        our.write("dir/small", "small\n");
        our.write("large", "small\n");
        our.commit("three");
        let words: Vec<&str> = before.split(' ').collect();
        our.git(&[&["sparse-checkout"], &words[..]].concat());
        let rules = our.read(".git/info/sparse-checkout");
        let before = (our.tree(), our.ask(&["ls-files", "-t"]), state(&our));
        let found = limited(HEDGEROW, &our, &format!("sparse-checkout {line}"));
        assert_eq!(found.code, code, "{line}: {found:?}");
        assert_eq!(our.read(".git/info/sparse-checkout"), rules, "{line}");
        let after = (our.tree(), our.ask(&["ls-files", "-t"]), state(&our));
        assert_eq!(before, after, "{line}");
        our.ask(&["status", "--porcelain"]);
    }
}
