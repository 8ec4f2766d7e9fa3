//! `hedgerow upload-pack-hook`: makes the packs that a stock git server sends. It is what
//! `uploadpack.packObjectsHook` names (git-config(1)): git-upload-pack calls it in the place of
//! `git pack-objects`, whose words follow. What is not understood here is handed to git, with the
//! standard input that was read replayed.

use crate::environment;
use crate::failure::{Failure, FATAL};
use crate::global::Global;
use crate::output::Output;
use clap::Args;
use hedgerow::plumbing::git::config::{ResponseCacheSettings, ServingSettings};
use hedgerow::plumbing::git::repository::Repository;
use hedgerow::plumbing::serve::upload_pack::{answer_command, Answered, Entry, NotAnswered};
use hedgerow_fs::{Exit, Process, StandardInput, StandardOutput};
use std::ffi::OsString;
use std::io::Read;
use std::time::Instant;

/// What a request may take, in bytes: a million ids are 41 MB.
const REQUEST_BYTES: u64 = 1 << 30;

/// Serve fetches of a git server (uploadpack.packObjectsHook)
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct UploadPackHook {
    /// The command that git would run
    #[arg(
        value_name = "GIT",
        required = true,
        allow_hyphen_values = true,
        trailing_var_arg = true
    )]
    pub words: Vec<OsString>,
}

pub fn run(command: &UploadPackHook, global: &Global, output: &Output) -> Result<u8, Failure> {
    let started = Instant::now();
    let mut input = Vec::new();
    let read = StandardInput.take(REQUEST_BYTES).read_to_end(&mut input);
    read.map_err(|error| Failure::fatal(format_args!("cannot read the request: {error}")))?;
    let repository = environment::of_git_unreplaced(global)
        .and_then(|environment| Ok(Repository::discover(&environment)?));
    let mut entry = Entry::default();
    let repository = match repository {
        Ok(repository) => repository,
        Err(_) => return hand_over(command, &input),
    };
    let settings = ServingSettings::load(repository.environment()).unwrap_or_else(|_| {
        output.warn("nothing is cached or logged: the server's configuration is invalid");
        ServingSettings::default()
    });
    let code = serve(
        command,
        &input,
        (&repository, settings.response_cache),
        &mut entry,
        output,
    )?;
    if let Some(path) = settings.serve_log {
        // A log that cannot be written is no reason to fail a request that was answered.
        if let Err(error) = entry.write(&path, &repository, started.elapsed(), code) {
            // The client reads this: no path of the server.
            let reason = error.reason();
            output.warn(format_args!("the request is not logged: {reason}"));
        }
    }
    Ok(code)
}

fn serve(
    command: &UploadPackHook,
    input: &[u8],
    (repository, cache): (&Repository, Option<ResponseCacheSettings>),
    entry: &mut Entry,
    output: &Output,
) -> Result<u8, Failure> {
    // The client reads this; the reason, with the paths of the server, is in the log.
    let refused = || output.warn("no response is cached");
    let answered = answer_command(
        &command.words,
        input,
        repository,
        cache,
        entry,
        &mut StandardOutput,
        &refused,
    );
    match answered {
        Ok(Answered { said }) => {
            said.iter().for_each(|line| output.say(line));
            Ok(0)
        }
        Err(NotAnswered::Unanswered(reason)) => {
            entry.hand_over(reason);
            hand_over(command, input)
        }
        Err(NotAnswered::Broken(reason)) => {
            entry.fail(reason.clone());
            output.error(reason);
            Ok(FATAL)
        }
    }
}

/// What git-upload-pack sets, too, if nobody else has: an object that a repository says somebody has
/// promised is not fetched from there while it is served, with a program that the repository names.
fn without_lazy_fetch() -> Vec<(OsString, Option<OsString>)> {
    const NAME: &str = "GIT_NO_LAZY_FETCH";
    match crate::environment::variable(NAME) {
        Some(_) => Vec::new(),
        None => vec![(NAME.into(), Some("1".into()))],
    }
}

/// Lets git answer.
fn hand_over(command: &UploadPackHook, input: &[u8]) -> Result<u8, Failure> {
    let mut words = command.words.iter();
    let program = words.next().cloned().unwrap_or_default();
    let process = Process {
        program: program.into(),
        arguments: words.cloned().collect(),
        variables: without_lazy_fetch(),
        ..Process::default()
    };
    match process.run_with_input(input).map_err(Failure::fatal)? {
        Exit::Status(code) => Ok(u8::try_from(code).unwrap_or(FATAL)),
        Exit::Signal(_) => Ok(FATAL),
    }
}
