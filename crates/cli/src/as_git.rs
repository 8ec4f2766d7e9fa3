//! Called as `git`: what is hedgerow's is answered, for everything else this process becomes the real
//! git.

use crate::environment;
use crate::failure::{Failure, FATAL, USAGE};
use crate::output::Output;
use hedgerow::clone::{help_with_bundles, BUNDLES};
use hedgerow::repository::InPlaceOf;
use hedgerow::shim::{choose, words_of_git, Handover, Variables};
use hedgerow_fs::{StandardInput, StandardOutput};
use std::ffi::OsString;
use std::path::Path;
use std::sync::OnceLock;

/// A file to which each call adds a line: who answered it, and why.
const LOG: &str = "HEDGEROW_SHIM_LOG";

/// Commands that change nothing.
const READING: [&str; 7] = [
    "archive",
    "cat-file",
    "diff-files",
    "diff-index",
    "ls-files",
    "rev-list",
    "status",
];

/// A call that hedgerow answers.
struct Call {
    command: &'static str,
    /// The words as they were typed.
    words: Vec<OsString>,
    variables: Variables,
    /// The variables that git's global options changed, as they were.
    before: Vec<(OsString, Option<OsString>)>,
}

static CALL: OnceLock<Call> = OnceLock::new();

/// If the program was called as `git`: becomes the real git, or obeys git's global options and
/// returns true.
///
/// # Errors
/// The real git cannot be reached.
pub fn begin() -> Result<bool, Failure> {
    let Some(words) = words_of_git(environment::words()) else {
        return Ok(false);
    };
    let variables = environment::variables();
    let ours = match choose(&words, &variables) {
        Ok(ours) => ours,
        Err(gits) => {
            note(&variables, "git", gits.command.as_ref(), &gits.because);
            let handover = Handover {
                words,
                command: gits.command,
                may_call_us: gits.may_call_us,
                before: Vec::new(),
            };
            return Err(Failure::fatal(handover.carry_out(&variables)));
        }
    };
    let changed = ours.taken.variables.iter();
    let before = changed.map(|(name, _)| ((*name).into(), variables.get(name)));
    let call = Call {
        command: ours.command,
        words,
        before: before.collect(),
        variables,
    };
    StandardInput::remember();
    environment::obey(ours.taken).map_err(Failure::fatal)?;
    StandardOutput::accept_closed();
    // There is one call.
    let _ = CALL.set(call);
    Ok(true)
}

/// The exit code, if git has called the program in the place of another one of its own.
pub fn help() -> Option<u8> {
    let words = environment::words();
    let name = words.first().and_then(|own| Path::new(own).file_name());
    if name? != BUNDLES.name {
        return None;
    }
    let had = help_with_bundles(&words[1..], &environment::variables());
    Some(match had {
        Ok(had) => u8::from(!had),
        Err(error) => {
            Output::plain(&[]).error_line(format_args!("fatal: {error}"));
            FATAL
        }
    })
}

/// Whether the program was called as `git`.
pub fn is_active() -> bool {
    CALL.get().is_some()
}

/// In whose place this process was called.
pub fn call() -> Option<InPlaceOf> {
    CALL.get().map(|call| InPlaceOf {
        command: call.command,
        is_paged: StandardOutput::is_terminal(),
        is_promised: call.words.iter().any(|word| {
            let word = word.as_encoded_bytes();
            word == b"--promisor" || word.starts_with(b"--promisor=")
        }),
    })
}

/// Becomes the real git after all if the call has turned out to be git's, and nothing was written yet;
/// else the outcome. Git reads again what was read.
pub fn kept_or_handed_over(outcome: Result<u8, Failure>) -> Result<u8, Failure> {
    let Some(call) = CALL.get() else {
        return outcome;
    };
    // Git may know what to do: it fetches what a partial clone lacks, whoever reads it.
    let only_reads = READING.contains(&call.command);
    let because = match &outcome {
        Err(failure) if failure.exit_code == USAGE => failure.message.as_str(),
        Err(failure) if failure.exit_code == FATAL && only_reads => failure.message.as_str(),
        _ => {
            note(&call.variables, "hedgerow", Some(&call.command.into()), "");
            return outcome;
        }
    };
    if StandardOutput::was_written() {
        return outcome;
    }
    let Some(read) = StandardInput::give_back() else {
        return outcome;
    };
    note(&call.variables, "git", Some(&call.command.into()), because);
    let handover = Handover {
        words: call.words.clone(),
        command: Some(call.command.into()),
        may_call_us: true,
        before: call.before.clone(),
    };
    let done = handover.carry_out_after(read, &call.variables);
    done.map_err(Failure::fatal)
}

/// Adds a line to the log, if there is one. Nobody waits for it, and nothing fails because of it.
fn note(variables: &Variables, who: &str, command: Option<&OsString>, because: &str) {
    let Some(file) = variables.get(LOG).filter(|file| !file.is_empty()) else {
        return;
    };
    let command = command.map_or_else(|| "-".into(), |command| command.to_string_lossy());
    let because = because.lines().next().unwrap_or_default();
    let line = format!("{who} {command} {because}");
    let _ = hedgerow_fs::append_file(
        Path::new(&file),
        format!("{}\n", line.trim_end()).as_bytes(),
        true,
    );
}
