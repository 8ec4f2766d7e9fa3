//! A standard output that takes nothing.

use crate::scenario::{scenarios, Stage};
use crate::{Complaints, Extent};
use hedgerow_testkit::{run, Outcome};
use std::process::Command;

#[test]
fn a_full_or_closed_output_is_an_error() {
    let mut complaints = Complaints::default();
    for scenario in scenarios() {
        let stage = Stage::new(*scenario);
        for redirection in [">/dev/full", ">&-"] {
            let place = stage.place();
            let inner = stage.command(&place, &[]);
            let mut command = Command::new("sh");
            command
                .arg("-c")
                .arg(format!("exec \"$@\" {redirection}"))
                .arg("sh")
                .arg(inner.get_program())
                .args(inner.get_args())
                .current_dir(place.work())
                .env_clear();
            for (name, value) in inner.get_envs() {
                command.env(name, value.unwrap_or_default());
            }
            match scenario.input {
                None => command.stdin(std::process::Stdio::null()),
                Some(name) => command.stdin(std::fs::File::open(place.work().join(name)).unwrap()),
            };
            let outcome = run(command);
            let verdict = if stage.golden.stdout.is_empty() {
                stage.judge(&place, &outcome)
            } else {
                refused(&outcome)
            };
            complaints.note(|| format!("{} {redirection}", scenario.name), verdict);
        }
    }
    complaints.assert_none(Extent::from_environment().seed);
}

fn refused(outcome: &Outcome) -> Result<(), String> {
    match outcome.code {
        0 => Err("nothing was written, and the code is 0".to_owned()),
        _ if outcome.stderr.trim().is_empty() => Err("not a word".to_owned()),
        1 | 2 | 3 | 128 | 255 => Ok(()),
        code => Err(format!("code {code}: {}", outcome.stderr)),
    }
}
