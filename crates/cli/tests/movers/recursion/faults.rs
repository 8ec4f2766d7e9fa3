//! Failing calls, a full disk and kills: no change in a submodule is lost, and failures are told.

use super::scene::{assert_no_locks, unabsorb, Scene};
use hedgerow_testkit::{run, Repository};
use std::fs;

/// Changes that a move from `nested` to `nested2` carries along or leaves alone.
const EDITS: [&str; 4] = ["sub/keep", "sub/u", "sub/inner/u", "base"];

fn edited(scene: &Scene) -> Repository {
    let copy = scene.copy("nested");
    for path in EDITS {
        copy.write(path, "edit\n");
    }
    copy
}

fn assert_edits(copy: &Repository, what: &str) {
    for path in EDITS {
        let found = fs::read(copy.root.join(path)).unwrap_or_default();
        assert_eq!(found, b"edit\n", "{what}: the edit of '{path}' is lost");
    }
}

/// The histories of all submodules are there.
fn assert_histories(copy: &Repository, what: &str) {
    for (name, place) in [("sub", "sub"), ("inner", "sub/inner")] {
        let absorbed = match name {
            "sub" => ".git/modules/sub",
            _ => ".git/modules/sub/modules/inner",
        };
        let places = [
            copy.root.join(absorbed),
            copy.root.join(place).join(".git"),
            copy.root.join("sub/.git/modules/inner"),
        ];
        let is_there = |git_dir: &std::path::PathBuf| {
            let git_dir = git_dir.to_str().unwrap();
            let words = [
                "--git-dir",
                git_dir,
                "--work-tree=.",
                "rev-parse",
                "origin/main",
            ];
            std::path::Path::new(git_dir).is_dir() && copy.run(&words, b"").code == 0
        };
        assert!(
            places.iter().any(is_there),
            "{what}: '{name}' has lost its history"
        );
    }
}

fn moved(copy: &Repository, to: &str) -> std::process::Command {
    let mut command = crate::HEDGEROW.command(&copy.root);
    command.args(["checkout", "-q", "-j2", "--recurse-submodules", to]);
    command
}

#[test]
fn no_failing_call_loses_a_change() {
    let scene = Scene::new("sha1");
    for (to, unabsorbs) in [("nested2", false), ("nested2", true), ("none", true)] {
        let fail = |fault: &str| -> usize {
            let copy = if to == "none" {
                scene.copy("nested")
            } else {
                edited(&scene)
            };
            if unabsorbs {
                unabsorb(&copy);
            }
            let mut command = moved(&copy, to);
            command.env("HEDGEROW_TEST_FAULT", fault);
            let outcome = run(command);
            let what = format!("{to} {fault}: {outcome:?}");
            assert_no_locks(&copy, &what);
            assert_histories(&copy, &what);
            if to != "none" {
                assert_edits(&copy, &what);
            }
            let is_whole = copy.ask(&["rev-parse", "HEAD"]) == copy.ask(&["rev-parse", to])
                && !copy
                    .ask(&["status", "--porcelain", "--ignore-submodules=dirty"])
                    .contains("sub");
            assert!(is_whole || outcome.code != 0, "a silent failure: {what}");
            fs::remove_dir_all(&copy.root).unwrap();
            let (_, count) = outcome.stderr.rsplit_once("saw ").expect(&what);
            count.split(' ').next().unwrap().parse().expect(&what)
        };
        for (ops, errno) in [
            ("create", 28),
            ("rename", 5),
            ("remove", 5),
            ("create+write+mkdir+close", 28),
        ] {
            let count = fail(&format!("{ops}:1000000:{errno}"));
            let step = count.div_ceil(12);
            for number in (1..=count).step_by(step) {
                fail(&format!("{ops}:{number}:{errno}"));
                // A disk that fills up stays full.
                fail(&format!("{ops}:{number}-1000000:{errno}"));
            }
        }
    }
}

#[test]
fn no_kill_loses_a_change() {
    let scene = Scene::new("sha1");
    let begun = std::time::Instant::now();
    moved(&edited(&scene), "nested2").status().unwrap();
    let takes = begun.elapsed();
    for moment in 0..30_u32 {
        let copy = edited(&scene);
        let mut child = moved(&copy, "nested2");
        let mut child = child.stderr(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(takes * moment / 26);
        child.kill().unwrap();
        child.wait().unwrap();
        let what = format!("killed after {moment}/26");
        assert_edits(&copy, &what);
        assert_histories(&copy, &what);
    }
}

/// HEAD must not name a commit whose submodules are not there.
#[test]
fn a_submodule_that_cannot_move_ends_a_reset() {
    let scene = Scene::new("sha1");
    let mut pair = scene.pair("add");
    pair.each("a filter that fails", |copy| {
        copy.git(&["-C", "sub", "config", "filter.f.required", "true"]);
        copy.git(&["-C", "sub", "config", "filter.f.clean", "cat"]);
        copy.git(&["-C", "sub", "config", "filter.f.smudge", "false"]);
        copy.write(".git/modules/sub/info/attributes", "* filter=f\n");
    });
    let words = ["reset", "--hard", "--recurse-submodules", "modify"];
    let (git, our) = pair.start(&words);
    assert_eq!((git.code, our.code), (128, 128), "{our:?}");
    for copy in [&pair.git, &pair.our] {
        assert_eq!(copy.ask(&["describe", "--tags"]), "add");
        assert_eq!(copy.ask(&["diff", "--cached"]), "");
    }
    pair.each("mend", |copy| {
        copy.git(&["-C", "sub", "config", "filter.f.smudge", "cat"]);
    });
    pair.same(&words);
}
