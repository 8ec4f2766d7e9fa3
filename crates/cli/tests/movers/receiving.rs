//! `submodule update` of what has to be cloned or fetched first, beside git.

use crate::submodules::{assert_same_submodules, scene};
use crate::twins::Twins;
use crate::HEDGEROW;
use hedgerow_testkit::{run, Repository};
use std::fs;

/// Only the superproject is here: none of its submodules was cloned.
fn alone(it: &Repository) {
    scene(it);
    it.git(&["submodule", "--quiet", "deinit", "-f", "--all"]);
    fs::remove_dir_all(it.root.join(".git/modules")).unwrap();
    fs::remove_file(it.root.join(".git/index")).unwrap();
    it.git(&["reset", "-q", "--hard"]);
}

fn twins(label: &str) -> Twins {
    let mut twins = Twins::new(label, alone);
    let allowed = ("GIT_ALLOW_PROTOCOL", "file".to_owned());
    twins.variables.push(allowed);
    twins
}

fn other(it: &Repository, name: &str) -> Repository {
    Repository::at(it.root.parent().unwrap().join(name))
}

#[test]
fn submodules_are_cloned_as_by_git() {
    for line in [
        "submodule update --init --recursive",
        "submodule update --init dir one",
        "submodule update --quiet --init --recursive",
        "submodule update --init --require-init --no-single-branch three",
        "submodule update --init --single-branch --filter=blob:none",
        "submodule update --init --reference ../one one",
        "submodule update --init --reference ../one --dissociate one",
        "submodule update --filter=blob:none --recursive --init --no-recommend-shallow",
        "submodule update",
    ] {
        let mut twins = twins(line);
        twins.line(line);
        assert_same_submodules(&twins);
        twins.line("submodule status --recursive");
    }
}

#[test]
fn histories_end_where_they_should() {
    for line in [
        "submodule update --init --depth 1",
        "submodule update --init --depth=2 --no-recommend-shallow one",
        "submodule update --init",
        "submodule update --init --no-recommend-shallow",
    ] {
        let mut twins = twins(line);
        twins.each(|it| {
            for name in ["one", "two", "three"] {
                let url = format!("file://{}", other(it, name).root.display());
                it.git(&["config", &format!("submodule.{name}.url"), &url]);
            }
            let shallow = ["config", "-f", ".gitmodules", "submodule.two.shallow"];
            it.git(&[&shallow[..], &["true"]].concat());
        });
        twins.line(line);
        assert_same_submodules(&twins);
        let shallow = |it: &Repository, name: &str| {
            fs::read(it.root.join(format!(".git/modules/{name}/shallow"))).ok()
        };
        for name in ["one", "two", "three"] {
            assert_eq!(
                shallow(&twins.git, name),
                shallow(&twins.our, name),
                "{line}"
            );
        }
    }
}

#[test]
fn commits_are_fetched_as_by_git() {
    let mut twins = Twins::new("fetched", scene);
    let allowed = ("GIT_ALLOW_PROTOCOL", "file".to_owned());
    twins.variables.push(allowed);
    twins.each(|it| {
        for (name, path) in [("one", "one"), ("two", "dir/two")] {
            let source = other(it, name);
            source.commit_files(&[("file", "newer\n")], "newer");
            let newer = source.ask(&["rev-parse", "HEAD"]);
            let entry = format!("160000,{},{path}", newer.trim());
            it.git(&["update-index", "--cacheinfo", &entry]);
        }
        // No reference reaches this one: it is fetched by itself.
        let source = other(it, "three");
        source.commit_files(&[("file", "gone\n")], "gone");
        let gone = source.ask(&["rev-parse", "HEAD"]);
        source.git(&["reset", "-q", "--hard", "HEAD~1"]);
        source.git(&["config", "uploadpack.allowAnySHA1InWant", "true"]);
        let entry = format!("160000,{},three", gone.trim());
        it.git(&["update-index", "--cacheinfo", &entry]);
    });
    twins.line("submodule update --quiet one");
    twins.line("submodule update --quiet");
    assert_same_submodules(&twins);
    // What nobody has: nothing is moved then.
    twins.each(|it| {
        it.git(&["-C", "one", "checkout", "-q", "HEAD~1"]);
        let missing = "160000,1234567890123456789012345678901234567890,three";
        it.git(&["update-index", "--cacheinfo", missing]);
    });
    let before = twins.our.tree();
    let said = twins.our_line("submodule update");
    let said = said.failed(128, "nobody has it");
    let expected = "fatal: Fetched in submodule path 'three', but it did not contain \
                    1234567890123456789012345678901234567890. Direct fetching of that commit failed.\n";
    assert!(said.ends_with(expected), "{said}");
    assert_eq!(twins.our.tree(), before);
}

#[test]
fn what_cannot_be_cloned_is_told_and_nothing_is_checked_out() {
    let mut gone = twins("gone");
    gone.each(|it| fs::remove_dir_all(&other(it, "two").root).unwrap());
    gone.line("submodule update --init");
    let mut forbidden = Twins::new("forbidden", alone);
    forbidden.line("submodule update --init");
    let mut nowhere = twins("nowhere");
    nowhere.each(|it| {
        it.git(&[
            "config",
            "-f",
            ".gitmodules",
            "--unset",
            "submodule.one.url",
        ]);
    });
    nowhere.line("submodule update --init dir");
    let mut taken = twins("taken");
    taken.each(|it| {
        it.write("one/file", "mine\n");
        it.write("dir/two/file", "mine\n");
    });
    taken.line("submodule update --init one");
    let below = twins("below");
    fs::remove_dir_all(&other(&below.our, "inner").root).unwrap();
    let said = below.our_line("submodule update --init --recursive");
    assert_eq!(said.text().lines().count(), 3, "the others are there");
    let said = said.failed(1, "nothing below");
    let expected = "Failed to clone 'inner' a second time, aborting\n\
                    fatal: Failed to recurse into submodule path 'one'\n";
    assert!(said.ends_with(expected), "{said}");
}

#[test]
fn a_directory_with_files_is_not_cloned_into_where_that_is_asked_for() {
    let twins = twins("full");
    twins.our.write("one/file", "mine\n");
    let before = twins.our.tree();
    let said = twins.our_line("submodule update --require-init");
    let said = said.failed(128, "full");
    assert!(said.starts_with("fatal: directory not empty: '"), "{said}");
    assert_eq!(twins.our.tree(), before);
}

#[test]
fn without_git_nothing_is_received() {
    let twins = twins("without git");
    let before = twins.our.tree();
    let mut command = HEDGEROW.command(&twins.our.root);
    command.env("PATH", twins.our.root.join("nothing"));
    command.args(["submodule", "update", "--init"]);
    let said = run(command);
    let said = said.failed(129, "no git");
    assert!(
        said.contains("'dir/two', which has to be cloned first"),
        "{said}"
    );
    assert_eq!(twins.our.tree(), before);
    assert!(!twins.our.root.join(".git/modules").exists());
}

#[test]
fn repositories_are_made_nowhere_else_and_not_inside_of_each_other() {
    // A link that leads out of the repository.
    let linked = twins("linked");
    let outside = linked.our.root.with_file_name("outside");
    fs::create_dir(linked.our.root.join(".git/modules")).unwrap();
    std::os::unix::fs::symlink(&outside, linked.our.root.join(".git/modules/one")).unwrap();
    let said = linked
        .our_line("submodule update --init")
        .failed(128, "a link");
    assert!(said.contains("not a git repository: "), "{said}");
    assert!(!outside.exists());
    // CVE-2024-32002 and its relatives: the files of one are those of another.
    let nested = twins("nested");
    for (name, other) in [("two", "three/hooks"), ("one", "three/hooks/one")] {
        let modules = nested.our.root.join(".gitmodules");
        let text = fs::read_to_string(&modules).unwrap();
        let (old, new) = (
            format!("[submodule \"{name}\"]"),
            format!("[submodule \"{other}\"]"),
        );
        fs::write(modules, text.replace(&old, &new)).unwrap();
    }
    let said = nested
        .our_line("submodule update --init")
        .failed(128, "nested");
    assert!(said.contains("is inside git dir '"), "{said}");
    assert!(!nested.our.root.join(".git/modules").exists());
}

#[test]
fn a_submodule_without_a_commit_is_left_alone() {
    for line in ["submodule update -f one", "submodule update one"] {
        let mut twins = Twins::new(line, scene);
        twins.each(|it| {
            it.git(&["-C", "one", "checkout", "-q", "--orphan", "new"]);
            it.write("one/file", "mine\n");
        });
        twins.line(line);
        assert_same_submodules(&twins);
    }
}

/// git takes it for done.
#[test]
fn a_second_run_finishes_what_was_interrupted() {
    let twins = Twins::new("interrupted", scene);
    let our = &twins.our;
    fs::remove_file(our.root.join(".git/modules/one/index")).unwrap();
    for name in [".gitmodules", "file", "more", "inner"] {
        let path = our.root.join("one").join(name);
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
    }
    twins.our_line("submodule update one").ok("again");
    assert!(our.root.join("one/more/file").exists());
    assert_eq!(our.ask(&["-C", "one", "status", "--porcelain"]), "");
    // A repository that the user has just made is not taken for a clone.
    fs::remove_dir_all(our.root.join("three")).unwrap();
    our.git(&["init", "-q", "three"]);
    let said = twins
        .our_line("submodule update -f three")
        .failed(128, "no commit");
    assert!(said.contains("Unable to find current revision"), "{said}");
    // Files without an index are somebody's.
    fs::remove_file(our.root.join(".git/modules/one/index")).unwrap();
    our.write("one/file", "mine\n");
    twins.our_line("submodule update one").ok("at its commit");
    assert_eq!(fs::read(our.root.join("one/file")).unwrap(), b"mine\n");
}
