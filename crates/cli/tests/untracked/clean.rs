//! What `clean` removes, keeps, says and refuses.

use crate::scene::Scene;
use crate::twins::{names, Twins};
use hedgerow_testkit::play_sample;
use hedgerow_testkit::{run, Mount, Program, Random, Repository};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Tracked, untracked and ignored files, empty directories, links and repositories.
fn small(repository: &Repository) {
    repository.write(".gitignore", "*.o\nbuild/\n");
    repository.write("tracked", "1");
    repository.write("part1/tracked", "1");
    repository.commit("first");
    for path in [
        "new",
        "new.o",
        "part1/new",
        "part1/new.o",
        "dir/a",
        "dir/b.o",
        "dir/sub/c",
        "plain/a",
        "plain/sub/b",
        "build/a",
        "build/b/c",
        "only/x.o",
        "a b",
        "q\"t",
        "t\tb",
        "ä",
        "part1/d/e",
    ] {
        repository.write(path, "x");
    }
    repository.write(b"\xff\xfe", "x");
    repository.write(b"plain/\xff\n", "x");
    std::fs::create_dir_all(repository.path("empty/sub")).unwrap();
    repository.symlink("link", "tracked");
    repository.symlink("linkdir", "part1");
    repository.symlink("plain/outside", "../../elsewhere");
    for path in ["repo", "dir2/repo"] {
        std::fs::create_dir_all(repository.path(path)).unwrap();
        Repository::at(repository.path(path)).git(&["init", "-q"]);
    }
    repository.write("dir2/file", "x");
    repository.write("bad/.git", "gitdir: nowhere\n");
    repository.write("bad/file", "x");
}

const OPTIONS: [&str; 34] = [
    "",
    "-d",
    "-x",
    "-X",
    "-dx",
    "-dX",
    "-fd",
    "-fdx",
    "-fdX",
    "-q",
    "-dq",
    "-fdxq",
    "-e new",
    "-d -e a",
    "-dx -e *.o",
    "-dx -e build -e plain",
    "-dX -e new",
    "--exclude=dir -d",
    "-d --exclude !new",
    "dir",
    "dir/",
    "-x dir",
    "-X dir",
    "part1",
    "-d part1",
    "dir/*",
    "*.o",
    "-x *.o",
    "-X *.o",
    ":(glob)**/c",
    "-x :!dir",
    "-- dir part1/new",
    "build",
    "-X build/b",
];

/// Each combination, dry first: then both trees are still the same.
#[test]
fn every_combination_of_options() {
    for options in OPTIONS {
        for directory in ["", "part1", "dir", "empty"] {
            let mut twins = Twins::new(options, small);
            for force in ["-n", "-nf", "-f"] {
                let line = format!("clean {force} {options}");
                twins.line(directory, line.trim_end());
            }
        }
    }
}

#[test]
fn whatever_the_number_of_workers() {
    for jobs in ["1", "3", "64"] {
        let mut twins = Twins::new("jobs", small);
        twins.options = vec![format!("-j{jobs}")];
        twins.line("dir", "clean -ffdx ../part1");
        twins.line("", "clean -fdx");
        twins.line("", "clean -ffdx");
    }
}

#[test]
fn force_is_required_unless_the_configuration_says_otherwise() {
    let mut twins = Twins::new("force", small);
    for line in [
        "clean",
        "clean -d",
        "clean -x -X",
        "clean -q dir",
        "clean -f -x -X",
    ] {
        let outcome = twins.line("", line);
        assert_eq!(outcome.code, 128, "{line}");
    }
    twins.line("", "clean --no-force -f --no-force");
    twins.each("configure", |repository| {
        drop(repository.git(&["config", "clean.requireForce", "false"]));
    });
    twins.line("", "clean -n -d");
    twins.line("", "clean dir");
    twins.line("part1", "clean");
}

/// Whatever git refuses to understand, it refuses before it removes anything.
#[test]
fn settings_for_columns_must_make_sense() {
    let repository = Repository::init(&[]);
    small(&repository);
    for setting in ["column.ui=nonsense", "column.clean=always nonsense"] {
        for program in [Program::Git, crate::HEDGEROW] {
            let mut command = program.command(&repository.root);
            command.args(["-c", setting, "clean", "-fdx"]);
            assert_eq!(run(command).code, 128, "{setting}");
            assert!(repository.path("new").exists(), "{setting}");
        }
    }
}

#[test]
fn questions_are_left_to_git() {
    let twins = Twins::new("questions", small);
    for line in [
        "clean -i",
        "clean -id",
        "clean --interactive dir",
        "clean -f --inter",
    ] {
        let before = names(&twins.our.root);
        let outcome = twins.our_line(line);
        assert_eq!(outcome.code, 129, "{line}");
        assert!(
            outcome.stderr.contains("has no option --interactive"),
            "{line}"
        );
        assert!(outcome.stderr.contains("git clean -i"), "{line}");
        assert_eq!(names(&twins.our.root), before);
    }
}

#[test]
fn high_bytes_are_shown_as_configured() {
    let mut twins = Twins::new("quoting", small);
    twins.each("configure", |repository| {
        drop(repository.git(&["config", "core.quotePath", "false"]));
    });
    twins.line("", "clean -nd");
    twins.line("", "clean -fdx");
}

#[test]
fn the_current_directory_stays() {
    let deep = |repository: &Repository| {
        small(repository);
        repository.write("gone/a/b/c/file", "x");
        repository.write("gone/a/other", "x");
        repository.write("gone/z", "x");
    };
    for directory in ["gone", "gone/a", "gone/a/b/c", "empty/sub", "part1/d"] {
        for line in [
            "clean -nd",
            "clean -fd",
            "clean -fdq",
            "clean -fd .",
            "clean -fd ..",
            "clean -fd :/",
            "clean -fdx :/",
        ] {
            let mut twins = Twins::new(directory, deep);
            twins.line(directory, line);
        }
    }
}

#[test]
fn started_elsewhere_the_callers_directory_stays() {
    for (directory, up) in [("dir/sub", "../.."), ("plain", "..")] {
        let twins = Twins::new("-C", small);
        for (repository, program) in [(&twins.git, Program::Git), (&twins.our, crate::HEDGEROW)] {
            let mut command = program.command(&repository.root.join(directory));
            command.args(["-C", up, "clean", "-fdx"]);
            let said = run(command).text();
            assert!(said.contains("Refusing to remove current working directory"));
        }
        twins.assert_same_state();
    }
}

#[test]
fn repositories_stay_unless_forced_twice() {
    let nested = |repository: &Repository| {
        small(repository);
        for path in ["deep/in/repo", "deep/repo", "build/repo"] {
            std::fs::create_dir_all(repository.path(path)).unwrap();
            let inner = Repository::at(repository.path(path));
            inner.git(&["init", "-q"]);
            inner.write("file", "x");
        }
        repository.write("deep/in/file", "x");
        repository.git(&["init", "-q", "--bare", "bare.git"]);
        repository.git(&["init", "-q", "--separate-git-dir", "apart.git", "apart"]);
        repository.git(&["worktree", "add", "-q", "--detach", "linked"]);
    };
    for line in [
        "clean -fd",
        "clean -fdx",
        "clean -ffd",
        "clean -ffdx",
        "clean -nd",
        "clean -nffdx",
        "clean -fdX",
        "clean -ffdX",
        "clean -f repo",
        "clean -ff repo",
        "clean -f deep",
        "clean -fd deep/in/repo/file",
        "clean -fdx build/repo",
    ] {
        let mut twins = Twins::new("nested", nested);
        twins.line("", line);
    }
}

/// What is behind a symbolic link is not touched.
#[test]
fn links_are_removed_and_never_followed() {
    let mut twins = Twins::new("links", |repository| {
        small(repository);
        let outside = repository.root.with_extension("outside");
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(outside.join("precious"), "x").unwrap();
        std::os::unix::fs::symlink(&outside, repository.path("away")).unwrap();
        std::os::unix::fs::symlink(&outside, repository.path("plain/away")).unwrap();
        // A directory of tracked files that became a link.
        repository.remove("part1");
        std::os::unix::fs::symlink(&outside, repository.path("part1")).unwrap();
    });
    twins.line("", "clean -nd away/precious");
    twins.line("", "clean -fd away/precious");
    twins.line("", "clean -ffdx");
    for root in [&twins.git.root, &twins.our.root] {
        assert!(root.with_extension("outside").join("precious").exists());
    }
}

/// Only where the user is not root are directories without permissions in the way.
#[test]
fn what_cannot_be_removed_is_told() {
    let Some(mount) = Mount::tmpfs("size=1m") else {
        hedgerow_testkit::skip("mounting needs root");
        return;
    };
    drop(mount);
    let mut mounts = Vec::new();
    let mut twins = Twins::new("mount points", small);
    for root in [&twins.git.root, &twins.our.root] {
        for place in ["plain/mnt", "plain/sub/mnt"] {
            let place = root.join(place);
            std::fs::create_dir_all(&place).unwrap();
            let mut command = hedgerow_testkit::isolated("mount");
            command.args(["-t", "tmpfs", "tmpfs"]).arg(&place);
            assert!(command.status().unwrap().success());
            std::fs::write(place.join("inside"), "x").unwrap();
            mounts.push(place);
        }
    }
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        twins.line("", "clean -nd");
        let outcome = twins.line("", "clean -fd");
        assert_eq!(outcome.code, 1);
        assert!(outcome
            .stderr
            .contains("failed to remove plain/mnt: Device or resource busy"));
        let document = twins.our_line("clean -fd --json").text();
        assert!(document.contains("\"status\": \"partial\""), "{document}");
    }));
    for place in mounts {
        let mut command = hedgerow_testkit::isolated("umount");
        assert!(command.arg("-l").arg(&place).status().unwrap().success());
    }
    outcome.unwrap();
}

#[test]
fn directories_without_permissions() {
    let is_root = hedgerow_fs::effective_uid() == 0;
    let setpriv = std::process::Command::new("setpriv")
        .arg("--version")
        .output();
    if is_root && setpriv.is_err() {
        return hedgerow_testkit::skip(
            "permissions mean nothing to root, and setpriv(1) is missing",
        );
    }
    let locked = [
        ("dir/sub", 0o555),
        ("plain", 0o000),
        ("plain2/full", 0o000),
        ("empty/sub", 0o000),
    ];
    for words in ["-fd", "-ndx", "-fdx", "-ffdx", "-fdX", "-ffdx plain2"] {
        let mut twins = Twins::new("permissions", small);
        twins.obey_permissions = is_root;
        let set = |root: &Path, closed: bool| {
            for (path, mode) in locked {
                let permissions = Permissions::from_mode(if closed { mode } else { 0o755 });
                let _ = std::fs::set_permissions(root.join(path), permissions);
            }
        };
        twins.each("close", |repository| {
            for (path, _) in locked {
                std::fs::create_dir_all(repository.path(path)).unwrap();
            }
            std::fs::write(repository.path("plain2/full/file"), "x").unwrap();
            set(&repository.root, true);
        });
        let mut all = vec![&b"clean"[..]];
        all.extend(words.split(' ').map(str::as_bytes));
        let outcome = twins.said(b"", &all);
        if words.starts_with("-f") && words != "-fdX" {
            let warning = "could not open directory 'plain2/full/': Permission denied";
            assert!(outcome.stderr.contains(warning), "{}", outcome.stderr);
        }
        twins.each("open", |repository| set(&repository.root, false));
        twins.assert_same_state();
    }
}

#[test]
fn the_document_says_what_happened() {
    let twins = Twins::new("json", small);
    let dry: serde_json::Value =
        serde_json::from_slice(&twins.our_line("clean -ndx --json").stdout).unwrap();
    assert_eq!(dry["schema"], "hedgerow.clean.v1");
    assert_eq!(
        (&dry["dry_run"], &dry["status"]),
        (&true.into(), &"done".into())
    );
    let done: serde_json::Value =
        serde_json::from_slice(&twins.our_line("clean -fdx --json").stdout).unwrap();
    assert_eq!(done["dry_run"], false);
    for field in ["removed", "repositories"] {
        assert_eq!(done[field], dry[field]);
    }
    let removed = done["removed"].as_array().unwrap();
    assert!(removed.contains(&"plain/".into()) && removed.contains(&"new.o".into()));
    assert_eq!(done["repositories"], serde_json::json!(["dir2/repo"]));
    assert_eq!(done["failures"], serde_json::json!([]));
}

#[test]
fn outside_a_working_tree_it_is_refused() {
    let mut twins = Twins::new("bare", |repository| {
        drop(repository.git(&["config", "core.bare", "true"]));
    });
    twins.said(b"", &[b"clean", b"-f"]);
}

#[test]
fn sparse_checkouts() {
    for index in ["false", "true"] {
        let mut twins = Twins::new(index, |repository| {
            for path in ["in/a", "out/a", "out/deep/b", "top"] {
                repository.write(path, "x");
            }
            repository.write("out/.gitignore", "*.o\n");
            repository.git(&["config", "advice.sparseIndexExpanded", "false"]);
            repository.commit("first");
            let sparse = format!("--{}sparse-index", if index == "true" { "" } else { "no-" });
            repository.git(&["sparse-checkout", "set", "--cone", &sparse, "in"]);
            for path in [
                "in/new",
                "out/new",
                "out/new.o",
                "out/deep/new",
                "other/new",
            ] {
                repository.write(path, "x");
            }
        });
        for line in [
            "clean -n",
            "clean -nd",
            "clean -ndx",
            "clean -nX",
            "clean -fd",
        ] {
            twins.line("", line);
        }
    }
}

#[test]
fn seeds_0_to_149() {
    play(0..150);
}

#[test]
fn seeds_150_to_299() {
    play(150..300);
}

/// `HEDGEROW_TEST_SEED=N` replays one; `HEDGEROW_TEST_SEEDS=all` plays all of them.
fn play(seeds: std::ops::Range<u64>) {
    play_sample(seeds, play_one);
}

fn play_one(seed: u64) {
    let random = &mut Random::new(seed);
    let scene = Scene::new(random);
    let mut twins = Twins::new(&format!("seed {seed}"), |it| scene.make(it));
    twins.options = vec![format!("-j{}", random.pick(&["1", "2", "8", "64"]))];
    for _ in 0..6 {
        clean_once(&mut twins, &scene, random, "-n");
    }
    clean_once(&mut twins, &scene, random, "-f");
    clean_once(&mut twins, &scene, random, "-ff");
}

fn clean_once(twins: &mut Twins, scene: &Scene, random: &mut Random, force: &str) {
    let mut words: Vec<Vec<u8>> = vec![b"clean".to_vec(), force.as_bytes().to_vec()];
    let mut add = |chance: usize, word: &str, random: &mut Random| {
        if random.chance(chance) {
            words.push(word.as_bytes().to_vec());
        }
    };
    add(70, "-d", random);
    add(30, "-f", random);
    add(10, "-q", random);
    match random.below(4) {
        0 => add(100, "-x", random),
        1 => add(100, "-X", random),
        _ => {}
    }
    for pattern in ["a", "*.o", "!*.o", "/lib", "src/", "b/c"] {
        add(8, &format!("--exclude={pattern}"), random);
    }
    let directory = random.pick(&scene.directories).clone();
    let is_there = [&twins.git, &twins.our].map(|it| it.path(&directory).is_dir());
    let directory = if is_there == [true, true] && random.chance(40) {
        directory
    } else {
        Vec::new()
    };
    if random.chance(40) {
        words.push(b"--".to_vec());
        for _ in 0..1 + random.below(2) {
            let path = random.pick(&scene.paths).clone();
            let first = path.split(|byte| *byte == b'/').next().unwrap().to_vec();
            words.push(match random.below(7) {
                0 => [b":(top,literal)", first.as_slice()].concat(),
                1 => b"*.o".to_vec(),
                2 => b":(glob,top)**/a".to_vec(),
                3 => [b":(top,exclude,literal)", path.as_slice()].concat(),
                4 => [b":(top,literal)", first.as_slice(), b"/"].concat(),
                _ => [b":(top,literal)", path.as_slice()].concat(),
            });
        }
    }
    let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    twins.words(&directory, &words);
}
