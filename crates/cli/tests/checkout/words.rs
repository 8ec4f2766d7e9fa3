//! Which of its forms `checkout` takes its words for: every kind of word in every form, by git and
//! by hedgerow.

use crate::support::RunHedgerow;
use crate::support::{run, Pair, Program, Repository};
use crate::HEDGEROW;
use hedgerow_testkit::git_is_at_least;

/// What a word may be; the same name stands for several things at once.
const WORDS: [&str; 22] = [
    "main",
    "side",
    "tag",
    "both",
    "away",
    "docs",
    "file",
    "dir",
    "loose",
    "branch-and-file",
    "branch-and-dir",
    "tag-and-file",
    "away-and-file",
    "away-and-loose",
    "several",
    "tree",
    "blob",
    "HEAD",
    "@",
    "nothing",
    "*",
    ":file",
];

/// The second word: a path with changes, and one that is not tracked.
const PATHS: [&str; 2] = ["file", "loose"];

/// Two branches that differ, two remotes, and every kind of name. All files have changes that
/// would be lost.
fn origin() -> Repository {
    let repository = Repository::init(&[]);
    let tracked = [
        "file",
        "dir/file",
        "branch-and-file",
        "branch-and-dir/file",
        "tag-and-file",
        "away-and-file",
        "HEAD",
        "@",
    ];
    for path in tracked {
        repository.write(path, "first\n");
    }
    repository.write("same", "same\n");
    let first = repository.commit("first");
    repository.git(&["checkout", "-q", "-b", "side"]);
    repository.write("same", "other\n");
    let second = repository.commit("second");
    repository.git(&["checkout", "-q", "main"]);
    for branch in ["branch-and-file", "branch-and-dir", "both"] {
        repository.git(&["branch", branch, &first]);
    }
    for tag in ["tag", "tag-and-file", "both"] {
        repository.git(&["tag", tag, &second]);
    }
    repository.git(&["tag", "tree", "side^{tree}"]);
    repository.git(&["tag", "blob", "side:same"]);
    for (remote, branches) in [
        (
            "origin",
            &["away", "docs", "away-and-file", "away-and-loose", "several"][..],
        ),
        ("other", &["several"]),
    ] {
        let fetch = format!("remote.{remote}.fetch");
        let rule = format!("+refs/heads/*:refs/remotes/{remote}/*");
        repository.git(&["config", &fetch, &rule]);
        for branch in branches {
            let name = format!("refs/remotes/{remote}/{branch}");
            repository.git(&["update-ref", &name, &second]);
        }
    }
    for path in tracked {
        repository.write(path, "precious\n");
    }
    for path in ["loose", "away-and-loose", "docs/loose"] {
        repository.write(path, "precious\n");
    }
    repository
}

/// All command lines that begin with the word.
fn lines(word: &str) -> Vec<Vec<&str>> {
    let mut lines = vec![
        vec![word],
        vec![word, "--"],
        vec!["--", word],
        vec!["--detach", word],
        vec!["-d", word, "--"],
        vec!["-f", word],
        vec!["--no-guess", word],
        vec!["--end-of-options", word],
    ];
    for path in PATHS {
        lines.extend([
            vec![word, path],
            vec![word, "--", path],
            vec!["--detach", word, path],
            vec!["-d", word, "--", path],
        ]);
    }
    lines.push(vec![word, "file", "--", "loose"]);
    lines.push(vec!["--", word, "--", "file"]);
    lines.push(vec!["-q", word, "file"]);
    lines
}

/// Runs each line in copies of `origin` as it is; all that differs is told at once.
fn compare<'l>(
    origin: &Repository,
    directory: &str,
    lines: impl IntoIterator<Item = Vec<&'l str>>,
    environment: &[(&str, &str)],
) {
    let mut wrong = Vec::new();
    let mut fresh: Option<Pair> = None;
    for line in lines {
        let mut pair = fresh.take().unwrap_or_else(|| Pair::of(origin, "words"));
        let compared = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            pair.checkout_in(directory, &line, environment)
        }));
        match compared {
            Ok(outcome) if [1, 128, 129].contains(&outcome.code) => fresh = Some(pair),
            Ok(_) => {}
            Err(panic) => {
                let story = panic.downcast_ref::<String>().cloned().unwrap_or_default();
                wrong.push(format!("{line:?}\n{story}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} lines differ:\n\n{}",
        wrong.len(),
        wrong.join("\n\n")
    );
}

#[test]
fn every_word_in_every_form() {
    let origin = origin();
    for words in WORDS.chunks(6) {
        compare(&origin, "", words.iter().flat_map(|word| lines(word)), &[]);
    }
}

#[test]
fn names_are_looked_for_where_the_user_is() {
    let origin = origin();
    let words = ["file", "../file", ":/file", ":/", "../tag-and-file", "side"];
    compare(&origin, "dir", words.into_iter().flat_map(lines), &[]);
}

#[test]
fn the_branch_before() {
    let origin = origin();
    origin.git(&["checkout", "-q", "-m", "side"]);
    origin.git(&["checkout", "-q", "-m", "main"]);
    let lines = ["-", "@{-1}", "@{-2}", "@{-9}"].into_iter().flat_map(lines);
    compare(&origin, "", lines, &[]);
}

#[test]
fn branches_that_are_followed() {
    let origin = origin();
    for (branch, remote, merge) in [
        ("main", ".", "refs/heads/side"),
        ("side", "origin", "refs/heads/away"),
        ("both", ".", "refs/heads/branch-and-file"),
        ("tag", ".", "refs/heads/gone"),
    ] {
        if branch == "tag" {
            origin.git(&["branch", "-f", branch, "main"]);
        }
        origin.git(&["config", &format!("branch.{branch}.remote"), remote]);
        origin.git(&["config", &format!("branch.{branch}.merge"), merge]);
    }
    let words = [
        "@{u}",
        "@{upstream}",
        "HEAD@{u}",
        "@@{u}",
        "side@{u}",
        "both@{u}",
        "branch-and-file@{u}",
        "nowhere@{u}",
        "main@{u}^0",
        "main@{9}",
        "main@{0}",
    ];
    for words in words.chunks(4) {
        let lines = words.iter().flat_map(|word| lines(word));
        compare(&origin, "", lines, &[]);
    }
}

#[test]
fn where_two_lines_meet() {
    let origin = origin();
    origin.git(&["stash", "-q"]);
    origin.git(&["checkout", "-q", "-b", "third", "main"]);
    origin.git(&["commit", "-q", "--allow-empty", "-m", "third"]);
    origin.git(&["stash", "pop", "-q"]);
    let orphan = origin.ask(&["commit-tree", "-m", "orphan", "main^{tree}"]);
    origin.git(&["tag", "orphan", &orphan]);
    let words = [
        "side...third",
        "...side",
        "side...",
        "...",
        "orphan...side",
        "nothing...side",
        "side..third",
        "both...third",
    ];
    let lines = words.iter().flat_map(|word| lines(word));
    compare(&origin, "", lines, &[]);
}

#[test]
fn revisions_with_paths_and_texts() {
    let origin = origin();
    let id = origin.ask(&["rev-parse", "side"]);
    let words = [
        "side:same",
        "side:nothing",
        "nothing:same",
        "side:",
        ":same",
        ":0:same",
        ":3:same",
        ":/second",
        ":/nothing at all",
        "side^{tree}",
        "side^{/first}",
        "side~9",
        &id,
        &id[..7],
        ":",
        "",
        "..",
        ":!file",
        ":(top)file",
    ];
    for words in words.chunks(7) {
        let lines = words.iter().flat_map(|word| lines(word));
        compare(&origin, "", lines, &[]);
    }
}

#[test]
fn pathspecs_as_the_environment_has_them() {
    const FILES: [&str; 7] = [
        "x[1].c",
        "x1.c",
        "X1.C",
        "d/x1.c",
        "d/e/x1.c",
        ":(icase)x1.c",
        "*.c",
    ];
    const SPECS: [&str; 8] = [
        "x[1].c",
        "*.c",
        "**/*.c",
        ":(icase)x1.c",
        ":(glob)*.c",
        ":(literal)x[1].c",
        ":!x?.c",
        ":/x?.c",
    ];
    // An older git lets a pathspec with wildcards match nothing else after the file of that very name.
    let is_new = git_is_at_least(2, 50, "a file whose name has the wildcards of a pathspec");
    let files = &FILES[..if is_new { FILES.len() } else { FILES.len() - 1 }];
    let write = |repository: &Repository, content: &str| {
        files
            .iter()
            .for_each(|path| repository.write(path, content));
    };
    let origin = Repository::init(&[]);
    write(&origin, "first\n");
    origin.commit("first");
    let mut pair = Pair::of(&origin, "pathspecs");
    let names = ["LITERAL", "GLOB", "NOGLOB", "ICASE"].map(|name| format!("GIT_{name}_PATHSPECS"));
    let mut settings: Vec<Vec<(&str, &str)>> = (0..16)
        .map(|chosen| {
            let names = names.iter().enumerate();
            let chosen = names.filter(|(at, _)| chosen >> at & 1 == 1);
            chosen.map(|(_, name)| (name.as_str(), "1")).collect()
        })
        .collect();
    settings.push(vec![("GIT_LITERAL_PATHSPECS", "perhaps")]);
    settings.push(vec![("GIT_LITERAL_PATHSPECS", "off")]);
    for environment in &settings {
        for spec in SPECS {
            for directory in ["", "d"] {
                pair.each("changes", |repository| write(repository, "precious\n"));
                pair.checkout_in(directory, &["--", spec], environment);
            }
        }
    }
}

#[test]
fn what_only_excludes_excludes_from_everything() {
    let origin = origin();
    let lines = [
        vec!["side", "--", ":!dir"],
        vec!["--", ":!dir"],
        vec!["--", ":!file", ":(exclude,top)HEAD"],
        vec!["--", ":!*file"],
    ];
    compare(&origin, "dir", lines, &[]);
}

#[test]
fn names_in_conflict_are_told_after_the_reason() {
    let origin = Repository::init(&[]);
    origin.write("f", "base\n");
    origin.commit("base");
    origin.git(&["checkout", "-q", "-b", "other"]);
    origin.write("f", "other\n");
    origin.commit("other");
    origin.git(&["checkout", "-q", "main"]);
    origin.write("f", "main\n");
    origin.commit("main");
    origin.git(&["config", "alias.try", "!git merge -q other || true"]);
    origin.git(&["try"]);
    let lines = [
        vec!["other"],
        vec!["-q", "other"],
        vec!["-q", "--", "f"],
        vec!["--", "f"],
        vec!["-q", "-f", "--", "f"],
        vec!["-f", "--", "f"],
        vec!["other", "--", "f"],
    ];
    compare(&origin, "", lines, &[]);
}

#[test]
fn options_that_only_git_has_are_refused_before_anything_is_touched() {
    let origin = origin();
    let before = (origin.tree(), origin.metadata(), origin.index());
    for words in [
        &["-p", "file"][..],
        &["-p", "-U5", "file"],
        &["file", "--nonsense"],
        &["--force=yes", "side"],
        &["--ov", "side"],
    ] {
        let outcome = origin.hedgerow(&[&["checkout"], words].concat());
        assert_eq!(outcome.code, 129, "{words:?}: {outcome:?}");
        let said = &outcome.stderr;
        assert!(said.starts_with("error: "), "{words:?}: {said}");
        assert!(!said.contains("-- -"), "{words:?}: {said}");
        let after = (origin.tree(), origin.metadata(), origin.index());
        assert!(before == after, "{words:?}");
    }
}

#[test]
fn the_last_word_about_an_option_counts() {
    let origin = origin();
    let lines = [
        vec!["--det", "side"],
        vec!["--detach", "--no-detach", "side"],
        vec!["-d", "--no-det", "main"],
        vec!["-f", "--no-force", "side"],
        vec!["-fq", "side"],
        vec!["-q", "--no-quiet", "side"],
        vec!["--no-guess", "--guess", "away"],
        vec!["--guess", "--no-guess", "away"],
        vec!["--overwrite-ignore", "side"],
        vec!["--no-merge", "--no-patch", "side"],
        vec!["side", "-f"],
    ];
    compare(&origin, "", lines, &[]);
    origin.git(&["config", "checkout.guess", "false"]);
    let lines = [vec!["away"], vec!["--guess", "away"], vec!["away", "--"]];
    compare(&origin, "", lines, &[]);
}

/// As the newest git has it: the branch of a working tree that is none is free.
#[test]
fn the_main_working_tree_says_by_itself_that_it_is_none() {
    let origin = Repository::init(&[]);
    origin.commit("first");
    origin.git(&["branch", "side"]);
    let linked = origin.root.parent().unwrap().join("linked");
    let path = linked.to_str().unwrap();
    origin.git(&["worktree", "add", "-q", path, "side"]);
    let linked = Repository::at(linked);
    assert_eq!(linked.hedgerow(&["checkout", "main"]).code, 128);
    origin.git(&["config", "extensions.worktreeConfig", "true"]);
    origin.git(&["config", "--worktree", "core.bare", "true"]);
    assert_eq!(linked.hedgerow(&["checkout", "main"]).code, 0);
    assert_eq!(linked.ask(&["symbolic-ref", "HEAD"]), "refs/heads/main");
}

#[test]
fn local_time_is_that_of_the_c_library() {
    let origin = Repository::init(&[]);
    let mut log = String::new();
    let mut old = "0".repeat(40);
    // An entry each six hours, over two changes of the clocks.
    let mut ids = Vec::new();
    for number in 0..4 {
        origin.commit(&format!("{number}"));
        ids.push(origin.ask(&["rev-parse", "HEAD"]));
    }
    for (number, id) in ids.iter().cycle().take(1200).enumerate() {
        let time = 1_679_000_000 + 21_600 * number;
        log += &format!("{old} {id} A <a@example.com> {time} +0000\tcommit: {number}\n");
        old.clone_from(id);
    }
    std::fs::write(origin.root.join(".git/logs/refs/heads/main"), log).unwrap();
    for zone in [
        "UTC",
        "Europe/Berlin",
        "America/St_Johns",
        "<+0530>-5:30",
        "EST5EDT,M3.2.0,M11.1.0",
        "Nowhere/At_All",
        ":America/Los_Angeles",
        "",
    ] {
        for word in [
            "main@{2023-03-26 03:30}",
            "main@{2023-07-01 00:10}",
            "main@{2023-10-29 02:30}",
            "main@{2023-11-05 01:30}",
            "main@{noon yesterday}",
        ] {
            let answers = [Program::Git, HEDGEROW].map(|program| {
                let mut command = program.command(&origin.root);
                command.args(["checkout", "-q", "--detach", word]);
                command.env("TZ", zone).env_remove("GIT_COMMITTER_DATE");
                let outcome = run(command);
                assert_eq!(outcome.code, 0, "{zone} {word}: {outcome:?}");
                let log = std::fs::read_to_string(origin.root.join(".git/logs/HEAD")).unwrap();
                let entry = log.lines().last().unwrap().split('\t').next().unwrap();
                let offset = entry.rsplit(' ').next().unwrap().to_owned();
                (origin.ask(&["rev-parse", "HEAD"]), offset)
            });
            assert_eq!(answers[0], answers[1], "{zone} {word}");
        }
    }
}
