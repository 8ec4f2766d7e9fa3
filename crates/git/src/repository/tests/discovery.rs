use super::fixture::{fatal, real, text, words, Scratch};
use crate::repository::Repository;
use bstr::ByteSlice;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Asks git and the library where the parts of the repository are and compares the answers.
fn compare(scratch: &Scratch, directory: &str, variables: &[(&str, &str)]) {
    let context = format!("at {directory} with {variables:?}");
    let cwd = scratch.path(directory);
    let output = scratch.run(
        directory,
        &["rev-parse", "--git-dir", "--git-common-dir"],
        variables,
    );
    let found = match scratch.discover(directory, variables) {
        Ok(found) => found,
        Err(error) => {
            assert!(!output.status.success(), "{context}: {error}");
            assert_eq!(error.to_string(), fatal(&output), "{context}");
            return;
        }
    };
    assert!(output.status.success(), "{context}: {output:?}");
    let lines: Vec<PathBuf> = text(&output.stdout)
        .lines()
        .map(|line| cwd.join(line))
        .collect();
    assert_eq!(real(found.git_dir()), real(&lines[0]), "{context}");
    assert_eq!(real(found.common_dir()), real(&lines[1]), "{context}");
    let output = scratch.run(
        directory,
        &["rev-parse", "--is-inside-work-tree"],
        variables,
    );
    if text(&output.stdout) == "true" {
        let arguments = [
            "rev-parse",
            "--show-toplevel",
            "--show-prefix",
            "--git-path",
            "index",
        ];
        let output = scratch.run(directory, &arguments, variables);
        assert!(output.status.success(), "{context}: {output:?}");
        let output = text(&output.stdout);
        let lines: Vec<&str> = output.lines().collect();
        let top = found.work_tree().expect(&context);
        assert_eq!(top, Path::new(lines[0]), "{context}");
        assert_eq!(found.prefix(), lines[1], "{context}");
        assert_index(found.index_path(), &cwd, top, lines[2], &context);
    } else {
        assert_eq!(found.prefix(), "", "{context}");
    }
    let output = scratch.run(directory, &["rev-parse", "--is-bare-repository"], variables);
    assert_eq!(
        text(&output.stdout),
        found.is_bare().to_string(),
        "{context}"
    );
}

/// Git prints the index relative to the current directory, or leaves what it was given, which it
/// opens from the top.
fn assert_index(found: &Path, cwd: &Path, top: &Path, printed: &str, context: &str) {
    let normal = |path: PathBuf| {
        let mut parts = PathBuf::new();
        for part in path.components() {
            match part {
                std::path::Component::ParentDir => {
                    parts.pop();
                }
                std::path::Component::CurDir => {}
                part => parts.push(part),
            }
        }
        parts
    };
    let expected = [normal(cwd.join(printed)), normal(top.join(printed))];
    assert!(
        expected.contains(&normal(found.to_owned())),
        "{context}: {found:?} is not {printed}"
    );
}

#[test]
fn from_every_directory_of_a_working_tree() {
    let scratch = Scratch::with_history();
    std::fs::create_dir_all(scratch.path("r/a/b c")).unwrap();
    for directory in ["r", "r/a", "r/a/b c", "r/dir", "r/.git", "r/.git/refs", "."] {
        compare(&scratch, directory, &[]);
    }
}

#[test]
fn variables_in_all_combinations() {
    let scratch = Scratch::with_history();
    std::fs::create_dir_all(scratch.path("r/a/b")).unwrap();
    std::fs::create_dir_all(scratch.path("other/sub")).unwrap();
    let absolute = |inner: &str| scratch.path(inner).to_str().unwrap().to_owned();
    let git_dirs = [
        String::new(),
        absolute("r/.git"),
        absolute("r"),
        "../r/.git".into(),
        ".git".into(),
        absolute("other"),
    ];
    let trees = [
        String::new(),
        absolute("r"),
        absolute("other"),
        "..".into(),
        ".".into(),
    ];
    let indexes = [String::new(), absolute("other/index"), "own-index".into()];
    for directory in ["r", "r/a/b", "other/sub", "other", "."] {
        for git_dir in &git_dirs {
            for tree in &trees {
                for index in &indexes {
                    let all = [
                        ("GIT_DIR", git_dir.as_str()),
                        ("GIT_WORK_TREE", tree.as_str()),
                        ("GIT_INDEX_FILE", index.as_str()),
                    ];
                    let set: Vec<_> = all.into_iter().filter(|(_, v)| !v.is_empty()).collect();
                    compare(&scratch, directory, &set);
                }
            }
        }
    }
}

#[test]
fn a_place_that_is_named() {
    let scratch = Scratch::with_history();
    scratch.ask(".", &["init", "-q", "--bare", "b.git"]);
    let git_dir = scratch.path("b.git").to_str().unwrap().to_owned();
    let environment = scratch.environment(".", &[("GIT_DIR", &git_dir)]);
    let found = Repository::open_at(Path::new("r/dir"), &environment).unwrap();
    assert_eq!(found.require_work_tree().unwrap(), scratch.path("r"));
    assert_eq!(found.prefix(), "dir/");
    assert_eq!(found.environment().git_dir, None);
    let bare = Repository::discover(&environment).unwrap();
    let error = bare.require_work_tree().unwrap_err().to_string();
    assert_eq!(error, "this operation must be run in a work tree");
}

#[test]
fn core_worktree_and_bare() {
    let scratch = Scratch::with_history();
    std::fs::create_dir_all(scratch.path("tree/sub")).unwrap();
    scratch.ask(".", &["init", "-q", "--bare", "b.git"]);
    for directory in ["b.git", "b.git/refs"] {
        compare(&scratch, directory, &[]);
    }
    compare(&scratch, "tree", &[("GIT_DIR", "../b.git")]);
    compare(
        &scratch,
        "tree",
        &[("GIT_DIR", "../b.git"), ("GIT_WORK_TREE", ".")],
    );
    compare(
        &scratch,
        "tree/sub",
        &[("GIT_DIR", "../../b.git"), ("GIT_WORK_TREE", "..")],
    );
    scratch.ask("r", &["config", "core.worktree", "../../tree"]);
    for directory in ["r", "r/dir", "r/.git", "tree", "tree/sub"] {
        let git_dir = scratch.path("r/.git").to_str().unwrap().to_owned();
        compare(&scratch, directory, &[("GIT_DIR", &git_dir)]);
    }
    compare(&scratch, "r", &[]);
    compare(&scratch, "r/dir", &[]);
    scratch.ask("r", &["config", "core.bare", "true"]);
    let output = scratch.run("r", &["status"], &[]);
    let opened = scratch.open("r");
    assert!(opened.contradicts_itself() && opened.work_tree().is_none());
    let refusal = words(opened.require_work_tree().map(|_| ()));
    assert!(fatal(&output).ends_with(&refusal), "{output:?}: {refusal}");
    scratch.ask("b.git", &["config", "core.bare", "false"]);
    compare(&scratch, "b.git", &[]);
    compare(
        &scratch,
        "tree",
        &[("GIT_DIR", "../b.git"), ("GIT_IMPLICIT_WORK_TREE", "0")],
    );
}

#[test]
fn linked_working_trees_and_submodules() {
    let scratch = Scratch::with_history();
    scratch.ask("r", &["worktree", "add", "-q", "-b", "side", "../linked"]);
    scratch.ask(".", &["init", "-q", "super"]);
    scratch.ask("super", &["submodule", "--quiet", "add", "../r", "inner"]);
    for directory in [
        "linked",
        "linked/dir",
        "super",
        "super/inner",
        "super/inner/dir",
    ] {
        compare(&scratch, directory, &[]);
    }
    compare(&scratch, "r/.git/worktrees/linked", &[]);
    let linked = scratch.open("linked");
    assert!(linked.common_dir().ends_with("r/.git"));
    assert!(linked.git_dir().ends_with("worktrees/linked"));
    assert_eq!(linked.head().unwrap().branch().unwrap(), "refs/heads/side");
    let dot_git = scratch.path("linked/.git").to_str().unwrap().to_owned();
    compare(&scratch, "linked/dir", &[("GIT_DIR", &dot_git)]);
    let common = scratch.path("r/.git").to_str().unwrap().to_owned();
    compare(&scratch, "linked", &[("GIT_COMMON_DIR", &common)]);
    scratch.ask("r", &["config", "extensions.worktreeConfig", "true"]);
    scratch.ask("linked", &["config", "--worktree", "core.bare", "false"]);
    scratch.ask("linked", &["config", "--worktree", "test.key", "linked"]);
    compare(&scratch, "linked/dir", &[]);
    assert_eq!(
        scratch.open("linked").config().string("test.key").unwrap(),
        "linked"
    );
    assert_eq!(scratch.open("r").config().string("test.key"), None);
}

#[test]
fn a_name_of_any_bytes() {
    let scratch = Scratch::with_history();
    let name = std::ffi::OsStr::from_bytes(b"r/n\xe9me\nline");
    std::fs::create_dir(scratch.path(".").join(name)).unwrap();
    let environment = crate::config::Environment {
        cwd: scratch.path(".").join(name),
        ..scratch.environment("r", &[])
    };
    let found = Repository::discover(&environment).unwrap();
    assert_eq!(found.prefix().as_bytes(), b"n\xe9me\nline/");
}

#[test]
fn a_ceiling_stops_the_search() {
    let scratch = Scratch::with_history();
    std::fs::create_dir_all(scratch.path("r/a/b")).unwrap();
    for inner in ["r/a", "r/a/b", "r", "."] {
        let ceiling = scratch.path(inner).to_str().unwrap().to_owned();
        compare(&scratch, "r/a/b", &[("GIT_CEILING_DIRECTORIES", &ceiling)]);
        let two = format!("/nowhere:{ceiling}");
        compare(&scratch, "r/a/b", &[("GIT_CEILING_DIRECTORIES", &two)]);
    }
}

#[test]
fn broken_git_files_are_refused_in_gits_words() {
    let scratch = Scratch::with_history();
    for content in [
        "",
        "gitdir:",
        "gitdir: \n",
        "gitdir: nowhere\n",
        "gitdir: /nowhere",
        "nothing",
        "gitdir: ../home\n",
    ] {
        scratch.write("broken/.git", content);
        compare(&scratch, "broken", &[]);
    }
    scratch.write("broken/.git", vec![b'x'; 2 << 20]);
    compare(&scratch, "broken", &[]);
    let nowhere = [("GIT_DIR", "nowhere")];
    compare(&scratch, "r", &nowhere);
    assert_eq!(
        scratch.refusal("r", &nowhere),
        "not a git repository: 'nowhere'"
    );
    scratch.write("broken/.git", "gitdir: ../r/.git");
    compare(&scratch, "broken", &[]);
}

#[test]
fn no_repository_at_all() {
    let scratch = Scratch::new();
    compare(&scratch, "home", &[]);
    assert_eq!(
        scratch.refusal("home", &[]),
        "not a git repository (or any of the parent directories): .git"
    );
}

/// Scripts with a variable that they forgot to set must not lose the files of where they happen to be.
#[test]
fn empty_names_are_no_places() {
    let scratch = Scratch::new();
    scratch.ask("home", &["init", "-q", "../r"]);
    scratch.ask("home", &["init", "-q", "--bare", "../b.git"]);
    for name in [
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_COMMON_DIR",
        "GIT_OBJECT_DIRECTORY",
    ] {
        for directory in ["r", "b.git", "home"] {
            compare(&scratch, directory, &[(name, "")]);
            compare(&scratch, directory, &[("GIT_DIR", "../r/.git"), (name, "")]);
        }
    }
    assert_eq!(
        scratch.refusal("r", &[("GIT_DIR", "")]),
        "not a git repository: ''"
    );
    let unwritable = scratch.discover("r", &[("GIT_INDEX_FILE", "")]).unwrap();
    assert!(unwritable.load_index().is_err());
}
