//! `hedgerow multi-pack-index`, as git-multi-pack-index(1).

use crate::arguments::Global;
use crate::environment;
use crate::failure::{Failure, FATAL, REFUSED};
use crate::output::Output;
use clap::{Args, Subcommand};
use hedgerow_git::repository::Repository;
use hedgerow_pack::{
    expire_midx_packs, verify_midx, write_midx, Error, MidxComplaint, MidxOptions,
};
use std::io::BufRead;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Write or check the one index of many packs
#[derive(Debug, Args)]
pub struct MultiPackIndex {
    /// The object directory; else that of the repository
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
    /// Delete the packs that the multi-pack-index needs no object of
    Expire,
}

#[derive(Debug, Args)]
pub struct Write {
    /// Of objects in several packs, take the copies in PACK
    #[arg(long, value_name = "PACK")]
    pub preferred_pack: Option<String>,
    /// Take only the packs whose indexes are named on standard input, one a line
    #[arg(long)]
    pub stdin_packs: bool,
}

pub fn run(command: &MultiPackIndex, global: &Global, output: &Output) -> Result<u8, Failure> {
    let repository = Repository::discover(&environment::of_git(global)?)?;
    let objects = match &command.object_dir {
        Some(directory) => {
            let directory = environment::from_directory(global, directory);
            hedgerow_fs::real_path(&directory).map_err(Failure::fatal)?
        }
        None => repository.objects().directory().to_owned(),
    };
    let mut options = options(&repository, global)?;
    let mut warn = |warning| output.warn(warning);
    match &command.action {
        Action::Write(write) => {
            options.preferred_pack.clone_from(&write.preferred_pack);
            options.packs = write.stdin_packs.then(listed_packs).transpose()?;
            if let Some(written) = write_midx(&objects, &options, &mut warn).map_err(failure)? {
                written.commit().map_err(failure)?;
            }
        }
        Action::Verify => {
            let mut code = 0;
            let mut complain = |complaint| code = code.max(tell(complaint, output));
            verify_midx(&objects, options.hash, options.threads, &mut complain).map_err(failure)?;
            return Ok(code);
        }
        Action::Expire => {
            expire_midx_packs(&objects, &options, &mut warn).map_err(failure)?;
        }
    }
    Ok(0)
}

fn options(repository: &Repository, global: &Global) -> Result<MidxOptions, Failure> {
    let version = repository.config().integer("midx.version")?.unwrap_or(1);
    if !matches!(version, 1 | 2) {
        return Err(Failure::fatal(format!("unknown MIDX version: {version}")));
    }
    let processors = NonZeroUsize::new(hedgerow_fs::cpu::available());
    Ok(MidxOptions {
        hash: repository.hash_kind(),
        version: version as u8,
        preferred_pack: None,
        packs: None,
        for_bitmap: false,
        threads: match global.jobs() {
            hedgerow_engine::Jobs::Fixed(count) => count,
            hedgerow_engine::Jobs::Auto => processors.unwrap_or(NonZeroUsize::MIN),
        },
    })
}

fn listed_packs() -> Result<Vec<String>, Failure> {
    let lines = std::io::stdin().lock().lines();
    let lines: std::io::Result<Vec<String>> = lines.collect();
    lines.map_err(|error| Failure::fatal(format!("cannot read standard input: {error}")))
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
        error => hedgerow_git::Error::from(error).into(),
    }
}
