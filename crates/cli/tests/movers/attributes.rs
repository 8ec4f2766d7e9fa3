//! What `:(attr:...)` selects, in every command that takes pathspecs, beside git.

use crate::twins::Twins;
use hedgerow_testkit::{git_is_at_least, Repository};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

fn scene(it: &Repository) {
    it.write(
        ".gitattributes",
        "*.a labelA\n*.b labelB=value\ndir labelDir\n*.n -labelA\n[attr]both labelA labelB=two\n\
         *.both both\n",
    );
    it.write("sub/.gitattributes", "special labelA\n*.a !labelA\n");
    for path in [
        "one.a",
        "two.b",
        "three.n",
        "four.both",
        "plain",
        "dir/one.a",
        "dir/plain",
        "sub/one.a",
        "sub/special",
        "sub/deeper/two.b",
        "sub/deeper/special",
    ] {
        it.write(path, "one\n");
    }
    it.commit("one");
    for path in [
        "one.a",
        "two.b",
        "three.n",
        "four.both",
        "plain",
        "dir/one.a",
        "sub/special",
    ] {
        it.write(path, "changed\n");
    }
    it.write("sub/deeper/two.b", "changed\n");
    for path in ["new.a", "new.b", "new", "dir/new.a", "other/new.a"] {
        it.write(path, "new\n");
    }
}

const SPECS: [&str; 25] = [
    ":(attr:labelA)",
    ":(attr:labelA labelA)",
    ":(attr:labelA -labelA)",
    ":(attr:labelA labelB labelA)",
    ":(attr:-labelA)",
    ":(attr:!labelA)",
    ":(attr:labelB)",
    ":(attr:labelB=value)",
    ":(attr:labelB=two)",
    ":(attr:labelA,attr:labelB)",
    ":(attr:labelA\u{1}labelB=two)",
    ":(attr:labelA)dir",
    ":(attr:labelDir)dir",
    ":(attr:labelDir)",
    ":(attr:labelA)sub/",
    ":(attr:!labelA)sub",
    ":(attr:labelA,exclude)",
    ":(exclude,attr:labelA)sub",
    ":(attr:labelA,glob)**/*.a",
    ":(attr:labelA,icase)ONE.A",
    ":(attr:labelA)*.a",
    ":(attr:)",
    ":(attr:+a)",
    ":(attr:a=b?)",
    ":(attr:nothing)",
];

#[test]
fn attributes_select_paths_in_every_command() {
    if !git_is_at_least(2, 44, "pathspecs with attributes in all commands") {
        return;
    }
    for spec in SPECS {
        in_every_command(Twins::new(spec, scene), spec);
    }
}

fn in_every_command(mut twins: Twins, spec: &str) {
    for line in [
        "ls-files",
        "ls-files -m",
        "ls-files -o",
        "ls-files -o --directory",
        "status --porcelain",
        "status --porcelain -uall --ignored",
        "diff-files --name-only",
        "diff-index --name-only HEAD",
        "clean -n",
        "clean -nd",
        "archive HEAD",
        "archive --worktree-attributes HEAD",
        "reset -q",
        "checkout",
        "restore --staged",
    ] {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let spec = spec.replace('\u{1}', " ");
        twins.words("", &[&words[..], &["--".to_owned(), spec]].concat());
    }
    for line in ["ls-files", "status --porcelain", "clean -nd"] {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let spec = spec.replace('\u{1}', " ");
        twins.words("sub", &[&words[..], &["--".to_owned(), spec]].concat());
    }
}

/// Git makes up an attribute that says what a path is.
#[test]
fn modes_select_paths_in_every_command() {
    if !git_is_at_least(2, 44, "pathspecs with attributes in all commands") {
        return;
    }
    let modes = |it: &Repository| {
        scene(it);
        for path in ["one.a", "sub/special", "new"] {
            std::fs::set_permissions(it.root.join(path), Permissions::from_mode(0o755)).unwrap();
        }
        it.symlink("link", "plain");
        for (path, is_tracked) in [("linked", true), ("nested", false)] {
            it.git(&["init", "-q", path]);
            let message = ["commit", "-q", "--allow-empty", "-m", "inner"];
            it.git(&[&["-C", path], &message[..]].concat());
            if is_tracked {
                it.git(&["-c", "advice.addEmbeddedRepo=false", "add", path]);
            }
        }
        it.git(&["add", "one.a", "link"]);
    };
    for spec in [
        ":(attr:builtin_objectmode=100644)",
        ":(attr:builtin_objectmode=100755)",
        ":(attr:builtin_objectmode=120000)",
        ":(attr:builtin_objectmode=160000)",
        ":(attr:builtin_objectmode=040000)",
        ":(attr:builtin_objectmode)",
        ":(attr:!builtin_objectmode)",
        ":(attr:!builtin_other)",
        ":(attr:builtin_other)",
        ":(attr:builtin_objectmode=100755 labelA)",
        ":(exclude,attr:builtin_objectmode=100644)",
    ] {
        in_every_command(Twins::new(spec, modes), spec);
    }
    // The mode of a file that is gone is not known, unless a tree has it.
    let spec = ":(attr:builtin_objectmode=100644)";
    let mut twins = Twins::new(spec, modes);
    twins.each(|it| std::fs::remove_file(it.root.join("plain")).unwrap());
    for line in ["status", "checkout", "archive HEAD"] {
        twins.line(&format!("{line} -- {spec}"));
    }
    twins.line(&format!("ls-files -- {spec}sub/*"));
}

/// Git writes this magic for the commands that it runs at the top of the working tree.
#[test]
fn the_start_of_a_path_can_be_literal() {
    for spec in [
        ":(prefix:0)one.a",
        ":(prefix:)one.a",
        ":(prefix:4)sub/*",
        ":(literal,prefix:0)sub/deeper/two.b",
        ":(prefix:0)*.a",
        ":(prefix:1)*.a",
        ":(prefix:0,exclude)sub",
        ":(prefix:x)one.a",
    ] {
        let mut twins = Twins::new(spec, scene);
        for line in ["ls-files", "diff-files --name-only", "reset -q", "checkout"] {
            let words = line.split(' ').chain(["--", spec]).map(str::to_owned);
            let words: Vec<String> = words.collect();
            twins.words("", &words);
        }
    }
}

#[test]
fn attributes_select_what_is_put_aside_and_removed() {
    if !git_is_at_least(2, 44, "pathspecs with attributes in all commands") {
        return;
    }
    for spec in [
        ":(attr:labelA)",
        ":(attr:labelB=value)",
        ":(exclude,attr:labelA)",
    ] {
        let mut twins = Twins::new(spec, scene);
        twins.line(&format!("stash push -q -- {spec}"));
        twins.line("stash pop -q");
        twins.line(&format!("clean -fq -- {spec}"));
        twins.line(&format!("checkout -q HEAD -- {spec}"));
    }
}
