//! `checkout --shard` and `--finish`: shares together are one checkout.

use crate::{at_once, command, hedgerow};
use hedgerow_latencyfs::{Mount, Op};
use hedgerow_testkit::{differences, skip, Repository};
use std::fs;
use std::path::Path;

/// Files in many directories, a link, an executable, files that are converted, names that sort
/// between a directory and what is in it.
pub fn scene() -> Repository {
    let repository = Repository::init(&[]);
    for directory in 0..30 {
        for file in 0..directory {
            let path = format!("d{directory}/e{}/f{file}", file % 3);
            repository.write(&path, format!("{path}\n").repeat(file * 40 + 1));
        }
        repository.write(format!("d{directory}.c"), "x\n");
    }
    repository.write("empty", "");
    repository.write(".gitattributes", "*.crlf eol=crlf\n*.id ident\n");
    repository.write("a.crlf", "one\ntwo\n");
    repository.write("a.id", "$Id$\n");
    repository.write("run", "#!/bin/sh\n");
    repository.symlink("link", "d1/e0");
    repository.git(&["add", "-A"]);
    repository.git(&["update-index", "--chmod=+x", "run"]);
    repository.git(&["commit", "-qm", "one"]);
    repository.git(&["branch", "other"]);
    // As a checkout writes them.
    for converted in ["a.crlf", "a.id"] {
        repository.remove(converted);
    }
    repository.git(&["checkout", "-q", "."]);
    repository
}

/// The scene as `clone --no-checkout` leaves it, in `root`.
pub fn unchecked(scene: &Repository, root: &Path) -> Repository {
    let repository = scene.copy_git_dir(root);
    fs::remove_file(repository.git_dir().join("index")).unwrap();
    repository
}

fn share(root: &Path, number: usize, count: usize) -> std::process::Command {
    let shard = format!("{number}/{count}");
    command(root, &["checkout", "--shard", &shard, "--no-index", "main"])
}

pub fn assert_checked_out(scene: &Repository, repository: &Repository) {
    assert_eq!(differences(&scene.tree(), &repository.tree()), [""; 0]);
    assert_eq!(repository.ask(&["status", "--porcelain"]), "");
    assert_eq!(
        repository.ask(&["ls-files", "-s"]),
        scene.ask(&["ls-files", "-s"])
    );
}

#[test]
fn shares_at_once_are_one_checkout() {
    let scene = scene();
    for count in [1, 3, 4, 7] {
        let place = hedgerow_testkit::temporary();
        let repository = unchecked(&scene, &place.path().join("work"));
        let root = &repository.root;
        at_once((1..=count).map(|number| share(root, number, count)));
        assert!(!repository.git_dir().join("index").exists());
        hedgerow(root, &["checkout", "--finish", "main"]).ok("finish");
        assert_checked_out(&scene, &repository);
        repository.assert_no_lock("finish");
    }
}

#[test]
fn four_processes_share_a_slow_file_system() {
    let scene = scene();
    let place = hedgerow_testkit::temporary();
    let mount = match Mount::new(place.path(), 500) {
        Ok(mount) => mount,
        Err(reason) => return skip(&reason.to_string()),
    };
    let repository = unchecked(&scene, &mount.path().join("work"));
    at_once((1..=4).map(|number| share(&repository.root, number, 4)));
    // What was written in the tick of the clock before is read, as with any index.
    std::thread::sleep(std::time::Duration::from_millis(30));
    mount.reset();
    hedgerow(&repository.root, &["checkout", "--finish", "main"]).ok("finish");
    let reads = mount.counters().count(Op::Read);
    let files = scene.ask(&["ls-files"]).lines().count() as u64;
    assert!(
        reads < files / 4,
        "{reads} reads for {files} files that are as noted"
    );
    assert_checked_out(&scene, &repository);
}

/// HEAD moves only when the shares are finished, also to another branch.
#[test]
fn a_scheduler_tells_the_share() {
    let scene = scene();
    let place = hedgerow_testkit::temporary();
    let repository = unchecked(&scene, &place.path().join("work"));
    let root = &repository.root;
    for rank in ["0", "1"] {
        let mut share = command(
            root,
            &["checkout", "--shard", "auto", "--no-index", "other"],
        );
        share
            .env("OMPI_COMM_WORLD_RANK", rank)
            .env("OMPI_COMM_WORLD_SIZE", "2");
        hedgerow_testkit::run(share).ok("share");
    }
    assert_eq!(repository.ask(&["symbolic-ref", "HEAD"]), "refs/heads/main");
    hedgerow(root, &["checkout", "--finish", "other"]).ok("finish");
    assert_eq!(
        repository.ask(&["symbolic-ref", "HEAD"]),
        "refs/heads/other"
    );
    assert_eq!(repository.ask(&["status", "--porcelain"]), "");
}

/// What is missing, too short, of another type, or converted to something else.
#[test]
fn what_is_not_there_is_refused() {
    let scene = scene();
    type Damage = fn(&Path);
    let damages: [(&str, Damage); 6] = [
        ("'d9/e0/f3' is not there", |root| {
            fs::remove_file(root.join("d9/e0/f3")).unwrap()
        }),
        ("'d9/e0/f3' differs", |root| {
            fs::write(root.join("d9/e0/f3"), "short").unwrap()
        }),
        ("'empty' differs", |root| {
            fs::write(root.join("empty"), "x").unwrap()
        }),
        ("'run' differs", |root| {
            fs::remove_file(root.join("run")).unwrap();
            fs::write(root.join("run"), "#!/bin/sh\n").unwrap();
        }),
        ("'link' is of another type", |root| {
            fs::remove_file(root.join("link")).unwrap();
            fs::write(root.join("link"), "d1/e0").unwrap();
        }),
        ("'a.crlf' differs", |root| {
            fs::write(root.join("a.crlf"), "one\r\ntwO\r\n").unwrap()
        }),
    ];
    for (said, damage) in damages {
        let place = hedgerow_testkit::temporary();
        let repository = unchecked(&scene, &place.path().join("work"));
        let root = &repository.root;
        at_once((1..=2).map(|number| share(root, number, 2)));
        damage(root);
        let refused = hedgerow(root, &["checkout", "--finish", "main"]).failed(1, said);
        assert!(refused.contains(said), "{refused}");
        assert!(
            refused.contains("1 file not as the shares write them"),
            "{refused}"
        );
        assert!(!repository.git_dir().join("index").exists());
        repository.assert_no_lock(said);
        // The share is written again, over what is there.
        for number in 1..=2 {
            let shard = format!("{number}/2");
            let words = ["checkout", "-f", "--shard", &shard, "--no-index", "main"];
            hedgerow(root, &words).ok("again");
        }
        hedgerow(root, &["checkout", "--finish", "main"]).ok("finish");
        assert_eq!(repository.ask(&["status", "--porcelain"]), "");
    }
}

/// A file of the right size with another content is no file of the revision, whoever has written it.
#[test]
fn content_that_nobody_has_written_is_refused() {
    let scene = scene();
    let wrong = scene.root.join("d1.c");
    fs::write(&wrong, "y\n").unwrap();
    scene.git(&["commit", "-qam", "two"]);
    scene.git(&["branch", "two"]);
    let place = hedgerow_testkit::temporary();
    let repository = unchecked(&scene, &place.path().join("work"));
    let root = &repository.root;
    type Damage = fn(&Path);
    let damages: [(&str, Damage); 3] = [
        // The branch has moved between two shares.
        ("d1.c", |root| {
            for number in ["1/2", "2/2"] {
                let words = ["checkout", "-f", "--shard", number, "--no-index", "other"];
                hedgerow(root, &words).ok("share");
            }
        }),
        ("d2.c", |root| fs::write(root.join("d2.c"), "z\n").unwrap()),
        ("link", |root| {
            fs::remove_file(root.join("link")).unwrap();
            std::os::unix::fs::symlink("d1/e9", root.join("link")).unwrap();
        }),
    ];
    for (path, damage) in damages {
        for number in ["1/2", "2/2"] {
            let words = ["checkout", "-f", "--shard", number, "--no-index", "two"];
            hedgerow(root, &words).ok("share");
        }
        damage(root);
        let said = format!("'{path}' differs from what its share writes");
        hedgerow(root, &["checkout", "--finish", "two"]).failed(1, &said);
        assert!(!repository.git_dir().join("index").exists());
    }
    for number in ["1/2", "2/2"] {
        let words = ["checkout", "-f", "--shard", number, "--no-index", "two"];
        hedgerow(root, &words).ok("share");
    }
    // Notes are of no consequence: without them, and with ones that are damaged, all is read.
    let notes = repository.git_dir().join("hedgerow/shares");
    fs::write(notes.join("1-2"), "no index").unwrap();
    fs::remove_file(notes.join("2-2")).unwrap();
    hedgerow(root, &["checkout", "--finish", "two"]).ok("finish");
    assert_eq!(repository.ask(&["status", "--porcelain"]), "");
    assert!(!notes.parent().unwrap().exists());
}

/// A share that cannot leave its note says so; all is read in the end.
#[test]
fn shares_do_without_notes() {
    let scene = scene();
    let place = hedgerow_testkit::temporary();
    let repository = unchecked(&scene, &place.path().join("work"));
    let root = &repository.root;
    fs::write(repository.git_dir().join("hedgerow"), "in the way").unwrap();
    let outcome = hedgerow_testkit::run(share(root, 1, 1));
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.stderr.contains("cannot be noted"), "{outcome:?}");
    hedgerow(root, &["checkout", "--finish", "main"]).ok("finish");
    assert_checked_out(&scene, &repository);
}

#[test]
fn nothing_is_overwritten() {
    let scene = scene();
    let place = hedgerow_testkit::temporary();
    let repository = unchecked(&scene, &place.path().join("work"));
    let root = &repository.root;
    repository.write("d20/e1/f1", "mine");
    let mut refusals = 0;
    for number in 1..=3 {
        let outcome = hedgerow_testkit::run(share(root, number, 3));
        if outcome.code != 0 {
            let refused = outcome.failed(1, "a file is in the way");
            assert!(refused.contains("d20/e1/f1"), "{refused}");
            refusals += 1;
        }
    }
    assert_eq!(refusals, 1);
    assert_eq!(repository.read("d20/e1/f1"), b"mine");
    let words = ["checkout", "--shard", "1/2", "--no-index", "main"];
    let refused = hedgerow(&scene.root, &words).failed(128, "an index");
    assert!(refused.contains("starts without an index"), "{refused}");
    scene.write("d1.c", "changed\n");
    let refused = hedgerow(&scene.root, &["checkout", "--finish", "main"]).failed(128, "an index");
    assert!(refused.contains("starts without an index"), "{refused}");
    for words in [
        &["checkout", "--shard", "1/2", "main"][..],
        &["checkout", "--no-index", "main"],
        &["checkout", "--shard", "3/2", "--no-index", "main"],
        &["checkout", "--shard", "auto", "--no-index", "main"],
        &[
            "checkout",
            "--shard",
            "1/2",
            "--no-index",
            "--finish",
            "main",
        ],
        &[
            "checkout",
            "--shard",
            "1/2",
            "--no-index",
            "main",
            "--",
            "d1",
        ],
        &["checkout", "--shard", "1/2", "--no-index", "-m", "main"],
    ] {
        hedgerow(root, words).failed(129, "usage");
    }
    let words = [
        "checkout",
        "--shard",
        "1/2",
        "--no-index",
        "-b",
        "new",
        "main",
    ];
    hedgerow(root, &words).failed(128, "a branch");
}

/// A scheduler starts a job again if its container fails, whatever it has done before.
#[test]
fn to_finish_again_is_fine() {
    let scene = scene();
    scene.write("d1.c", "y\n");
    scene.git(&["commit", "-qam", "two"]);
    scene.git(&["branch", "two"]);
    let place = hedgerow_testkit::temporary();
    let repository = unchecked(&scene, &place.path().join("work"));
    let root = &repository.root;
    let share = ["checkout", "-f", "--shard", "1/1", "--no-index", "two"];
    hedgerow(root, &share).ok("share");
    let finish = || hedgerow(root, &["checkout", "--finish", "two"]);
    let is_finished = |what: &str| {
        assert_eq!(
            repository.ask(&["symbolic-ref", "HEAD"]),
            "refs/heads/two",
            "{what}"
        );
        assert_eq!(repository.ask(&["status", "--porcelain"]), "", "{what}");
        assert!(!repository.git_dir().join("hedgerow").exists(), "{what}");
        repository.assert_no_lock(what);
    };
    let was_finished = "the checkout was finished before";
    let first = finish();
    assert!(!first.stderr.contains(was_finished), "{first:?}");
    first.ok("finish");
    is_finished("once");
    let index = fs::read(repository.git_dir().join("index")).unwrap();
    let again = finish();
    assert!(again.stderr.contains(was_finished), "{again:?}");
    again.ok("again");
    is_finished("twice");
    assert!(fs::read(repository.git_dir().join("index")).unwrap() == index);
    // Killed before HEAD was written, and before the notes were removed.
    repository.git(&["symbolic-ref", "HEAD", "refs/heads/other"]);
    let notes = repository.git_dir().join("hedgerow/shares");
    fs::create_dir_all(&notes).unwrap();
    fs::write(notes.join("1-1"), "").unwrap();
    finish().ok("HEAD is written");
    is_finished("HEAD");
    // What is not finished is refused as ever: another tree, a file that is changed or missing.
    let refused = hedgerow(root, &["checkout", "--finish", "other"]).failed(128, "another tree");
    assert!(refused.contains("starts without an index"), "{refused}");
    for damage in [
        (|path| fs::write(path, "z\n").unwrap()) as fn(std::path::PathBuf),
        |path| fs::remove_file(path).unwrap(),
    ] {
        damage(root.join("d1.c"));
        let refused = finish().failed(128, "an index");
        assert!(refused.contains("starts without an index"), "{refused}");
        repository.assert_no_lock("refused");
    }
}

/// A lock that somebody has left is told in git's words, and with what to do about it. Whoever is killed
/// while it looks at the files leaves none.
#[test]
fn a_killed_finish_is_repeated() {
    let scene = scene();
    let place = hedgerow_testkit::temporary();
    let mount = match Mount::new(place.path(), 300) {
        Ok(mount) => mount,
        Err(reason) => return skip(&reason.to_string()),
    };
    let repository = unchecked(&scene, &mount.path().join("work"));
    let root = &repository.root;
    at_once((1..=4).map(|number| share(root, number, 4)));
    let lock = repository.git_dir().join("index.lock");
    fs::write(&lock, "").unwrap();
    let refused = hedgerow(root, &["checkout", "--finish", "main"]).failed(128, "locked");
    for words in [
        "index.lock': File exists.",
        "Another git process",
        "remove it and finish again",
    ] {
        assert!(refused.contains(words), "{refused}");
    }
    fs::remove_file(&lock).unwrap();
    let mut locks = 0;
    let mut killed = 0;
    for milliseconds in (0..200).step_by(10) {
        let mut finish = command(root, &["checkout", "--finish", "main"]);
        finish.stderr(std::process::Stdio::null());
        let mut finish = finish.spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        finish.kill().unwrap();
        killed += u32::from(!finish.wait().unwrap().success());
        for name in ["index.lock", "HEAD.lock"] {
            let lock = repository.git_dir().join(name);
            if lock.exists() {
                locks += 1;
                fs::remove_file(lock).unwrap();
            }
        }
    }
    assert!(
        killed > 0 && locks <= killed / 2,
        "{locks} locks after {killed} kills"
    );
    hedgerow(root, &["checkout", "--finish", "main"]).ok("finish");
    assert_checked_out(&scene, &repository);
}
