//! The program `latencyfs`: in the background, controlled by a file, ended in several ways.

use hedgerow_latencyfs::{unmount, Unmounted};
use serde_json::Value;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A backing directory and a place to mount; unmounted at the end, come what may.
struct Places {
    directory: TempDir,
}

impl Places {
    fn new() -> Places {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("backing")).unwrap();
        fs::create_dir(directory.path().join("mount")).unwrap();
        Places { directory }
    }

    fn backing(&self) -> PathBuf {
        self.directory.path().join("backing")
    }

    fn mount(&self) -> PathBuf {
        self.directory.path().join("mount")
    }

    fn command(&self, options: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_latencyfs"));
        command
            .args(options.split(' '))
            .arg(self.backing())
            .arg(self.mount());
        command.stdin(Stdio::null());
        command
    }

    /// Runs in the background; false, said aloud, if this machine cannot.
    fn start(&self, options: &str) -> bool {
        let probe = tempfile::tempdir().unwrap();
        if let Err(skip) = hedgerow_latencyfs::Mount::new(probe.path(), 0) {
            hedgerow_testkit::skip(&skip.to_string());
            return false;
        }
        let done = self.command(options).output().unwrap();
        assert!(done.status.success(), "{done:?}");
        true
    }

    fn counters(&self) -> Value {
        serde_json::from_slice(&fs::read(self.mount().join(".latencyfs")).unwrap()).unwrap()
    }

    fn control(&self, command: &str) -> std::io::Result<()> {
        fs::write(self.mount().join(".latencyfs"), command)
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        let _ = unmount(&self.mount());
    }
}

fn is_mounted(at: &Path) -> bool {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    mounts
        .lines()
        .any(|line| line.split(' ').nth(1) == at.to_str())
}

/// The process that serves a mount: the only one that names it in its arguments.
fn server_of(at: &Path) -> Option<i32> {
    let named = at.as_os_str().as_encoded_bytes();
    fs::read_dir("/proc").unwrap().find_map(|entry| {
        let entry = entry.unwrap();
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        line.split(|byte| *byte == 0)
            .any(|word| word == named)
            .then_some(pid)
    })
}

fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(
            started.elapsed() < Duration::from_secs(60),
            "waited for {what}"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn kill(signal: &str, pid: i32) {
    let done = Command::new("kill")
        .args([signal, &pid.to_string()])
        .status();
    assert!(done.unwrap().success());
}

#[test]
fn it_is_mounted_when_it_returns_and_gone_after_umount() {
    let places = Places::new();
    if !places.start("--nfs 0 --slots 8 --daemon") {
        return;
    }
    assert!(is_mounted(&places.mount()));
    fs::write(places.mount().join("f"), "x").unwrap();
    assert_eq!(fs::read(places.backing().join("f")).unwrap(), b"x");
    assert_eq!(unmount(&places.mount()).unwrap(), Unmounted::Clean);
    wait_for("its end", || server_of(&places.mount()).is_none());
    // The same place can be used at once, and its end does not unmount what is there now.
    assert!(places.start("--nfs 0 --slots 8 --daemon"));
    std::thread::sleep(Duration::from_millis(50));
    assert!(is_mounted(&places.mount()));
}

#[test]
fn the_background_process_keeps_nothing_of_the_caller_open() {
    let places = Places::new();
    let held = places.directory.path().join("held");
    fs::write(&held, "").unwrap();
    if !places.start("--nfs 0 --daemon") {
        return;
    }
    assert_eq!(unmount(&places.mount()).unwrap(), Unmounted::Clean);
    let mut caller = Command::new("sh");
    caller.args(["-c", "exec 9<\"$1\"; shift; exec \"$@\"", "sh"]);
    caller.arg(&held).arg(env!("CARGO_BIN_EXE_latencyfs"));
    caller.args(["--nfs", "0", "--daemon"]);
    caller.arg(places.backing()).arg(places.mount());
    assert!(caller.status().unwrap().success());
    let server = server_of(&places.mount()).unwrap();
    let open = fs::read_dir(format!("/proc/{server}/fd")).unwrap();
    let open: Vec<_> = open
        .map(|entry| entry.unwrap().path())
        // The server opens and closes some meanwhile.
        .filter_map(|path| Some((path.clone(), fs::read_link(path).ok()?)))
        .collect();
    assert!(open.len() > 3);
    for (descriptor, target) in open {
        assert_ne!(target, held);
        let number = descriptor.file_name().unwrap().to_str().unwrap();
        if ["0", "1", "2"].contains(&number) {
            assert_eq!(target, Path::new("/dev/null"), "{number}");
        }
    }
}

#[test]
fn the_control_file_counts_resets_and_changes_delays() {
    let places = Places::new();
    if !places.start("--nfs 0 --daemon") {
        return;
    }
    fs::write(places.backing().join("f"), "").unwrap();
    fs::metadata(places.mount().join("f")).unwrap();
    assert_eq!(places.counters()["ops"]["lookup"], 1);
    places.control("reset\n").unwrap();
    assert_eq!(places.counters()["ops"], serde_json::json!({}));
    places.control("rtt 30000\nlookup 40000\n").unwrap();
    let started = Instant::now();
    fs::metadata(places.mount().join("absent")).unwrap_err();
    assert!(started.elapsed() >= Duration::from_millis(40));
    assert_eq!(places.counters()["charged_us"], 40_000);
    for wrong in ["rtt", "rtt x", "fly 5", "reset now please"] {
        let error = places.control(wrong).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{wrong}");
    }
}

#[test]
fn a_signal_unmounts_and_the_counters_are_written() {
    let places = Places::new();
    let stats = places.directory.path().join("stats.json");
    let options = format!("--nfs 0 --stats {} --daemon", stats.display());
    if !places.start(&options) {
        return;
    }
    fs::metadata(places.mount().join("absent")).unwrap_err();
    kill("-TERM", server_of(&places.mount()).unwrap());
    wait_for("the unmount", || !is_mounted(&places.mount()));
    wait_for("its end", || server_of(&places.mount()).is_none());
    let counted: Value = serde_json::from_slice(&fs::read(stats).unwrap()).unwrap();
    assert_eq!(counted["ops"]["lookup"], 1);
}

#[test]
fn a_killed_server_leaves_errors_and_not_a_hanging_mount() {
    let places = Places::new();
    if !places.start("--nfs 2000000 --daemon") {
        return;
    }
    // A caller that is waiting for an answer when the server dies.
    let mut waiting = stat_in_another_process(&places.mount().join("f"));
    std::thread::sleep(Duration::from_millis(200));
    kill("-KILL", server_of(&places.mount()).unwrap());
    wait_for("the caller's error", || {
        waiting.try_wait().unwrap().is_some()
    });
    assert!(!waiting.wait().unwrap().success());
    let error = fs::metadata(places.mount().join("g")).unwrap_err();
    // The one while the kernel takes the connection down, the other from then on.
    let gone = [ErrorKind::ConnectionAborted, ErrorKind::NotConnected];
    assert!(gone.contains(&error.kind()), "{error}");
    assert_eq!(unmount(&places.mount()).unwrap(), Unmounted::Clean);
    assert!(!is_mounted(&places.mount()));
}

fn stat_in_another_process(path: &Path) -> Child {
    let mut command = Command::new("stat");
    command
        .arg(path)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().unwrap()
}

#[test]
fn what_cannot_be_shown_is_named() {
    let places = Places::new();
    let said = |output: Output| String::from_utf8(output.stderr).unwrap();
    fs::remove_dir(places.backing()).unwrap();
    for options in ["--nfs 0", "--nfs 0 --daemon"] {
        let done = places.command(options).output().unwrap();
        assert_eq!(done.status.code(), Some(1), "{options}");
        let said = said(done);
        assert!(
            said.contains("backing: No such file or directory"),
            "{said}"
        );
    }
    let done = Command::new(env!("CARGO_BIN_EXE_latencyfs"))
        .arg("--fly")
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(2));
    assert!(said(done).starts_with("latencyfs: unknown option --fly\n"));
}
