//! A mounted working tree has what git writes.

use crate::scene::{can_mount, Scene};
use hedgerow_testkit::{differences, filter_server, isolate};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};

/// Files that conversions change, each way.
fn with_conversions(scene: &Scene) {
    let repository = &scene.repository;
    repository.write(
        ".gitattributes",
        "*.txt eol=crlf\n*.id ident\n*.u16 text working-tree-encoding=UTF-16LE\n*.up filter=up\n\
         sub/** -ident\nleft export-ignore\n*.subst export-subst\n",
    );
    repository.git(&["config", "filter.up.smudge", "tr a-z A-Z"]);
    repository.git(&["config", "filter.up.clean", "tr A-Z a-z"]);
    for (path, content) in [
        ("lines.txt", "one\ntwo\n"),
        ("version.id", "$Id$\n"),
        ("wide.u16", "w\0i\0d\0e\0\n\0"),
        ("loud.up", "loud\n"),
        ("sub/quiet.id", "$Id$\n"),
        ("sub/.gitattributes", "*.txt eol=lf\n"),
        ("sub/lines.txt", "one\ntwo\n"),
        ("left", "left\n"),
        ("v.subst", "$Format:%H$\n"),
        ("twice/lines.txt", "one\ntwo\n"),
    ] {
        repository.write(path, content);
    }
    repository.write("large", vec![7; 3 << 20]);
    repository.commit("conversions");
}

/// Adds a working tree by each program and compares them.
fn compare(scene: &Scene, name: &str) {
    scene.add(&format!("../{name}"));
    scene
        .by_git("r", &format!("worktree add ../{name}-git"))
        .ok("git");
    let (ours, gits) = (scene.tree(name), scene.tree(&format!("{name}-git")));
    assert_eq!(differences(&gits, &ours), Vec::<String>::new());
    scene.assert_clean(name);
    let staged = |place: &str| scene.by_git(place, "ls-files -s -t").ok("ls-files");
    assert_eq!(staged(name), staged(&format!("{name}-git")));
    let git_dir = |name: &str| scene.path(&format!("r/.git/worktrees/{name}"));
    for file in ["HEAD", "commondir", "ORIG_HEAD", "logs/HEAD"] {
        let [ours, gits] = [name.to_owned(), format!("{name}-git")].map(|name| {
            let text = std::fs::read_to_string(git_dir(&name).join(file)).unwrap();
            text.replace("-git", "")
        });
        assert_eq!(ours, gits, "{file}");
    }
}

#[test]
fn conversions_are_those_of_a_checkout() {
    if !can_mount() {
        return;
    }
    for kind in ["erofs", "squashfs"] {
        let scene = Scene::new();
        scene
            .repository
            .git(&["config", "hedgerow.imageFormat", kind]);
        with_conversions(&scene);
        compare(&scene, "w");
        assert_eq!(scene.read("w/loud.up"), "LOUD\n");
        // Other settings: another image.
        scene.repository.git(&["config", "core.autocrlf", "true"]);
        compare(&scene, "crlf");
        scene.repository.git(&["config", "core.symlinks", "false"]);
        compare(&scene, "links");
        scene.write("r/.git/info/attributes", "d/** eol=crlf\n");
        compare(&scene, "info");
        assert_eq!(scene.images().len(), 4);
        let checked = scene.hedgerow("r", "image-store verify");
        let sound = String::from_utf8(checked.stdout.clone()).unwrap();
        assert!(
            sound.ends_with(" ok\n") && sound.lines().count() == 1,
            "{sound}"
        );
        let others = checked.failed(3, "verify");
        let settings = others.matches("no working tree has its settings (").count();
        assert_eq!(settings, 3, "{others}");
    }
}

#[test]
fn a_required_filter_that_fails_ends_it_as_in_git() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    with_conversions(&scene);
    scene
        .repository
        .git(&["config", "filter.up.smudge", "false"]);
    scene
        .repository
        .git(&["config", "filter.up.required", "true"]);
    let ended = scene.hedgerow("r", "worktree add --mount ../w");
    assert_eq!(ended.code, 128, "{}", ended.stderr);
    assert!(ended.stderr.contains("loud.up"), "{}", ended.stderr);
    assert!(!scene.path("w").exists() && !scene.path("r/.git/worktrees/w").exists());
    assert_eq!(scene.images(), Vec::<String>::new());
}

#[test]
fn what_an_optional_filter_did_not_do_is_not_kept_for_others() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    let config = |key: &str, value: &str| {
        scene.repository.git(&["config", key, value]);
    };
    scene.repository.write(".gitattributes", "*.up filter=up\n");
    scene.repository.write("loud.up", "loud\n");
    scene.repository.commit("a filter");
    let works = scene.path("works").display().to_string();
    let log = scene.path("log").display().to_string();
    config(
        "filter.up.smudge",
        &format!("test -e '{works}' && tr a-z A-Z"),
    );
    config("filter.up.clean", "tr A-Z a-z");
    let refuse = |place: &str, path: &str| {
        let line = format!("worktree add --mount --detach ../{place}");
        let added = scene.hedgerow("r", &line);
        let reason = format!("the filter 'up' failed at '{path}'");
        assert!(
            added.stderr.contains("its files are written: no image"),
            "{}",
            added.stderr
        );
        assert!(added.stderr.contains(&reason), "{}", added.stderr);
        added.ok("add");
        assert_eq!(scene.images(), Vec::<String>::new());
        let error = scene.hedgerow("r", "image-store make").failed(2, "make");
        assert!(error.contains(&reason), "{error}");
        let left = std::fs::read_dir(scene.path("r/.git/hedgerow/images")).unwrap();
        let mut left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        left.retain(|name| name != "lock" && name != "users");
        assert!(left.is_empty(), "{left:?}");
    };
    refuse("first", "loud.up");
    assert_eq!(scene.read("first/loud.up"), "loud\n");
    scene.write("works", "");
    compare(&scene, "second");
    assert_eq!(scene.read("second/loud.up"), "LOUD\n");
    // What cannot be compared is not said to differ.
    std::fs::remove_file(&works).unwrap();
    let error = scene
        .hedgerow("r", "image-store verify")
        .failed(3, "verify");
    assert!(error.contains("the filter 'up' failed"), "{error}");
    // Nor is an image made again so.
    scene.hedgerow("r", "worktree unmount second").ok("unmount");
    std::fs::remove_dir_all(scene.path("r/.git/hedgerow/images")).unwrap();
    let error = scene
        .hedgerow("r", "worktree mount second")
        .failed(128, "mount");
    let told = ["the filter 'up' failed at 'loud.up'", "its changes are in"];
    assert!(told.iter().all(|told| error.contains(told)), "{error}");
    assert_eq!(scene.images(), Vec::<String>::new());
    scene.write("works", "");
    scene.hedgerow("r", "worktree mount second").ok("mount");
    assert_eq!(scene.read("second/loud.up"), "LOUD\n");
    scene
        .hedgerow("r", "worktree remove --force second")
        .ok("remove");
    scene.hedgerow("r", "image-store prune --all").ok("prune");
    // A process may refuse a file without a word of git's.
    config("filter.up.process", &filter_server::command(&log));
    for path in ["error.up", "abort.up", "die.up"] {
        scene.repository.write(path, "loud\n");
        scene.repository.commit(path);
        refuse(&path.replace('.', "-"), path);
        scene.repository.git(&["rm", "-q", path]);
    }
}

#[test]
fn a_sparse_checkout_stays_sparse() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    with_conversions(&scene);
    scene
        .by_git("r", "sparse-checkout set --cone d/e")
        .ok("sparse");
    compare(&scene, "w");
    assert!(!scene.path("w/sub").exists() && scene.path("w/d/e/c").exists());
    scene.by_git("w", "sparse-checkout add sub").ok("sparse");
    assert!(scene.path("w/sub/quiet.id").exists());
}

#[test]
fn submodules_are_empty_directories() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    let id = scene.repository.ask(&["rev-parse", "HEAD"]);
    let entry = format!("160000,{id},module");
    scene
        .repository
        .git(&["update-index", "--add", "--cacheinfo", &entry]);
    scene.repository.git(&["commit", "-qm", "module"]);
    compare(&scene, "w");
    assert!(scene.path("w/module").is_dir());
}

#[test]
fn what_differs_from_the_nearest_image_is_written() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    with_conversions(&scene);
    scene.add("../first");
    let repository = &scene.repository;
    repository.write("a", "other\n");
    repository.write("d/e/more/new.txt", "new\n");
    repository.remove("d/b");
    repository.remove("large");
    repository.write("large/is/a/directory.now", "now\n");
    repository.commit("two");
    compare(&scene, "w");
    assert_eq!(scene.images().len(), 1);
    let upper = scene.path("r/.git/worktrees/w/hedgerow/upper");
    assert!(upper.join("a").exists() && !upper.join("lines.txt").exists());
    // Attributes change files that are the same in both trees.
    repository.write("sub/.gitattributes", "*.txt eol=crlf\n");
    repository.commit("three");
    compare(&scene, "attributes");
    assert_eq!(scene.images().len(), 2);
    repository.git(&["config", "hedgerow.imageDistance", "0"]);
    repository.write("a", "once more\n");
    repository.commit("four");
    compare(&scene, "far");
    assert_eq!(scene.images().len(), 3);
}

/// Into the layer, ahead of its mount; with a hook that may look at files, through the mount.
#[test]
fn what_differs_is_the_same_written_ahead() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    let repository = &scene.repository;
    for path in [
        "gone/x/1", "gone/2", "dir/file", "dir.c", "some/1", "some/2",
    ] {
        repository.write(path, path);
    }
    repository.write("file", "file\n");
    repository.commit("two");
    scene.add("../first");
    for path in ["gone", "dir", "dir.c", "file", "some/1", "link"] {
        repository.remove(path);
    }
    repository.write("dir", "a file\n");
    repository.write("file/in/a", "directory\n");
    repository.write("some/new", "new\n");
    repository.symlink("link", "run.sh");
    repository.git(&["add", "-A"]);
    repository.git(&["update-index", "--chmod=-x", "run.sh"]);
    repository.git(&["commit", "-qm", "three"]);
    repository.git(&["checkout", "-q", "-f", "HEAD"]);
    compare(&scene, "w");
    let upper = |place: &str, path: &str| {
        let upper = scene.path(&format!("r/.git/worktrees/{place}/hedgerow/upper"));
        std::fs::symlink_metadata(upper.join(path)).ok()
    };
    // Hidden where it begins; nothing is copied.
    assert!(upper("w", "gone").is_some_and(|it| it.file_type().is_char_device()));
    assert!(upper("w", "d").is_none() && upper("w", "some/2").is_none());
    assert_eq!(scene.images().len(), 1);
    let seen = scene.path("seen");
    let hook = format!("#!/bin/sh\nls > '{}'\n", seen.display());
    repository.write(".git/hooks/post-index-change", hook);
    let path = scene.path("r/.git/hooks/post-index-change");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    compare(&scene, "v");
    scene.hedgerow("r", "worktree add --mount ../u").ok("add");
    let seen = std::fs::read_to_string(seen).unwrap();
    assert_eq!(seen, "a\nd\ndir\nfile\nlink\nrun.sh\nsome\n");
    assert_eq!(
        differences(&scene.tree("w"), &scene.tree("u")),
        Vec::<String>::new()
    );
}

#[test]
fn git_moves_it_as_any_other() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    with_conversions(&scene);
    scene.add("../w");
    scene
        .by_git("w", "mv d renamed")
        .ok("a directory of the image is renamed");
    scene.by_git("w", "commit -qm renamed").ok("commit");
    scene.assert_clean("w");
    scene.hedgerow("w", "switch -q -d main~1").ok("switch");
    scene.assert_clean("w");
    scene.by_git("w", "switch -q w").ok("switch");
    scene.assert_clean("w");
    assert_eq!(scene.read("w/renamed/b"), "two\n");
    scene.lose_mounts();
    scene.hedgerow("r", "worktree mount w").ok("mount");
    scene.assert_clean("w");
    assert_eq!(scene.read("w/renamed/b"), "two\n");
    assert!(!scene.path("w/d").exists());
}

#[test]
fn objects_that_a_remote_promises_are_fetched_at_once() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene
        .repository
        .git(&["config", "uploadpack.allowFilter", "true"]);
    scene
        .repository
        .git(&["config", "uploadpack.allowAnySHA1InWant", "true"]);
    let url = format!("file://{}", scene.path("r").display());
    let mut clone = std::process::Command::new("git");
    isolate(&mut clone).args(["clone", "-q", "--no-checkout", "--filter=blob:none", &url]);
    let cloned = clone.arg(scene.path("partial")).status().unwrap();
    assert!(cloned.success());
    let added = scene.hedgerow("partial", "worktree add --mount ../w");
    assert!(!added.stderr.contains("warning"), "{}", added.stderr);
    added.ok("add");
    assert_eq!(scene.tree("w"), scene.tree("r"));
    scene.assert_clean("w");
}
