//! Whose attributes count, and what is refused because of them before anything is touched.

use crate::support::{run, Outcome, Pair, Repository};
use crate::HEDGEROW;
use hedgerow_testkit::{require, run_traced, Program};

/// `main` and `other` differ in every text file; neither has attributes.
fn origin() -> Repository {
    let repository = Repository::init(&[]);
    let fill = |content: &str| {
        for path in ["a.txt", "dir/b.txt", "dir/sub/c.txt"] {
            repository.write(path, content);
        }
    };
    fill("one\nline\n");
    repository.write("gone", "gone\n");
    repository.commit("main");
    repository.git(&["checkout", "-q", "-b", "other"]);
    fill("two\nlines\n");
    repository.remove("gone");
    repository.write("new/d.txt", "new\n");
    repository.commit("other");
    repository.git(&["checkout", "-q", "-f", "main"]);
    repository
}

fn hedgerow(repository: &Repository, words: &[&str]) -> Outcome {
    let mut command = HEDGEROW.command(&repository.root);
    command.arg("checkout").args(words);
    run(command)
}

fn content(repository: &Repository, path: &str) -> String {
    std::fs::read_to_string(repository.path(path)).unwrap()
}

const CRLF: &str = "*.txt text eol=crlf\n";

#[test]
fn untracked_attributes_count_for_a_switch() {
    for place in ["", "dir/", "dir/sub/", "new/"] {
        let mut pair = Pair::of(&origin(), place);
        pair.each("attributes", |r| {
            r.write(format!("{place}.gitattributes"), CRLF)
        });
        pair.checkout(&["other"]);
        let probe = match place {
            "new/" => "new/d.txt",
            _ => "dir/sub/c.txt",
        };
        assert!(content(&pair.hedgerow, probe).contains('\r'), "{place}");
        pair.checkout(&["main"]);
        pair.checkout(&["-f", "other"]);
    }
}

#[test]
fn attributes_of_the_index_come_first_for_a_switch_and_last_for_paths() {
    let repository = origin();
    repository.write("dir/.gitattributes", "*.txt -text\n");
    repository.write(".gitattributes", "*.txt text eol=lf\n");
    repository.commit("attributes on main");
    repository.git(&["checkout", "-q", "other"]);
    repository.write("dir/.gitattributes", "*.txt -text\n");
    repository.write(".gitattributes", "*.txt text eol=lf\n");
    repository.commit("the same attributes on other");
    repository.git(&["checkout", "-q", "main"]);
    let mut pair = Pair::of(&repository, "changed attributes");
    pair.each("change them", |r| {
        r.write(".gitattributes", CRLF);
        r.write("dir/.gitattributes", CRLF);
    });
    pair.checkout(&["other"]);
    assert_eq!(content(&pair.hedgerow, "a.txt"), "two\nlines\n");
    pair.each("remove", |r| r.remove("a.txt"));
    pair.checkout(&["--", "a.txt"]);
    assert_eq!(content(&pair.hedgerow, "a.txt"), "two\r\nlines\r\n");
    pair.each("remove files", |r| {
        r.remove("dir/b.txt");
        r.remove("dir/sub/c.txt");
    });
    // The attributes are checked out, too, and before the files.
    pair.checkout(&["."]);
    assert_eq!(content(&pair.hedgerow, "dir/b.txt"), "two\nlines\n");
    assert_eq!(
        content(&pair.hedgerow, "dir/.gitattributes"),
        "*.txt -text\n"
    );
    pair.each("remove attributes and files", |r| {
        for path in ["dir/.gitattributes", ".gitattributes", "a.txt", "dir/b.txt"] {
            r.remove(path);
        }
    });
    pair.checkout(&["main", "--", "."]);
}

#[test]
fn attributes_that_are_written_anew_count_as_they_were_if_a_file_comes_before_them() {
    for early in [false, true] {
        let repository = origin();
        for directory in ["", "dir/"] {
            repository.write(format!("{directory}!early"), "early\n");
            repository.write(format!("{directory}.gitattributes"), "");
        }
        repository.commit("empty attributes");
        let mut pair = Pair::of(&repository, "attributes written anew");
        // Away from the second of the index: what git has to look into depends on the time.
        std::thread::sleep(std::time::Duration::from_millis(1100));
        pair.each("refresh the index", |r| {
            r.git(&["update-index", "--force-write-index"]);
        });
        pair.each("change them", |r| {
            for directory in ["", "dir/"] {
                r.write(format!("{directory}.gitattributes"), CRLF);
                if early {
                    r.remove(format!("{directory}!early"));
                }
            }
            r.remove("a.txt");
            r.remove("dir/b.txt");
        });
        pair.checkout(&["."]);
        let is_crlf = content(&pair.hedgerow, "dir/b.txt").contains('\r');
        assert_eq!(is_crlf, early);
    }
}

#[test]
fn attributes_that_a_switch_removes_do_not_count() {
    let repository = origin();
    repository.write(".gitattributes", CRLF);
    repository.write("dir/.gitattributes", "*.txt ident\n");
    repository.commit("attributes");
    let mut pair = Pair::of(&repository, "removed attributes");
    pair.checkout(&["other"]);
    assert_eq!(content(&pair.hedgerow, "dir/b.txt"), "two\nlines\n");
    pair.checkout(&["main"]);
    pair.checkout(&["-f", "other"]);
}

#[test]
fn odd_attributes_files_count_as_with_git() {
    type Prepare = fn(&Repository);
    let cases: [(&str, Prepare); 4] = [
        ("a byte order mark", |r| {
            r.write(".gitattributes", format!("\u{feff}{CRLF}"))
        }),
        ("a NUL", |r| {
            r.write(".gitattributes", format!("# \0\n{CRLF}"))
        }),
        ("a directory", |r| r.write(".gitattributes/file", CRLF)),
        ("a file above", |r| {
            r.remove("dir/b.txt");
            r.remove("dir/sub/c.txt");
            std::fs::remove_dir_all(r.path("dir")).unwrap();
            r.write("dir", CRLF);
        }),
    ];
    for (name, prepare) in cases {
        let mut pair = Pair::of(&origin(), name);
        pair.each(name, prepare);
        pair.each("remove", |r| r.remove("a.txt"));
        pair.checkout(&["--", "a.txt"]);
        pair.checkout(&["-f", "other"]);
    }
    // Git says of a link that it cannot be read, hedgerow likewise, though less often.
    let repository = origin();
    repository.write("attributes", CRLF);
    repository.symlink(".gitattributes", "attributes");
    repository.remove("a.txt");
    let outcome = hedgerow(&repository, &["--", "a.txt"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(content(&repository, "a.txt"), "one\nline\n");
    let warning = "unable to access '.gitattributes'";
    assert!(outcome.stderr.contains(warning), "{outcome:?}");
}

#[test]
fn in_a_conflict_our_attributes_count() {
    let repository = origin();
    let blob = |text: &str| {
        let id = repository.git_with(&["hash-object", "-w", "--stdin"], text.as_bytes());
        String::from_utf8(id).unwrap().trim().to_owned()
    };
    let stages = ["*.txt -text\n", CRLF, "*.txt text eol=lf\n"].map(blob);
    let lines = (1..).zip(stages);
    let lines = lines.map(|(stage, id)| format!("100644 {id} {stage}\t.gitattributes\n"));
    let lines: String = lines.collect();
    repository.git_with(&["update-index", "--index-info"], lines.as_bytes());
    let mut pair = Pair::of(&repository, "a conflict");
    pair.each("remove", |r| r.remove("dir/b.txt"));
    pair.checkout(&["--", "dir/b.txt"]);
    assert_eq!(content(&pair.hedgerow, "dir/b.txt"), "one\r\nline\r\n");
}

#[test]
fn the_tree_of_attr_tree_replaces_all_files() {
    let repository = origin();
    repository.write("dir/.gitattributes", CRLF);
    repository.commit("attributes");
    repository.git(&["tag", "attributes"]);
    repository.git(&["rm", "-q", "dir/.gitattributes"]);
    repository.commit("no attributes");
    let mut pair = Pair::of(&repository, "attr.tree");
    pair.each("configure", |r| {
        r.git(&["config", "attr.tree", "attributes"]);
        r.write(".gitattributes", CRLF);
    });
    pair.checkout(&["other"]);
    assert_eq!(content(&pair.hedgerow, "dir/b.txt"), "two\r\nlines\r\n");
    assert_eq!(content(&pair.hedgerow, "a.txt"), "two\nlines\n");
    let outcome = {
        let mut command = HEDGEROW.command(&pair.hedgerow.root);
        command
            .args(["checkout", "main"])
            .env("GIT_ATTR_SOURCE", "nothing");
        run(command)
    };
    assert_eq!(outcome.code, 128, "{outcome:?}");
    assert!(outcome.stderr.contains("bad --attr-source"), "{outcome:?}");
}

#[test]
fn overly_large_attributes_are_ignored_with_a_warning_and_not_read() {
    let repository = origin();
    let zeros = std::fs::File::create(repository.path("zeros")).unwrap();
    zeros.set_len(101 << 20).unwrap();
    repository.git(&["config", "core.compression", "1"]);
    let id = repository.ask(&["hash-object", "-w", "zeros"]);
    repository.remove("zeros");
    let line = format!("100644,{id},dir/.gitattributes");
    repository.git(&["update-index", "--add", "--cacheinfo", &line]);
    repository.git(&["commit", "-qm", "large"]);
    repository.write("dir/.gitattributes", CRLF);
    repository.remove("dir/b.txt");
    repository.git(&["update-index", "--assume-unchanged", "dir/.gitattributes"]);
    let outcome = hedgerow(&repository, &["--", "dir/b.txt"]);
    assert_eq!(outcome.stderr, "", "{outcome:?}");
    assert_eq!(content(&repository, "dir/b.txt"), "one\r\nline\r\n");
    repository.remove("dir/.gitattributes");
    repository.remove("dir/b.txt");
    let outcome = hedgerow(&repository, &["--", "dir/b.txt"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let warning = "ignoring overly large gitattributes blob 'dir/.gitattributes'";
    assert!(outcome.stderr.contains(warning), "{outcome:?}");
    assert_eq!(content(&repository, "dir/b.txt"), "one\nline\n");
}

/// What a refused checkout must leave alone.
fn picture(repository: &Repository) -> (String, Vec<u8>, String) {
    let index = std::fs::read(repository.path(".git/index")).unwrap();
    let mut files: Vec<String> = Vec::new();
    let mut pending = vec![repository.root.clone()];
    while let Some(directory) = pending.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with(".git") {
                pending.push(path);
            } else if path.is_file() {
                files.push(format!("{path:?} {:?}", std::fs::read(&path).unwrap()));
            }
        }
    }
    files.sort();
    (content(repository, ".git/HEAD"), index, files.join("\n"))
}

fn assert_refused(repository: &Repository, words: &[&str], reason: &str) {
    let before = picture(repository);
    let outcome = hedgerow(repository, words);
    assert_eq!(outcome.code, 128, "{words:?} {outcome:?}");
    assert!(outcome.stderr.contains(reason), "{words:?} {outcome:?}");
    assert!(before == picture(repository), "{words:?} touched something");
    assert!(!repository.path(".git/index.lock").exists());
}

#[test]
fn a_missing_object_refuses_before_anything_is_touched() {
    let repository = origin();
    let id = repository.ask(&["rev-parse", "other:dir/b.txt"]);
    let object = format!(".git/objects/{}/{}", &id[..2], &id[2..]);
    repository.remove(&object);
    let reason = format!("object {id} is missing, and those of 2 other files");
    for words in [&["other"][..], &["-f", "other"], &["other", "--", "."]] {
        assert_refused(&repository, words, &reason);
    }
    // As in a partial clone.
    for (key, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "o"),
        ("remote.o.promisor", "true"),
        ("remote.o.url", "file:///nowhere"),
    ] {
        repository.git(&["config", key, value]);
    }
    assert_refused(&repository, &["other"], &reason);
    let outcome = hedgerow(&repository, &["other", "--", "new"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
}

#[test]
fn a_link_that_no_system_takes_refuses_before_anything_is_touched() {
    let repository = origin();
    let target = "x".repeat(4096);
    let id = repository.git_with(&["hash-object", "-w", "--stdin"], target.as_bytes());
    let id = String::from_utf8(id).unwrap();
    repository.git(&["checkout", "-q", "other"]);
    let line = format!("120000,{},link", id.trim());
    repository.git(&["update-index", "--add", "--cacheinfo", &line]);
    repository.git(&["commit", "-qm", "link"]);
    repository.git(&["checkout", "-q", "-f", "main"]);
    let reason = "a link of 4096 bytes is longer than 4095";
    for words in [&["other"][..], &["-f", "other"], &["other", "--", "."]] {
        assert_refused(&repository, words, reason);
    }
}

#[test]
fn a_required_filter_that_fails_leaves_head_index_and_its_file() {
    let repository = origin();
    repository.write(".git/info/attributes", "dir/b.txt filter=f\n");
    repository.git(&["config", "filter.f.required", "true"]);
    repository.git(&["config", "filter.f.clean", "cat"]);
    let reason = "dir/b.txt: smudge filter f failed";
    for words in [&["other"][..], &["-f", "other"], &["other", "--", "."]] {
        assert_refused(&repository, words, reason);
    }
    repository.git(&["config", "filter.f.smudge", "false"]);
    for words in [&["other"][..], &["-f", "other"], &["other", "--", "."]] {
        let index = |repository: &Repository| std::fs::read(repository.path(".git/index")).unwrap();
        let before = (content(&repository, ".git/HEAD"), index(&repository));
        let outcome = hedgerow(&repository, words);
        assert_eq!(outcome.code, 128, "{words:?} {outcome:?}");
        assert!(outcome.stderr.contains(reason), "{words:?} {outcome:?}");
        assert_eq!(
            content(&repository, "dir/b.txt"),
            "one\nline\n",
            "{words:?}"
        );
        let after = (content(&repository, ".git/HEAD"), index(&repository));
        assert!(before == after, "{words:?}");
        assert!(!repository.path(".git/index.lock").exists());
        repository.git(&["-c", "filter.f.smudge=cat", "checkout", "-q", "-f", "main"]);
        let lost = ["-c", "filter.f.smudge=cat", "clean", "-qfd"];
        repository.git(&lost);
    }
}

/// Without an index, all files are untracked: a forced switch may overwrite them, and does so when
/// it has what it writes instead.
#[test]
fn what_a_required_filter_does_not_give_costs_no_file() {
    let repository = origin();
    repository.write(".git/info/attributes", "dir/b.txt filter=f\n");
    repository.git(&["config", "filter.f.required", "true"]);
    repository.git(&["config", "filter.f.smudge", "false"]);
    repository.remove(".git/index");
    for path in ["a.txt", "dir/b.txt", "dir/sub/c.txt"] {
        repository.write(path, "mine\n");
    }
    let outcome = hedgerow(&repository, &["-f", "other"]);
    assert_eq!(outcome.code, 128, "{outcome:?}");
    assert_eq!(content(&repository, "dir/b.txt"), "mine\n");
    for path in ["a.txt", "dir/sub/c.txt"] {
        let now = content(&repository, path);
        assert!(["mine\n", "two\nlines\n"].contains(&now.as_str()), "{now}");
    }
}

#[test]
fn files_that_the_user_told_git_to_leave_alone_are_not_read() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        let mut pair = Pair::of(&origin(), flag);
        pair.each("touch", |r| {
            r.git(&["update-index", flag, "a.txt"]);
            let file = std::fs::File::options()
                .write(true)
                .open(r.path("a.txt"))
                .unwrap();
            let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
            file.set_modified(time).unwrap();
        });
        assert_eq!(pair.checkout(&["other"]).code, 1, "{flag}");
    }
}

#[test]
fn a_file_that_its_clean_filter_changes_is_not_overwritten() {
    let mut pair = Pair::of(&origin(), "a clean filter");
    pair.each("configure", |r| {
        r.git(&["config", "filter.f.clean", "tr o 0"]);
        r.write(".git/info/attributes", "a.txt filter=f\n");
        let file = std::fs::File::options()
            .write(true)
            .open(r.path("a.txt"))
            .unwrap();
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
        file.set_modified(time).unwrap();
    });
    assert_eq!(pair.checkout(&["other"]).code, 1);
    // Written in the second of the index: git looks into it again.
    let mut pair = Pair::of_git_dir(&origin(), "a clean filter, racy");
    pair.checkout(&["-f"]);
    pair.each("configure", |r| {
        r.git(&["config", "filter.f.clean", "tr o 0"]);
        r.write(".git/info/attributes", "a.txt filter=f\n");
        let index = r.path(".git/index");
        let file = std::fs::File::options()
            .write(true)
            .open(r.path("a.txt"))
            .unwrap();
        let time = file.metadata().unwrap().modified().unwrap();
        std::fs::File::options()
            .write(true)
            .open(index)
            .unwrap()
            .set_modified(time)
            .unwrap();
    });
    assert_eq!(pair.checkout(&["other"]).code, 1);
}

/// Git reads every file of the index's own second. Where nanoseconds show that one has not changed, only
/// those are read that are converted, and of these not those that have the bytes of their blobs.
#[test]
fn attributes_that_change_in_the_second_of_the_index_count() {
    let contents = ["a\nb\n", "a\r\nb\r\n", "a\r\nb\n", "$Id$\n", "\0\r\n", ""];
    let before = [
        "",
        "* text=auto\n",
        "* text=auto eol=crlf\n",
        "* text eol=crlf\n",
        "* ident\n",
    ];
    let after = [
        "* text=auto\n",
        "* text=auto eol=crlf\n",
        "* text=auto ident\n",
        "* text\n",
        "* text eol=crlf\n",
        "* text=auto working-tree-encoding=ISO-8859-1\n",
        "* filter=f\n",
    ];
    let set = crate::support::set_fraction;
    let repository = Repository::init(&[]);
    let name = |number: usize| format!("file-{number}");
    for (number, content) in contents.iter().enumerate() {
        repository.write(name(number), content);
    }
    repository.commit("main");
    repository.git(&["config", "filter.f.clean", "tr a 0"]);
    let mut changed = [0, 0];
    for (before, after) in before.iter().flat_map(|it| after.map(|after| (*it, after))) {
        repository.write(".git/info/attributes", before);
        for number in 0..contents.len() {
            repository.remove(name(number));
        }
        repository.git(&["checkout", "-q", "-f", "main"]);
        for number in 0..contents.len() {
            set(repository.path(name(number)), 100);
        }
        repository.git(&["update-index", "-q", "--refresh"]);
        set(repository.path(".git/index"), 500);
        repository.write(".git/info/attributes", after);
        let asked = [Program::Git, HEDGEROW].map(|program| {
            let mut command = program.command(&repository.root);
            command.args(["--no-optional-locks", "status", "--porcelain"]);
            run(command)
        });
        assert_eq!(asked[0], asked[1], "{before:?}, then {after:?}");
        changed[usize::from(asked[0].stdout.is_empty())] += 1;
    }
    assert!(changed[0] > 5 && changed[1] > 5, "{changed:?}");
}

#[test]
fn files_with_the_bytes_of_their_blobs_are_not_read_again() {
    if !require("strace") {
        return;
    }
    let repository = origin();
    repository.write(".git/info/attributes", "* text=auto eol=lf\n");
    repository.git(&["checkout", "-q", "-f", "other"]);
    let written = |path: &str| {
        let file = std::fs::metadata(repository.path(path)).unwrap();
        file.modified().unwrap()
    };
    let newest = ["a.txt", "dir/b.txt", "dir/sub/c.txt", "new/d.txt"].map(written);
    let newest = newest.into_iter().max().unwrap();
    let index = std::fs::File::options()
        .write(true)
        .open(repository.path(".git/index"));
    let later = newest + std::time::Duration::from_nanos(1);
    index.unwrap().set_modified(later).unwrap();
    let words = ["status", "--porcelain"];
    let traced = run_traced(HEDGEROW, &repository.root, "open,openat,openat2", &words);
    assert_eq!((traced.code, traced.stdout.as_slice()), (0, &b""[..]));
    assert!(traced.stderr.contains("packed-refs") || traced.stderr.contains("HEAD"));
    assert!(!traced.stderr.contains(".txt\""), "{}", traced.stderr);
}

/// Git removes a file before it reads the attributes for what it writes in its place.
#[test]
fn attribute_files_that_are_copied_from_the_index_count_as_there() {
    let origin = Repository::init(&[]);
    let files = [
        ("d/.gitattributes", "*.q text\n"),
        ("d/z", "hello\n"),
        ("d/e/y", "hello\n"),
        ("e/+", "hello\n"),
        ("e/.gitattributes", "*.q text\n"),
        ("e/z", "hello\n"),
        ("f/.gitattributes", "*.q text\n"),
        ("f/z", "hello\n"),
    ];
    origin.commit_files(&files, "first");
    for line in ["-f -a", "-f -u -a", "-a", "-f d/z", "-f --prefix=out/ -a"] {
        for touches_early in [false, true] {
            let mut pair = Pair::of(&origin, &format!("{line} {touches_early}"));
            pair.reads_all = true;
            pair.each("edit", |it| {
                it.git(&["config", "filter.rot.smudge", "tr a-z n-za-m"]);
                it.git(&["config", "filter.rot.clean", "tr a-z n-za-m"]);
                for path in ["d/.gitattributes", "e/.gitattributes"] {
                    it.write(path, "* filter=rot\n");
                }
                for path in ["d/z", "d/e/y", "e/z", "f/z"] {
                    it.write(path, "changed, and longer\n");
                }
                if touches_early {
                    it.write("e/+", "changed, and longer\n");
                }
            });
            let words: Vec<&str> = line.split(' ').collect();
            pair.both("checkout-index", "", &words, &[]);
        }
    }
}

/// Where there are no symbolic links, a file has the target, which nothing converts.
#[test]
fn what_stands_for_a_link_is_not_converted() {
    let origin = Repository::init(&[]);
    origin.write("a.txt", "a\n");
    origin.symlink("link", "a.txt");
    origin.commit("first");
    for attribute in [
        "working-tree-encoding=UTF-16",
        "filter=rot",
        "text eol=crlf",
        "ident",
    ] {
        for line in [
            "checkout -f main",
            "restore link",
            "checkout-index -a",
            "reset --hard",
        ] {
            let mut pair = Pair::of(&origin, &format!("{attribute}: {line}"));
            pair.each("edit", |it| {
                it.git(&["config", "filter.rot.smudge", "tr a-z n-za-m"]);
                it.git(&["config", "core.symlinks", "false"]);
                it.write(".git/info/attributes", format!("link {attribute}\n"));
                it.remove("link");
            });
            let words: Vec<&str> = line.split(' ').collect();
            pair.both(words[0], "", &words[1..], &[]);
        }
    }
}

#[test]
fn the_files_of_the_system_are_those_of_the_git_in_the_path() {
    let repository = origin();
    let prefix = hedgerow_testkit::temporary();
    let at = |name: &str| prefix.path().join(name);
    for directory in ["bin", "etc", "libexec/git-core"] {
        std::fs::create_dir_all(at(directory)).unwrap();
    }
    std::fs::write(at("bin/git"), "").unwrap();
    std::fs::set_permissions(
        at("bin/git"),
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .unwrap();
    let checked_out_by = |bin: &std::path::Path, obeys_system: bool| {
        repository.remove("a.txt");
        let mut command = HEDGEROW.command(&repository.root);
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", bin.display()));
        if obeys_system {
            hedgerow_testkit::use_system_files(&mut command);
        }
        command.args(["checkout", "--", "a.txt"]);
        run(command).ok("checkout");
        content(&repository, "a.txt").contains('\r')
    };
    let checked_out = |obeys_system: bool| checked_out_by(&at("bin"), obeys_system);
    std::fs::write(at("etc/gitattributes"), CRLF).unwrap();
    assert!(checked_out(true));
    assert!(!checked_out(false));
    std::fs::remove_file(at("etc/gitattributes")).unwrap();
    assert!(!checked_out(true));
    std::fs::write(at("etc/gitconfig"), "[core]\n\tautocrlf = true\n").unwrap();
    assert!(checked_out(true));
    assert!(!checked_out(false));
    // A repository has no say in it, by a PATH that leads into it.
    std::os::unix::fs::symlink(prefix.path(), repository.path("own")).unwrap();
    assert!(!checked_out_by("own/bin".as_ref(), true));
}
