//! What the command line may and may not say.

use crate::scene::Scene;

fn scene() -> Scene {
    Scene::new(
        "mkdir dir; echo 1 >a; echo 1 >dir/b; printf '*.o\\n' >.gitignore; commit one
         git mv a z; echo 2 >>dir/b; echo 1 >new; echo 1 >x.o",
    )
}

#[test]
fn words_are_read_as_git_reads_them() {
    let scene = scene();
    for words in [
        &["-s", "-uno"][..],
        &["-suno"],
        &["-sbu"],
        &["-sb", "-u", "dir"],
        &["-uall", "-sb"],
        &["-su1"],
        &["-sutrue"],
        &["-su0"],
        &["-suOff"],
        &["-su="],
        &["--untracked-files", "-s"],
        &["--untracked=no", "-s"],
        &["-s", "-s"],
        &["-s", "-b", "-b"],
        &["-s", "--porcelain=v2"],
        &["--porcelain=v2", "-s"],
        &["--porcelain", "--porcelain=2"],
        &["-s", "--branch", "--no-branch"],
        &["--porc", "-z"],
        &["-z", "--porcelain=v2"],
        &["-sz", "-M"],
        &["-s", "-M100%"],
        &["-s", "-M=100%"],
        &["-s", "--find-renames"],
        &["-s", "--find-renames=5"],
        &["-s", "--no-renames", "-M"],
        &["-s", "--no-renames"],
        &["-s", "--no-renames", "--renames"],
        &["-s", "dir", "--", "new"],
        &["dir", "-s"],
        &["-s", "--", "-s"],
        &["-s", "--ignored"],
        &["-s", "--ignored=no"],
        &["-s", "--ignored", "-uno"],
        &["-s", "--ignored=matching"],
        &["-s", "--no-ignored"],
        &["-s", "--no-untracked-files"],
        &["-s", "--no-null"],
        &[
            "-s",
            "--no-show-stash",
            "--no-ahead-behind",
            "--ahead-behind",
        ],
        &["-s", "--no-ignore-submodules"],
        &["-s", "--no-short", "--porcelain"],
        &["-s", "--no-short"],
        &["-s", "--no-long"],
        &["--no-long", "-s"],
        &["--porcelain", "--no-porcelain"],
        &["--long", "-s", "--no-long", "-z"],
        &["--no-short", "-z"],
        &["--no-short", "--long"],
        &["-z", "--no-null"],
        &["--no-null", "-s", "--null"],
        &["-s", "--ignored", "--no-ignored"],
        &["-s", "--no-ignored", "--ignored"],
        &["-s", "-uno", "--no-untracked-files"],
        &["-s", "--no-untracked", "-uno"],
        &["-s", "--ignored=x", "--no-ignored"],
        &["-s", "--ignore-submodules=x", "--no-ignore-submodules"],
        &["-s", "-ux", "-uno"],
        &["-s", "-u2"],
        &["--show-stash", "--no-show-stash", "--show-stash"],
        &["-sb", "--no-branch"],
        &["--no-branch", "-sb"],
        &["-s", "--no-verbose"],
        &["-s", "--no-no-renames"],
        &["-s", "--no-renames", "--no-no-renames"],
        &["-s", "--no-col", "--end-of-options", "dir"],
        &["-s", "--end-of-options", "--no-column"],
        &["--column=dense,row", "--no-c", "--colu=auto"],
        &["-s", "--no-column"],
        &["-s", "--column=row"],
        &["-sq"],
    ] {
        if let Some(difference) = scene.difference("", words, &[]) {
            // Git has no -q.
            assert!(words == ["-sq"], "{difference}");
        }
    }
}

#[test]
fn what_git_refuses_is_refused_with_its_code_and_words() {
    let scene = scene();
    for words in [
        &["--porcelain=v3"][..],
        &["--porcelain="],
        &["-ux"],
        &["-sux"],
        &["--untracked-files=maybe"],
        &["--ignored=x"],
        &["--ignored=matching", "-uno"],
        &["--ignore-submodules=x"],
        &["-z", "--long"],
        &["--long", "-z"],
        &["--", "../out"],
        &["--", ":(nonsense)x"],
        &["--column=x"],
        &["--column=row,x,y z"],
        &["--column=Row"],
        &["--", ":(top,x"],
        &["--", ":(top"],
        &["--", ":(literal,glob)x"],
        &["--", ":-x"],
        &["--", "dir", ""],
    ] {
        let expected = scene.by_git("", words, &[]);
        let found = scene.hedgerow("", words, &[]);
        let last = |text: &[u8]| {
            let text = String::from_utf8_lossy(text).replace(" (in 'x')", "");
            let line = text.lines().next().unwrap_or_default();
            line.replace(&scene.top().display().to_string(), ".")
        };
        assert_eq!(found.code, expected.code, "{words:?}: {found:?}");
        assert_eq!(last(&found.error), last(&expected.error), "{words:?}");
        assert!(found.text.is_empty(), "{words:?}");
    }
    for words in [
        &["--nonsense"][..],
        &["-X"],
        &["--short=1"],
        &["-sX"],
        &["--no-find-renames"],
        &["--no-ignored=x"],
        &["--no-column=row"],
        &["--no-s"],
    ] {
        let expected = scene.by_git("", words, &[]);
        let found = scene.hedgerow("", words, &[]);
        assert_eq!(
            (found.code, expected.code),
            (Some(129), Some(129)),
            "{words:?}"
        );
    }
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let scene = scene();
    let mut different = Vec::new();
    for (key, value) in [
        ("status.showUntrackedFiles", "maybe"),
        ("status.short", "maybe"),
        ("status.branch", "maybe"),
        ("status.relativePaths", "maybe"),
        ("status.showStash", "maybe"),
        ("status.aheadBehind", "maybe"),
        ("status.displayCommentPrefix", "maybe"),
        ("color.status", "maybe"),
        ("color.status.header", "nonsense"),
        ("color.status.localBranch", "red green blue"),
        ("column.status", "nonsense"),
        ("column.ui", "nonsense"),
        ("status.renames", "maybe"),
        ("status.renameLimit", "many"),
        ("diff.renames", "maybe"),
        ("diff.renameLimit", "many"),
        ("diff.algorithm", "nonsense"),
        ("diff.algorithm", "patience"),
        ("status.color", "maybe"),
        ("color.ui", "maybe"),
        ("color.pager", "maybe"),
        ("pager.color", "maybe"),
        ("status.submoduleSummary", "maybe"),
        ("status.color.unmerged", "nonsense"),
        ("color.status.nothing", "nonsense"),
        ("column.branch", "nonsense"),
        ("diff.ignoreSubmodules", "nonsense"),
        ("advice.statusHints", "maybe"),
        ("core.quotePath", "maybe"),
        ("core.commentChar", ""),
        ("core.commentString", "a\nb"),
    ] {
        for words in [&[][..], &["-s"], &["--porcelain=v2"]] {
            let more = [
                ("GIT_CONFIG_COUNT", "1"),
                ("GIT_CONFIG_KEY_0", key),
                ("GIT_CONFIG_VALUE_0", value),
            ];
            let expected = scene.by_git("", words, &more);
            let found = scene.hedgerow("", words, &more);
            if (found.code, found.text.is_empty()) != (expected.code, expected.text.is_empty()) {
                different.push(format!("{key}={value} {words:?}: {:?}", expected.code));
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

#[test]
fn commits_of_submodules_are_listed() {
    let scene = Scene::new(
        "commit one; git init -q mod; commit_in_mod() { git -C mod commit -q --allow-empty -m $1; }
         commit_in_mod x; git add mod 2>/dev/null; echo 1 >file",
    );
    let compare = |words: &[&str]| assert_eq!(scene.difference("", words, &[]), None, "{words:?}");
    for value in ["3", "true", "1", "-1", "0", "false"] {
        scene.run(&format!("git config status.submoduleSummary {value}"));
        compare(&[]);
        compare(&["-s"]);
        compare(&["--ignore-submodules=all"]);
        compare(&["file"]);
    }
    scene.run(
        "git config status.submoduleSummary 2; git commit -q -m mod; git config core.commentChar ';'
         for n in 1 2 3; do git -C mod commit -q --allow-empty -m $n; done",
    );
    compare(&[]);
    scene.run("git config status.displayCommentPrefix true");
    compare(&[]);
    scene.run("git add mod");
    compare(&[]);
}

#[test]
fn without_git_commits_of_submodules_are_missed_aloud() {
    let scene = Scene::new(
        "commit one; git init -q mod; git -C mod commit -q --allow-empty -m x
         git config status.submoduleSummary 3; echo 1 >file",
    );
    let warning = || {
        let answer = scene.hedgerow("", &[], &[("PATH", "/nowhere")]);
        assert_eq!(answer.code, Some(0));
        String::from_utf8(answer.error).unwrap()
    };
    assert_eq!(warning(), "");
    scene.run("git add mod 2>/dev/null");
    assert!(
        warning().contains("status.submoduleSummary"),
        "{}",
        warning()
    );
}

#[test]
fn a_slow_search_is_told() {
    let scene = Scene::new("commit one; echo 1 >new");
    let slow = [("GIT_TEST_UF_DELAY_WARNING", "1")];
    for setting in [
        "core.fsmonitor false",
        "core.untrackedCache true",
        "status.displayCommentPrefix true",
        "advice.statusUoption false",
    ] {
        scene.run(&format!("git config {setting}"));
        for words in [&[][..], &["-uno"], &["-s"]] {
            assert_eq!(
                scene.difference("", words, &slow),
                None,
                "{setting} {words:?}"
            );
        }
    }
}

#[test]
fn outside_of_a_working_tree_git_decides_the_words() {
    let scene = Scene::new("git init -q --bare bare");
    let (expected, found) = (
        scene.by_git("bare", &[], &[]),
        scene.hedgerow("bare", &[], &[]),
    );
    assert_eq!((found.code, &found.text), (expected.code, &expected.text));
    assert_eq!(found.error, expected.error);
}
