//! File systems that ignore case: twin repositories, one for git and one for hedgerow, in a mount that
//! finds names in any case.

use crate::HEDGEROW;
use hedgerow_latencyfs::{Mount, Settings};
use hedgerow_testkit::{run, skip, Program, Repository};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Two states of a tree, the second in a branch `up`, and what is done to the working tree between.
struct Case {
    name: &'static str,
    before: &'static [(&'static str, &'static str)],
    after: &'static [(&'static str, &'static str)],
    change: fn(&Repository),
}

const CASES: [Case; 8] = [
    Case {
        name: "a file takes another case",
        before: &[("a", "1\n"), ("other", "o\n")],
        after: &[("A", "2\n"), ("other", "o\n")],
        change: |_| (),
    },
    Case {
        name: "a changed file takes another case",
        before: &[("a", "1\n"), ("other", "o\n")],
        after: &[("A", "2\n"), ("other", "o\n")],
        change: |r| r.write("a", "mine\n"),
    },
    Case {
        name: "a file takes another case and another is added",
        before: &[("a", "1\n")],
        after: &[("a", "1\n"), ("A", "2\n")],
        change: |_| (),
    },
    Case {
        name: "an untracked file differs in case",
        before: &[("other", "o\n")],
        after: &[("other", "o\n"), ("file", "theirs\n")],
        change: |r| r.write("FILE", "mine\n"),
    },
    Case {
        name: "a directory takes another case",
        before: &[("Dir/x", "1\n"), ("Dir/y", "1\n")],
        after: &[("dir/x", "2\n"), ("dir/y", "1\n")],
        change: |_| (),
    },
    Case {
        name: "a directory with an untracked file takes another case",
        before: &[("Dir/x", "1\n")],
        after: &[("dir/x", "2\n")],
        change: |r| r.write("Dir/mine", "mine\n"),
    },
    Case {
        name: "a directory becomes a file of another case",
        before: &[("Dir/x", "1\n"), ("other", "o\n")],
        after: &[("dir", "2\n"), ("other", "o\n")],
        change: |_| (),
    },
    Case {
        name: "a directory with an untracked file becomes a file of another case",
        before: &[("Dir/x", "1\n"), ("other", "o\n")],
        after: &[("dir", "2\n"), ("other", "o\n")],
        change: |r| r.write("dir/mine", "mine\n"),
    },
];

const COMMANDS: [&[&str]; 4] = [
    &["checkout", "-q", "up"],
    &["checkout", "-q", "-f", "up"],
    &["reset", "-q", "--keep", "up"],
    &["read-tree", "-m", "-u", "HEAD", "up"],
];

fn mount(backing: &Path) -> Option<Mount> {
    let settings = || Settings {
        ignore_case: true,
        ..Settings::default()
    };
    match Mount::with(backing, settings) {
        Ok(mount) => Some(mount),
        Err(reason) => {
            skip(&reason.to_string());
            None
        }
    }
}

fn made(root: &Path, case: &Case) -> Repository {
    fs::create_dir(root).unwrap();
    let repository = Repository::at(root.to_owned());
    repository.git(&["init", "-q", "-b", "main"]);
    assert_eq!(repository.ask(&["config", "core.ignorecase"]), "true");
    commit(&repository, case.before);
    repository.git(&["checkout", "-q", "-b", "up"]);
    repository.git(&["rm", "-r", "-q", "."]);
    commit(&repository, case.after);
    repository.git(&["checkout", "-q", "-f", "main"]);
    repository.git(&["reset", "-q", "--hard"]);
    (case.change)(&repository);
    repository
}

/// Commits files without the working tree, in which two names may lead to one.
fn commit(repository: &Repository, files: &[(&str, &str)]) {
    for (name, content) in files {
        let id = repository.ask_with(&["hash-object", "-w", "--stdin"], content.as_bytes());
        let row = format!("100644,{id},{name}");
        repository.git(&["update-index", "--add", "--cacheinfo", &row]);
    }
    repository.git(&["commit", "-q", "-m", "files"]);
}

/// What is in the working tree, the index and HEAD.
fn seen(repository: &Repository) -> String {
    let mut text = repository.ask(&["ls-files", "-s"]);
    let _ = write!(text, "\n{}", repository.ask(&["rev-parse", "HEAD^{tree}"]));
    let _ = write!(text, "\n{}\n", repository.ask(&["status", "--porcelain"]));
    for (path, node) in repository.tree() {
        let _ = writeln!(text, "{}: {node:?}", String::from_utf8_lossy(&path));
    }
    text
}

#[test]
fn moves_where_case_is_ignored() {
    let place = hedgerow_testkit::temporary();
    let Some(mount) = mount(place.path()) else {
        return;
    };
    for case in &CASES {
        let origin = made(&mount.path().join("origin"), case);
        for words in COMMANDS {
            let name = format!("{}: {}", case.name, words.join(" "));
            let twins = ["git", "hedgerow"].map(|twin| {
                let twin = origin.copy(&mount.path().join(twin));
                let _ = twin.run(&["update-index", "-q", "--refresh"], b"");
                twin
            });
            let outcomes = [Program::Git, HEDGEROW]
                .into_iter()
                .zip(&twins)
                .map(|(program, twin)| {
                    let mut command = program.command(&twin.root);
                    command.args(words);
                    run(command)
                })
                .collect::<Vec<_>>();
            outcomes[1].assert_civil(&name);
            let codes = (outcomes[0].code, outcomes[1].code);
            assert_eq!(codes.0, codes.1, "{name}: {outcomes:?}");
            assert_eq!(seen(&twins[0]), seen(&twins[1]), "{name}");
            for twin in &twins {
                fs::remove_dir_all(&twin.root).unwrap();
            }
        }
        fs::remove_dir_all(&origin.root).unwrap();
    }
}

/// As with git 2.55: the changed file is no untracked one in the way of its new name.
#[test]
fn local_changes_are_merged_into_a_file_that_takes_another_case() {
    let place = hedgerow_testkit::temporary();
    let Some(mount) = mount(place.path()) else {
        return;
    };
    let case = Case {
        name: "a changed file takes another case",
        before: &[("a", "1\n2\n3\n"), ("other", "o\n")],
        after: &[("A", "0\n1\n2\n3\n"), ("other", "p\n")],
        change: |r| r.write("a", "1\n2\n3\nmine\n"),
    };
    let repository = made(&mount.path().join("origin"), &case);
    let mut command = HEDGEROW.command(&repository.root);
    command.args(["checkout", "-m", "up"]);
    let outcome = run(command);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(repository.ask(&["status", "--porcelain"]), "M A");
    let merged = fs::read_to_string(repository.path("A")).unwrap();
    assert_eq!(merged, "0\n1\n2\n3\nmine\n", "{outcome:?}");
    // Where it is not a change of a tracked file, it stays.
    let untracked = Case {
        name: "an untracked file and a local change",
        before: &[("other", "o\n")],
        after: &[("other", "p\n"), ("file", "theirs\n")],
        change: |r| {
            r.write("FILE", "mine\n");
            r.write("other", "o\nmine\n");
        },
    };
    let repository = made(&mount.path().join("untracked"), &untracked);
    let mut command = HEDGEROW.command(&repository.root);
    command.args(["checkout", "-m", "up"]);
    let outcome = run(command);
    assert_eq!(outcome.code, 1, "{outcome:?}");
    assert_eq!(fs::read(repository.path("FILE")).unwrap(), b"mine\n");
    assert_eq!(fs::read(repository.path("other")).unwrap(), b"o\nmine\n");
}

/// Git and hedgerow keep what is not tracked in a directory outside of the cone, although the index
/// has it in another case.
#[test]
fn leaving_a_cone_where_case_is_ignored() {
    let place = hedgerow_testkit::temporary();
    let Some(mount) = mount(place.path()) else {
        return;
    };
    let case = Case {
        name: "sparse",
        before: &[("Dir/Sub/x", "1\n"), ("foo/f", "1\n")],
        after: &[("other", "o\n")],
        change: |_| (),
    };
    for (ignores, words) in [("true", "set"), ("false", "set"), ("true", "reapply")] {
        let twins = ["git", "hedgerow"].map(|twin| made(&mount.path().join(twin), &case));
        for (program, twin) in [Program::Git, HEDGEROW].into_iter().zip(&twins) {
            // In the mount, the kernel takes the two for one.
            let backing = place.path().join(twin.root.file_name().unwrap());
            fs::rename(backing.join("Dir"), backing.join("dir")).unwrap();
            twin.write("dir/Sub/mine", "mine\n");
            twin.git(&["config", "core.ignorecase", ignores]);
            let mut command = program.command(&twin.root);
            if words == "reapply" {
                twin.git(&["sparse-checkout", "set", "foo"]);
                twin.write("dir/Sub/mine", "mine\n");
                command.args(["sparse-checkout", "reapply"]);
            } else {
                command.args(["sparse-checkout", "set", "foo"]);
            }
            let outcome = run(command);
            assert_eq!(outcome.code, 0, "{outcome:?}");
            let warning = "contains untracked files, but is not in the sparse-checkout cone";
            assert!(outcome.stderr.contains(warning), "{outcome:?}");
            assert_eq!(twin.read("dir/sub/mine"), b"mine\n");
        }
        for twin in &twins {
            fs::remove_dir_all(&twin.root).unwrap();
        }
    }
}

#[test]
fn names_that_differ_only_in_case() {
    let place = hedgerow_testkit::temporary();
    let Some(mount) = mount(place.path()) else {
        return;
    };
    let tree = mount.path().join("tree");
    fs::create_dir(&tree).unwrap();
    let origin = Repository::init(&[]);
    for name in ["File", "file", "dir/x", "DIR/y", "other"] {
        origin.write(name, name);
    }
    origin.commit("clashing names");
    let mut command = HEDGEROW.command(&tree);
    command.args(["checkout", "-f", "-j8", "--threshold=0", "main"]);
    command.env("GIT_DIR", origin.root.join(".git"));
    command.env("GIT_WORK_TREE", &tree);
    command.env("GIT_INDEX_FILE", origin.root.join(".git/index2"));
    let outcome = run(command);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let warning = "the following paths have collided";
    assert!(outcome.stderr.contains(warning), "{outcome:?}");
    for name in ["'File'", "'file'"] {
        assert!(outcome.stderr.contains(name), "{name}: {outcome:?}");
    }
    assert_eq!(
        fs::read(tree.join("file")).unwrap(),
        b"file",
        "the last one wins"
    );
}

/// A tracked file is there by its name, whatever name the listing has.
#[test]
fn status_where_names_take_another_case() {
    let place = hedgerow_testkit::temporary();
    let Some(mount) = mount(place.path()) else {
        return;
    };
    let case = Case {
        name: "status",
        before: &[
            ("d/F/g", "1\n"),
            ("d/F/h", "1\n"),
            ("file", "1\n"),
            ("gone", "1\n"),
        ],
        after: &[("other", "o\n")],
        change: |_| (),
    };
    let repository = made(&mount.path().join("r"), &case);
    let backing = place.path().join("r");
    fs::rename(backing.join("d"), backing.join("D")).unwrap();
    fs::rename(backing.join("file"), backing.join("FILE")).unwrap();
    let status = |words: &[&str]| {
        let twins = [Program::Git, HEDGEROW].map(|program| {
            let mut command = program.command(&repository.root);
            command.args(["status", "--porcelain"]).args(words);
            run(command).text()
        });
        assert_eq!(twins[0], twins[1], "{words:?}");
        twins[1].clone()
    };
    assert_eq!(status(&[]), "");
    fs::remove_file(backing.join("gone")).unwrap();
    repository.write("d/F/h", "changed\n");
    repository.write("D/new", "new\n");
    for words in [&[][..], &["-uno"], &["-uall"], &["--ignored"]] {
        assert!(status(words).contains(" M d/F/h\n D gone\n"));
    }
}
