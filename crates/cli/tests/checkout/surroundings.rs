//! What filters and hooks find in their environment, compared with what git gives them.

use crate::HEDGEROW;
use hedgerow_testkit::{run, Program};
use std::path::Path;

/// Notes in `PLACE/told` what a script may depend on.
const TELL: &str = "#!/bin/sh
{
    echo \"in $PWD: $(command -v git-sh-setup)\"
    for name in GIT_DIR GIT_WORK_TREE GIT_EXEC_PATH GIT_PREFIX GIT_CONFIG_PARAMETERS; do
        eval \"value=\\${$name-unset}\"
        echo \"  $name=$value\"
    done
    echo \"  $(git rev-parse --absolute-git-dir --show-toplevel)\"
} >>PLACE/told
";

/// A repository with a filter and a hook that tell, in `place`.
fn make(place: &Path) {
    let place_text = place.to_str().unwrap();
    let tell = TELL.replace("PLACE", place_text);
    std::fs::create_dir_all(place.join("r/d")).unwrap();
    for (name, rest) in [("filter", "cat\n"), ("hook", "")] {
        write_program(&place.join(name), &(tell.clone() + rest));
    }
    let git = |words: &[&str]| hedgerow_testkit::git(&place.join("r"), words, b"");
    git(&["init", "-q", "-b", "main"]);
    std::fs::write(place.join("r/d/a"), "a\n").unwrap();
    std::fs::write(place.join("r/.gitattributes"), "a filter=tell\n").unwrap();
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "1"]);
    git(&["worktree", "add", "-q", "../linked"]);
    for command in ["smudge", "clean"] {
        let name = format!("filter.tell.{command}");
        git(&["config", &name, &format!("{place_text}/filter")]);
    }
    let hooks = place.join("r/.git/hooks");
    std::fs::create_dir_all(&hooks).unwrap();
    std::fs::copy(place.join("hook"), hooks.join("post-checkout")).unwrap();
}

fn write_program(path: &Path, script: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(path, script).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn filters_and_hooks_get_the_environment_that_git_gives_them() {
    let home = hedgerow_testkit::temporary();
    let place = home.path().join("place");
    let smudge = format!("filter.tell.smudge={}/filter", place.display());
    let hooks = format!("core.hooksPath={}/r/.git/hooks", place.display());
    let git_dir = format!("--git-dir={}/r/.git", place.display());
    let work_tree = format!("--work-tree={}/r", place.display());
    let cases: &[(&str, &[&str])] = &[
        ("r", &["checkout", "--", "d/a"]),
        ("r/d", &["restore", "a"]),
        ("r", &["reset", "-q", "--hard"]),
        ("r", &["checkout", "-q", "-b", "new"]),
        ("r", &["status", "--porcelain"]),
        ("r", &["--git-dir=.git", "checkout", "--", "d/a"]),
        (
            "r/d",
            &["--git-dir=../.git", "--work-tree=..", "checkout", "--", "a"],
        ),
        ("r/d", &[&git_dir, &work_tree, "checkout", "--", "a"]),
        (
            ".",
            &["--git-dir=r/.git", "--work-tree=r", "checkout", "--", "d/a"],
        ),
        (".", &["-C", "r/d", "checkout", "--", "a"]),
        ("linked/d", &["checkout", "--", "a"]),
        ("r/d", &["worktree", "add", "-q", "../../added"]),
        (".", &["-c", &smudge, "clone", "-q", "r", "c"]),
        (
            ".",
            &[
                "-c",
                &smudge,
                "-c",
                &hooks,
                "clone",
                "-q",
                "--separate-git-dir=g",
                "r",
                "c",
            ],
        ),
    ];
    for (inner, words) in cases {
        let told = [Program::Git, HEDGEROW].map(|program| {
            let _ = std::fs::remove_dir_all(&place);
            make(&place);
            std::fs::write(place.join("told"), "").unwrap();
            for tree in ["r", "linked"] {
                std::fs::write(place.join(tree).join("d/a"), "b\n").unwrap();
            }
            let mut command = program.command(&place.join(inner));
            command.args(*words);
            let outcome = run(command);
            assert_eq!(outcome.code, 0, "{words:?}: {outcome:?}");
            let told = std::fs::read_to_string(place.join("told")).unwrap();
            assert!(told.contains("GIT_EXEC_PATH=/"), "{words:?}: {told}");
            // Git may read a file more than once.
            let mut calls: Vec<String> = told.split("in /").map(str::to_owned).collect();
            calls.dedup();
            calls
        });
        assert_eq!(told[1], told[0], "{inner} {words:?}");
    }
}
