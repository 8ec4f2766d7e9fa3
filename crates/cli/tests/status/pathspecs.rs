//! Pathspecs in a repository with one directory of each kind: every pathspec, in every mode.

use crate::compare::compare;
use crate::invocation::Invocation;
use crate::state::State;
use crate::HEDGEROW;
use hedgerow_testkit::Repository;
use hedgerow_testkit::{git, run, Program};
use std::path::PathBuf;

const PATHSPECS: &[&[&str]] = &[
    &["tracked/new/x"],
    &["tracked/gone/x"],
    &["tracked/gone/deeper/x"],
    &["tracked/file/x"],
    &["tracked/link/x"],
    &["gone/x"],
    &["new/gone/x"],
    &["empty/gone/x"],
    &["ignored/gone/x"],
    &["tracked/ignored/gone/x"],
    &["nested/gone/x"],
    &["sub/gone/x"],
    &["link/gone/x"],
    &["tracked/gone/x", ":!tracked"],
    &[":!x", "tracked/gone/x"],
    &["sub/"],
    &["nested/"],
    &["nested/file"],
    &["new/deep/"],
    &[".", "new/deep/a"],
    &["*", "new/deep/a"],
    &[":(glob)*/"],
    &["t"],
    &[":!new/deep"],
    &["tracked", ":!x"],
];
const MODES: &[&[&str]] = &[
    &["-unormal"],
    &["-uall"],
    &["-uno"],
    &["-unormal", "--ignored"],
    &["-unormal", "--ignored=matching"],
    &["-uall", "--ignored"],
    &["-uall", "--ignored=matching"],
];

#[test]
fn every_kind_of_directory() {
    let state = State::of(repository());
    let mut differing = Vec::new();
    for specs in PATHSPECS {
        for mode in MODES {
            let words = ["-s"].iter().chain(*mode).chain(&["--"]).chain(*specs);
            let invocation = Invocation {
                words: words.map(|word| word.as_bytes().to_vec()).collect(),
                directory: PathBuf::new(),
            };
            differing.extend(compare(&state, &invocation).err());
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

fn repository() -> Repository {
    let repository = Repository::init(&[]);
    for path in ["tracked/file", "tracked/.gitignore", "t/file", "sub/file"] {
        repository.write(path, "ignored\n");
    }
    let sub = repository.path("sub");
    git(&sub, &["init", "-q"], b"");
    git(&sub, &["add", "-A"], b"");
    git(&sub, &["commit", "-q", "-m", "sub"], b"");
    repository.write(".gitignore", "/ignored\n");
    repository.git(&["add", "-A"]);
    repository.git(&["commit", "-q", "-m", "one"]);
    for path in [
        "sub/file",
        "tracked/new/x",
        "new/x",
        "new/deep/a",
        "new/deep/b",
    ] {
        repository.write(path, "new\n");
    }
    for path in ["ignored/x", "tracked/ignored/x", "nested/file"] {
        repository.write(path, "other\n");
    }
    git(&repository.path("nested"), &["init", "-q"], b"");
    std::fs::create_dir(repository.path("empty")).unwrap();
    for path in ["link", "tracked/link"] {
        std::os::unix::fs::symlink(repository.path("new"), repository.path(path)).unwrap();
    }
    repository
}

#[test]
fn the_environment_says_how_all_are_read() {
    let repository = Repository::init(&[]);
    for path in [
        "x[1].c",
        "x1.c",
        "X1.C",
        "d/x1.c",
        ":(icase)x1.c",
        "d/new/a.c",
    ] {
        repository.write(path, "untracked\n");
    }
    let specs = [
        "x[1].c",
        "*.c",
        ":(icase)x1.c",
        ":(glob)*.c",
        ":(literal)x[1].c",
        ":!*1.c",
    ];
    let names = ["LITERAL", "GLOB", "NOGLOB", "ICASE"].map(|name| format!("GIT_{name}_PATHSPECS"));
    for chosen in 0..16_usize {
        let chosen = names
            .iter()
            .enumerate()
            .filter(|(at, _)| chosen >> at & 1 == 1);
        let environment: Vec<_> = chosen.map(|(_, name)| (name.as_str(), "1")).collect();
        for spec in specs {
            let [git, own] = [Program::Git, HEDGEROW].map(|program| {
                let mut command = program.command(&repository.root);
                command.args(["status", "-s", "--", spec]);
                command.envs(environment.iter().copied());
                run(command)
            });
            assert_eq!(git, own, "{environment:?} {spec}");
        }
    }
}
