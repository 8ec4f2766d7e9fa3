//! How packs are made: the command line over the configuration over git's defaults.

use super::PackObjects;
use crate::failure::Failure;
use crate::global::{Global, Workers};
use hedgerow::numbers::{c_number, unsigned};
use hedgerow::plumbing::pack::IndexLayout;
use hedgerow::plumbing::serve::{compression_level, PackOptions};
use hedgerow::Repository;
use hedgerow::{Execution, Jobs};
use std::num::NonZeroUsize;

/// What the command line asks for, over the configuration, over git's defaults.
pub fn options(
    command: &PackObjects,
    execution: Execution,
    global: &Global,
    repository: &Repository,
) -> Result<PackOptions, Failure> {
    let usual = PackOptions::configured(repository)?;
    let level = match command.compression {
        Some(level) => compression_level(level.into())?,
        None => usual.level,
    };
    Ok(PackOptions {
        window: command
            .window
            .map_or(usual.window, |window| window as usize),
        depth: command.depth.unwrap_or(usual.depth),
        window_memory_bytes: command.window_memory.unwrap_or(usual.window_memory_bytes),
        level,
        execution: execution.with_jobs(match jobs(command.threads, global) {
            Jobs::Auto => usual.execution.jobs,
            jobs => jobs,
        }),
        delta_base_offset: command.delta_base_offset,
        thin: command.thin,
        reuse_deltas: !command.no_reuse_delta && !command.no_reuse_object,
        reuse_objects: !command.no_reuse_object,
        ..usual
    })
}

/// How many threads the command line asks for, by `--threads` or `-j`; 0 means as many as there are
/// processors. [`Jobs::Auto`] is what the configuration says.
pub fn jobs(asked: Option<usize>, global: &Global) -> Jobs {
    match asked_threads(asked, global) {
        None => Jobs::Auto,
        Some(0) => Jobs::Fixed(Execution::default().threads()),
        Some(threads) => NonZeroUsize::new(threads).map_or(Jobs::Auto, Jobs::Fixed),
    }
}

/// The number that `--threads` or `-j` gives.
pub fn asked_threads(asked: Option<usize>, global: &Global) -> Option<usize> {
    let jobs = match global.jobs {
        Some(Workers::Count(count)) => Some(count.get()),
        _ => None,
    };
    asked.or(jobs)
}

/// A number of bytes, with a unit of `k`, `m` or `g`.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    unsigned(text.as_bytes()).map_err(|_| "not a number of bytes".to_owned())
}

/// A number of which one below 0 is as good as 0.
pub fn parse_count(text: &str) -> Result<u32, String> {
    let number: i32 = text.parse().map_err(|_| "not a number".to_owned())?;
    Ok(u32::try_from(number).unwrap_or(0))
}

pub fn parse_layout(text: &str) -> Result<IndexLayout, String> {
    let (version, offset) = match text.split_once(',') {
        Some((version, offset)) => (version, Some(offset)),
        None => (text, None),
    };
    let mut layout = IndexLayout {
        version: match version {
            "1" => 1,
            "2" => 2,
            _ => return Err("the version is 1 or 2".to_owned()),
        },
        ..IndexLayout::default()
    };
    if let Some(offset) = offset {
        let offset = c_number(offset.as_bytes()).and_then(|offset| u32::try_from(offset).ok());
        layout.last_small_offset = offset.ok_or("the offset is no number")?;
    }
    Ok(layout)
}
