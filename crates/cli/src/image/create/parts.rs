//! `hedgerow image merge`: the parts of an image become one.

use super::{options, tell, tell_omissions, unwritten};
use crate::environment::from_directory;
use crate::execution;
use crate::failure::{Failure, PARTIAL};
use crate::global::Global;
use crate::image::arguments::{Create, Merge};
use crate::image::{image_file, place};
use crate::output::Output;
use crate::statistics;
use crate::walk::not_started;
use hedgerow::image::Parts;
use std::path::PathBuf;
use std::time::Instant;

/// What a part keeps for the merge: the options that it was made with.
pub fn made(command: &Create, epoch: Option<i64>) -> String {
    serde_json::to_string(&(command, epoch)).expect("words and numbers become JSON")
}

pub fn merge(command: &Merge, global: &Global, output: &Output) -> Result<u8, Failure> {
    let execution = execution::interruptible(global)?;
    let target = place(&command.output, global, command.force)?;
    let target = image_file(target, &command.output).map_err(not_started)?;
    let started = Instant::now();
    let paths = command.parts.iter();
    let paths: Vec<PathBuf> = paths.map(|part| from_directory(global, part)).collect();
    let parts = Parts::open(&paths).map_err(unwritten)?;
    let (mut made, epoch): (Create, Option<i64>) = serde_json::from_slice(parts.made())
        .map_err(|_| not_started("the parts were made from Python or by another version"))?;
    made.force = command.force;
    let options = options(&made, global, execution, epoch, output)?;
    let merged = parts.merge(&target, &options).map_err(unwritten)?;
    let elapsed = started.elapsed();
    tell((&options).into(), global, output, &merged.created, elapsed)?;
    tell_omissions(&merged.created, output);
    merged
        .skipped
        .iter()
        .for_each(|skipped| output.error(skipped));
    statistics::tell(global, &options.execution, output)?;
    Ok(if merged.skipped.is_empty() {
        0
    } else {
        PARTIAL
    })
}
