//! Patches, numbers of lines and lists of `diff-files`, `diff-index` and `stash show`, beside git.

use crate::twins::Twins;
use hedgerow_testkit::{Random, Repository};
use std::os::unix::fs::{symlink, PermissionsExt};

const FORMATS: [&str; 40] = [
    "-p",
    "--stat",
    "--numstat",
    "--shortstat",
    "--summary",
    "--raw",
    "--name-only",
    "--name-status",
    "-p --stat",
    "--patch-with-stat --summary",
    "-p --raw",
    "-U1",
    "-U0",
    "-p --full-index",
    "-p --no-prefix",
    "-p --src-prefix=x/ --dst-prefix=y/",
    "-p -R",
    "-p -M",
    "-M --raw",
    "-M90% --name-status -z",
    "-M --stat",
    "-M --numstat",
    "-M --numstat -z",
    "-M --summary --shortstat",
    "-p -a",
    "--stat=40",
    "--stat=60,20",
    "--stat-graph-width=9 --stat-name-width=8",
    "-p --diff-filter=M",
    "-p --abbrev=12",
    "--compact-summary",
    "-p -z --raw",
    "-C --raw",
    "-s",
    "-p --exit-code",
    "-p --minimal",
    "--inter-hunk-context=60 -p",
    "-p --no-indent-heuristic",
    "-p --quiet",
    "-p --no-renames --no-color --no-ext-diff",
];

fn write(repository: &Repository, path: &str, content: impl AsRef<[u8]>) {
    let place = repository.path(path);
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    std::fs::write(place, content).unwrap();
}

fn numbers(lines: std::ops::Range<usize>) -> String {
    lines.map(|line| format!("{line}\n")).collect()
}

/// Every kind of difference.
fn scene(repository: &Repository) {
    for (path, content) in [
        ("d/num", numbers(1..60)),
        ("sp ace/f", numbers(1..5)),
        ("nn", "no newline".to_owned()),
        ("bin", "a\0b".to_owned()),
        ("exe", "x\n".to_owned()),
        ("qu\"ote", "q\n".to_owned()),
        ("moved", numbers(1..40)),
        ("away", numbers(50..90)),
        ("\u{fc}mlaut", "\u{fc}\n".to_owned()),
        ("gone", numbers(100..130)),
        ("empty", String::new()),
        ("tolink", "l\n".to_owned()),
        ("forced", "text\0\n".to_owned()),
        ("nums", numbers(1..3)),
        ("same", "same\n".to_owned()),
        (
            ".gitattributes",
            "forced diff\nnums -diff\n*.min diff=least\n".to_owned(),
        ),
    ] {
        write(repository, path, content);
    }
    symlink("target", repository.path("link")).unwrap();
    repository.git(&["add", "-A"]);
    repository.git(&["commit", "-qm", "first"]);
    let changed = numbers(1..60)
        .replace("\n7\n", "\nseven\n")
        .replace("\n50\n", "\n");
    for (path, content) in [
        ("d/num", changed),
        ("sp ace/f", numbers(1..6)),
        ("nn", "no newline\nmore".to_owned()),
        ("bin", "a\0bc".to_owned()),
        ("qu\"ote", "q\nz\n".to_owned()),
        ("\u{fc}mlaut", "\u{fc}\n\u{fc}\n".to_owned()),
        ("empty", "x\n".to_owned()),
        ("forced", "text\0\nmore\n".to_owned()),
        ("nums", numbers(1..4)),
        ("newfile", "new\n".to_owned()),
        ("crlf", "a\r\n".to_owned()),
    ] {
        write(repository, path, content);
    }
    repository.git(&["mv", "moved", "moved2"]);
    repository.git(&["mv", "away", "d/away"]);
    write(repository, "moved2", numbers(1..41));
    for path in ["link", "tolink", "gone"] {
        std::fs::remove_file(repository.path(path)).unwrap();
    }
    symlink("other", repository.path("link")).unwrap();
    symlink("nowhere", repository.path("tolink")).unwrap();
    std::fs::set_permissions(repository.path("exe"), PermissionsExt::from_mode(0o755)).unwrap();
    repository.git(&["add", "newfile", "crlf"]);
    write(repository, "newempty", "");
    repository.git(&["add", "-N", "newempty"]);
}

fn said(twins: &mut Twins, parts: &[&str]) {
    let words = parts.iter().flat_map(|part| part.split_whitespace());
    let words: Vec<&[u8]> = words.map(str::as_bytes).collect();
    twins.said(b"", &words);
}

#[test]
fn all_formats_of_all_commands() {
    let mut twins = Twins::new("patches", scene);
    for format in FORMATS {
        said(&mut twins, &["diff-files", format]);
        said(&mut twins, &["diff-index", format, "HEAD"]);
        said(&mut twins, &["diff-index --cached", format, "HEAD"]);
    }
    twins.said(b"d", &[b"diff-files", b"-p", b"num"]);
}

#[test]
fn submodules_in_patches() {
    let mut twins = Twins::new("submodules", |repository| {
        repository.git(&["init", "-q", "module"]);
        let module = Repository::at(repository.path("module"));
        module.commit_files(&[("a", "a\n")], "one");
        repository.git(&["-c", "advice.addEmbeddedRepo=false", "add", "module"]);
        repository.git(&["commit", "-qm", "module"]);
    });
    let all = |twins: &mut Twins| {
        for format in [
            "-p",
            "--stat",
            "--numstat",
            "--raw",
            "-p --ignore-submodules",
        ] {
            said(twins, &["diff-files", format]);
            said(twins, &["diff-index", format, "HEAD"]);
        }
    };
    all(&mut twins);
    twins.each("changed", |repository| write(repository, "module/a", "b\n"));
    all(&mut twins);
    twins.each("committed", |repository| {
        let module = Repository::at(repository.path("module"));
        module.commit_files(&[("b", "b\n")], "two");
    });
    all(&mut twins);
    twins.each("changed again", |repository| {
        write(repository, "module/b", "c\n")
    });
    all(&mut twins);
}

#[test]
fn entries_of_the_stash() {
    let mut twins = Twins::new("stash", |repository| {
        scene(repository);
        repository.git(&["reset", "-q", "newempty"]);
        write(repository, "untracked", numbers(1..9));
        repository.git(&["stash", "push", "-q", "-u"]);
    });
    for format in FORMATS {
        said(&mut twins, &["stash show", format]);
        said(&mut twins, &["stash show -u", format]);
    }
    for words in [
        "",
        "-u",
        "--include-untracked",
        "-u --no-include-untracked",
        "--only-untracked",
        "--only-untracked -p",
        "0",
        "stash@{0} -p",
        "7",
        "x y",
        "HEAD",
    ] {
        said(&mut twins, &["stash show", words]);
    }
    for setting in [
        "stash.showStat=false",
        "stash.showPatch=true",
        "stash.showIncludeUntracked=true",
        "diff.noPrefix=true",
        "diff.srcPrefix=old/",
        "diff.context=1",
        "diff.interHunkContext=70",
        "diff.renames=false",
        "diff.renames=copies",
        "diff.algorithm=minimal",
        "diff.suppressBlankEmpty=true",
        "diff.statNameWidth=5",
        "diff.statGraphWidth=4",
        "diff.indentHeuristic=false",
    ] {
        let (key, value) = setting.split_once('=').unwrap();
        twins.each(setting, |repository| {
            drop(repository.git(&["config", key, value]))
        });
        for words in ["", "-p", "--stat"] {
            said(&mut twins, &["stash show", words]);
        }
        twins.each("unset", |repository| {
            drop(repository.git(&["config", "--unset", key]))
        });
    }
}

/// A tracked file that was removed may have come back as an untracked one.
#[test]
fn a_path_that_is_both_removed_and_untracked() {
    let mut twins = Twins::new("removed", |repository| {
        repository.commit_files(&[("a", "a\n"), ("b", "b\n")], "one");
        repository.git(&["rm", "-q", "--cached", "a", "b"]);
        write(repository, "b", "changed\n");
        repository.git(&["stash", "push", "-q", "-u"]);
    });
    for words in ["-u", "-u -p", "--only-untracked --raw", "-p"] {
        said(&mut twins, &["stash show", words]);
    }
}

/// Random texts in many files, some of them moved.
#[test]
fn generated_trees() {
    for seed in 0..6 {
        let mut twins = Twins::new(&format!("seed {seed}"), |repository| {
            let mut draw = Random::new(seed);
            let line = |draw: &mut Random| {
                let words = ["", "}", "{", "  x", "    y", "name {", "\tz"];
                match draw.below(12) {
                    word if word < words.len() => format!("{}\n", words[word]),
                    _ => format!("{}{}\n", " ".repeat(draw.below(3)), draw.below(50)),
                }
            };
            let mut files: Vec<Vec<String>> = Vec::new();
            for number in 0..24 {
                let lines = (0..draw.below(60)).map(|_| line(&mut draw)).collect();
                files.push(lines);
                write(
                    repository,
                    &format!("dir{}/f{number}", number % 3),
                    files[number].concat(),
                );
            }
            repository.git(&["add", "-A"]);
            repository.git(&["commit", "-qm", "first"]);
            for (number, lines) in files.iter_mut().enumerate() {
                let path = format!("dir{}/f{number}", number % 3);
                for _ in 0..draw.below(5) {
                    let at = draw.below(lines.len() + 1);
                    let some = draw.below(4).min(lines.len() - at);
                    lines.splice(at..at + some, (0..some).map(|_| line(&mut draw)));
                    lines.insert(at, line(&mut draw));
                }
                write(repository, &path, lines.concat());
                if draw.below(5) == 0 {
                    repository.git(&["mv", &path, &format!("{path}moved")]);
                }
            }
        });
        for options in [
            "-p",
            "-M -p",
            "-C -p --stat",
            "--numstat",
            "-U1 --summary",
            "--stat=50",
        ] {
            said(&mut twins, &["diff-files", options]);
            said(&mut twins, &["diff-index", options, "HEAD"]);
            said(&mut twins, &["diff-index --cached", options, "HEAD"]);
        }
    }
}
