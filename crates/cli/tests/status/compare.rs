//! Both programs with one command line, in one repository.

use crate::invocation::Invocation;
use crate::state::{shown, State};
use crate::HEDGEROW;
use hedgerow_testkit::{run, Outcome, Program};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// Runs a program without leave to write. `HEDGEROW_TEST_PROGRAM` names another than hedgerow: a
/// second git shows whether the test itself is sound.
pub fn look(state: &State, program: Program, invocation: &Invocation) -> Outcome {
    call(state, program, invocation, "0")
}

/// Runs a program that may write what it has learned into the index.
pub fn look_and_refresh(state: &State, program: Program, invocation: &Invocation) -> Outcome {
    call(state, program, invocation, "1")
}

fn call(state: &State, program: Program, invocation: &Invocation, locks: &str) -> Outcome {
    let directory = state.repository.root.join(&invocation.directory);
    let mut command = program.command(&directory);
    if let (HEDGEROW, Some(other)) = (program, std::env::var_os("HEDGEROW_TEST_PROGRAM")) {
        let mut replaced = std::process::Command::new(other);
        replaced
            .current_dir(&directory)
            .env_clear()
            .stdin(std::process::Stdio::null());
        let variables = command
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?)));
        replaced.envs(variables);
        command = replaced;
    }
    command.arg("status");
    let words = invocation.words.iter();
    command.args(words.map(|word| OsString::from_vec(word.clone())));
    command.envs(state.environment.iter().map(|(name, value)| (name, value)));
    command.env("GIT_OPTIONAL_LOCKS", locks);
    let outcome = run(command);
    if program == HEDGEROW {
        outcome.assert_civil(&format!("{invocation:?}"));
    }
    outcome
}

/// What git says; or, if hedgerow says something else, how they differ.
pub fn compare(state: &State, invocation: &Invocation) -> Result<Outcome, String> {
    let expected = look(state, Program::Git, invocation);
    let found = look(state, HEDGEROW, invocation);
    // Where a link stands in the place of a submodule, git 2.47 gives up. Hedgerow goes on.
    let links = expected.stderr.contains("not to be a symbolic link");
    if links || expected == found {
        Ok(expected)
    } else {
        Err(format!(
            "{}\n{}",
            line(invocation),
            differences(&expected, &found)
        ))
    }
}

/// The command line as the story shows it.
pub fn line(invocation: &Invocation) -> String {
    let words: Vec<_> = invocation.words.iter().map(|word| shown(word)).collect();
    format!("status {} in {:?}", words.join(" "), invocation.directory)
}

/// Lines that only one has: `-` git's, `+` hedgerow's.
pub fn differences(expected: &Outcome, found: &Outcome) -> String {
    let mut text = String::new();
    if expected.code != found.code {
        text += &format!(
            "exit code: git {}, hedgerow {}\n",
            expected.code, found.code
        );
    }
    text += &unlike("stdout", &expected.stdout, &found.stdout);
    text += &unlike(
        "stderr",
        expected.stderr.as_bytes(),
        found.stderr.as_bytes(),
    );
    text
}

fn unlike(what: &str, expected: &[u8], found: &[u8]) -> String {
    if expected == found {
        return String::new();
    }
    let split = |text: &[u8]| -> Vec<String> {
        text.split_inclusive(|byte| *byte == b'\n' || *byte == 0)
            .map(|line| format!("{:?}", bstr::BStr::new(line)))
            .collect()
    };
    let (expected, found) = (split(expected), split(found));
    let same = |pair: &(&String, &String)| pair.0 == pair.1;
    let head = expected.iter().zip(&found).take_while(same).count();
    let rest = expected.len().min(found.len()) - head;
    let ends = expected.iter().rev().zip(found.iter().rev());
    let tail = ends.take(rest).take_while(same).count();
    let mut text = format!("{what}, after {head} equal lines:\n");
    for line in &expected[head.saturating_sub(2)..head] {
        text += &format!("    {line}\n");
    }
    for line in &expected[head..expected.len() - tail] {
        text += &format!("  - {line}\n");
    }
    for line in &found[head..found.len() - tail] {
        text += &format!("  + {line}\n");
    }
    text
}
