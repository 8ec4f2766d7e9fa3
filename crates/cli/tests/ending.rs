//! How every command ends: when its output cannot be written, when it is interrupted, when there
//! are no threads, and when what it is to write to is no file.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests make repositories and look at files, and say what they skip"
)]

use hedgerow_testkit::{git, isolate, use_global_config};
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::{symlink, FileTypeExt};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The signal for a closed pipe, by which git dies, too.
const SIGPIPE: i32 = 13;

const HEDGEROW: &str = env!("CARGO_BIN_EXE_hedgerow");
const SIGNALS: [(&str, i32); 3] = [("HUP", 1), ("INT", 2), ("TERM", 15)];

/// Every command, words with which it prints something in a scene, and the exit code that means
/// that it cannot go on. None: it prints nothing but its help.
const COMMANDS: [(&str, Option<&str>, i32); 41] = [
    ("archive", Some("archive HEAD"), 128),
    ("bitmap", Some("bitmap list"), 128),
    ("cat-file", Some("cat-file blob HEAD:large"), 128),
    ("checkout", Some("checkout -f --json HEAD"), 128),
    ("checkout-index", None, 128),
    ("clean", Some("clean -nd --json"), 128),
    ("clone", None, 128),
    ("diff-files", None, 128),
    ("diff-index", None, 128),
    ("doctor", Some("doctor"), 2),
    ("fetch", None, 128),
    ("generate", Some("generate completions bash"), 2),
    ("hg-status", None, 128),
    ("image", Some("image info ../image"), 2),
    ("image-store", None, 2),
    ("index-pack", Some("index-pack -o ../copy.idx PACK"), 128),
    ("ls-files", Some("ls-files"), 128),
    ("maintenance", Some("maintenance run --dry-run"), 128),
    ("merge", Some("merge HEAD"), 128),
    ("mount", None, 2),
    ("multi-pack-index", None, 128),
    ("pack-objects", Some("pack-objects --all --stdout"), 128),
    ("read-tree", None, 128),
    ("repack", Some("repack -a -d --dry-run"), 128),
    ("reset", Some("reset --hard HEAD"), 128),
    ("restore", None, 128),
    ("reverse-index", None, 128),
    ("rev-list", Some("rev-list --objects HEAD"), 128),
    ("shim", Some("shim status"), 2),
    ("sparse-checkout", None, 128),
    ("stash", None, 128),
    ("stats", Some("stats ../stats.json"), 2),
    ("status", Some("status"), 128),
    ("submodule", None, 128),
    ("switch", Some("switch --json main"), 128),
    ("tune", Some("tune --dry-run"), 2),
    ("unmount", None, 2),
    ("upload-pack-hook", None, 128),
    ("verify-pack", Some("verify-pack -v PACK"), 128),
    ("walk", Some("walk ."), 2),
    ("worktree", Some("worktree list"), 128),
];
/// Further ways in which those print.
const FURTHER: [(&str, i32); 19] = [
    ("--help", 128),
    ("-h", 128),
    ("walk -h", 2),
    ("help workers", 128),
    ("doctor --json", 2),
    ("generate reference", 2),
    ("--version", 128),
    ("--version --verbose", 128),
    ("generate man", 2),
    ("generate man tar2sqfs", 2),
    ("image list ../image", 2),
    ("image cat ../image large", 2),
    ("image to-tar ../image", 2),
    ("image verify ../image", 2),
    ("walk --summary .", 2),
    ("rev-list --count HEAD", 128),
    ("cat-file --batch-all-objects --batch-check", 128),
    ("cat-file --batch-all-objects --batch", 128),
    ("stats -o - ../stats.json", 2),
];
/// The tools of squashfs-tools and squashfs-tools-ng, likewise.
const TOOLS: [(&str, &str, i32); 12] = [
    ("gensquashfs", "--help", 1),
    ("gensquashfs", "-f -D . ../other", 1),
    ("mksquashfs", "-help", 1),
    ("sqfstar", "-help", 1),
    ("unsquashfs", "-l ../image", 1),
    ("rdsquashfs", "-c large ../image", 1),
    ("rdsquashfs", "-d ../image", 1),
    ("rdsquashfs", "-l / ../image", 1),
    ("sqfs2tar", "../image", 1),
    ("sqfsdiff", "-a ../image -b ../second", 2),
    ("sqfsdiff", "--version", 2),
    ("tar2sqfs", "--help", 1),
];

/// A repository with a pack, bitmaps and a large file, and beside it images and statistics.
struct Scene {
    home: tempfile::TempDir,
    pack: String,
}

impl Scene {
    fn new() -> Scene {
        let home = tempfile::tempdir().unwrap();
        let repository = home.path().join("repository");
        std::fs::create_dir(&repository).unwrap();
        let large: String = (0..40_000).map(|line| format!("line {line}\n")).collect();
        std::fs::write(repository.join("large"), large).unwrap();
        std::fs::write(repository.join("small"), "content\n").unwrap();
        for words in [
            "init -q -b main",
            "config gc.auto 0",
            "add .",
            "commit -qm one",
            "repack -adbq",
        ] {
            let words: Vec<&str> = words.split(' ').collect();
            git(&repository, &words, b"");
        }
        let packs = std::fs::read_dir(repository.join(".git/objects/pack")).unwrap();
        let mut packs = packs.map(|entry| entry.unwrap().path());
        let pack = packs.find(|path| path.extension().is_some_and(|it| it == "pack"));
        let scene = Scene {
            pack: pack.unwrap().to_str().unwrap().to_owned(),
            home,
        };
        scene.succeeds("walk --stats=../stats.json .");
        scene.succeeds("image create -c gzip . ../image");
        scene.succeeds("image create -c gzip --all-root --exclude small . ../second");
        scene
    }

    fn repository(&self) -> PathBuf {
        self.home.path().join("repository")
    }

    fn command(&self, words: &str) -> Command {
        let mut command = Command::new(HEDGEROW);
        command.args(words.replace("PACK", &self.pack).split(' '));
        isolated(&mut command, &self.repository()).stdin(Stdio::null());
        command
    }

    fn tool(&self, name: &str, words: &str) -> Command {
        let link = self.home.path().join(name);
        if !link.exists() {
            symlink(HEDGEROW, &link).unwrap();
        }
        let mut command = Command::new(link);
        command.args(words.split(' '));
        isolated(&mut command, &self.repository()).stdin(Stdio::null());
        command
    }

    fn succeeds(&self, words: &str) {
        let output = self.command(words).output().unwrap();
        assert!(output.status.success(), "{words}: {}", said(&output));
    }

    /// Every way to print: what it is, the command, and the exit code of failing.
    fn printing(&self) -> Vec<(String, Command, i32)> {
        let mut all = Vec::new();
        for (name, words, code) in COMMANDS {
            let help = format!("{name} --help");
            for words in words.into_iter().chain([help.as_str()]) {
                all.push((words.to_owned(), self.command(words), code));
            }
        }
        for (words, code) in FURTHER {
            all.push((words.to_owned(), self.command(words), code));
        }
        for (name, words, code) in TOOLS {
            all.push((format!("{name} {words}"), self.tool(name, words), code));
        }
        all
    }
}

fn isolated<'c>(command: &'c mut Command, directory: &Path) -> &'c mut Command {
    isolate(command).current_dir(directory)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// As `command >&-` has it.
fn without_output(command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", "exec \"$0\" \"$@\" >&-"]);
    shell.arg(command.get_program()).args(command.get_args());
    isolated(&mut shell, command.get_current_dir().unwrap()).stdin(Stdio::null());
    shell
}

/// Some parents ignore the end of their children, and what they start inherits that: the kernel would
/// then tell nobody how a child ended.
#[test]
fn children_are_waited_for_below_a_parent_that_ignores_theirs() {
    let scene = Scene::new();
    let mut command = Command::new("env");
    command.args([
        "--ignore-signal=CHLD",
        HEDGEROW,
        "clone",
        "-q",
        ".",
        "../copy",
    ]);
    let cloned = isolated(&mut command, &scene.repository())
        .output()
        .unwrap();
    assert!(cloned.status.success(), "{cloned:?}");
}

#[test]
fn numbers_that_are_none_are_told_in_plain_words() {
    for (words, told) in [
        (
            "image create --set-uid x . image",
            "'--set-uid <N>': not a number",
        ),
        (
            "repack --geometric=x",
            "'--geometric <FACTOR>': not a number",
        ),
        ("walk --max-depth=", "'--max-depth <N>': no number is given"),
        (
            "walk --max-depth 99999999999999999999",
            "'--max-depth <N>': too large",
        ),
        (
            "repack --geometric=99999999999",
            ": 99999999999 is not a number from 0 to 4294967295",
        ),
    ] {
        for more in [&[][..], &["--json"]] {
            let mut command = hedgerow_testkit::isolated(env!("CARGO_BIN_EXE_hedgerow"));
            let words = command.args(words.split(' ')).args(more);
            let output = words.output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(said.contains(told), "{said}");
        }
    }
}

#[test]
fn every_command_is_in_the_table() {
    let scene = Scene::new();
    let help = scene.command("--help").output().unwrap().stdout;
    let help = String::from_utf8(help).unwrap();
    let listed = help.split("Commands:").nth(1).unwrap();
    let listed = listed.split("\n\n").next().unwrap();
    let listed = listed.lines().filter_map(|line| {
        let is_name = line.starts_with("  ") && !line.starts_with("   ");
        line.split_whitespace().next().filter(|_| is_name)
    });
    let mut count = 0;
    for name in listed.filter(|name| *name != "help") {
        let is_there = COMMANDS.iter().any(|(known, ..)| *known == name);
        assert!(is_there, "'{name}' is missing in COMMANDS");
        count += 1;
    }
    // Two of them are hidden.
    assert_eq!(count + 2, COMMANDS.len());
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let scene = Scene::new();
    for (what, mut command, code) in scene.printing() {
        let closed = without_output(&command).output().unwrap();
        let full = File::options().write(true).open("/dev/full").unwrap();
        let full = command
            .stdout(full)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        for (output, reason) in [
            (full, "No space left on device"),
            (closed, "Bad file descriptor"),
        ] {
            let said = said(&output);
            assert_eq!(output.status.code(), Some(code), "{what}: {said}");
            assert!(said.contains(reason), "{what}: {said}");
            assert_eq!(said.matches(reason).count(), 1, "{what}: {said}");
        }
    }
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let scene = Scene::new();
    for (what, mut command, fatal) in scene.printing() {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = command
            .stdout(writer)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        let said = said(&output);
        assert!(!said.contains("pipe"), "{what}: {said}");
        let code = output.status.code();
        if fatal == 128 {
            assert_eq!(
                output.status.signal(),
                Some(SIGPIPE),
                "{what}: {code:?} {said}"
            );
        } else {
            assert!(matches!(code, Some(0 | 1)), "{what}: {code:?} {said}");
        }
    }
}

#[test]
fn what_is_no_file_is_written_into_or_refused() {
    let scene = Scene::new();
    let home = scene.home.path();
    let special = [made_fifo(home), made_device(home)];
    for special in special.iter().flatten() {
        let is_same = || {
            let kind = std::fs::symlink_metadata(special).unwrap().file_type();
            assert!(kind.is_fifo() || kind.is_char_device(), "{special:?}");
        };
        let name = special.display();
        for (words, code) in [
            (format!("image create -f . {name}"), 2),
            (format!("index-pack -o {name} PACK"), 128),
        ] {
            let output = scene.command(&words).output().unwrap();
            assert_eq!(output.status.code(), Some(code), "{}", said(&output));
            is_same();
        }
        let words = format!("-f -D . {name}");
        let output = scene.tool("gensquashfs", &words).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", said(&output));
        is_same();
        for words in [
            format!("walk --stats={name} ."),
            format!("image to-tar -o {name} ../image"),
            format!("image to-tar -f -o {name} ../image"),
            format!("stats -o {name} ../stats.json"),
        ] {
            let reader = std::fs::metadata(special).unwrap().file_type().is_fifo();
            let reader = reader.then(|| reading(special));
            let output = scene.command(&words).output().unwrap();
            assert!(output.status.success(), "{words}: {}", said(&output));
            if let Some(reader) = reader {
                assert!(reader.wait_with_output().unwrap().status.success());
            }
            is_same();
        }
    }
}

#[test]
fn links_lead_to_their_targets_and_open_files_are_written_where_they_stand() {
    let scene = Scene::new();
    let at = |name: &str| scene.home.path().join(name);
    let tar = scene.command("image to-tar ../image").output().unwrap();
    for target in ["old", "new"] {
        symlink(target, at("link")).unwrap();
        if target == "old" {
            std::fs::write(at("old"), "").unwrap();
        }
        scene.succeeds("image to-tar -f -o ../link ../image");
        assert!(std::fs::symlink_metadata(at("link")).unwrap().is_symlink());
        assert_eq!(std::fs::read(at(target)).unwrap(), tar.stdout);
        std::fs::remove_file(at("link")).unwrap();
    }
    symlink("target", at("link")).unwrap();
    scene.succeeds("image create -c gzip . ../link");
    let image = std::fs::read(at("target")).unwrap();
    assert_eq!(image, std::fs::read(at("image")).unwrap());
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        let mut file = File::create(at("open")).unwrap();
        file.write_all(b"before").unwrap();
        let words = format!("image to-tar -o {name} ../image");
        let status = scene.command(&words).stdout(file).status();
        assert!(status.unwrap().success(), "{name}");
        let written = std::fs::read(at("open")).unwrap();
        assert_eq!(written, [b"before", &tar.stdout[..]].concat(), "{name}");
    }
}

fn made_fifo(home: &Path) -> Option<PathBuf> {
    let fifo = home.join("fifo.idx");
    let made = Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    Some(fifo)
}

fn made_device(home: &Path) -> Option<PathBuf> {
    let null = home.join("null.idx");
    let made = Command::new("mknod")
        .arg(&null)
        .args(["c", "1", "3"])
        .output();
    let is_made = made.is_ok_and(|made| made.status.success());
    let works = is_made && File::options().write(true).open(&null).is_ok();
    if !works {
        hedgerow_testkit::skip("no device can be made here");
    }
    works.then_some(null)
}

fn reading(fifo: &Path) -> Child {
    let mut cat = Command::new("cat");
    cat.arg(fifo).stdout(Stdio::null()).spawn().unwrap()
}

/// Runs the script with a shell, and `"$0"` in it is the program.
fn shell(directory: &Path, script: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", script, HEDGEROW]);
    isolated(&mut shell, directory);
    shell
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill")
        .args(["-s", name, &child.id().to_string()])
        .status();
    assert!(status.unwrap().success());
}

/// Waits for the end, for a second at most; returns the signal.
fn end_of(child: &mut Child) -> Option<i32> {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(5) {
        if let Some(status) = child.try_wait().unwrap() {
            return status.signal();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    panic!("it does not end");
}

/// A directory with more names than a pipe holds.
fn many_names(directory: &Path) {
    for number in 0..1500 {
        let name = format!("{number:0>120}");
        std::fs::write(directory.join(name), "").unwrap();
    }
}

#[test]
fn who_is_interrupted_dies_by_the_signal() {
    let scene = Scene::new();
    many_names(&scene.repository());
    for (name, number) in SIGNALS {
        for words in [
            "walk .",
            "pack-objects --stdout",
            "pack-objects --revs --stdout",
            "index-pack --stdin",
            "cat-file --batch",
            "image create -f - ../third",
        ] {
            let mut command = scene.command(words);
            let mut child = command
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            std::thread::sleep(Duration::from_millis(300));
            signal(&child, name);
            assert_eq!(end_of(&mut child), Some(number), "{words}");
        }
    }
    assert!(!scene.home.path().join("third").exists());
}

#[test]
fn who_waits_for_a_fifo_dies_by_the_signal() {
    let scene = Scene::new();
    let fifo = scene.repository().join(".git/info/exclude");
    let _ = std::fs::remove_file(&fifo);
    let made = Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    for (name, number) in SIGNALS {
        for words in ["status", "checkout -f HEAD"] {
            let mut command = scene.command(words);
            let mut child = command.stdout(Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(300));
            signal(&child, name);
            assert_eq!(end_of(&mut child), Some(number), "{words}");
        }
    }
    // Who does write to it is read.
    let mut child = scene
        .command("status")
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    std::fs::write(&fifo, "*.o\n").unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn an_ignored_signal_stays_ignored() {
    let scene = Scene::new();
    many_names(&scene.repository());
    let script = "trap '' HUP INT; exec \"$0\" walk .";
    let mut command = shell(&scene.repository(), script);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    signal(&child, "HUP");
    signal(&child, "INT");
    std::thread::sleep(Duration::from_millis(100));
    assert!(child.try_wait().unwrap().is_none());
    let mut listed = Vec::new();
    let mut output = child.stdout.take().unwrap();
    output.read_to_end(&mut listed).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(listed.split(|byte| *byte == b'\n').count() > 1500);
}

#[test]
fn without_threads_it_works_or_says_so() {
    let scene = Scene::new();
    for (what, mut command, _) in scene.printing() {
        command.env("HEDGEROW_TEST_FAULT", "thread:1-1000000:11");
        let output = command.output().unwrap();
        let said = said(&output);
        let code = output.status.code();
        match code {
            Some(0) => {}
            Some(1) if what.starts_with("sqfsdiff") && !output.stdout.is_empty() => {}
            Some(1 | 2 | 128) => {
                assert!(said.contains("cannot start the thread"), "{what}: {said}");
            }
            other => panic!("{what}: {other:?} {said}"),
        }
    }
    // These must do without.
    for words in [
        "index-pack -o ../again.idx PACK",
        "rev-list --objects --all",
        "repack -a -d -b",
        "bitmap write",
        "bitmap verify",
        "multi-pack-index write --bitmap",
        "status",
        "checkout -f HEAD",
    ] {
        let mut command = scene.command(words);
        command.env("HEDGEROW_TEST_FAULT", "thread:1-1000000:11");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{words}: {}", said(&output));
        if words.starts_with("index-pack") {
            std::fs::remove_file(scene.home.path().join("again.idx")).unwrap();
        }
    }
}

#[test]
fn a_limit_of_the_system_is_told_in_words() {
    let scene = Scene::new();
    std::fs::write(scene.home.path().join("any"), "[safe]\n\tdirectory = *\n").unwrap();
    let open = Command::new("chmod")
        .args(["-R", "a+rwX"])
        .arg(scene.home.path())
        .status();
    assert!(open.unwrap().success());
    for words in [
        "rev-list --objects --all",
        "walk .",
        "image create . ../fourth",
    ] {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=54321", "--clear-groups", "prlimit", "--nproc=1"]);
        command.arg(HEDGEROW).args(words.split(' '));
        isolated(&mut command, &scene.repository());
        use_global_config(&mut command, "../any");
        let output = match command.output() {
            Ok(output) if !said(&output).starts_with("setpriv:") => output,
            _ => return hedgerow_testkit::skip("no other user can be had here"),
        };
        let said = said(&output);
        if said.starts_with("prlimit:") {
            return hedgerow_testkit::skip(&format!(
                "the other user cannot run the program: {said}"
            ));
        }
        match output.status.code() {
            Some(0) => {}
            Some(2) => assert!(said.contains("cannot start the thread"), "{words}: {said}"),
            other => panic!("{words}: {other:?} {said}"),
        }
    }
}

#[test]
fn json_is_never_passed_over() {
    let scene = Scene::new();
    for (words, code) in [
        ("--json rev-list none", 128),
        ("rev-list none --json", 128),
        ("--json cat-file -t HEAD", 129),
        ("--json archive HEAD", 129),
        ("--json bitmap list", 129),
        ("--json generate man", 2),
        ("--json walk nowhere", 2),
        ("--json walk --nonsense", 2),
        ("--json status --nonsense", 129),
        ("--json -C nowhere status", 128),
        ("--json image info nowhere", 2),
    ] {
        let output = scene.command(words).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{words}");
        assert!(output.stdout.is_empty(), "{words}");
        let said = said(&output);
        let is_document = said.starts_with('{') && said.ends_with("}\n");
        assert!(is_document && said.lines().count() == 1, "{words}: {said}");
        let code = format!("\"exit_code\":{code}");
        assert!(said.contains(&code), "{words}: {said}");
    }
}

#[test]
fn where_to_start_is_refused_for_the_systems_reason() {
    let scene = Scene::new();
    for (words, reason) in [
        (
            "-C large status",
            "cannot change to 'large': Not a directory",
        ),
        ("-C large walk", "cannot change to 'large': Not a directory"),
        (
            "-C nowhere rev-list HEAD",
            "cannot change to 'nowhere': No such file or directory",
        ),
    ] {
        let output = scene.command(words).output().unwrap();
        assert!(said(&output).contains(reason), "{}", said(&output));
        assert!(!output.status.success());
    }
}
