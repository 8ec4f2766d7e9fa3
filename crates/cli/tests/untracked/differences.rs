//! What `diff-files` and `diff-index` list, beside git.

use crate::ls_files::states;
use crate::scene::Scene;
use crate::twins::Twins;
use hedgerow_testkit::{play_sample, Random, Repository};

const COMMANDS: [&str; 6] = [
    "diff-files",
    "diff-index HEAD",
    "diff-index --cached HEAD",
    "diff-index -m HEAD",
    "diff-index HEAD^{tree}",
    "diff-index --cached -m HEAD",
];
const OPTIONS: [&str; 22] = [
    "",
    "--raw",
    "--name-only",
    "--name-status",
    "-z",
    "-z --name-status",
    "-z --name-only",
    "--quiet",
    "--exit-code",
    "--abbrev",
    "--abbrev=5",
    "--abbrev --no-abbrev",
    "-R",
    "-R --name-status",
    "--diff-filter=M",
    "--diff-filter=ad",
    "--diff-filter=AU --exit-code",
    "--diff-filter=D*",
    "--diff-filter=TX --quiet",
    "--ignore-submodules",
    "--ignore-submodules=dirty",
    "--ignore-submodules=none",
];
const PATHS: [&str; 7] = [
    "",
    "dir",
    "same gone",
    "-- *.o",
    ":!dir",
    "-- nothing",
    "conflict module",
];

fn words(line: &[String]) -> Vec<&[u8]> {
    line.iter().map(|word| word.as_bytes()).collect()
}

fn line(parts: &[&str]) -> Vec<String> {
    let words = parts.iter().flat_map(|part| part.split_whitespace());
    words.map(str::to_owned).collect()
}

/// The tree is the argument that comes first; options stand before it.
fn of(command: &str, options: &str, paths: &str) -> Vec<String> {
    let (name, rest) = command.split_once(' ').unwrap_or((command, ""));
    line(&[name, options, rest, paths])
}

#[test]
fn every_combination() {
    let mut twins = Twins::new("states", |repository| {
        states(repository);
        repository.write("module/new", "x");
    });
    for command in COMMANDS {
        for options in OPTIONS {
            for paths in PATHS {
                twins.said(b"", &words(&of(command, options, paths)));
            }
            twins.said(b"dir", &words(&of(command, options, "")));
            twins.said(b"dir", &words(&of(command, options, ". ../same")));
        }
    }
    for change in ["module/a", "module/new"] {
        twins.each(change, |repository| {
            let module = Repository::at(repository.path("module"));
            // The second time, there is none before it.
            module.run(&["checkout", "-q", "-f", "HEAD^"], b"");
            repository.write(change, "changed");
        });
        for command in COMMANDS {
            for options in OPTIONS {
                twins.said(b"", &words(&of(command, options, "module")));
            }
        }
    }
}

/// Files that were only touched count as changed until the index is refreshed.
#[test]
fn stat_data_decide() {
    let mut twins = Twins::new("touched", |repository| {
        repository.commit_files(&[("a", "x"), ("b", "x")], "first");
    });
    twins.each("touch", |repository| {
        let file = std::fs::File::options()
            .write(true)
            .open(repository.path("a"))
            .unwrap();
        let time =
            std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_600_000_000);
        file.set_modified(time).unwrap();
    });
    for command in COMMANDS {
        twins.said(b"", &words(&of(command, "", "")));
    }
    twins.each("refresh", |repository| {
        drop(repository.git(&["update-index", "-q", "--refresh"]));
    });
    for command in COMMANDS {
        assert_eq!(twins.said(b"", &words(&of(command, "--quiet", ""))).code, 0);
    }
}

#[test]
fn what_is_not_there_is_refused() {
    let mut twins = Twins::new("states", states);
    for line in [
        "diff-files nowhere",
        "diff-index nowhere",
        "diff-index HEAD nowhere",
        "diff-index nowhere --",
        "diff-files --name-only --name-status",
    ] {
        assert_eq!(twins.line("", line).code, 128, "{line}");
    }
    let combined = twins.our_line("diff-files -p");
    assert_eq!(combined.code, 129);
    assert!(combined.stderr.contains("'conflict' is in conflict"));
    for (line, option) in [
        ("diff-files --check", "--check"),
        ("diff-index -w HEAD", "--ignore-all-space"),
        ("diff-index --binary HEAD", "--binary"),
        ("diff-index --merge-base HEAD", "--merge-base"),
        ("diff-files --cc", "--cc"),
    ] {
        let outcome = twins.our_line(line);
        assert_eq!(outcome.code, 129, "{line}");
        let words = format!("has no option {option};");
        assert!(
            outcome.stderr.contains(&words),
            "{line}: {}",
            outcome.stderr
        );
    }
}

#[test]
fn seeds_0_to_149() {
    play_sample(0..150, play);
}

fn play(seed: u64) {
    let random = &mut Random::new(seed + 9000);
    let scene = Scene::new(random);
    let mut twins = Twins::new(&format!("seed {seed}"), |it| scene.make(it));
    // Whether a file written anew with the same content looks touched depends on the second and
    // on the inode that it got.
    twins.each("refresh", |it| {
        drop(it.run(&["update-index", "-q", "--refresh"], b""));
    });
    twins.options = vec![format!("-j{}", random.pick(&["1", "2", "8", "64"]))];
    for _ in 0..10 {
        let (command, options) = (*random.pick(&COMMANDS), *random.pick(&OPTIONS));
        let words_of = of(command, options, "");
        twins.said(b"", &words(&words_of));
    }
}

#[test]
fn what_is_given_after_no_output_counts() {
    let mut twins = Twins::new("silent", |repository| {
        repository.commit_files(&[("f", "1\n")], "first");
        repository.write("f", "2\n");
    });
    for line in ["-p -s", "-s -p", "--raw -s", "--stat -p -s", "-s"] {
        assert_eq!(
            twins.line("", &format!("diff-files {line}")).code,
            0,
            "{line}"
        );
        assert_eq!(
            twins.line("", &format!("diff-index HEAD {line}")).code,
            0,
            "{line}"
        );
    }
    // Git before 2.42 kept silent.
    if hedgerow_testkit::git_is_at_least(2, 42, "a format after -s") {
        for line in ["-s --raw", "-s --stat"] {
            assert_eq!(
                twins.line("", &format!("diff-files {line}")).code,
                0,
                "{line}"
            );
        }
    }
    for line in ["-s --name-only", "--name-only -s --name-status"] {
        let line = format!("diff-files {line}");
        assert_eq!(twins.line("", &line).code, 128, "{line}");
    }
    if hedgerow_testkit::git_is_at_least(2, 42, "-s after a list of names") {
        for line in ["--name-only -s", "-s --name-status -s", "--name-only -p -s"] {
            let line = format!("diff-files {line}");
            assert_eq!(twins.line("", &line).code, 0, "{line}");
        }
    }
}

/// Both changed or added a file, or one changed what the other deleted, or both deleted it.
#[test]
fn files_in_conflict_are_compared_with_the_side_that_is_asked_for() {
    let mut twins = Twins::new("sides", |it| {
        let files = ["both", "ours", "theirs", "same", "gone"];
        let lines = "1\n2\n3\n4\n5\n6\n";
        it.commit_files(&files.map(|path| (path, lines)), "base");
        it.git(&["checkout", "-q", "-b", "side"]);
        it.remove("ours");
        it.commit_files(
            &[("both", "1\nx\n3\n"), ("new", "x\n"), ("theirs", "x\n")],
            "side",
        );
        it.git(&["checkout", "-q", "-"]);
        it.remove("theirs");
        it.commit_files(
            &[("both", "1\ny\n3\n"), ("new", "y\n"), ("ours", "y\n")],
            "ours",
        );
        it.run(&["merge", "side"], b"");
        it.write("same", "changed\n");
        it.remove("gone");
    });
    let formats = [
        "",
        "--raw",
        "--name-only",
        "--name-status",
        "-z",
        "--stat",
        "--numstat",
        "--exit-code",
        "-R",
    ];
    let sides = ["", "-0", "-1", "-2", "-3", "--base", "--ours", "--theirs"];
    for side in sides {
        for format in formats {
            for path in ["", "-- ours both", "-- theirs"] {
                twins.said(b"", &words(&line(&["diff-files", side, format, path])));
            }
        }
        let paths = if side.is_empty() {
            "-- ours theirs same"
        } else {
            ""
        };
        for format in ["-p", "-p --stat", "-p --raw", "-p -R"] {
            twins.said(b"", &words(&line(&["diff-files", side, format, paths])));
        }
    }
    twins.each("gone", |it| it.remove("both"));
    for side in sides {
        twins.said(b"", &words(&line(&["diff-files", side])));
    }
}

#[test]
fn one_object_has_no_name_by_its_message() {
    let mut twins = Twins::new("message", |repository| {
        repository.commit_files(&[("f", "1\n")], "first");
    });
    assert_eq!(twins.line("", "cat-file -t :/first").code, 128);
    assert_eq!(twins.line("", "cat-file -t HEAD^{/first}").code, 0);
}

/// Where file systems have no modes, the file of a conflict has that of the first version.
#[test]
fn modes_of_conflicts_come_from_the_first_version() {
    for modes in [
        "100755 100644 100755",
        "100644 100755 100644",
        "120000 100644 100755",
    ] {
        for stages in ["1 2 3", "2 3", "1 3", "3"] {
            let mut twins = Twins::new(&format!("{modes} {stages}"), |it| {
                it.git(&["config", "core.fileMode", "false"]);
                let id = it.git_with(&["hash-object", "-w", "--stdin"], b"1\n");
                let id = String::from_utf8(id).unwrap();
                let modes: Vec<&str> = modes.split(' ').collect();
                let line = |stage: &str| {
                    let mode = modes[stage.parse::<usize>().unwrap() - 1];
                    format!("{mode} {} {stage}\tx\n", id.trim())
                };
                let lines: String = stages.split(' ').map(line).collect();
                it.git_with(&["update-index", "--index-info"], lines.as_bytes());
                it.write("x", "1\n");
                let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
                std::fs::set_permissions(it.path("x"), mode).unwrap();
            });
            twins.line("", "diff-files");
        }
    }
}
