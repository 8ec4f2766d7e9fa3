//! `hedgerow multi-pack-index`, as git-multi-pack-index(1).

mod write;

use crate::environment;
use crate::execution::tell_threads;
use crate::failure::{Failure, FATAL, REFUSED};
use crate::global::Global;
use crate::output::Output;
use crate::packs::watcher::Watcher;
use crate::progress::lines::{during, Lines, Phase, Showing};
use clap::{Args, Subcommand};
use hedgerow::plumbing::maintain::{self, expire_packs, midx_options};
use hedgerow::plumbing::pack::{verify_midx, Error, MidxComplaint};
use hedgerow::Repository;
use hedgerow::{Execution, Progress, Stage};
use std::path::PathBuf;
use std::sync::Arc;
use write::{Repack, Write};

/// Git's exit code where nothing was written: -1.
const NOT_WRITTEN: u8 = 255;

/// Write or verify multi-pack-indexes
#[derive(Debug, Args)]
pub struct MultiPackIndex {
    /// The object directory [default: that of the repository]
    #[arg(long, global = true, value_name = "DIR")]
    pub object_dir: Option<PathBuf>,
    #[command(subcommand)]
    pub action: Action,
}

#[derive(Debug, Subcommand)]
pub enum Action {
    /// Write a multi-pack-index of all packs
    Write(Write),
    /// Check the multi-pack-index against its packs
    Verify,
    /// Delete packs that the multi-pack-index does not use
    Expire,
    /// Join small packs
    Repack(Repack),
}

/// The packs that a multi-pack-index is of.
struct Place<'c> {
    repository: &'c Repository,
    /// The object directory they are in.
    objects: PathBuf,
    global: &'c Global,
    output: &'c Output,
}

pub fn run(command: &MultiPackIndex, global: &Global, output: &Output) -> Result<u8, Failure> {
    let repository = environment::for_packs(&environment::of_git_unreplaced(global)?, output)?;
    let directory = match &command.object_dir {
        Some(directory) => environment::from_directory(global, directory),
        None => repository.objects().directory().to_owned(),
    };
    let objects = hedgerow_fs::real_path(&directory).map_err(Failure::fatal)?;
    let place = Place {
        repository: &repository,
        objects,
        global,
        output,
    };
    let mut warn = |warning| output.warn(warning);
    let execution = Execution::default().with_jobs(global.jobs());
    tell_threads(global, &execution, "one for each processor");
    let threads = execution.threads();
    let options = midx_options(&repository, threads, &Watcher::new(global, output))?;
    let objects = &place.objects;
    match &command.action {
        Action::Write(command) => write::run(command, &place, options)?,
        Action::Repack(command) => write::repack(command, &place, &options)?,
        Action::Verify => {
            let mut code = 0;
            let mut complain = |complaint| code = code.max(tell(complaint, output));
            let execution = Execution::with_threads(options.threads);
            let lines = show_check(global, &execution.progress);
            verify_midx(objects, options.hash, &execution, &mut complain).map_err(failure)?;
            lines.finish();
            return Ok(code);
        }
        Action::Expire => {
            let (showing, title) = (
                Showing::delayed(global),
                "Finding and deleting unreferenced packfiles",
            );
            let expire =
                || expire_packs(&repository, objects, &options, &mut warn).map_err(Box::new);
            during(showing, title, expire).map_err(|error| refused(*error))?;
        }
    }
    Ok(0)
}

/// Shows how far a check is.
fn show_check(global: &Global, progress: &Arc<Progress>) -> Lines {
    let progress = Arc::clone(progress);
    Lines::start(Showing::at_once(global), move || {
        let phase = |title: &'static str, stage| {
            let steps = progress.stage(stage);
            Phase {
                title: title.into(),
                done: steps.done(),
                total: Some(steps.total()),
                is_over: steps.is_over(),
                ..Phase::default()
            }
        };
        vec![
            phase(
                "Verifying OID order in multi-pack-index",
                Stage::CheckingOrder,
            ),
            phase("Verifying object offsets", Stage::CheckingOffsets),
        ]
    })
}

/// Says it in git's form; returns the exit code for it.
fn tell(complaint: MidxComplaint, output: &Output) -> u8 {
    match complaint {
        MidxComplaint::Finding(text) => {
            output.error_line(text);
            REFUSED
        }
        MidxComplaint::Warning(text) => {
            output.warn(text);
            0
        }
        MidxComplaint::Error(text) => {
            output.error(text);
            REFUSED
        }
        MidxComplaint::Fatal(text) => {
            output.fatal(text);
            FATAL
        }
    }
}

fn failure(error: Error) -> Failure {
    match error {
        Error::MultiPackIndex { .. } => Failure::refused(error),
        error => hedgerow::plumbing::git::Error::from(error).into(),
    }
}

fn not_written(error: Error) -> Failure {
    match error {
        Error::MultiPackIndex { .. } => Failure {
            exit_code: NOT_WRITTEN,
            ..Failure::refused(error)
        },
        error => failure(error),
    }
}

fn refused(error: maintain::Error) -> Failure {
    match error {
        maintain::Error::Object(error) => not_written(error),
        error => error.into(),
    }
}
