//! Renames: generated trees, and the rules one by one.

use super::fixture::Repo;
use super::generator::{export, Generator, Item, Tree};
use hedgerow_git::status::rename::{Detection, RenameOptions, Score};

/// How many pairs of trees are generated.
const CASES: u64 = 320;

/// Until version 2.44, git left out what came behind the last line end.
fn git_counts_last_line(repo: &Repo) -> bool {
    let version = repo.ask(&["version"]);
    let mut numbers = version
        .split([' ', '.'])
        .filter_map(|word| word.parse::<u32>().ok());
    (numbers.next(), numbers.next()) >= (Some(2), Some(44))
}

fn import(repo: &Repo, trees: &[(String, Tree)]) {
    let mut stream = Vec::new();
    for (branch, tree) in trees {
        export(tree, branch, &mut stream);
    }
    repo.git_with(&["fast-import", "--quiet", "--force"], &stream);
}

/// Makes HEAD one branch and the index another.
fn stage(repo: &Repo, old: &str, new: &str) {
    repo.git(&["symbolic-ref", "HEAD", &format!("refs/heads/{old}")]);
    repo.git(&["read-tree", new]);
}

/// Compares all that `git status` says with what the library finds; returns the latter.
fn compare(
    repo: &Repo,
    settings: &[&str],
    words: &[&str],
    options: &RenameOptions,
    what: &str,
) -> Vec<String> {
    let expected = repo.by_git(settings, words);
    let found = repo.by_us(options);
    let missing: Vec<_> = expected
        .iter()
        .filter(|line| !found.contains(line))
        .collect();
    let extra: Vec<_> = found
        .iter()
        .filter(|line| !expected.contains(line))
        .collect();
    assert!(
        missing.is_empty() && extra.is_empty(),
        "{what} {settings:?} {words:?}: git has\n{missing:#?}\nwe have\n{extra:#?}"
    );
    assert_eq!(found.len(), expected.len(), "{what}");
    found
}

#[test]
fn generated_trees_have_the_renames_that_git_finds() {
    let repo = Repo::new();
    let cut_off = git_counts_last_line(&repo);
    let mut trees = Vec::new();
    for seed in 0..CASES {
        let (old, new) = Generator::new(seed, cut_off).trees();
        trees.push((format!("o{seed}"), old));
        trees.push((format!("n{seed}"), new));
    }
    import(&repo, &trees);
    let copies = RenameOptions {
        detection: Detection::Copies,
        ..RenameOptions::default()
    };
    let mut seen = Vec::new();
    for seed in 0..CASES {
        stage(&repo, &format!("o{seed}"), &format!("n{seed}"));
        let what = format!("seed {seed}");
        seen.extend(compare(&repo, &[], &[], &RenameOptions::default(), &what));
        let setting = ["status.renames=copies"];
        seen.extend(compare(&repo, &setting, &[], &copies, &what));
        let mut dice = Generator::new(seed + CASES, true);
        let percent = 1 + dice.below(100);
        let words = format!("{percent}%");
        let options = RenameOptions {
            minimum: Score::from_words(words.as_bytes()),
            limit: Some(1 + dice.below(12) as u32),
            ..[RenameOptions::default(), copies][dice.below(2)]
        };
        let limit = format!("status.renameLimit={}", options.limit.unwrap());
        let detection = match options.detection {
            Detection::Copies => "status.renames=copies",
            _ => "status.renames=true",
        };
        let find = format!("--find-renames={words}");
        compare(&repo, &[&limit, detection], &[&find], &options, &what);
    }
    let count = |letter: &str| seen.iter().filter(|line| line.starts_with(letter)).count();
    let alike = |line: &&String| line.contains(" <- ") && !line.contains(" 100 ");
    let alike = seen.iter().filter(alike).count();
    let counts = [count("R"), count("C"), count("T"), alike];
    let wanted = counts.iter().zip([2000, 800, 100, 1000]);
    let mut enough = wanted.map(|(count, wanted)| *count >= wanted);
    assert!(enough.all(|enough| enough), "too simple: {counts:?}");
}

fn tree(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Tree {
    let mode = "100644";
    let items = files.into_iter();
    items
        .map(|(path, content)| (path, Item { mode, content }))
        .collect()
}

#[test]
fn many_equal_sources_are_taken_in_gits_order() {
    let repo = Repo::new();
    for count in [100, 101, 204, 205, 206, 819, 3277] {
        let old = tree((0..count).map(|n| (format!("old/{n:05}"), b"same\n".to_vec())));
        let new = tree((0..9).map(|n| (format!("new/{}", 300 - n), b"same\n".to_vec())));
        import(&repo, &[("o".into(), old), ("n".into(), new)]);
        stage(&repo, "o", "n");
        let options = RenameOptions::default();
        compare(&repo, &[], &[], &options, &format!("{count} sources"));
    }
}

#[test]
fn equally_good_candidates_are_taken_in_gits_order() {
    let repo = Repo::new();
    for seed in 0..12 {
        let mut dice = Generator::new(seed, true);
        let mut files = |prefix: &str, count: usize| {
            let lines = |dice: &mut Generator| {
                let lines = (0..10).map(|line| format!("{line} {}\n", dice.below(2)));
                lines.collect::<String>().into_bytes()
            };
            let names: Vec<String> = (0..count)
                .map(|n| format!("{prefix}{n}/{}", dice.below(9)))
                .collect();
            tree(names.into_iter().map(|name| (name, lines(&mut dice))))
        };
        let (old, new) = (files("old", 40), files("new", 40));
        import(&repo, &[("o".into(), old), ("n".into(), new)]);
        stage(&repo, "o", "n");
        let what = format!("seed {seed}");
        compare(&repo, &[], &[], &RenameOptions::default(), &what);
        let copies = RenameOptions {
            detection: Detection::Copies,
            ..RenameOptions::default()
        };
        compare(&repo, &["status.renames=copies"], &[], &copies, &what);
    }
}

#[test]
fn settings_are_those_of_git_status() {
    let repo = Repo::new();
    let text: String = (0..20).map(|n| format!("line {n}\n")).collect();
    let old = tree([
        ("a".into(), text.clone().into_bytes()),
        ("b".into(), b"b\n".to_vec()),
        ("c".into(), format!("{text}c").into_bytes()),
    ]);
    let new = tree([
        ("b".into(), b"bb\n".to_vec()),
        ("c".into(), format!("{text}d").into_bytes()),
        ("d".into(), text.replace("5\n", "x\n").into_bytes()),
        ("e".into(), b"b\n".to_vec()),
        ("f".into(), text.replace("6\n", "x\n").into_bytes()),
    ]);
    import(&repo, &[("o".into(), old), ("n".into(), new)]);
    stage(&repo, "o", "n");
    for settings in [
        &[][..],
        &[("status.renames", "false")],
        &[("status.renames", "Copies")],
        &[("diff.renames", "copy")],
        &[("diff.renames", "off")],
        &[("diff.renames", "copies"), ("status.renames", "true")],
        &[("status.renames", "copies"), ("diff.renames", "false")],
        &[("status.renames", "false"), ("status.renames", "copies")],
        &[("diff.renames", "false"), ("diff.renames", "copies")],
        &[("diff.renames", "copies"), ("diff.renames", "false")],
        &[("status.renameLimit", "1")],
        &[("diff.renameLimit", "1")],
        &[("diff.renameLimit", "1"), ("status.renameLimit", "0")],
        &[("status.renameLimit", "1"), ("diff.renameLimit", "0")],
        &[("status.renameLimit", "-5"), ("diff.renameLimit", "1")],
        &[("diff.renameLimit", "1"), ("status.renameLimit", "-5")],
        &[("diff.renameLimit", "1"), ("diff.renameLimit", "100")],
        &[("diff.renameLimit", "-1"), ("diff.renameLimit", "1")],
        &[("diff.renameLimit", "-1"), ("status.renameLimit", "1")],
        &[("status.renameLimit", "-1"), ("diff.renameLimit", "1")],
        &[("status.renames", "copies"), ("status.renames", "false")],
    ] {
        let options = RenameOptions::of_status(&repo.open(settings)).unwrap();
        let words: Vec<String> = settings.iter().map(|(k, v)| format!("{k}={v}")).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        compare(&repo, &words, &[], &options, "settings");
    }
    for (key, value) in [
        ("status.renames", "maybe"),
        ("diff.renames", "2g"),
        ("status.renameLimit", "many"),
        ("diff.renameLimit", "4g"),
    ] {
        let repository = repo.open(&[(key, value)]);
        assert!(
            RenameOptions::of_status(&repository).is_err(),
            "{key}={value}"
        );
    }
}

#[test]
fn scores_are_read_as_git_reads_them() {
    let repo = Repo::new();
    let text: String = (0..20).map(|n| format!("line {n:2}\n")).collect();
    let changed =
        |count| (0..count).fold(text.clone(), |t, n| t.replace(&format!("{n:2}\n"), "xx\n"));
    let old = tree((0..20).map(|n| (format!("o{n}"), format!("{n} {text}").into_bytes())));
    let new = tree((0..20).map(|n| (format!("n{n}"), format!("{n} {}", changed(n)).into_bytes())));
    import(&repo, &[("o".into(), old), ("n".into(), new)]);
    stage(&repo, "o", "n");
    for words in [
        "5",
        "05",
        "50",
        "500",
        "100",
        "1000000",
        "100%",
        "0",
        "0%",
        "abc",
        ".7",
        "0.8",
        "1.0",
        "50.5%",
        "7.5",
        "90%x",
        "9x",
        "%",
        "65432123456",
        "00000000000009",
        "1..5",
        "",
    ] {
        let options = RenameOptions {
            minimum: Score::from_words(words.as_bytes()),
            ..RenameOptions::default()
        };
        let find = format!("--find-renames={words}");
        compare(&repo, &[], &[&find], &options, words);
    }
}
