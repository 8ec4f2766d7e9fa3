//! A whole session with git, in a mounted tree and in an ordinary one.

use crate::scene::{can_mount, Scene, HEDGEROW};
use hedgerow_testkit::{differences, Program};

/// What of a repository must be the same: references, logs, objects.
fn state(scene: &Scene, place: &str) -> Vec<String> {
    [
        "for-each-ref",
        "log -g --format=%H_%gs HEAD",
        "stash list",
        "ls-files -s",
        "fsck --full",
        "cat-file --batch-all-objects --batch-check",
        "status --porcelain=v2 --branch",
    ]
    .map(|line| scene.by_git(place, line).text())
    .to_vec()
}

#[test]
fn a_session_gives_the_same_objects_and_references() {
    if !can_mount() {
        return;
    }
    for program in [Program::Git, HEDGEROW] {
        let scenes = [Scene::new(), Scene::new()];
        scenes[0]
            .hedgerow("r", "worktree add -b topic ../w")
            .ok("add");
        scenes[1].add("-b topic ../w");
        let step = |line: &str| {
            let ended = scenes.each_ref().map(|scene| {
                if let Some((path, content)) = line.split_once(" = ") {
                    return scene.write(&format!("w/{path}"), content);
                }
                let words = line.split(' ').next().unwrap_or_default();
                let own = ["switch", "stash", "reset", "status", "checkout"].contains(&words);
                let program = if own { program } else { Program::Git };
                scene.run(program, "w", line).ok(line);
            });
            assert_eq!(ended.len(), 2);
            let [files, mounted] = scenes.each_ref().map(|scene| scene.tree("w"));
            assert_eq!(
                differences(&files, &mounted),
                Vec::<String>::new(),
                "{line}"
            );
            let [files, mounted] = scenes.each_ref().map(|scene| state(scene, "w"));
            assert_eq!(files, mounted, "{line}");
        };
        for line in [
            "a = edited",
            "d/new = new",
            "add -A",
            "commit -qm first",
            "d/b = stashed",
            "stash push -q",
            "switch -q --detach main",
            "d/e/c = on_main",
            "commit -qam second",
            "switch -q -c other",
            "switch -q topic",
            "stash pop -q",
            "commit -qam third",
            "rebase -q other",
            "mv d moved",
            "commit -qm moved",
            "rm -q a",
            "commit -qm removed",
            "reset -q --hard HEAD~2",
            "cherry-pick HEAD@{1}",
            "checkout -q other -- d",
            "commit -qm mixed",
            "merge -q -m merged main",
            "gc -q --prune=now",
            "a/b/c = deep",
            "stash push -q -u",
            "stash apply -q",
            "clean -fdq",
            "status",
        ] {
            step(line);
        }
    }
}
