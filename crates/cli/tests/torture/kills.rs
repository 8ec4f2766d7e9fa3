//! SIGKILL and SIGTERM at every place.

use crate::scenario::{scenarios, Kind, Place, Stage};
use crate::{judge, strace, Complaints, Extent};

/// The calls at which a command is killed: those that change something, and those that come before.
const CALLS: [&str; 19] = [
    "openat",
    "openat2",
    "write",
    "pwrite64",
    "writev",
    "mkdirat",
    "symlinkat",
    "linkat",
    "link",
    "rename",
    "renameat",
    "renameat2",
    "unlink",
    "unlinkat",
    "ftruncate",
    "fsync",
    "fdatasync",
    "utimensat",
    "fchmod",
];

/// How many kills a sample has.
const SAMPLE: usize = 60;

#[test]
fn killed_anywhere_nothing_is_lost() {
    signalled("KILL", |stage, place, code| {
        if code == 128 + 9 {
            judge::cut_short(&stage.scenario, &stage.golden, &place.work())
        } else {
            Ok(())
        }
    });
}

#[test]
fn terminated_anywhere_nothing_is_lost_or_left() {
    // Several threads may come to the chosen call: the second signal ends it at once.
    signalled("TERM", |stage, place, code| {
        if code == 128 + 15 {
            judge::terminated(&stage.scenario, &stage.golden, &place.work())
        } else if code == 0 {
            Ok(())
        } else {
            Err(format!("code {code} instead of a death by SIGTERM"))
        }
    });
}

/// Sends `signal` at places that are drawn, and asks what that left.
fn signalled(signal: &str, verdict: impl Fn(&Stage, &Place, i32) -> Result<(), String>) {
    if !strace::is_there(&format!("SIG{signal} at chosen calls")) {
        return;
    }
    let extent = Extent::from_environment();
    let mut stages = Vec::new();
    let mut cases = Vec::new();
    for scenario in scenarios().filter(|one| one.kind != Kind::Query) {
        let stage = Stage::new(*scenario);
        for (call, count) in strace::count(&stage, &stage.place(), &CALLS) {
            cases.extend((1..=count).map(|number| (stages.len(), call.clone(), number)));
        }
        stages.push(stage);
    }
    let all = cases.len();
    let cases = extent.select(cases, SAMPLE);
    println!("{} of {all} cases", cases.len());
    let mut complaints = Complaints::default();
    let mut died = 0;
    for (stage, call, number) in &cases {
        let stage: &Stage = &stages[*stage];
        let place = stage.place();
        let wrapper = strace::injecting(call, &format!("signal={signal}"), *number);
        let outcome = hedgerow_testkit::run(stage.command(&place, &wrapper));
        died += usize::from(outcome.code > 128);
        let what = || format!("{}: SIG{signal} at {call} {number}", stage.scenario.name);
        complaints.note(what, verdict(stage, &place, outcome.code));
    }
    assert!(
        died * 4 > cases.len(),
        "only {died} of {} died",
        cases.len()
    );
    complaints.assert_none(extent.seed);
}
