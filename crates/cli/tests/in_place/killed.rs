//! A clone that is killed, at moments spread over the time that it takes: nothing of it is left, or a
//! whole repository whose checkout can be repeated; after SIGKILL, parts of one, as of git's; no process goes on, and no temporary directory
//! is left by what could be cleaned up.
//!
//! `HEDGEROW_TEST_KILLS=N` takes N moments for each signal instead.

use crate::HEDGEROW;
use hedgerow_testkit::{git, git_text, isolated, run, run_with, temporary, Program};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Moments for each signal and target of an ordinary run: a hundred in all.
const MOMENTS: u32 = 17;
/// A variable of everything that a clone starts.
const MARK: &str = "HEDGEROW_TEST_MARK";

#[test]
fn at_any_moment() {
    let asked = std::env::var("HEDGEROW_TEST_KILLS").ok();
    let moments = asked.map_or(MOMENTS, |asked| asked.parse().expect("a number"));
    let home = temporary();
    make(home.path());
    let started = Instant::now();
    let mut whole = clone(home.path(), "whole");
    assert!(whole.wait().unwrap().success());
    let time = started.elapsed();
    let mut left = [0; 3];
    for (signal, number) in [("KILL", 9), ("TERM", 15), ("INT", 2)] {
        for to_group in [false, true] {
            for moment in 0..moments {
                let delay = time * (2 * moment + 1) / (2 * moments);
                let what = format!("SIG{signal}, group: {to_group}, after {delay:?}");
                let case = Case {
                    home: home.path(),
                    what,
                    signal,
                    number,
                    to_group,
                };
                left[case.play(delay) as usize] += 1;
            }
        }
    }
    // The moments fall before and after the repository is complete.
    assert!(left[Left::Nothing as usize] > 0, "{left:?}");
    assert!(
        left[Left::Repository as usize] + left[Left::Clone as usize] > 0,
        "{left:?}"
    );
}

/// The option for a server that says nothing.
fn silent_server(home: &Path) -> String {
    let mut silent = isolated("sh");
    let script = "printf '#!/bin/sh\\nexec cat >/dev/null\\n' >silent; chmod +x silent";
    silent.current_dir(home).args(["-c", script]);
    run(silent).ok("the server is made");
    format!("--upload-pack={}/silent", home.display())
}

/// Nothing cleans up by path when the clone is gone: others may have put something there.
#[test]
fn what_is_killed_deletes_nothing_afterwards() {
    let home = temporary();
    make(home.path());
    let server = silent_server(home.path());
    let mut child = clone_with(home.path(), "clone", &[&server]);
    let place = home.path().join("clone");
    let deadline = Instant::now() + Duration::from_secs(10);
    while !place.join(".git/HEAD").exists() {
        assert!(Instant::now() < deadline, "the clone does not begin");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::fs::write(place.join("precious"), "").unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    wait_for_others(home.path(), "after SIGKILL");
    assert!(place.join("precious").exists());
}

/// Git obeys a signal to its process alone, too: it does not wait for a server that says nothing.
#[test]
fn while_the_server_is_silent() {
    let home = temporary();
    make(home.path());
    let server = silent_server(home.path());
    for (signal, number) in [("TERM", 15), ("INT", 2), ("HUP", 1)] {
        let case = Case {
            home: home.path(),
            what: format!("SIG{signal}, the server is silent"),
            signal,
            number,
            to_group: false,
        };
        let mut child = clone_with(home.path(), "clone", &[&server]);
        std::thread::sleep(Duration::from_millis(300));
        case.send(&child);
        let ended = child.wait().unwrap();
        wait_for_others(home.path(), &case.what);
        let is_ours = ended.signal() == Some(number) || ended.code() == Some(128 + number);
        assert!(is_ours, "{}: {ended:?}", case.what);
        assert!(!home.path().join("clone").exists(), "{}", case.what);
    }
}

/// Git cleans up in the handler of the signal, and may wait for itself there. It is ended then, and what
/// it left is removed.
#[test]
fn while_git_does_not_obey() {
    let home = temporary();
    let mut made = isolated("sh");
    let script = "mkdir tmp programs; cat >programs/git; chmod +x programs/git";
    made.current_dir(home.path()).args(["-c", script]);
    let git = "#!/bin/sh\ntest \"$1\" = clone || exit 1\ntrap '' TERM\nmkdir -p clone/.git/objects\nwhile :; do sleep 0.1; done\n";
    run_with(made, git.as_bytes()).ok("the program is made");
    let mut command = clone_command(home.path(), "clone", &[]);
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}/programs:{path}", home.path().display()));
    let mut child = command.spawn().unwrap();
    let objects = home.path().join("clone/.git/objects");
    while !objects.exists() {
        assert_eq!(child.try_wait().unwrap(), None);
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut kill = Command::new("kill");
    kill.args(["-TERM", &child.id().to_string()]);
    assert!(kill.status().unwrap().success());
    let ended = child.wait().unwrap();
    let is_ours = ended.signal() == Some(15) || ended.code() == Some(128 + 9);
    assert!(is_ours, "{ended:?}");
    assert!(!home.path().join("clone").exists());
    wait_for_others(home.path(), "git does not obey");
}

/// What is there after a clone ended.
#[derive(Clone, Copy)]
enum Left {
    Nothing,
    /// Without all files.
    Repository,
    /// It was complete.
    Clone,
}

struct Case<'a> {
    home: &'a Path,
    what: String,
    signal: &'a str,
    number: i32,
    to_group: bool,
}

impl Case<'_> {
    fn play(&self, delay: Duration) -> Left {
        let (home, what) = (self.home, &self.what);
        let place = home.join("clone");
        let mut child = clone(home, "clone");
        std::thread::sleep(delay);
        self.send(&child);
        let ended = child.wait().unwrap();
        wait_for_others(home, what);
        let is_ours = ended.success()
            || ended.signal() == Some(self.number)
            || ended.code() == Some(128 + self.number);
        assert!(is_ours, "{what}: {ended:?}");
        if self.signal != "KILL" {
            let names = std::fs::read_dir(home.join("tmp")).unwrap();
            let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
            assert!(names.is_empty(), "{what}: {names:?}");
        }
        let left = self.judge(&place, ended.success());
        for name in ["clone", "tmp"] {
            let _ = std::fs::remove_dir_all(home.join(name));
        }
        std::fs::create_dir(home.join("tmp")).unwrap();
        left
    }

    fn send(&self, child: &Child) {
        let target = if self.to_group {
            format!("-{}", child.id())
        } else {
            child.id().to_string()
        };
        let mut kill = Command::new("kill");
        kill.args([&format!("-{}", self.signal), "--", &target]);
        // It may be over already.
        let _ = kill.stderr(Stdio::null()).status();
    }

    fn judge(&self, place: &Path, is_complete: bool) -> Left {
        let what = &self.what;
        if !place.exists() {
            return Left::Nothing;
        }
        let mut asked = Program::Git.command(place);
        asked.args(["rev-parse", "--verify", "-q", "HEAD^{tree}"]);
        // Git alone removes what it had: in a group it is killed, too, and else its own programs may
        // still write there.
        let is_killed = self.signal == "KILL";
        if run(asked).code != 0 {
            assert!(is_killed, "{what}: a part of a repository is left");
            return Left::Nothing;
        }
        git(
            place,
            &["fsck", "--connectivity-only", "--no-dangling"],
            b"",
        );
        let lock = place.join(".git/index.lock");
        if lock.exists() {
            assert_eq!(self.signal, "KILL", "{what}: the index is locked");
            std::fs::remove_file(lock).unwrap();
        }
        if is_complete {
            assert_eq!(git_text(place, &["status", "--porcelain"]), "", "{what}");
            return Left::Clone;
        }
        git(place, &["reset", "-q", "--hard"], b"");
        assert_eq!(git_text(place, &["status", "--porcelain"]), "", "{what}");
        Left::Repository
    }
}

/// Starts a clone, in a process group of its own.
fn clone(home: &Path, name: &str) -> Child {
    clone_with(home, name, &[])
}

fn clone_with(home: &Path, name: &str, options: &[&str]) -> Child {
    clone_command(home, name, options).spawn().unwrap()
}

fn clone_command(home: &Path, name: &str, options: &[&str]) -> Command {
    let mut command = isolated(HEDGEROW);
    command
        .args(["clone", "-q"])
        .args(options)
        .arg(format!("file://{}/source", home.display()));
    command.arg(name).current_dir(home).process_group(0);
    command.env("TMPDIR", home.join("tmp")).env(MARK, home);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// All that the clone started has ended, or does soon.
fn wait_for_others(home: &Path, what: &str) {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let running = others(home);
        if running.is_empty() {
            return;
        }
        let lines: Vec<_> = running
            .iter()
            .map(|process| command_line(process))
            .collect();
        assert!(Instant::now() < deadline, "{what}: {lines:?} goes on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The directories in `/proc` of the processes that a clone started.
fn others(home: &Path) -> Vec<PathBuf> {
    let mark = format!("{MARK}={}", home.display());
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let paths = processes.map(|process| process.path());
    let is_marked = |process: &PathBuf| {
        let environment = std::fs::read(process.join("environ")).unwrap_or_default();
        let mut variables = environment.split(|byte| *byte == 0);
        variables.any(|variable| variable == mark.as_bytes())
    };
    paths.filter(is_marked).collect()
}

fn command_line(process: &Path) -> String {
    let line = std::fs::read_to_string(process.join("cmdline")).unwrap_or_default();
    line.replace('\0', " ")
}

fn make(home: &Path) {
    let script = "set -e; mkdir tmp; git init -q source; cd source
        for d in 1 2 3 4 5 6 7 8 9 10; do mkdir $d; cd $d; for f in $(seq 150); do seq $d $((f * d)) >$f; done; cd ..; done
        git add .; git commit -qm one; for d in 1 2 3; do echo x >>$d/1; git commit -qam $d; done; git gc -q";
    let mut shell = isolated("sh");
    shell.current_dir(home).arg("-c").arg(script);
    run(shell).ok("the source is made");
}
