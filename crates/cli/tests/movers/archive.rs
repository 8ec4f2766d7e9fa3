//! `archive` beside git: the same bytes.

use crate::HEDGEROW;
use hedgerow_testkit::{
    filter_server, git_is_at_least, run, temporary, text, Program, Random, Repository,
};
use std::path::Path;

/// Both with the same words in the same directory: they must write and say the same.
fn same(repository: &Repository, directory: &str, words: &[&str]) -> Vec<u8> {
    let ran = |program: Program| {
        let mut command = program.command(&repository.root.join(directory));
        command.arg("archive").args(words);
        run(command)
    };
    let (expected, found) = (ran(Program::Git), ran(HEDGEROW));
    assert_eq!(
        (expected.code, &expected.stderr),
        (found.code, &found.stderr),
        "{directory} {words:?}\nfirst git, then hedgerow"
    );
    let position = expected
        .stdout
        .iter()
        .zip(&found.stdout)
        .position(|(a, b)| a != b);
    assert!(
        expected.stdout == found.stdout,
        "{directory} {words:?}: {} and {} bytes, first different at {position:?}",
        expected.stdout.len(),
        found.stdout.len()
    );
    found.stdout
}

fn tree(repository: &Repository) {
    repository.write("file", text(1, 20));
    repository.write("empty", "");
    repository.write("a-b", "sorted before a directory by git\n");
    repository.write("a/b", "b\n");
    repository.write("a/deeper/c", text(2, 3000));
    repository.write("a.txt", "c\n");
    repository.write("ignored/file", "not in an archive\n");
    repository.write("only/ignored", "not in an archive\n");
    repository.write("subst", "$Format:%H %h %an <%ae> %ad %s%n%b$ $Format:%D$\n");
    repository.write("crlf.txt", "one\ntwo\n");
    repository.write(
        ".gitattributes",
        "ignored export-ignore\nonly/* export-ignore\nsubst export-subst\ncrlf.txt eol=crlf\n",
    );
    repository.write(format!("{}/name", "long-directory-".repeat(6)), "split\n");
    repository.write(
        format!("{}/{}", "d".repeat(120), "n".repeat(120)),
        "in a record\n",
    );
    repository.write("n".repeat(101), "in a record\n");
    repository.write(
        format!("{}/{}", "p".repeat(155), "n".repeat(100)),
        "split\n",
    );
    repository.write(
        format!("{}/{}", "q".repeat(156), "n".repeat(100)),
        "in a record\n",
    );
    repository.symlink("link", "file");
    repository.symlink("long-link", "t".repeat(100));
    repository.symlink("longer-link", "t".repeat(101));
    repository.symlink("much-longer-link", "t".repeat(2000));
    repository.write("large", text(7, 200_000));
    repository.write("program", "#!/bin/sh\n");
    repository.git(&["add", "-A"]);
    repository.git(&["update-index", "--chmod=+x", "program"]);
    let commit = "1234567890123456789012345678901234567890";
    let entry = format!("160000,{commit},submodule");
    repository.git(&["update-index", "--add", "--cacheinfo", &entry]);
    repository.git(&["commit", "-qm", "subject\n\nbody"]);
    repository.git(&["tag", "-a", "-m", "tag", "v1"]);
}

#[test]
fn a_tar_archive_has_git_s_bytes() {
    let repository = Repository::init(&[]);
    tree(&repository);
    let long = format!("--prefix={}/", "x".repeat(150));
    for words in [
        &["HEAD"][..],
        &["--format=tar", "HEAD"],
        &["v1"],
        &["main"],
        &["--prefix=dir/", "HEAD"],
        &["--prefix=dir///", "HEAD"],
        &["--prefix=dir", "HEAD"],
        &[&long, "HEAD"],
        &["-v", "--prefix=x/", "HEAD"],
        &["--mtime=@123456789", "HEAD"],
        &["--mtime=2001-02-03 04:05:06 +0000", "HEAD^{tree}"],
        &["--mtime=@0 +0000", "HEAD:a"],
        &["HEAD", "a"],
        &["HEAD", "a/"],
        &["HEAD", "*.txt", ":!a.txt"],
        &["HEAD", "a", "file"],
        &["HEAD", "submodule"],
        &["HEAD", "ignored"],
        &["HEAD", "nothing"],
        &["HEAD", "file", "nothing"],
        &["HEAD", "--", "file"],
        &["nothing"],
        &["HEAD:file"],
        &["--format=none", "HEAD"],
        &["-9", "HEAD"],
        &["--add-file=file", "--prefix=x/", "--add-file=a/b", "HEAD"],
        &["--prefix=x/", "--add-file=program", "--prefix=", "HEAD"],
        &[
            "--add-virtual-file=a/b c:text:more",
            "--add-virtual-file=\"q\\t\":1",
            "HEAD",
        ],
        &["--add-virtual-file=nothing", "HEAD"],
        &["--add-virtual-file=:x", "HEAD"],
        &["--add-virtual-file=\"x", "HEAD"],
        &["--add-file=missing", "HEAD"],
        &["--add-file=a", "HEAD"],
    ] {
        same(&repository, "", words);
    }
    repository.write(".gitattributes", "a export-ignore\n");
    same(&repository, "", &["HEAD"]);
    same(&repository, "", &["--worktree-attributes", "HEAD"]);
    // Only files there count, and none of the tree.
    repository.write("a/.gitattributes", "* eol=crlf text\n");
    repository.commit("attributes below");
    repository.remove("a/.gitattributes");
    repository.remove(".gitattributes");
    for words in [&["HEAD"][..], &["HEAD", "a"]] {
        same(&repository, "", words);
        same(
            &repository,
            "",
            &[&["--worktree-attributes"], words].concat(),
        );
    }
    same(&repository, ".git", &["--worktree-attributes", "HEAD"]);
    for umask in ["0", "077", "0777", "user"] {
        repository.git(&["config", "tar.umask", umask]);
        same(&repository, "", &["HEAD"]);
    }
}

#[test]
fn a_subdirectory_is_archived_by_itself() {
    if !git_is_at_least(2, 40, "an archive of a subdirectory") {
        return;
    }
    let repository = Repository::init(&[]);
    tree(&repository);
    for words in [
        &["HEAD"][..],
        &["-v", "--prefix=p/", "HEAD"],
        &["HEAD", "b"],
        &["HEAD", "deeper"],
        &["HEAD", "../file"],
        &["HEAD", ":/file"],
        &["HEAD", "file"],
        &["--add-file=b", "--add-virtual-file=v:1", "HEAD"],
    ] {
        same(&repository, "a", words);
    }
}

#[test]
fn generated_trees_and_those_of_other_formats() {
    for (seed, format) in [(1, "sha1"), (2, "sha256"), (3, "sha1"), (4, "sha256")] {
        let repository = Repository::init(&[&format!("--object-format={format}")]);
        repository.commit_files(&[("first", "first\n")], "first");
        let mut random = Random::new(seed);
        for number in 0..60 {
            let depth = 1 + random.below(4);
            let parts: Vec<String> = (0..depth)
                .map(|_| ["a", "b-", "b", "c.x", "ö"][random.below(5)].repeat(1 + random.below(40)))
                .collect();
            let path = format!("{}/f{number}", parts.join("/"));
            repository.write(&path, text(number, random.below(200)));
        }
        repository.git(&["add", "-A"]);
        repository.git(&["commit", "-qm", "generated"]);
        let expected = same(&repository, "", &["HEAD"]);
        for jobs in ["1", "8"] {
            let mut command = HEDGEROW.command(&repository.root);
            command.args(["-j", jobs, "archive", "HEAD"]);
            assert_eq!(run(command).ok("archive"), expected);
        }
        same(&repository, "", &["HEAD~"]);
    }
}

#[test]
fn the_output_is_a_file_of_the_format_of_its_name() {
    let repository = Repository::init(&[]);
    tree(&repository);
    let home = temporary();
    let at = |name: &str| home.path().join(name).to_str().unwrap().to_owned();
    let tar = repository.git(&["archive", "HEAD"]);
    let our = |words: &[&str]| {
        let mut command = HEDGEROW.command(&repository.root);
        command.arg("archive").args(words);
        run(command)
    };
    for name in ["a.tar", "other", ".tar.gz", "a.tar.gz", "a.tgz"] {
        our(&["-o", &at(name), "HEAD"]).ok(name);
        let written = std::fs::read(at(name)).unwrap();
        let is_plain = written == tar;
        let is_compressed = name.ends_with("gz");
        assert_eq!(is_plain, !is_compressed, "{name}");
        if is_compressed {
            let unpacked = std::process::Command::new("gzip")
                .args(["-dc", &at(name)])
                .output();
            assert!(unpacked.unwrap().stdout == tar, "{name}");
        }
    }
    let best = our(&["--format=tgz", "-9", "HEAD"]).ok("-9");
    let fast = our(&["--format=tgz", "-1", "HEAD"]).ok("-1");
    assert!(best.len() < fast.len());
    // What is refused leaves the output as it was.
    std::fs::write(at("kept.tar"), "kept").unwrap();
    our(&["-o", &at("kept.tar"), "nothing"]).failed(128, "no such revision");
    our(&["-o", &at("kept.tar"), "--format=zip", "HEAD"]).failed(129, "zip");
    our(&["-o", &at("kept.tar"), "--remote=x", "HEAD"]).failed(129, "remote");
    assert_eq!(std::fs::read(at("kept.tar")).unwrap(), b"kept");
    our(&["-o", &at("a.zip"), "HEAD"]).failed(129, "zip");
    assert!(!Path::new(&at("a.zip")).exists());
    repository.git(&["config", "tar.tar.xz.command", "xz -c"]);
    our(&["--format=tar.xz", "HEAD"]).failed(128, "a command");
    assert_eq!(our(&["--list"]).ok("--list"), b"tar\ntgz\ntar.gz\n");
}

#[test]
fn what_is_not_expanded_is_an_error() {
    let repository = Repository::init(&[]);
    repository.write(".gitattributes", "s export-subst\n");
    repository.write("s", "$Format:%(trailers)$\n");
    repository.commit("one");
    let mut command = HEDGEROW.command(&repository.root);
    command.args(["archive", "HEAD"]);
    let said = run(command).failed(128, "trailers");
    assert!(said.contains("%(trailers"), "{said}");
}

/// Only the first `%(describe)` of an archive is expanded, even if it is malformed or empty.
#[test]
fn one_commit_is_described() {
    const FORMATS: [&str; 26] = [
        "%(describe)",
        "%h %(describe) %h",
        "a\n%-(describe:match=nothing)b",
        "%+(describe) % (describe)",
        "%++(describe)",
        "%(describe:)",
        "%(describe:tags)",
        "%(describe:tags=false)",
        "%(describe:tags=,match=light)",
        "%(describe:tags,tags=no,match=*)",
        "%(describe:tags=sometimes)",
        "%(describe:tags,)",
        "%(describe:,tags)",
        "%(describe:abbrev=0)",
        "%(describe:abbrev=1)",
        "%(describe:abbrev= 12)",
        "%(describe:abbrev=-3)",
        "%(describe:abbrev=99)",
        "%(describe:abbrev=)",
        "%(describe:abbrev=x,tags)",
        "%(describe:match=one)",
        "%(describe:match=on*,match=light,tags,exclude=*e)",
        "%(describe:exclude=two)",
        "%(describe:exclude=)",
        "%(describe:unknown)",
        "%(describes)",
    ];
    for format in FORMATS {
        let repository = Repository::init(&[]);
        repository.write(".gitattributes", "*.s export-subst\n");
        repository.commit("one");
        repository.git(&["tag", "-a", "-m", "m", "one"]);
        repository.write("plain.s", "$Format:%h$ $Format:%(nothing)$\n");
        repository.commit("two");
        repository.git(&["tag", "-a", "-m", "m", "two"]);
        for number in 0..8 {
            let place = ["", "a/", "b/", "c/d/"][number % 4];
            repository.write(
                format!("{place}{number}.s"),
                format!("{number}$Format:{format}$\n"),
            );
        }
        repository.write("z.s", "$Format:%(describe) %(describe)$\n");
        repository.commit("three");
        repository.git(&["tag", "light"]);
        repository.commit_files(&[("last", "")], "four");
        for revision in ["HEAD", "HEAD~1", "two", "one~0", "HEAD^{tree}"] {
            same(&repository, "", &["--mtime=@1600000000", revision]);
        }
    }
}

/// A process gets the files in the order of the archive, whatever the number of workers.
#[test]
fn a_filter_process_gets_the_files_in_order() {
    let repository = Repository::init(&[]);
    repository.write(".gitattributes", "*.f filter=served\n*.g filter=other\n");
    let mut random = Random::new(18);
    for number in 0..200 {
        let name = ["f", "f", "g", "plain"][random.below(4)];
        let directory = ["", "a/", "b.c/", "b/"][random.below(4)];
        let content = text(number, 1 + random.below(2000));
        repository.write(format!("{directory}{number}.{name}"), content);
    }
    repository.commit("one");
    let log = repository.git_dir().join("filter-log");
    let served = filter_server::command(log.to_str().unwrap());
    repository.git(&["config", "filter.served.process", &served]);
    repository.git(&["config", "filter.other.smudge", "tr a-z b-za"]);
    let asked = |program: Program, words: &[&str]| {
        let mut command = program.command(&repository.root);
        command.arg("archive").args(words).arg("HEAD");
        let archive = run(command).ok("archive").to_vec();
        (archive, filter_server::take_log(&repository))
    };
    let expected = asked(Program::Git, &[]);
    for jobs in ["1", "2", "8"] {
        let found = asked(HEDGEROW, &["-j", jobs]);
        assert_eq!(expected.1, found.1, "-j {jobs}");
        assert!(expected.0 == found.0, "-j {jobs}");
    }
}
