//! `merge --ff-only` beside git: what it says, the diffstat, references and logs.

use crate::twins::Twins;
use hedgerow_testkit::{git_is_at_least, text, Random, Repository};
use std::sync::OnceLock;

/// A branch `main` that is behind `next`, which adds, changes, moves and removes files.
fn behind(repository: &Repository) {
    repository.write("changed", text(1, 40));
    repository.write("gone", "gone\n");
    repository.write("dir/moved", text(2, 30));
    repository.write("mode", "mode\n");
    repository.write("binary", b"\0one");
    repository.symlink("link", "changed");
    repository.write(".gitignore", "ignored\n");
    repository.commit("one");
    repository.git(&["branch", "side"]);
    repository.git(&["switch", "-qc", "next"]);
    repository.write("changed", text(3, 55));
    repository.remove("gone");
    repository.git(&["mv", "dir/moved", "elsewhere"]);
    repository.git(&["update-index", "--chmod=+x", "mode"]);
    repository.git(&["checkout", "-q", "mode"]);
    repository.write("binary", b"\0two and more");
    repository.remove("link");
    repository.symlink("link", "mode");
    repository.write("new \"name\"", "new\n");
    repository.write(
        "a/very/long/path/of/directories/to/a/file/that/does/not/fit/in/a/line",
        "x\n",
    );
    repository.commit("two");
    repository.git(&["tag", "-a", "-m", "tag", "v1"]);
    repository.git(&["switch", "-q", "side"]);
    repository.write("side", "side\n");
    repository.commit("three");
    repository.git(&["switch", "-q", "main"]);
}

#[test]
fn what_moves_forward_moves_as_with_git() {
    for line in [
        "merge --ff-only next",
        "merge next",
        "merge --ff-only v1",
        "merge --ff next --no-stat",
        "merge -n next",
        "merge -q next",
        "merge -q --stat next",
        "merge -m message next",
        "merge --ff-only main",
        "merge main^0 next",
        "merge --ff-only next~ next main",
        "merge --ff-only side^{tree}",
        "merge --ff-only none",
        "merge --no-such-option next",
    ] {
        if line.contains("no-such") {
            let twins = Twins::new(line, behind);
            twins.our_line(line).failed(129, line);
            continue;
        }
        let mut twins = Twins::new(line, behind);
        twins.line(line);
        twins.line("merge --ff-only next");
        twins.line("merge --ff-only HEAD");
    }
}

#[test]
fn what_a_name_lacks_is_warned_of() {
    let make = |it: &Repository| {
        behind(it);
        it.git(&["tag", "next"]);
        it.git(&["update-ref", "refs/heads/next", "refs/heads/next"]);
    };
    for line in [
        "merge --ff-only next",
        "merge --ff-only next@{20.years.ago}",
        "merge --ff-only HEAD@{100}",
        "cat-file -t next",
        "cat-file -t HEAD@{100}",
        "cat-file -t HEAD@{20.years.ago}",
        "rev-list HEAD@{100}",
    ] {
        let mut twins = Twins::new(line, make);
        twins.line(line);
    }
}

#[test]
fn a_missing_working_tree_hinders_nobody_who_needs_none() {
    if !git_is_at_least(2, 55, "worktree list where there is no working tree") {
        return;
    }
    let mut twins = Twins::new("no working tree", behind);
    twins.variables.push(("GIT_WORK_TREE", "none".to_owned()));
    for line in [
        "worktree list",
        "status",
        "rev-list HEAD",
        "reset --hard",
        "checkout next",
    ] {
        twins.line(line);
    }
}

#[test]
fn the_compact_summary_is_git_s() {
    if !git_is_at_least(2, 51, "merge --compact-summary") {
        return;
    }
    for line in [
        "merge --compact-summary next",
        "merge --no-stat --compact-summary next",
    ] {
        Twins::new(line, behind).line(line);
    }
    let mut twins = Twins::new("configured", behind);
    twins.each(|it| drop(it.git(&["config", "merge.stat", "compact"])));
    twins.line("merge --ff-only next");
}

#[test]
fn what_cannot_move_forward_is_refused() {
    let mut twins = Twins::new("diverged", behind);
    twins.line("merge --ff-only side");
    twins.each(|it| drop(it.git(&["reset", "-q", "--hard", "next"])));
    twins.line("merge --ff-only side");
    twins.each(|it| drop(it.git(&["config", "advice.diverging", "false"])));
    twins.line("merge --ff-only side");
    twins.each(|it| drop(it.git(&["config", "merge.ff", "only"])));
    twins.line("merge side");
    twins.line("merge next side");
    twins.each(|it| {
        it.git(&["checkout", "-q", "--orphan", "other"]);
        it.git(&["commit", "-qm", "other"]);
    });
    twins.line("merge --ff-only next");
    twins.line("merge --ff-only --allow-unrelated-histories next");
    for line in [
        "merge --no-ff next",
        "merge --ff next",
        "merge --squash next",
    ] {
        let before = twins.our.metadata();
        let code = if line.contains("squash") { 129 } else { 128 };
        let said = twins.our_line(line).failed(code, line);
        assert!(
            said.contains("nothing was touched") || said.contains("unrelated"),
            "{said}"
        );
        assert_eq!(twins.our.metadata(), before, "{line}");
    }
}

#[test]
fn local_changes_in_the_way_are_kept() {
    let mut twins = Twins::new("in the way", behind);
    twins.each(|it| {
        it.write("changed", "mine\n");
        it.write("elsewhere", "mine\n");
    });
    twins.line("merge --ff-only next");
    twins.each(|it| {
        drop(it.git(&["checkout", "-q", "changed"]));
        it.write("gone", "mine\n");
        it.git(&["add", "gone"]);
    });
    twins.line("merge --ff-only next");
    twins.each(|it| {
        it.git(&["reset", "-q", "--hard"]);
        it.remove("elsewhere");
        it.write("unrelated", "mine\n");
        it.write(".gitignore", "ignored\nmine\n");
    });
    twins.line("merge --ff-only next");
}

#[test]
fn what_is_under_way_comes_first() {
    let mut twins = Twins::new("merging", behind);
    twins.each(|it| {
        it.git(&["switch", "-q", "side"]);
        it.write("gone", "other\n");
        it.commit("four");
        assert_ne!(it.run(&["merge", "next"], b"").code, 0);
    });
    twins.line("merge --ff-only next");
    twins.each(|it| drop(it.git(&["add", "-A"])));
    twins.line("merge --ff-only next");
    twins.each(|it| {
        it.git(&["reset", "-q", "--hard", "main"]);
        assert_ne!(it.run(&["cherry-pick", "side"], b"").code, 1000);
        it.git(&["reset", "-q", "--hard", "main"]);
        let head = it.ask(&["rev-parse", "side"]);
        std::fs::write(it.root.join(".git/CHERRY_PICK_HEAD"), head + "\n").unwrap();
    });
    twins.line("merge --ff-only next");
    twins.each(|it| drop(it.git(&["config", "advice.resolveConflict", "false"])));
    twins.line("merge --ff-only next");
}

#[test]
fn what_is_merged_without_being_named() {
    let with_remote = |it: &Repository| {
        behind(it);
        let up = it.root.with_file_name("up");
        it.git(&["clone", "-q", ".", up.to_str().unwrap()]);
        it.git(&["remote", "add", "origin", "../up"]);
        it.git(&["fetch", "-q", "origin"]);
        let up = Repository::at(up);
        up.git(&["switch", "-q", "next"]);
        up.commit_files(&[("later", "later\n")], "later");
    };
    let mut twins = Twins::new("upstream", with_remote);
    twins.line("merge --ff-only");
    twins.each(|it| drop(it.git(&["config", "branch.main.remote", "origin"])));
    twins.line("merge --ff-only");
    twins.each(|it| drop(it.git(&["config", "branch.main.merge", "refs/heads/next"])));
    twins.each(|it| drop(it.git(&["config", "merge.defaultToUpstream", "false"])));
    twins.line("merge --ff-only");
    twins.each(|it| drop(it.git(&["config", "merge.defaultToUpstream", "true"])));
    twins.line("merge --ff-only");
    twins.each(|it| drop(it.git(&["fetch", "-q", "origin", "next"])));
    twins.line("merge --ff-only FETCH_HEAD");
    twins.line("merge --ff-only sidetrack");
    twins.each(|it| drop(it.git(&["update-ref", "refs/remotes/origin/only", "HEAD"])));
    twins.line("merge --ff-only only");
    twins.each(|it| {
        it.git(&["switch", "-q", "--detach", "main~"]);
    });
    twins.line("merge --ff-only");
    twins.line("merge --ff-only -");
    // An unborn branch begins with what is merged.
    twins.each(|it| {
        it.git(&["checkout", "-q", "--orphan", "fresh"]);
        it.git(&["rm", "-rqf", "."]);
    });
    twins.line("merge --ff-only main next");
    twins.line("merge --ff-only next");
}

#[test]
fn hooks_and_logs_are_told() {
    let mut twins = Twins::new("hooks", behind);
    twins.each(|it| {
        for name in [
            "post-merge",
            "reference-transaction",
            "post-checkout",
            "post-index-change",
        ] {
            let hook =
                format!("#!/bin/sh\necho {name} \"$@\" >>hooks.log\ncat >/dev/null\nexit 0\n");
            let path = it.root.join(".git/hooks").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, hook).unwrap();
            std::process::Command::new("chmod")
                .arg("+x")
                .arg(&path)
                .status()
                .unwrap();
        }
        it.git(&["config", "core.logAllRefUpdates", "always"]);
        std::fs::remove_file(it.root.join("hooks.log")).ok();
    });
    twins
        .variables
        .push(("GIT_REFLOG_ACTION", "pull --ff-only".to_owned()));
    let words: Vec<&str> = "merge --ff-only next".split(' ').collect();
    let _ = twins.git.run(&words, b"");
    let _ = twins.our_line("merge --ff-only next");
    let log = |it: &Repository| {
        let text = String::from_utf8(it.read("hooks.log")).unwrap();
        let hooks = text
            .lines()
            .filter(|line| !line.starts_with("reference-transaction"));
        hooks.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(log(&twins.git), log(&twins.our));
    assert!(log(&twins.our).contains(&"post-merge 0".to_owned()));
    let mut twins = Twins::new("action", behind);
    twins
        .variables
        .push(("GIT_REFLOG_ACTION", "pull --ff-only".to_owned()));
    twins.line("merge --ff-only next");
}

/// Trees made of the numbers of a seed: the diffstat of the way from one to the other is git's.
#[test]
fn every_diffstat_is_git_s() {
    for seed in 0..40 {
        let make = |it: &Repository| {
            let mut random = Random::new(seed);
            fill(it, &mut random);
            it.commit("one");
            it.git(&["switch", "-qc", "next"]);
            edit(it, &mut random);
            it.git(&["add", "-A"]);
            it.git(&["commit", "-qm", "two", "--allow-empty"]);
            it.git(&["switch", "-q", "main"]);
            let settings = [
                ("diff.statGraphWidth", "7"),
                ("diff.statNameWidth", "20"),
                ("diff.algorithm", "histogram"),
                ("diff.renameLimit", "1"),
                ("core.quotePath", "false"),
                ("color.ui", "always"),
            ];
            for (key, value) in settings {
                if random.chance(20) {
                    it.git(&["config", key, value]);
                }
            }
        };
        let mut twins = Twins::new(&format!("seed {seed}"), make);
        let columns = ["20", "40", "80", "200"][seed as usize % 4];
        twins.variables.push(("COLUMNS", columns.to_owned()));
        twins.line("merge --ff-only next");
    }
}

/// Git before 2.55 cuts the last of them in the middle of a character.
const NAMES: [&str; 12] = [
    "a",
    "b.txt",
    "dir/a",
    "dir/b",
    "dir/sub/c",
    "other/dir/a",
    "other/name-that-is-rather-long",
    "ä/ö",
    "with space",
    "z.bin",
    "x.text",
    "dir/日本語のとても長い名前のファイル",
];

fn names() -> &'static [&'static str] {
    static CUT: OnceLock<usize> = OnceLock::new();
    let is_new = || git_is_at_least(2, 55, "wide characters in a diffstat");
    &NAMES[..NAMES.len() - CUT.get_or_init(|| usize::from(!is_new()))]
}

fn fill(it: &Repository, random: &mut Random) {
    it.write(
        ".gitattributes",
        "*.bin -diff\n*.text diff\n*.drv diff=drv\n",
    );
    for (number, name) in names().iter().enumerate() {
        let lines = random.below(60);
        it.write(name, text(number, lines));
    }
}

fn edit(it: &Repository, random: &mut Random) {
    for (number, name) in names().iter().enumerate() {
        match random.below(9) {
            0 => it.remove(name),
            1 => it.write(name, text(number + 100, random.below(300))),
            2 => {
                let mut content = it.read(name);
                content.extend_from_slice(b"one more line without an end");
                it.write(name, content);
            }
            3 => {
                let content = it.read(name);
                it.remove(name);
                it.write(format!("moved/{name}"), content);
            }
            4 => {
                let mut content = it.read(name);
                content.extend_from_slice(b"more\n");
                it.remove(name);
                it.write(format!("{name}.drv"), content);
            }
            5 => it.write(name, [&b"\0"[..], &text(number, random.below(9))].concat()),
            6 => {
                it.remove(name);
                it.symlink(name, "somewhere");
            }
            7 => {
                let path = it.path(name);
                std::process::Command::new("chmod")
                    .arg("+x")
                    .arg(path)
                    .status()
                    .unwrap();
            }
            _ => {}
        }
    }
}

/// To git, a HEAD of only zeros has no commit, so that any may be its first.
#[test]
fn a_head_of_zeros_begins_with_what_is_merged() {
    for line in [
        "merge --ff-only main",
        "merge main",
        "merge --ff-only -q main~1",
        "merge --no-ff main",
    ] {
        let mut twins = Twins::new(line, |repository| {
            repository.commit_files(&[("file", "one\n")], "one");
            repository.commit_files(&[("file", "two\n"), ("other", "")], "two");
            repository.git(&["checkout", "-q", "--detach"]);
            repository.git(&["rm", "-q", "file", "other"]);
            repository.write(".git/HEAD", format!("{}\n", "0".repeat(40)));
        });
        twins.line(line);
    }
}
