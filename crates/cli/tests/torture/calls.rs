//! Each system call fails in each way that it can.

use crate::scenario::{scenarios, Stage};
use crate::{strace, Complaints, Extent};

/// System calls that fail alike, and how.
const FAILURES: &[(&[&str], &[&str])] = &[
    (
        &["openat", "openat2"],
        &[
            "EMFILE", "ENFILE", "EACCES", "EIO", "ESTALE", "ENOMEM", "EINTR",
        ],
    ),
    (&["read", "pread64"], &["EIO", "EINTR", "ESTALE"]),
    (
        &["write", "pwrite64", "writev"],
        &["ENOSPC", "EIO", "EINTR", "EDQUOT"],
    ),
    (
        &["statx", "newfstatat", "fstat"],
        &["EIO", "ESTALE", "EACCES", "ENOMEM"],
    ),
    (&["getdents64"], &["EIO", "ESTALE"]),
    (
        &["mkdir", "mkdirat", "symlinkat", "link", "linkat"],
        &["ENOSPC", "EIO", "EACCES"],
    ),
    (
        &["rename", "renameat", "renameat2"],
        &["ENOSPC", "EIO", "ESTALE"],
    ),
    (
        &["unlink", "unlinkat", "rmdir"],
        &["EIO", "EACCES", "ESTALE"],
    ),
    (&["ftruncate", "fallocate"], &["ENOSPC", "EIO", "EINTR"]),
    (&["fsync", "fdatasync"], &["EIO", "ENOSPC", "EDQUOT"]),
    (
        &["fchmod", "utimensat", "fchownat", "fchmodat"],
        &["EACCES", "EIO"],
    ),
    (&["flock"], &["EINTR", "ENOLCK"]),
    (&["readlink", "readlinkat"], &["EIO", "ESTALE"]),
    (&["clone3", "clone"], &["EAGAIN", "ENOMEM"]),
    (&["pipe2", "socketpair"], &["EMFILE"]),
];

/// How many cases a sample has.
const SAMPLE: usize = 260;

#[test]
fn each_call_fails_once() {
    if !strace::is_there("failing system calls") {
        return;
    }
    let extent = Extent::from_environment();
    let names: Vec<&str> = FAILURES
        .iter()
        .flat_map(|(calls, _)| *calls)
        .copied()
        .collect();
    let mut stages = Vec::new();
    let mut cases = Vec::new();
    for scenario in scenarios() {
        let stage = Stage::new(*scenario);
        let counts = strace::count(&stage, &stage.place(), &names);
        for (calls, errors) in FAILURES {
            for call in *calls {
                let count = counts.get(*call).copied().unwrap_or_default();
                for error in *errors {
                    cases.extend((1..=count).map(|number| (stages.len(), *call, *error, number)));
                }
            }
        }
        stages.push(stage);
    }
    let all = cases.len();
    let cases = extent.select(cases, SAMPLE);
    println!("{} of {all} cases", cases.len());
    let mut complaints = Complaints::default();
    for (stage, call, error, number) in cases {
        let stage: &Stage = &stages[stage];
        let place = stage.place();
        let wrapper = strace::injecting(call, &format!("error={error}"), number);
        let mut outcome = hedgerow_testkit::run(stage.command(&place, &wrapper));
        // The thread that tells the error fails at its own call of that number.
        if call == "write" && outcome.code != 0 && outcome.stderr.is_empty() {
            outcome.stderr = "(the sentence could not be written)".to_owned();
        }
        // Before `main` nothing of ours runs.
        let before_main = outcome.code == 127 && outcome.stderr.contains("shared librar");
        let verdict = if before_main {
            Ok(())
        } else {
            stage.judge(&place, &outcome)
        };
        let what = || format!("{}: {call} {number}: {error}", stage.scenario.name);
        complaints.note(what, verdict);
    }
    complaints.assert_none(extent.seed);
}
