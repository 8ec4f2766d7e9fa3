//! What a status shows and how, one subject at a time.

use crate::{past, set_time, Bench, Format, FORMATS};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A repository with the committed files `a`, `b` and `d/c`, all with times that have passed.
fn committed(bench: &mut Bench, name: &str, format: Format) -> PathBuf {
    let root = bench.init(name, format);
    fs::create_dir(root.join("d")).unwrap();
    for (number, file) in ["a", "b", "d/c"].iter().enumerate() {
        write(&root.join(file), "content\n", number as u64);
    }
    bench.hg(&root, &["commit", "-qAm", "one"]);
    // Only a status notes what the files look like.
    bench.hg(&root, &["status"]);
    root
}

fn write(path: &Path, content: &str, number: u64) {
    fs::write(path, content).unwrap();
    let (seconds, nanoseconds) = past(number);
    set_time(path, seconds, nanoseconds);
}

fn without_hg(bench: &Bench, cwd: &Path, words: &[&str]) -> (i32, String, String) {
    let output = bench
        .command(cwd, words)
        .env("PATH", "/nonexistent")
        .output();
    let output = output.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn a_repository_without_a_commit_and_one_without_a_dirstate() {
    let Some(mut bench) = Bench::new() else {
        return;
    };
    for format in FORMATS {
        let root = bench.init(&format!("empty-{format:?}"), format);
        bench.compare(&root, &[&[], &["-A"]], "nothing");
        fs::write(root.join("new"), "").unwrap();
        fs::write(root.join("added"), "").unwrap();
        bench.compare(&root, &[&[], &["-A"]], "no dirstate");
        bench.hg(&root, &["add", "added"]);
        bench.compare(&root, &[&[], &["-A"]], "no parent");
    }
}

#[test]
fn files_changed_in_the_instant_of_the_commit_are_told_by_their_content() {
    let Some(mut bench) = Bench::new() else {
        return;
    };
    for format in FORMATS {
        let root = bench.init(&format!("instant-{format:?}"), format);
        for name in ["same", "other", "link"] {
            fs::write(root.join(name), "content").unwrap();
        }
        bench.hg(&root, &["commit", "-qAm", "one"]);
        fs::write(root.join("other"), "CONTENT").unwrap();
        fs::remove_file(root.join("link")).unwrap();
        std::os::unix::fs::symlink("content", root.join("link")).unwrap();
        bench.compare(&root, &[&["-A"]], "instant");
    }
}

#[test]
fn nobody_to_ask_leaves_files_undecided_and_says_so() {
    let Some(mut bench) = Bench::new() else {
        return;
    };
    for format in FORMATS {
        let root = committed(&mut bench, &format!("undecided-{format:?}"), format);
        write(&root.join("a"), "CONTENT\n", 77);
        set_time(&root.join("d/c"), 1_400_000_000, 0);
        fs::write(root.join("b"), "longer than it was\n").unwrap();
        let (code, data, said) = without_hg(&bench, &root, &["-A"]);
        assert_eq!((code, data.as_str()), (3, "M b\n"));
        assert_eq!(
            said,
            "error: only their content tells whether these files are modified, and they could \
             not be compared: hg is not installed\n\ta\n\td/c\n"
        );
        let (code, data, said) = without_hg(&bench, &root.join("d"), &["--json"]);
        assert_eq!(code, 3);
        let document: serde_json::Value = serde_json::from_str(&data).unwrap();
        assert_eq!(document["schema"], "hedgerow.hg-status.v1");
        assert_eq!(document["status"], "undecided");
        assert_eq!(
            document["files"],
            serde_json::json!([{"status": "M", "path": "b"}])
        );
        assert_eq!(document["undecided"], serde_json::json!(["a", "d/c"]));
        let documents = said.lines().map(|line| serde_json::from_str(line).unwrap());
        let documents: Vec<serde_json::Value> = documents.collect();
        let message = documents[0]["message"].as_str().unwrap();
        assert_eq!(documents.last().unwrap()["exit_code"], 3, "{said}");
        assert!(message.trim_end().ends_with("\t../a\n\tc"), "{said}");
        // What does not depend on them is told.
        let (code, data, said) = without_hg(&bench, &root, &["-a", "-u", "-d"]);
        assert_eq!((code, data.as_str(), said.as_str()), (0, "", ""));
        bench.compare(&root, &[&["-A"]], "asked");
    }
}

#[test]
fn files_that_are_converted_are_not_compared() {
    let Some(mut bench) = Bench::new() else {
        return;
    };
    let root = committed(&mut bench, "converted", Format::V1);
    set_time(&root.join("a"), 1_400_000_000, 0);
    for (settings, reason) in [
        ("[encode]\n*.gz = pipe: gunzip\n", "section 'encode'"),
        ("[decode]\n* = tempfile: x\n", "section 'decode'"),
        ("[extensions]\neol =\n", "extension 'eol'"),
        (
            "[extensions]\nhgext.keyword = /x.py\n",
            "extension 'keyword'",
        ),
    ] {
        fs::write(root.join(".hg/hgrc"), settings).unwrap();
        let ours = bench.ours(&root, &[]);
        let said = String::from_utf8(ours.stderr).unwrap();
        assert_eq!(ours.status.code(), Some(3), "{settings}");
        assert!(said.contains(reason), "{said}");
    }
    fs::write(root.join(".hg/hgrc"), "[extensions]\neol = !\n").unwrap();
    bench.compare(&root, &[&["-A"]], "extension turned off");
}

#[test]
fn paths_are_shown_as_configured() {
    let Some(mut bench) = Bench::new() else {
        return;
    };
    let root = committed(&mut bench, "shown", Format::V1);
    bench.hg(&root, &["rename", "a", "d/moved"]);
    fs::write(root.join("d/new"), "").unwrap();
    let below = root.join("d");
    for settings in [
        "[ui]\nrelative-paths = yes\n",
        "[ui]\nrelative-paths = no\n",
        "[ui]\nrelative-paths = legacy\n",
        "[commands]\nstatus.relative = yes\n",
        "[ui]\nrelative-paths = yes\n[commands]\nstatus.relative = no\n",
        "[ui]\nstatuscopies = yes\n",
        "[ui]\nquiet = yes\n",
    ] {
        fs::write(root.join(".hg/hgrc"), settings).unwrap();
        let sets: [&[&str]; 6] = [
            &[],
            &["."],
            &["-A"],
            &["-n", ".."],
            &["new", "../a"],
            &["-u"],
        ];
        bench.compare(&below, &sets, settings);
    }
    let plain = |settings: &str| {
        fs::write(root.join(".hg/hgrc"), settings).unwrap();
        let mut command = bench.command(&below, &["-a", "-r"]);
        String::from_utf8(command.env("HGPLAIN", "").output().unwrap().stdout).unwrap()
    };
    let shown = plain("[commands]\nstatus.relative = yes\n[ui]\nstatuscopies = yes\n");
    assert_eq!(shown, "A d/moved\nR a\n");
    fs::write(root.join(".hg/hgrc"), "[ui]\nrelative-paths = perhaps\n").unwrap();
    let ours = bench.ours(&root, &[]);
    assert_eq!(
        String::from_utf8(ours.stderr).unwrap(),
        "fatal: ui.relative-paths is not a boolean ('perhaps')\n"
    );
    fs::write(root.join(".hg/hgrc"), "[ui]\n  nonsense\n").unwrap();
    let ours = bench.ours(&root, &[]);
    let said = String::from_utf8(ours.stderr).unwrap();
    assert!(
        said.contains(".hg/hgrc:2: unexpected leading whitespace: nonsense"),
        "{said}"
    );
    for (section, key) in [
        ("commands", "status.terse"),
        ("alias", "status"),
        ("defaults", "status"),
        ("hooks", "pre-status"),
        ("hooks", "post-status.second"),
    ] {
        let setting = format!("[{section}]\n{key} = status -m\n");
        fs::write(root.join(".hg/hgrc"), setting).unwrap();
        let ours = bench.ours(&root, &[]);
        let said = String::from_utf8(ours.stderr).unwrap();
        let warned = format!("warning: '{section}.{key}' is not supported\n");
        assert_eq!(said, warned);
        let mut command = bench.command(&root, &[]);
        let plain = command.env("HGPLAIN", "").output().unwrap();
        assert_eq!(plain.stderr.is_empty(), section != "hooks", "{key}");
    }
}

#[test]
fn paths_that_are_not_there_or_not_paths_are_told() {
    let Some(mut bench) = Bench::new() else {
        return;
    };
    let root = committed(&mut bench, "paths", Format::V2);
    fs::remove_file(root.join("a")).unwrap();
    let absolute = root.join("d");
    let absolute = absolute.to_str().unwrap();
    let sets: [&[&str]; 4] = [
        &["a", "none"],
        &["-A", "d"],
        &["-A", absolute],
        &["-A", "path:d"],
    ];
    bench.compare(&root, &sets, "paths");
    let said = |word: &str| String::from_utf8(bench.ours(&root, &[word]).stderr).unwrap();
    assert_eq!(said("none"), "none: No such file or directory\n");
    assert_eq!(
        said("glob:*"),
        "fatal: glob:*: patterns are not supported, only paths\n"
    );
    let outside = format!("fatal: ../x: not under root '{}'\n", root.display());
    assert_eq!(said("../x"), outside);
}

#[test]
fn shared_working_copies_use_the_settings_of_their_source() {
    let Some(mut bench) = Bench::new() else {
        return;
    };
    for (name, words) in [
        ("share", ["--config", "format.use-share-safe=no"]),
        ("share-safe", ["--config", "format.use-share-safe=yes"]),
        ("relative", ["--config", "format.use-share-safe=yes"]),
    ] {
        let source = bench.path(&format!("{name}-source"));
        let shared = bench.path(&format!("{name}-copy"));
        let cwd = bench.path("");
        let init = [&["init"], &words[..], &[source.to_str().unwrap()]].concat();
        bench.hg(&cwd, &init);
        write(&source.join("a"), "x", 1);
        write(&source.join("b"), "x", 2);
        bench.hg(&source, &["commit", "-qAm", "one"]);
        let mut share = vec!["share", "-q", "--config", "extensions.share="];
        if name == "relative" {
            share.push("--relative");
        }
        share.extend([source.to_str().unwrap(), shared.to_str().unwrap()]);
        bench.hg(&cwd, &share);
        fs::write(shared.join("new"), "").unwrap();
        fs::write(shared.join("a"), "y").unwrap();
        fs::write(shared.join("list"), "new\n").unwrap();
        bench.compare(&shared, &[&["-A"]], name);
        fs::write(source.join(".hg/hgrc"), "[ui]\nignore = list\n").unwrap();
        bench.compare(&shared, &[&["-A"]], &format!("{name} with settings"));
        fs::write(shared.join(".hg/hgrc-not-shared"), "[ui]\nignore = b\n").unwrap();
        bench.compare(&shared, &[&["-A"]], &format!("{name} with own settings"));
        fs::remove_dir_all(&source).unwrap();
        let ours = bench.ours(&shared, &[]);
        let said = String::from_utf8(ours.stderr).unwrap();
        assert_eq!(ours.status.code(), Some(128));
        assert!(
            said.contains("it points to a directory that does not exist"),
            "{said}"
        );
    }
}

#[test]
fn subrepositories_and_nested_ones_are_not_looked_into() {
    let Some(mut bench) = Bench::new() else {
        return;
    };
    let root = committed(&mut bench, "outer", Format::V1);
    for name in ["sub", "nested", "d/git"] {
        bench.hg(&root, &["init", name]);
        fs::write(root.join(name).join("inside"), "").unwrap();
    }
    fs::rename(root.join("d/git/.hg"), root.join("d/git/.git")).unwrap();
    fs::write(root.join(".hgsub"), "sub = sub\nd/git = [git]somewhere\n").unwrap();
    bench.compare(&root, &[&[], &["-A"]], "not yet subrepositories");
    bench.hg(&root, &["add", "-q", ".hgsub"]);
    bench.compare(&root, &[&[], &["-A"]], "subrepositories");
    fs::write(root.join("nested/.hgignore"), "").unwrap();
    let inner = root.join("nested");
    bench.compare(&inner, &[&[], &["-A"]], "the nearer repository");
}

#[test]
fn neither_files_nor_links() {
    let Some(mut bench) = Bench::new() else {
        return;
    };
    let root = committed(&mut bench, "special", Format::V2);
    fs::remove_file(root.join("a")).unwrap();
    fs::remove_file(root.join("d/c")).unwrap();
    for name in ["a", "d/c", "fifo"] {
        let made = Command::new("mkfifo")
            .arg(root.join(name))
            .status()
            .unwrap();
        assert!(made.success());
    }
    let sets: [&[&str]; 4] = [&[], &["-A"], &["-m", "-d"], &["-i"]];
    bench.compare(&root, &sets, "fifos");
    fs::write(root.join(".hgignore"), "^d$\n").unwrap();
    bench.compare(&root, &[&[], &["-A"], &["-m", "-d"]], "fifos, one ignored");
}

#[test]
fn a_directory_that_cannot_be_read_is_told_and_its_files_are_looked_for() {
    use std::os::unix::fs::PermissionsExt;
    let Some(mut bench) = Bench::new() else {
        return;
    };
    let root = committed(&mut bench, "unreadable", Format::V1);
    if hedgerow_fs::effective_uid() == 0 {
        hedgerow_testkit::skip("root reads every directory");
        return;
    }
    let set_mode = |mode| {
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(root.join("d"), permissions).unwrap();
    };
    for mode in [0o300, 0o000] {
        set_mode(mode);
        let said = String::from_utf8(bench.ours(&root, &[]).stderr).unwrap();
        assert_eq!(said, "d: Permission denied\n");
        bench.compare(&root, &[&[], &["-A"]], &format!("mode {mode:o}"));
        set_mode(0o700);
    }
}

#[test]
fn names_of_any_bytes_are_asked_about() {
    let Some(mut bench) = Bench::new() else {
        return;
    };
    for format in FORMATS {
        let root = bench.init(&format!("bytes-{format:?}"), format);
        for name in [
            &b"\xff\xfe"[..],
            b" lead",
            b"{path}",
            b"glob:x*",
            b"-x",
            b"a\\0b",
        ] {
            let path = root.join(OsStr::from_bytes(name));
            fs::write(&path, name).unwrap();
        }
        bench.hg(&root, &["commit", "-qAm", "one"]);
        for entry in fs::read_dir(&root).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                set_time(&path, 1_400_000_000, 3);
            }
        }
        fs::write(root.join("{path}"), "{htap}").unwrap();
        bench.compare(&root, &[&["-A"]], "odd names");
    }
}

#[test]
fn large_files_are_compared_to_their_last_byte() {
    let Some(mut bench) = Bench::new() else {
        return;
    };
    let root = bench.init("large", Format::V1);
    let content = vec![b'x'; 300_000];
    for name in ["same", "last", "first"] {
        fs::write(root.join(name), &content).unwrap();
    }
    fs::write(root.join("empty"), "").unwrap();
    bench.hg(&root, &["commit", "-qAm", "one"]);
    for (name, at) in [("last", 299_999), ("first", 0)] {
        let mut changed = content.clone();
        changed[at] = b'y';
        fs::write(root.join(name), changed).unwrap();
    }
    for name in ["same", "last", "first", "empty"] {
        set_time(&root.join(name), 1_400_000_000, 3);
    }
    bench.compare(&root, &[&["-A"]], "large");
}

#[test]
fn any_number_of_workers_says_the_same() {
    let Some(mut bench) = Bench::new() else {
        return;
    };
    let root = committed(&mut bench, "workers", Format::V1);
    for number in 0..300 {
        let directory = root.join(format!("d{}", number % 17));
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join(number.to_string()), "").unwrap();
    }
    let once = bench.ours(&root, &["-A", "-j1"]).stdout;
    assert_eq!(once.iter().filter(|byte| **byte == b'\n').count(), 303);
    for jobs in ["-j2", "-j8", "-j64"] {
        assert_eq!(bench.ours(&root, &["-A", jobs]).stdout, once);
    }
}

#[test]
fn whatever_call_fails_is_told_or_made_no_difference() {
    const EIO: &str = "5";
    let Some(mut bench) = Bench::new() else {
        return;
    };
    for format in FORMATS {
        let root = committed(&mut bench, &format!("faults-{format:?}"), format);
        fs::write(root.join(".hgignore"), "ignored\ninclude:d/more\n").unwrap();
        fs::write(root.join("d/more"), "x\n").unwrap();
        fs::write(root.join("d/ignored"), "").unwrap();
        fs::write(root.join("d/new"), "").unwrap();
        fs::write(root.join("a"), "changed and longer\n").unwrap();
        let expected = bench.ours(&root, &["-A", "-j1"]).stdout;
        for kind in ["open", "read", "stat"] {
            for number in 1.. {
                let fault = format!("{kind}:{number}:{EIO}");
                let mut command = bench.command(&root, &["-A", "-j1"]);
                let output = command.env("HEDGEROW_TEST_FAULT", &fault).output().unwrap();
                let said = String::from_utf8(output.stderr).unwrap();
                let (told, counted) = said.split_once("HEDGEROW_TEST_FAULT saw ").unwrap();
                let seen: u64 = counted.split(' ').next().unwrap().parse().unwrap();
                assert!(
                    !told.is_empty() || output.stdout == expected,
                    "{fault} was silent: {}",
                    String::from_utf8_lossy(&output.stdout)
                );
                let is_failed = told.starts_with("fatal: ");
                assert_eq!(output.status.code(), Some(if is_failed { 128 } else { 0 }));
                if seen < number {
                    assert!(number > 3, "{kind} {number}");
                    break;
                }
            }
        }
    }
}
