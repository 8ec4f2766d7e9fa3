//! Who may not mount.

use crate::scene::{can_mount, Scene, HEDGEROW};
use hedgerow_testkit::{isolated, require, run, Outcome, Program};
use std::os::unix::fs::PermissionsExt;

/// Runs hedgerow in `place` by way of another program, which takes something away from it.
fn without(scene: &Scene, words: &[&str], line: &str) -> Outcome {
    let Program::Hedgerow(hedgerow) = HEDGEROW else {
        unreachable!("it is no git");
    };
    let mut command = isolated(words[0]);
    command.args(&words[1..]).arg(hedgerow);
    command.args(line.split(' ')).current_dir(scene.path("r"));
    run(command)
}

#[test]
fn files_are_written_where_mounting_is_not_allowed() {
    if !can_mount() || !require("setpriv") {
        return;
    }
    let scene = Scene::new();
    let few = ["setpriv", "--bounding-set=-sys_admin"];
    let added = without(&scene, &few, "worktree add --mount ../w");
    let reason = "warning: the working tree is not mounted, its files are written: mounting needs \
                  the rights of root (CAP_SYS_ADMIN)\n";
    assert!(added.stderr.contains(reason), "{}", added.stderr);
    added.ok("add");
    assert_eq!(scene.tree("w"), scene.tree("r"));
    scene.hedgerow("r", "worktree remove w").ok("remove");
    scene
        .repository
        .git(&["config", "hedgerow.worktreeMount", "always"]);
    let error = without(&scene, &few, "worktree add -b new ../w").failed(128, "add");
    assert!(
        error.contains("cannot be mounted: mounting needs the rights of root"),
        "{error}"
    );
    assert!(!scene.path("w").exists());
    scene
        .by_git("r", "rev-parse --verify -q refs/heads/new")
        .failed(1, "the branch");
    let error = without(&scene, &few, "mount HEAD ../m").failed(2, "mount");
    assert!(
        error.contains("mounting needs the rights of root"),
        "{error}"
    );
    scene.add("../mounted");
    scene.lose_mounts();
    let error = without(&scene, &few, "worktree mount --all").failed(128, "mount");
    assert!(
        error.contains("rights of root") && error.contains("its changes are in"),
        "{error}"
    );
}

#[test]
fn files_are_written_where_their_owner_may_not_do_all() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    let script = scene.path("r/run.sh");
    std::fs::set_permissions(script, std::fs::Permissions::from_mode(0o755)).unwrap();
    scene.repository.commit("executable");
    for umask in ["0111", "0777"] {
        let few = ["sh", "-c", &format!("umask {umask} && exec \"$0\" \"$@\"")];
        let line = format!("worktree add --mount --detach ../w{umask}");
        let added = without(&scene, &few, &line);
        let reason = format!("the umask {umask} takes permissions from the owner of files");
        assert!(added.stderr.contains(&reason), "{}", added.stderr);
        added.ok("add");
        let place = format!("w{umask}");
        for program in [HEDGEROW, Program::Git] {
            let status = scene.run(program, &place, "status --porcelain");
            assert_eq!(status.ok("status"), b" M run.sh\n", "{umask}");
        }
    }
    assert_eq!(scene.images(), Vec::<String>::new());
}

#[test]
fn a_user_namespace_mounts_overlays_and_no_images() {
    if !can_mount() || !require("unshare") {
        return;
    }
    let scene = Scene::alone();
    let mut probe = isolated("unshare");
    probe.args(["-rm", "true"]);
    if run(probe).code != 0 {
        return hedgerow_testkit::skip("user namespaces are not allowed");
    }
    let few = ["unshare", "-rm"];
    let added = without(&scene, &few, "worktree add --mount ../files");
    assert!(
        added
            .stderr
            .contains("a user namespace may not mount images"),
        "{}",
        added.stderr
    );
    assert_eq!(scene.tree("files"), scene.tree("r"));
    // Where an image is mounted, it can be used.
    scene.add("../root");
    let added = without(&scene, &few, "worktree add --mount ../user");
    assert!(!added.stderr.contains("warning"), "{}", added.stderr);
    added.ok("add");
    // Its mount is gone with the namespace; root mounts it as well.
    scene.by_git("user", "status").failed(128, "status");
    scene.hedgerow("r", "worktree mount user").ok("mount");
    scene.assert_clean("user");
    std::fs::remove_dir_all(scene.path("user/d")).unwrap();
    scene.write("user/d/new", "new\n");
    scene.lose_mounts();
    scene.hedgerow("r", "worktree mount --all").ok("mount");
    assert!(!scene.path("user/d/b").exists());
    // What root has mounted has its notes where a user namespace does not look.
    hedgerow_fs::unmount(&scene.path("root"), false).unwrap();
    let error = without(&scene, &few, "worktree mount root").failed(128, "mount");
    assert!(error.contains("root has mounted it"), "{error}");
}
