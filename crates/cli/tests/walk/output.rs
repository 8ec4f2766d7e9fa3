//! Forms of the output, exit codes, closed pipes.

use crate::support::{parts, run, walk, walk_with};
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

fn small() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("d")).unwrap();
    fs::write(root.path().join("d/f"), "abc").unwrap();
    fs::write(root.path().join("d.e"), "").unwrap();
    root
}

#[test]
fn paths_begin_as_the_directory_was_named() {
    let root = small();
    let sorted = |words: &[&str]| {
        let outcome = walk(root.path(), &[&["--sort"], words].concat());
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
        String::from_utf8(outcome.stdout).unwrap()
    };
    assert_eq!(sorted(&[]), "d\nd/f\nd.e\n");
    assert_eq!(sorted(&["."]), "./d\n./d/f\n./d.e\n");
    assert_eq!(sorted(&["./"]), "./d\n./d/f\n./d.e\n");
    assert_eq!(sorted(&["d"]), "d/f\n");
    assert_eq!(sorted(&["d/"]), "d/f\n");
    assert_eq!(sorted(&["-C", "d"]), "f\n");
    assert_eq!(sorted(&["-C", "d", ".."]), "../d\n../d/f\n../d.e\n");
    assert_eq!(sorted(&["-0", "d"]), "d/f\0");
    std::os::unix::fs::symlink("d", root.path().join("link")).unwrap();
    assert_eq!(sorted(&["link"]), "link/f\n");
    assert_eq!(sorted(&["--max-depth", "0"]), "");
}

#[test]
fn what_cannot_start_says_so() {
    let root = small();
    for (words, message) in [
        (
            &["none"][..],
            "error: cannot open 'none': No such file or directory\n",
        ),
        (&["d.e"], "error: cannot open 'd.e': Not a directory\n"),
        (
            &["--json", "-0"],
            "{\"exit_code\":2,\"hint\":null,\"message\":\"--json has lines of its own: it takes no -0\",\
             \"schema\":\"hedgerow.message.v1\",\"severity\":\"error\"}\n",
        ),
    ] {
        let outcome = walk(root.path(), words);
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        assert_eq!(
            (outcome.stderr.as_str(), outcome.stdout.len()),
            (message, 0)
        );
    }
    let outcome = walk(root.path(), &["--no-such-option"]);
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
}

#[test]
fn objects_tell_what_lines_tell() {
    let root = small();
    fs::write(root.path().join(OsStr::from_bytes(b"\xff\n")), "").unwrap();
    let outcome = walk(root.path(), &["--json", "--sort", "--stat"]);
    let lines = outcome.stdout.split_inclusive(|byte| *byte == b'\n');
    let objects: Vec<serde_json::Value> = lines
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    let types: Vec<&str> = objects
        .iter()
        .map(|o| o["type"].as_str().unwrap())
        .collect();
    assert_eq!(types, ["directory", "file", "file", "file"]);
    assert_eq!(objects[1]["path"], "d/f");
    assert_eq!(objects[1]["size_bytes"], 3);
    assert_eq!(objects[3]["path"]["bytes"], serde_json::json!([255, 10]));
    let plain = walk(root.path(), &["--json", "--max-depth=1"]);
    assert_eq!(parts(&plain.stdout, b'\n').len(), 3);
    let plain = String::from_utf8(walk(root.path(), &["--json", "d"]).stdout).unwrap();
    assert_eq!(
        plain,
        "{\"schema\":\"hedgerow.walk.v1\",\"path\":\"d/f\",\"type\":\"file\"}\n"
    );
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let root = tempfile::tempdir().unwrap();
    for number in 0..6000 {
        let name = format!("{number:0>60}");
        fs::write(root.path().join(name), "").unwrap();
    }
    for words in [
        &["walk"][..],
        &["walk", "--sort"],
        &["walk", "--stat", "-j8"],
    ] {
        let mut command = hedgerow_testkit::isolated(env!("CARGO_BIN_EXE_hedgerow"));
        command.args(words).current_dir(root.path());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut some = [0; 10];
        child.stdout.take().unwrap().read_exact(&mut some).unwrap();
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), stderr.as_ref()), (Some(0), ""));
    }
}

#[test]
fn a_full_disk_is_told() {
    if !Path::new("/dev/full").exists() {
        return crate::support::skip("there is no /dev/full");
    }
    let root = small();
    for words in ["", "--sort", "--summary"] {
        let mut sh = Command::new("sh");
        let script = format!("exec \"$0\" walk {words} > /dev/full");
        sh.arg("-c").arg(script).arg(env!("CARGO_BIN_EXE_hedgerow"));
        let outcome = run(sh.current_dir(root.path()));
        let message = "error: cannot write 'standard output': No space left on device\n";
        assert_eq!(
            (outcome.code, outcome.stderr.as_str()),
            (Some(2), message),
            "{words}"
        );
    }
}

#[test]
fn an_interrupt_ends_it() {
    let root = tempfile::tempdir().unwrap();
    for number in 0..2000 {
        fs::create_dir(root.path().join(number.to_string())).unwrap();
    }
    for words in [&["-j1"][..], &["-j1", "--sort"]] {
        let mut command = hedgerow_testkit::isolated(env!("CARGO_BIN_EXE_hedgerow"));
        command.arg("walk").args(words).current_dir(root.path());
        command
            .env("HEDGEROW_TEST_DELAY", "1")
            .stdout(Stdio::null());
        let mut child = command.spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(100));
        let mut kill = Command::new("kill");
        kill.args(["-INT", &child.id().to_string()]);
        assert!(kill.status().unwrap().success());
        assert_eq!(child.wait().unwrap().signal(), Some(2));
    }
}

#[test]
fn control_characters_do_not_reach_a_terminal() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("a\x1b[2Jb\nc"), "").unwrap();
    let plain = walk(root.path(), &[]);
    assert_eq!(plain.stdout, b"a\x1b[2Jb\nc\n");
    let mut script = Command::new("script");
    let line = format!("'{}' walk", env!("CARGO_BIN_EXE_hedgerow"));
    script.args(["-q", "-e", "-c", &line, "/dev/null"]);
    let Ok(output) = script
        .current_dir(root.path())
        .stdin(Stdio::null())
        .output()
    else {
        return crate::support::skip("script(1) is not here to make a terminal");
    };
    assert_eq!(String::from_utf8_lossy(&output.stdout), "a?[2Jb?c\r\n");
}

/// Neither do those that others list, and the tools.
#[test]
fn control_characters_of_other_lists_do_not_reach_a_terminal() {
    let root = tempfile::tempdir().unwrap();
    let odd = root.path().join("odd\x1b[2Jb");
    fs::create_dir(&odd).unwrap();
    fs::write(odd.join("a\x1b[2Jb"), "").unwrap();
    for tool in ["hedgerow", "unsquashfs", "rdsquashfs"] {
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_hedgerow"), root.path().join(tool)).unwrap();
    }
    for line in [
        "../hedgerow image create -q . ../one",
        "../hedgerow doctor",
        "../hedgerow tune --dry-run",
        "../unsquashfs -l ../one",
        "../unsquashfs -ll ../one",
        "../unsquashfs -i -d ../out ../one",
        "../rdsquashfs -l / ../one",
        "../rdsquashfs -d ../one",
    ] {
        let mut script = Command::new("script");
        script.args(["-q", "-e", "-c", line, "/dev/null"]);
        hedgerow_testkit::isolate(&mut script);
        let script = script.current_dir(&odd).stdin(Stdio::null()).output();
        let Ok(output) = script else {
            return crate::support::skip("script(1) is not here to make a terminal");
        };
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(!said.contains('\x1b'), "{line}: {said:?}");
        let is_named = said.contains("?[2Jb") || line.contains("create");
        assert!(is_named, "{line}: {said:?}");
    }
    // A program gets the bytes.
    let mut piped = Command::new("../unsquashfs");
    piped.args(["-l", "../one"]).current_dir(&odd);
    let listed = piped.output().unwrap().stdout;
    assert!(String::from_utf8_lossy(&listed).contains("a\x1b[2Jb"));
}

#[test]
fn statistics_and_workers_are_told() {
    let root = small();
    let outcome = walk_with(root.path(), &["-j3", "--stat", "--stats"], &[]);
    assert_eq!(outcome.code, Some(0));
    assert!(outcome.stderr.contains("operations"), "{outcome:?}");
}
