//! Git asks what changed in a mounted working tree: what it is told, and what it makes of that.

use crate::scene::{can_mount, Scene, HEDGEROW};
use hedgerow_fs::unmount;
use hedgerow_testkit::{run, Outcome, Program};
use std::process::Command;
use std::time::Duration;

/// What git asks with: the moment in the index.
fn token(scene: &Scene, place: &str) -> String {
    let index = std::fs::read(scene.path(&format!("r/.git/worktrees/{place}/index"))).unwrap();
    let index = String::from_utf8_lossy(&index).into_owned();
    let start = index.find("hedgerow:").expect("the index has a token");
    let end = index[start..].find('\0').unwrap();
    index[start..start + end].to_owned()
}

fn ask(scene: &Scene, place: &str, version: &str, token: &str) -> Outcome {
    let mut command = HEDGEROW.command(&scene.path(place));
    command.args(["worktree", "monitor", "--", version, token]);
    run(command)
}

/// The new token and the paths of an answer, in order.
fn answer(scene: &Scene, place: &str, token: &str) -> (String, Vec<String>) {
    let answer = ask(scene, place, "2", token).ok("the answer");
    let answer = String::from_utf8(answer).unwrap();
    let mut words = answer.split_terminator('\0').map(str::to_owned);
    let token = words.next().unwrap();
    let mut paths: Vec<String> = words.collect();
    paths.sort_unstable();
    (token, paths)
}

/// Longer than the clock of files lags behind.
fn pause() {
    std::thread::sleep(Duration::from_millis(30));
}

fn scene() -> Option<Scene> {
    can_mount().then(|| {
        let scene = Scene::new();
        scene.repository.write("d/f/g", "g\n");
        scene.repository.write("x/y", "y\n");
        scene.repository.commit("two");
        scene.watch();
        scene.add("--detach ../w");
        scene
    })
}

#[test]
fn nothing_is_told_of_a_new_tree_and_then_what_changed_since() {
    let Some(scene) = scene() else { return };
    let first = token(&scene, "w");
    assert_eq!(answer(&scene, "w", &first).1, Vec::<String>::new());
    let hook = scene.by_git("w", "config --worktree core.fsmonitor").text();
    assert!(hook.trim_end().ends_with(" worktree monitor --"), "{hook}");
    // Git finds nothing to look at, and nothing to write.
    let index = scene.path("r/.git/worktrees/w/index");
    let before = std::fs::metadata(&index).unwrap().modified().unwrap();
    let mut command = Program::Git.command(&scene.path("w"));
    command.args(["status", "--porcelain"]);
    command.env("GIT_TRACE_FSMONITOR", "1");
    let status = run(command);
    assert!(
        status.stderr.contains("returned success"),
        "{}",
        status.stderr
    );
    assert_eq!(status.text(), "");
    let after = std::fs::metadata(&index).unwrap().modified().unwrap();
    assert_eq!(before, after, "the index was written");

    pause();
    scene.write("w/d/b", "edited\n");
    scene.write("w/x/new/deep", "new\n");
    std::fs::remove_file(scene.path("w/d/e/c")).unwrap();
    let (second, told) = answer(&scene, "w", &first);
    let expected = ["-", "d/-", "d/b", "d/e/-", "d/e/c", "x/-", "x/new/-"];
    assert_eq!(told, expected);
    pause();
    assert_eq!(answer(&scene, "w", &first).1, expected);
    // The others are as they were at the second answer.
    let (third, _) = answer(&scene, "w", &second);
    assert_eq!(answer(&scene, "w", &third).1, Vec::<String>::new());
    scene.write("w/x/new/more", "new\n");
    assert_eq!(answer(&scene, "w", &third).1, ["x/new/-"]);
}

/// Of an unchanged pattern file, git records the id in the index; of one that may be converted, that of
/// its content with a line end behind it.
#[test]
fn pattern_files_that_may_be_converted_are_not_read_anew() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    let rules =
        "* text=auto\nplain/.gitignore -text\ncr/.gitignore eol=crlf\nid/.gitignore ident\n";
    scene.repository.write(".gitattributes", rules);
    for directory in ["", "plain/", "cr/", "id/", "id/below/", "empty/"] {
        let patterns = if directory == "empty/" {
            ""
        } else {
            "*.o\n# $Id$\n"
        };
        scene
            .repository
            .write(format!("{directory}.gitignore"), patterns);
        scene.repository.write(format!("{directory}file"), "file\n");
    }
    std::fs::create_dir(scene.path("r/linked")).unwrap();
    std::os::unix::fs::symlink("../file", scene.path("r/linked/.gitignore")).unwrap();
    scene.repository.commit("patterns");
    scene.watch();
    // One tree is the image; of the other's files, some are written ahead.
    scene.add("--detach ../w");
    scene.repository.write("plain/.gitignore", "*.a\n");
    scene
        .repository
        .write("id/below/.gitignore", "*.a\n# $Id$\n");
    scene.repository.commit("more");
    scene.add("--detach ../near");
    for place in ["w", "near"] {
        assert_nothing_is_listed(&scene, place);
    }
}

/// Git believes what the index says of untracked files.
fn assert_nothing_is_listed(scene: &Scene, place: &str) {
    let trace = scene.path("trace");
    let mut command = Program::Git.command(&scene.path(place));
    command
        .args(["status", "--porcelain"])
        .env("GIT_TRACE2_PERF", &trace);
    assert_eq!(run(command).text(), "");
    let told = std::fs::read_to_string(&trace).unwrap();
    for figure in ["gitignore-invalidation:0", "opendir:0", "node-creation:0"] {
        let is_told = told
            .lines()
            .any(|line| line.ends_with(&format!("..{figure}")));
        assert!(is_told, "{place}: {figure}\n{told}");
    }
    std::fs::remove_file(trace).unwrap();
}

/// The next working tree on the same image need not find out what the first one did.
#[test]
fn what_vouches_for_an_image_is_kept_beside_it() {
    if !can_mount() {
        return;
    }
    let scene = Scene::new();
    scene
        .repository
        .write(".gitattributes", "cr/.gitignore eol=crlf\n");
    scene.repository.write("cr/.gitignore", "*.o\n");
    scene.repository.write("cr/file", "file\n");
    scene.repository.commit("patterns");
    let notes = || {
        let store = std::fs::read_dir(scene.path("r/.git/hedgerow/images")).unwrap();
        let mut paths = store.map(|entry| entry.unwrap().path());
        paths.find(|path| path.extension() == Some("notes".as_ref()))
    };
    // Nobody asked for them.
    scene.add("--detach ../plain");
    assert_eq!(notes(), None);
    scene.watch();
    scene.add("--detach ../first");
    let path = notes().expect("notes");
    let first = std::fs::read(&path).unwrap();
    let vouched = |place: &str| scene.by_git(place, "ls-files -f --debug").ok("ls-files");
    let mut names = ["again", "other", "third", "fifth", "sixth"].into_iter();
    let mut add = || {
        let name = names.next().unwrap();
        scene.add(&format!("--detach ../{name}"));
        scene.assert_clean(name);
        assert_nothing_is_listed(&scene, name);
        assert_eq!(vouched(name), vouched("first"), "{name}");
    };
    add();
    assert_eq!(std::fs::read(&path).unwrap(), first);
    // Damaged ones, and those for another index, are not believed, and are made again.
    let mut damaged = first.clone();
    *damaged.last_mut().unwrap() ^= 1;
    for notes in [&damaged[..], &first[..30], b""] {
        std::fs::write(&path, notes).unwrap();
        add();
        assert_eq!(std::fs::read(&path).unwrap(), first);
    }
    // Where they can be neither read nor written, it takes longer.
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    add();
    std::fs::remove_dir(&path).unwrap();
    for place in [
        "plain", "first", "again", "other", "third", "fifth", "sixth",
    ] {
        let line = format!("worktree remove -f ../{place}");
        scene.hedgerow("r", &line).ok("remove");
    }
    scene.hedgerow("r", "image-store prune --all").ok("prune");
    assert_eq!(notes(), None);
}

#[test]
fn what_is_not_known_is_not_vouched_for() {
    let Some(scene) = scene() else { return };
    let known = token(&scene, "w");
    scene.add("--detach ../other");
    let other = token(&scene, "other");
    // Nanoseconds have as many digits as they need: one more may still be past.
    let (before, _) = known.rsplit_once('.').unwrap();
    let late = format!("{before}9.0");
    for token in [
        "",
        "1795746228083389447",
        "builtin:0:1",
        "--help",
        &other,
        &late,
    ] {
        // All there is; not `/`, after which git would believe its untracked cache.
        let told = answer(&scene, "w", token).1;
        let expected = [
            "-",
            ".gitignore",
            "a",
            "d/",
            "d/-",
            "d/e/-",
            "d/f/-",
            "link",
            "run.sh",
            "x/",
            "x/-",
        ];
        assert_eq!(told, expected, "{token}");
    }
    let refused = |place: &str, version: &str| {
        let outcome = ask(&scene, place, version, &known);
        assert_eq!(
            (outcome.code, outcome.stdout.as_slice()),
            (1, &b""[..]),
            "{place}"
        );
    };
    refused("w", "1");
    refused("w", "3");
    refused("r", "2");
    // What is mounted within.
    let within = scene.path("w/d");
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "within", within.to_str().unwrap()]);
    run(mount).ok("mount");
    scene.write("w/d/new", "new\n");
    refused("w", "2");
    assert_eq!(
        scene.by_git("w", "status --porcelain").text(),
        " D d/b\n D d/e/c\n D d/e/empty\n D d/f/g\n?? d/new\n"
    );
    unmount(&within, false).unwrap();
    scene.assert_clean("w");
    scene.hedgerow("r", "worktree unmount ../w").ok("unmount");
    assert_ne!(ask(&scene, "w", "2", &known).code, 0);
}

#[test]
fn directories_that_change_places_are_searched_to_their_ends() {
    let Some(scene) = scene() else { return };
    let status = |story: &str| {
        for line in ["status --porcelain", "status --porcelain -uall"] {
            let told = scene.by_git("w", line).text();
            let alone = "-c core.fsmonitor=false -c core.untrackedCache=false";
            let git = scene.by_git("w", &format!("--no-optional-locks {alone} {line}"));
            assert_eq!(git.text(), told, "{story}: {line}");
        }
        pause();
    };
    let rename = |from: &str, to: &str| {
        std::fs::rename(scene.path(from), scene.path(to)).unwrap();
    };
    // Both new, with a tracked file and an untracked one at the same paths.
    for (name, file) in [("n", "one"), ("m", "two")] {
        scene.write(&format!("w/{name}/s/tracked"), file);
        scene
            .by_git("w", &format!("add {name}/s/tracked"))
            .ok("add");
        scene.write(&format!("w/{name}/s/{file}"), file);
    }
    pause();
    status("new");
    status("again");
    rename("w/n", "w/other");
    rename("w/m", "w/n");
    rename("w/other", "w/m");
    status("new ones");
    // Both of the image.
    rename("w/d", "w/other");
    rename("w/x", "w/d");
    rename("w/other", "w/x");
    status("those of the image");
    std::fs::remove_dir_all(scene.path("w/x")).unwrap();
    status("gone");
    scene.write("w/x/y", "y\n");
    status("back");
}

#[test]
fn another_tree_does_not_get_the_settings() {
    let Some(scene) = scene() else { return };
    for line in [
        "worktree add --detach ../o",
        "worktree add --mount --detach ../p",
    ] {
        scene.hedgerow("w", line).ok(line);
    }
    let hook = |place: &str| {
        scene
            .by_git(place, "config --worktree core.fsmonitor")
            .text()
    };
    assert_eq!(hook("o"), "");
    assert_ne!(hook("p"), "");
    // Git copies them; it is told nothing there then, and looks at everything.
    scene.by_git("w", "worktree add -q --detach ../q").ok("add");
    scene.write("q/a", "edited\n");
    assert_eq!(scene.by_git("q", "status --porcelain").text(), " M a\n");
}

#[test]
fn a_monitor_of_the_user_stays() {
    let Some(scene) = scene() else { return };
    scene.repository.git(&["config", "core.fsmonitor", "false"]);
    scene.add("--detach ../p");
    let own = scene.by_git("p", "config core.fsmonitor");
    assert_eq!(own.text(), "false\n");
    // Few files: nobody asks by default.
    scene
        .repository
        .git(&["config", "--unset", "core.fsmonitor"]);
    scene
        .repository
        .git(&["config", "hedgerow.worktreeMonitor", "auto"]);
    scene.add("--detach ../q");
    assert_eq!(scene.by_git("q", "config core.fsmonitor").code, 1);
    let wrong = ["config", "hedgerow.worktreeMonitor", "perhaps"];
    scene.repository.git(&wrong);
    let refused = scene.hedgerow("r", "worktree add --mount --detach ../s");
    assert!(
        refused.stderr.contains("auto, always or never"),
        "{}",
        refused.stderr
    );
}

#[test]
fn without_the_program_git_looks_at_everything() {
    let Some(scene) = scene() else { return };
    let gone = "test -x '/nowhere/hedgerow' && '/nowhere/hedgerow' worktree monitor --";
    let mut command = Program::Git.command(&scene.path("w"));
    command.args(["config", "--worktree", "core.fsmonitor", gone]);
    run(command).ok("config");
    scene.write("w/a", "edited\n");
    let status = scene.by_git("w", "status --porcelain");
    assert_eq!(
        (status.text().as_str(), status.stderr.as_str()),
        (" M a\n", "")
    );
}

/// The answer to who asks with an unknown token must not leave what git knew of untracked files.
#[test]
fn what_was_not_asked_about_is_found_later() {
    let Some(scene) = scene() else { return };
    let status = |story: &str| {
        let alone = "--no-optional-locks -c core.fsmonitor=false -c core.untrackedCache=false";
        let git = scene
            .by_git("w", &format!("{alone} status --porcelain"))
            .text();
        let told = scene.by_git("w", "status --porcelain").text();
        assert_eq!(git, told, "{story}");
        pause();
    };
    status("new");
    // A directory of the image is moved, and the index is written without a search.
    std::fs::rename(scene.path("w/d/e"), scene.path("w/x/zz")).unwrap();
    scene.by_git("w", "add -f a").ok("add");
    pause();
    scene.by_git("w", "add -f a").ok("add");
    status("moved");
    // Git is not told once.
    scene.write("w/d/f/n", "n\n");
    scene
        .by_git("w", "-c core.fsmonitor=false add -f a")
        .ok("add");
    scene.by_git("w", "add -f a").ok("add");
    status("not told");
    // What is mounted within is gone again.
    let within = scene.path("w/q");
    std::fs::create_dir(&within).unwrap();
    pause();
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "within", within.to_str().unwrap()]);
    run(mount).ok("mount");
    scene.write("w/q/1", "1\n");
    status("mounted");
    unmount(&within, false).unwrap();
    status("unmounted");
    status("still");
}

#[test]
fn the_index_of_another_tree_is_not_believed() {
    let Some(scene) = scene() else { return };
    scene.add("--detach ../other");
    std::fs::remove_file(scene.path("w/a")).unwrap();
    pause();
    scene.write("other/x/y", "edited\n");
    scene.by_git("other", "status --porcelain").ok("status");
    let index = |place: &str| scene.path(&format!("r/.git/worktrees/{place}/index"));
    std::fs::copy(index("other"), index("w")).unwrap();
    assert_eq!(scene.by_git("w", "status --porcelain").text(), " D a\n");
}
