//! Behaviours of git's checkout that the generated repositories do not reach, one by one.

use crate::support::RunHedgerow;
use crate::support::{run, IndexFile, Node, Pair, Program, Repository};

fn two_commits(first: &[(&str, &str)], second: &[(&str, &str)]) -> Repository {
    let repository = Repository::init(&[]);
    let commit = |files: &[(&str, &str)], message: &str| {
        for (path, content) in files {
            let id = repository.git_with(&["hash-object", "-w", "--stdin"], content.as_bytes());
            let id = String::from_utf8(id).unwrap();
            let line = format!("100644,{},{path}", id.trim());
            repository.git(&["update-index", "--add", "--cacheinfo", &line]);
        }
        repository.git(&["commit", "-q", "-m", message]);
    };
    commit(first, "first");
    repository.git(&["checkout", "-q", "-b", "other"]);
    commit(second, "second");
    repository.git(&["checkout", "-q", "-f", "main"]);
    repository
}

#[test]
fn attributes_that_arrive_count_at_once() {
    let origin = two_commits(
        &[("a.txt", "a\n"), ("keep.txt", "keep\n")],
        &[
            (
                ".gitattributes",
                "*.txt text eol=crlf\n*.w text working-tree-encoding=UTF-16LE\n",
            ),
            ("a.txt", "changed\n"),
            ("b.txt", "new\n"),
            ("sub/.gitattributes", "*.txt eol=lf\n*.i ident\n"),
            ("sub/c.txt", "lf\n"),
            ("sub/d.i", "$Id$\n"),
            ("e.w", "wide\n"),
        ],
    );
    let mut pair = Pair::of_git_dir(&origin, "attributes");
    pair.checkout(&["-f"]);
    pair.checkout(&["other"]);
    let written = pair.hedgerow.tree();
    let content = |path: &[u8]| match &written[path] {
        Node::File(_, content) => content.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(content(b"a.txt"), b"changed\r\n");
    assert_eq!(content(b"b.txt"), b"new\r\n");
    assert_eq!(
        content(b"keep.txt"),
        b"keep\n",
        "what does not change is left alone"
    );
    assert_eq!(content(b"sub/c.txt"), b"lf\n");
    assert!(content(b"sub/d.i").starts_with(b"$Id: "));
    assert_eq!(content(b"e.w").len(), 2 * "wide\n".len());
    pair.checkout(&["main"]);
    for settings in [
        ["core.autocrlf", "true"],
        ["core.autocrlf", "input"],
        ["core.eol", "crlf"],
    ] {
        pair.each(settings[0], |repository| {
            repository.git(&["config", settings[0], settings[1]]);
        });
        pair.checkout(&["-f", "other"]);
        pair.checkout(&["-f", "main"]);
    }
}

#[test]
fn content_that_cannot_be_encoded_is_written_as_it_is() {
    let origin = two_commits(
        &[("keep", "keep\n")],
        &[
            (
                ".gitattributes",
                "*.w text working-tree-encoding=ISO-8859-1\n",
            ),
            ("e.txt", "e\n"),
        ],
    );
    origin.git(&["checkout", "-q", "other"]);
    let id = origin.git_with(
        &["hash-object", "-w", "--stdin"],
        "snow \u{2603}\n".as_bytes(),
    );
    let id = String::from_utf8(id).unwrap();
    let line = format!("100644,{},bad.w", id.trim());
    origin.git(&["update-index", "--add", "--cacheinfo", &line]);
    origin.git(&["commit", "-q", "-m", "bad"]);
    origin.git(&["checkout", "-q", "-f", "main"]);
    let repository = &origin;
    let outcome = repository.hedgerow(&["checkout", "other"]);
    let error = "error: failed to encode 'bad.w'";
    assert!(outcome.stderr.contains(error), "{outcome:?}");
    let written = std::fs::read(repository.path("bad.w")).unwrap();
    assert_eq!(written, "snow \u{2603}\n".as_bytes());
    assert!(repository.path("e.txt").exists());
}

#[test]
fn replaced_objects_are_read_instead() {
    let origin = two_commits(&[("a", "a\n"), ("d/b", "b\n")], &[("a", "changed\n")]);
    let old = origin.ask(&["rev-parse", "other:a"]);
    let new = origin.git_with(&["hash-object", "-w", "--stdin"], b"replaced\n");
    let new = String::from_utf8(new).unwrap();
    origin.git(&["replace", &old, new.trim()]);
    let mut pair = Pair::of_git_dir(&origin, "replaced");
    pair.checkout::<&str>(&[]);
    let outcome = pair.checkout_in("", &["other"], &[]);
    assert_eq!(outcome.code, 0);
    let node = Node::File(0o644, b"replaced\n".to_vec());
    assert_eq!(pair.hedgerow.tree()[&b"a"[..]], node);
    pair.checkout_in("", &["-f", "main"], &[]);
    pair.checkout_in("", &["other"], &[("GIT_NO_REPLACE_OBJECTS", "1")]);
}

#[test]
fn file_systems_without_modes_or_links() {
    let origin = Repository::init(&[]);
    origin.write("program", "#!/bin/sh\n");
    origin.git(&["add", "."]);
    origin.git(&["update-index", "--chmod=+x", "program"]);
    origin.symlink("link", "program");
    origin.git(&["add", "link"]);
    origin.git(&["commit", "-q", "-m", "main"]);
    origin.git(&["branch", "other"]);
    for setting in ["core.fileMode", "core.symlinks", "core.trustctime"] {
        let mut pair = Pair::of_git_dir(&origin, setting);
        pair.each(setting, |repository| {
            drop(repository.git(&["config", setting, "false"]))
        });
        pair.checkout::<&str>(&[]);
        pair.assert_fresh();
        pair.checkout(&["other"]);
        pair.each("remove", |repository| repository.remove("link"));
        pair.checkout(&["--", "."]);
        pair.checkout(&["-f", "main"]);
    }
}

#[test]
fn hard_links_are_broken_and_modes_made_anew() {
    use std::os::unix::fs::PermissionsExt;
    let repository = two_commits(&[("a", "a\n")], &[("a", "changed\n")]);
    let outside = repository.root.parent().unwrap().join("linked");
    std::fs::hard_link(repository.path("a"), &outside).unwrap();
    let permissions = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(repository.path("a"), permissions).unwrap();
    repository.git(&["update-index", "-q", "--refresh"]);
    let outcome = repository.hedgerow(&["checkout", "other"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(std::fs::read(outside).unwrap(), b"a\n");
    let mode = std::fs::metadata(repository.path("a"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o644);
}

#[test]
fn large_files_are_streamed_and_sparse() {
    use std::os::unix::fs::MetadataExt;
    let origin = Repository::init(&[]);
    let mut content = b"head".to_vec();
    content.resize(3 << 20, 0);
    content.extend_from_slice(b"tail");
    origin.write("large", &content);
    let mut zeros = vec![0; 1 << 20];
    origin.write("zeros", &zeros);
    zeros.truncate(70_000);
    origin.write("short", &zeros);
    origin.commit("large");
    origin.git(&["repack", "-q", "-a", "-d"]);
    let mut pair = Pair::of_git_dir(&origin, "large files");
    pair.each("a low threshold", |r| {
        drop(r.git(&["config", "core.bigFileThreshold", "64k"]))
    });
    pair.checkout(&["-f"]);
    pair.assert_fresh();
    let blocks = |r: &Repository| std::fs::metadata(r.path("large")).unwrap().blocks();
    assert!(
        blocks(&pair.hedgerow) <= blocks(&pair.git),
        "holes stay holes"
    );
}

#[test]
fn the_hook_is_told_and_its_failure_counts() {
    use std::os::unix::fs::PermissionsExt;
    let origin = two_commits(&[("a", "a\n")], &[("a", "b\n")]);
    for code in [0, 1, 7] {
        let mut pair = Pair::of(&origin, &format!("a hook that exits with {code}"));
        pair.each("hook", |repository| {
            let script = format!("#!/bin/sh\necho \"$@\" >>.git/info/told\nexit {code}\n");
            repository.write(".git/hooks/post-checkout", script);
            let path = repository.path(".git/hooks/post-checkout");
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        });
        pair.checkout(&["other"]);
        pair.checkout(&["other", "--", "a"]);
        pair.checkout(&["--detach"]);
        pair.checkout(&["-f", "main"]);
        pair.checkout(&["nothing"]);
    }
}

#[test]
fn extensions_of_the_index() {
    let origin = two_commits(
        &[("a", "a\n"), ("d/b", "b\n")],
        &[("a", "b\n"), ("e/f", "f\n")],
    );
    for (name, words) in [
        ("split", ["config", "core.splitIndex", "true"]),
        ("untracked cache", ["config", "core.untrackedCache", "true"]),
        ("no hash", ["config", "index.skipHash", "true"]),
        ("threads", ["config", "index.threads", "2"]),
        ("many files", ["config", "feature.manyFiles", "true"]),
    ] {
        let copy = origin.root.parent().unwrap().join(name);
        let repository = origin.copy(&copy);
        repository.git(&words);
        repository.git(&["update-index", "-q", "--refresh", "--force-write-index"]);
        for branch in ["other", "main", "other"] {
            let outcome = repository.hedgerow(&["checkout", "-q", branch]);
            assert_eq!(outcome.code, 0, "{name}: {outcome:?}");
            let status = repository.git(&["status", "--porcelain"]);
            assert!(
                status.is_empty(),
                "{name}: {}",
                String::from_utf8_lossy(&status)
            );
            repository.git(&["fsck", "--no-dangling", "--no-progress"]);
            let index = repository.git(&["ls-files", "-s"]);
            let tree = repository.git(&[
                "ls-tree",
                "-r",
                "--format=%(objectmode) %(objectname) 0%x09%(path)",
                branch,
            ]);
            assert_eq!(
                String::from_utf8_lossy(&index),
                String::from_utf8_lossy(&tree),
                "{name}"
            );
        }
    }
}

#[test]
fn git_status_reads_nothing_after_a_checkout() {
    let repository = Repository::init(&[]);
    for number in 0..50 {
        repository.write(format!("d{}/{number}", number % 5), format!("{number}\n"));
    }
    repository.commit("main");
    repository.git(&["checkout", "-q", "-b", "other"]);
    for number in 0..50 {
        repository.write(
            format!("d{}/{number}", number % 5),
            format!("other {number}\n"),
        );
    }
    repository.commit("other");
    let outcome = repository.hedgerow(&["checkout", "main"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let index = IndexFile::read(&repository.index(), 20);
    let fresh = index
        .entries
        .iter()
        .filter(|entry| entry.is_fresh(&repository.root));
    assert_eq!(fresh.count(), 50);
    // A later second, so that nothing is racy: then git reads a file only if its stat data differ,
    // and it would notice that the objects are gone.
    let before = repository.index();
    let mut status = Program::Git.command(&repository.root);
    status
        .args(["status", "--porcelain"])
        .env("GIT_OPTIONAL_LOCKS", "1");
    let outcome = run(status);
    assert!(outcome.stdout.is_empty(), "{outcome:?}");
    let after = IndexFile::read(&repository.index(), 20);
    assert_eq!(index.entries, after.entries, "git had nothing to refresh");
    assert!(before.len() <= repository.index().len());
}

#[test]
fn a_branch_is_made_from_that_of_a_remote() {
    let origin = two_commits(&[("a", "a\n")], &[("a", "b\n")]);
    let mut pair = Pair::of(&origin, "remote branches");
    pair.each("a remote", |repository| {
        repository.git(&["update-ref", "refs/remotes/origin/topic", "other"]);
        repository.git(&["update-ref", "refs/remotes/second/both", "other"]);
        repository.git(&["update-ref", "refs/remotes/origin/both", "other"]);
        for name in ["origin", "second"] {
            repository.git(&["config", &format!("remote.{name}.url"), "nowhere"]);
            let fetch = format!("+refs/heads/*:refs/remotes/{name}/*");
            repository.git(&["config", &format!("remote.{name}.fetch"), &fetch]);
        }
    });
    pair.checkout(&["topic"]);
    pair.checkout(&["main"]);
    pair.checkout(&["origin/topic"]);
    pair.checkout(&["topic"]);
    let outcome = pair.checkout(&["both"]);
    assert_eq!(outcome.code, 128);
    pair.each("prefer", |r| {
        drop(r.git(&["config", "checkout.defaultRemote", "origin"]))
    });
    pair.checkout(&["both"]);
    pair.each("no guess", |r| {
        drop(r.git(&["config", "checkout.guess", "false"]))
    });
    pair.checkout(&["main"]);
    pair.each("forget", |r| drop(r.git(&["branch", "-q", "-D", "topic"])));
    pair.checkout(&["topic"]);
}

#[test]
fn nothing_is_there_yet() {
    let unborn = Repository::init(&[]);
    let mut pair = Pair::of_git_dir(&unborn, "unborn");
    for words in [
        &[][..],
        &["-f"],
        &["main"],
        &["--", "."],
        &["HEAD"],
        &["--detach"],
    ] {
        pair.checkout::<&str>(words);
    }
    let origin = two_commits(&[("a", "a\n")], &[("a", "b\n")]);
    let mut pair = Pair::of_git_dir(&origin, "from an unborn branch");
    pair.each("unborn", |r| {
        drop(r.git(&["symbolic-ref", "HEAD", "refs/heads/unborn"]))
    });
    pair.checkout(&["other"]);
    let mut pair = Pair::of_git_dir(&origin, "from an unborn branch with a file");
    pair.each("unborn", |r| {
        r.git(&["symbolic-ref", "HEAD", "refs/heads/unborn"]);
        r.write("a", "mine\n");
    });
    for words in [
        &["HEAD@{1}"][..],
        &["HEAD@{1}", "--", "."],
        &["HEAD@{0}", "--", "."],
    ] {
        assert_ne!(pair.checkout(words).code, 0, "{words:?}");
    }
    pair.checkout(&["other"]);
    pair.checkout(&["-f", "other"]);
}

#[test]
fn a_file_in_the_place_of_a_submodule() {
    let origin = two_commits(&[("f", "1\n")], &[("sub/x", "1\n")]);
    let id = origin.ask(&["rev-parse", "HEAD"]);
    let line = format!("160000,{id},sub");
    origin.git(&["update-index", "--add", "--cacheinfo", &line]);
    origin.git(&["commit", "-qm", "a submodule"]);
    let mut pair = Pair::of_git_dir(&origin, "a file for a submodule");
    pair.checkout(&["-f"]);
    let repository = &pair.hedgerow;
    let _ = std::fs::remove_dir(repository.path("sub"));
    repository.write("sub", "mine\n");
    let outcome = repository.hedgerow(&["checkout", "other"]);
    assert_eq!(outcome.code, 1, "{outcome:?}");
    assert_eq!(std::fs::read(repository.path("sub")).unwrap(), b"mine\n");
    let outcome = repository.hedgerow(&["checkout", "-f", "other"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(std::fs::read(repository.path("sub/x")).unwrap(), b"1\n");
}

/// To git it says nothing; what is below it is ignored or not by the files above.
#[test]
fn a_gitignore_that_is_a_directory_says_nothing() {
    let origin = two_commits(&[("f", "1\n")], &[("g/n", "1\n")]);
    let mut pair = Pair::of_git_dir(&origin, "a directory .gitignore");
    pair.checkout(&["-f"]);
    pair.each("in the way, and ignored", |r| {
        r.write(".gitignore", "n\n");
        r.write("g/.gitignore/in", "in\n");
        r.write("g/n", "mine\n");
    });
    pair.checkout(&["other"]);
}

/// An mtime can be set back. Where the ctime does not count, nanoseconds prove nothing.
#[test]
fn without_the_ctime_an_edit_in_the_second_of_the_index_counts() {
    let origin = two_commits(&[("f", "aaaa\n"), ("g", "g\n")], &[("f", "cccc\n")]);
    let set = crate::support::set_fraction;
    for line in [
        "switch -q other",
        "checkout -q other",
        "reset -q --keep other",
        "reset -q --merge other",
        "merge -q --ff-only other",
        "read-tree -m -u HEAD other",
        "stash push -q",
        "checkout-index -u -a",
        "restore g",
        "restore --staged g",
        "reset -q",
    ] {
        let mut pair = Pair::of(&origin, line);
        pair.each("edit", |repository| {
            repository.git(&["config", "core.trustctime", "false"]);
            set(repository.path("f"), 123_456_789);
            repository.git(&["update-index", "-q", "--refresh"]);
            set(repository.path(".git/index"), 500_000_000);
            repository.write("f", "bbbb\n");
            set(repository.path("f"), 123_456_789);
        });
        let words: Vec<&str> = line.split(' ').collect();
        pair.both(words[0], "", &words[1..], &[]);
        let (git, here) = (pair.git.path("f"), pair.hedgerow.path("f"));
        assert_eq!(
            std::fs::read(here).unwrap(),
            std::fs::read(git).unwrap(),
            "{line}"
        );
        let status = |repository: &Repository| {
            let words = ["--no-optional-locks", "status", "--porcelain"];
            repository.ask(&words)
        };
        assert_eq!(status(&pair.hedgerow), status(&pair.git), "{line}");
    }
}
