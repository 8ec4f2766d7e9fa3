//! strace(1): lets system calls fail from outside, whoever makes them, and tells which there were.

use crate::scenario::{Place, Stage};
use hedgerow_testkit::skip;
use std::collections::BTreeMap;
use std::process::{Command, Stdio};

/// Whether strace can be used here; says aloud that `what` is not tried if it cannot.
pub fn is_there(what: &str) -> bool {
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o", "/dev/null", "true"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let is_there = command.status().is_ok_and(|status| status.success());
    if !is_there {
        skip(&format!("{what}: strace is not installed or may not trace"));
    }
    is_there
}

/// The words that start a program under strace so that call number `number` of each thread to one
/// of `calls` meets with `fate` (`error=EIO`, `signal=KILL`).
pub fn injecting(calls: &str, fate: &str, number: usize) -> Vec<String> {
    let words = ["strace", "-f", "-qq", "-o", "/dev/null", "-e"];
    let mut words: Vec<String> = words.map(str::to_owned).to_vec();
    words.push(format!("trace={calls}"));
    // With its filter strace forgets to send signals.
    if !fate.starts_with("signal=") {
        words.insert(3, "--seccomp-bpf".to_owned());
    }
    words.push("-e".to_owned());
    words.push(format!("inject={calls}:{fate}:when={number}"));
    words
}

/// How many calls to each of `calls` the busiest thread makes.
pub fn count(stage: &Stage, place: &Place, calls: &[&str]) -> BTreeMap<String, usize> {
    let log = place.path().join("calls");
    let words = ["strace", "-f", "-qq", "--seccomp-bpf", "-o"];
    let mut words: Vec<String> = words.map(str::to_owned).to_vec();
    words.push(log.to_str().unwrap().to_owned());
    words.push("-e".to_owned());
    words.push(format!("trace={}", calls.join(",")));
    let outcome = hedgerow_testkit::run(stage.command(place, &words));
    assert_eq!(outcome.code, 0, "{}: {outcome:?}", stage.scenario.name);
    let mut by_thread: BTreeMap<(String, String), usize> = BTreeMap::new();
    for line in std::fs::read_to_string(log).unwrap().lines() {
        let Some((thread, rest)) = line.split_once(' ') else {
            continue;
        };
        // The second half of a call that was interrupted in the log has been counted.
        let begun = Some(rest.trim_start()).filter(|rest| !rest.starts_with("<..."));
        if let Some((call, _)) = begun.and_then(|rest| rest.split_once('(')) {
            *by_thread
                .entry((call.to_owned(), thread.to_owned()))
                .or_default() += 1;
        }
    }
    let mut most: BTreeMap<String, usize> = BTreeMap::new();
    for ((call, _), count) in by_thread {
        let known = most.entry(call).or_default();
        *known = count.max(*known);
    }
    most
}
