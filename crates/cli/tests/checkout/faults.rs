//! What happens when the system fails: for every call of every kind that a small checkout makes,
//! the other files are finished, what failed is named, and the index is the old one or a true new
//! one.

use crate::support::RunHedgerow;
use crate::support::{run, skip, IndexFile, Node, Outcome, Repository, Snapshot};
use crate::HEDGEROW;
use hedgerow_testkit::Mount;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;

const EIO: i32 = 5;
const EACCES: i32 = 13;
const ENOSPC: i32 = 28;
const ESTALE: i32 = 116;
/// The signal for a closed pipe.
const SIGPIPE: i32 = 13;

/// A repository in which a checkout of `other` creates, replaces, removes, and makes links and
/// directories, and what it is before and after.
struct Scene {
    repository: Repository,
    old: Snapshot,
    new: Snapshot,
}

impl Scene {
    fn new() -> Scene {
        let repository = Repository::init(&[]);
        let r = &repository;
        r.write("same", "same\n");
        r.write("changes", "old\n");
        r.write("goes/away", "gone\n");
        r.write("goes/too", "gone\n");
        r.write("becomes-a-file/x", "x\n");
        r.symlink("link", "same");
        r.commit("main");
        let old = r.tree();
        r.git(&["checkout", "-q", "-b", "other"]);
        for path in ["goes", "becomes-a-file", "link"] {
            r.remove(path);
        }
        r.write("changes", "new\n".repeat(500));
        r.write("becomes-a-file", "a file\n");
        r.write("comes/one", "1\n");
        r.write("comes/deep/two", "2\n");
        r.write("empty", "");
        r.symlink("link", "changes");
        r.commit("other");
        let new = r.tree();
        r.git(&["repack", "-q", "-a", "-d"]);
        r.git(&["checkout", "-q", "-f", "main"]);
        Scene {
            repository,
            old,
            new,
        }
    }

    /// Checks `other` out with more environment, looks at what that left, and heals it. Returns
    /// how many calls of the armed kinds there were.
    fn fail(&self, fault: &str, jobs: &str) -> usize {
        let r = &self.repository;
        let (before, head) = (r.index(), std::fs::read(r.path(".git/HEAD")).unwrap());
        let words = ["checkout", "-j", jobs, "--threshold", "0", "other"];
        let outcome = r.hedgerow_with(&words, &[("HEDGEROW_TEST_FAULT", fault)]);
        let what = format!("{fault} with -j{jobs}: {outcome:?}");
        r.assert_no_lock(&what);
        self.assert_whole_files(&what);
        let after = r.index();
        if after == before {
            // A file that cannot be read may hold anything: it counts as changed, as with git.
            let refused = outcome.code == 1 && outcome.stderr.contains("would be overwritten");
            assert!(outcome.code == 128 || refused, "{what}: the index is old");
            assert!(
                !refused || r.tree() == self.old,
                "{what}: refused and touched"
            );
            assert_eq!(head, std::fs::read(r.path(".git/HEAD")).unwrap(), "{what}");
        } else {
            self.assert_true_index(&after, &outcome, &what);
            self.assert_named(&outcome, &what);
        }
        self.heal(&what, outcome.code);
        let (_, count) = outcome.stderr.split_once("saw ").expect(&what);
        let (count, _) = count.split_once(' ').expect(&what);
        count.parse().expect(&what)
    }

    /// Each file is as it was or as it is to be, or not there.
    fn assert_whole_files(&self, what: &str) {
        for (path, node) in self.repository.tree() {
            let known = [self.old.get(&path), self.new.get(&path)];
            let shown = String::from_utf8_lossy(&path);
            assert!(
                known.contains(&Some(&node)),
                "{what}: {shown:?} is {node:?}"
            );
        }
    }

    /// The index lists the new tree, and takes no file for clean that is not.
    fn assert_true_index(&self, index: &[u8], outcome: &Outcome, what: &str) {
        let r = &self.repository;
        assert!([0, 1, 128].contains(&outcome.code), "{what}");
        let index = IndexFile::read(index, 20);
        let tree = r.tree();
        let files = self
            .new
            .iter()
            .filter(|(_, node)| **node != Node::Directory);
        let paths: Vec<&Vec<u8>> = files.map(|(path, _)| path).collect();
        let found: Vec<&Vec<u8>> = index.entries.iter().map(|entry| &entry.path).collect();
        assert_eq!(paths, found, "{what}");
        for entry in index.entries.iter().filter(|entry| entry.is_fresh(&r.root)) {
            let shown = String::from_utf8_lossy(&entry.path);
            let same = tree.get(&entry.path) == self.new.get(&entry.path);
            assert!(same, "{what}: {shown:?} looks clean and is not");
        }
    }

    /// What is not as it should be was named, itself or its directory, and nothing else failed.
    fn assert_named(&self, outcome: &Outcome, what: &str) {
        let tree = self.repository.tree();
        let all = self.new.keys().chain(self.old.keys());
        let mut wrong = all.filter(|path| {
            let (found, expected) = (tree.get(*path), self.new.get(*path));
            found != expected
                && found != Some(&Node::Directory)
                && expected != Some(&Node::Directory)
        });
        let mut any = false;
        for path in wrong.by_ref() {
            any = true;
            let path = String::from_utf8_lossy(path);
            let ends = path
                .match_indices('/')
                .map(|(at, _)| at)
                .chain([path.len()]);
            let named = ends.into_iter().any(|end| {
                let part = &path[..end];
                outcome.stderr.contains(&format!("'{part}'"))
            });
            assert!(
                named,
                "{what}: {path:?} is not as it should be and was not named"
            );
        }
        // If HEAD could not follow either, it ends with git's code for that.
        let told = [1, 128].contains(&outcome.code);
        assert!(!any || told, "{what}: the exit code does not tell of it");
    }

    fn heal(&self, what: &str, code: i32) {
        let r = &self.repository;
        match code % 2 {
            0 => drop(r.git(&["checkout", "-q", "-f", "main"])),
            _ => {
                let outcome = r.hedgerow(&["checkout", "-q", "-f", "main"]);
                assert_eq!(outcome.code, 0, "{what}: does not heal: {outcome:?}");
            }
        }
        r.git(&["clean", "-q", "-f", "-d", "-x"]);
        assert!(r.tree() == self.old, "{what}: is not as before after -f");
        let status = r.git(&["status", "--porcelain"]);
        assert!(
            status.is_empty(),
            "{what}: {}",
            String::from_utf8_lossy(&status)
        );
    }
}

/// Lets each call of the kinds `ops` fail in turn, with each of `errnos`.
fn fail_each(ops: &str, errnos: &[i32]) {
    let scene = Scene::new();
    for errno in errnos {
        let count = scene.fail(&format!("{ops}:1000000:{errno}"), "1");
        assert!(count > 0, "{ops} is never called");
        for number in 1..=count {
            let jobs = ["1", "3"][number % 2];
            scene.fail(&format!("{ops}:{number}:{errno}"), jobs);
        }
        // A disk that fills up stays full.
        for number in (1..=count).step_by(3) {
            scene.fail(&format!("{ops}:{number}-1000000:{errno}"), "2");
        }
    }
}

#[test]
fn a_failing_create() {
    fail_each("create", &[ENOSPC, EIO, EACCES, ESTALE]);
}

#[test]
fn a_failing_write() {
    fail_each("write", &[ENOSPC, EIO, ESTALE]);
}

#[test]
fn a_failing_directory_or_link() {
    fail_each("mkdir", &[ENOSPC, EIO, EACCES, ESTALE]);
    fail_each("symlink", &[ENOSPC, EIO, EACCES, ESTALE]);
}

#[test]
fn a_failing_removal_or_renaming() {
    fail_each("remove", &[EIO, EACCES, ESTALE]);
    fail_each("rename", &[ENOSPC, EIO, EACCES, ESTALE]);
}

#[test]
fn a_failing_close() {
    fail_each("close", &[ENOSPC, EIO, ESTALE]);
}

#[test]
fn a_failing_question_about_a_file() {
    fail_each("stat", &[EIO, ESTALE]);
}

/// Like git: a file that gives no answer counts as changed. Only what would overwrite it is refused.
#[test]
fn a_file_that_gives_no_answer_is_in_nobodys_way() {
    let scene = Scene::new();
    let r = &scene.repository;
    let (mut kept, mut refused) = (0, 0);
    for (words, kind) in [
        (&["checkout", "other"][..], "stat"),
        (&["reset", "-q"], "stat"),
        (&["reset", "-q"], "open"),
        (&["reset", "other"], "stat"),
    ] {
        for number in 1.. {
            let fault = format!("{kind}:{number}:{EIO}");
            let outcome = r.hedgerow_with(words, &[("HEDGEROW_TEST_FAULT", &fault)]);
            let what = format!("{words:?} {fault}: {outcome:?}");
            let files = ["same", "changes", "goes/away", "goes/too"];
            let names = |end: &str| {
                let mut paths = files.iter();
                paths.any(|path| outcome.stderr.contains(&format!("'{path}'{end}")))
            };
            if words[0] == "reset" {
                assert!(!names(""), "{what}");
            } else if names(" could not be asked whether it is changed: Input/output error") {
                assert_eq!(outcome.code, 0, "{what}");
                assert!(r.tree() == scene.new, "{what}");
                kept += 1;
            } else if outcome.stderr.contains("would be overwritten") {
                assert_eq!(outcome.code, 1, "{what}");
                assert!(r.tree() == scene.old, "{what}");
                refused += 1;
            }
            r.git(&["reset", "-q", "--hard"]);
            r.git(&["checkout", "-q", "-f", "main"]);
            r.git(&["clean", "-q", "-f", "-d"]);
            let (_, seen) = outcome.stderr.split_once("saw ").expect(&what);
            let seen = seen.split(' ').next().and_then(|seen| seen.parse().ok());
            if seen < Some(number) {
                break;
            }
        }
    }
    assert!(kept > 0 && refused > 2, "{kept} {refused}");
}

#[test]
fn a_failing_opening() {
    fail_each("open", &[EACCES, ESTALE]);
}

#[test]
fn a_failing_reading() {
    fail_each("read", &[EIO, ESTALE]);
}

#[test]
fn several_kinds_at_once() {
    fail_each("create+write+mkdir+symlink+close", &[ENOSPC]);
}

#[test]
fn a_disk_that_is_really_full() {
    let Some(mount) = Mount::tmpfs("size=1M") else {
        return skip("no small file system can be mounted here to be filled");
    };
    let origin = Repository::init(&[]);
    for number in 0..40 {
        let content = vec![b'a' + number % 26; 50_000];
        origin.write(format!("d{}/{number}", number % 5), content);
    }
    origin.commit("more than there is room for");
    for jobs in ["1", "8"] {
        let tree = mount.path().join(format!("tree{jobs}"));
        std::fs::create_dir(&tree).unwrap();
        let index = origin.root.join(format!(".git/index{jobs}"));
        let mut command = HEDGEROW.command(&tree);
        command.args(["checkout", "-f", "-j", jobs, "--threshold=0", "main"]);
        command.env("GIT_DIR", origin.root.join(".git"));
        command.env("GIT_WORK_TREE", &tree);
        command.env("GIT_INDEX_FILE", &index);
        let outcome = run(command);
        outcome.assert_civil("a full disk");
        assert_eq!(outcome.code, 1, "{outcome:?}");
        assert!(
            outcome.stderr.contains("No space left on device"),
            "{outcome:?}"
        );
        let written = crate::support::snapshot(&tree, &|_| false);
        let files = written.iter().filter(|(_, node)| **node != Node::Directory);
        for (path, node) in files {
            let expected = std::fs::read(origin.path(path)).unwrap();
            assert_eq!(
                *node,
                Node::File(0o644, expected),
                "{:?}",
                String::from_utf8_lossy(path)
            );
        }
        assert!(
            written.len() > 10,
            "the disk has room for some: {written:?}"
        );
        std::fs::remove_dir_all(&tree).unwrap();
    }
}

#[test]
fn a_reader_that_went_away() {
    let scene = Scene::new();
    let r = &scene.repository;
    r.git(&["branch", "third", "other"]);
    r.git(&["config", "branch.third.remote", "."]);
    r.git(&["config", "branch.third.merge", "refs/heads/main"]);
    let mut command = HEDGEROW.command(&r.root);
    command.args(["checkout", "third"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let outcome = child.wait_with_output().unwrap();
    assert_eq!(outcome.status.signal(), Some(SIGPIPE), "{outcome:?}");
    let stderr = String::from_utf8_lossy(&outcome.stderr);
    assert_eq!(stderr, "Switched to branch 'third'\n");
    assert!(r.tree() == scene.new, "{outcome:?}");
}

#[test]
fn a_directory_that_may_not_be_written() {
    if std::fs::read("/etc/shadow").is_ok() {
        return skip("root may write every directory");
    }
    use std::os::unix::fs::PermissionsExt;
    let scene = Scene::new();
    let r = &scene.repository;
    std::fs::create_dir(r.path("comes")).unwrap();
    let mode = |mode| std::fs::set_permissions(r.path("comes"), PermissionsExt::from_mode(mode));
    mode(0o555).unwrap();
    let outcome = r.hedgerow(&["checkout", "other"]);
    mode(0o755).unwrap();
    assert_eq!(outcome.code, 1, "{outcome:?}");
    assert!(outcome.stderr.contains("comes/one"), "{outcome:?}");
    assert!(outcome.stderr.contains("Permission denied"), "{outcome:?}");
}

#[test]
fn a_sudden_death() {
    let repository = Repository::init(&[]);
    let r = &repository;
    for number in 0..400 {
        r.write(
            format!("d{}/{number}", number % 20),
            format!("{number}\n").repeat(50),
        );
    }
    r.commit("main");
    let old = r.tree();
    for number in 0..400 {
        r.write(
            format!("d{}/{number}", number % 20),
            format!("{number} changed\n"),
        );
    }
    r.git(&["checkout", "-q", "-b", "other"]);
    r.commit("other");
    let new = r.tree();
    r.git(&["checkout", "-q", "main"]);
    let mut died = 0;
    for delay_ms in [0, 5, 15, 30, 60, 100, 150, 200] {
        let before = r.index();
        let mut command = HEDGEROW.command(&r.root);
        command.args(["checkout", "-j2", "--threshold=0", "other"]);
        command.env("HEDGEROW_TEST_DELAY", "7");
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(delay_ms));
        child.kill().unwrap();
        died += usize::from(!child.wait().unwrap().success());
        let lock = r.path(".git/index.lock");
        let locked = lock.exists();
        let _ = std::fs::remove_file(lock);
        // It is taken before the working tree is touched.
        let _ = std::fs::remove_file(r.path(".git/HEAD.lock"));
        let entries = IndexFile::read(&r.index(), 20).entries.len();
        assert_eq!(entries, 400, "{delay_ms} ms");
        assert!(
            r.index() == before || !locked,
            "{delay_ms} ms: a lock beside a new index"
        );
        assert!(
            r.tree().iter().all(|(path, _)| old.contains_key(path)),
            "{delay_ms} ms"
        );
        r.git(&["status", "--porcelain"]);
        let outcome = r.hedgerow(&["checkout", "-q", "-f", "other"]);
        assert_eq!(outcome.code, 0, "{delay_ms} ms: {outcome:?}");
        assert!(r.tree() == new, "{delay_ms} ms");
        r.git(&["checkout", "-q", "-f", "main"]);
    }
    assert!(died > 0, "it was never killed in the middle");
}
