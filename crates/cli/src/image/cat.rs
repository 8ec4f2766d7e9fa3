//! `hedgerow image cat`.

use super::arguments::Cat;
use super::{open, unreadable, unwritable};
use crate::execution;
use crate::failure::Failure;
use crate::global::Global;
use crate::output::Output;
use crate::statistics;
use crate::walk::{closed_pipe_is_fine, interrupted_by_user, not_started};
use hedgerow::image::ContentError;
use hedgerow_fs::StandardOutput;
use std::os::unix::ffi::OsStrExt;

pub fn run(command: &Cat, global: &Global, output: &Output) -> Result<u8, Failure> {
    if global.json {
        return Err(not_started("cat prints a file, not JSON"));
    }
    let execution = execution::interruptible(global)?;
    let image = open(&command.place, global)?;
    let path = command.path.as_bytes();
    match image.write_content(path, &mut StandardOutput, &execution) {
        Ok(()) => {}
        Err(ContentError::Image(error)) => return Err(unreadable(&command.place.image, error)),
        Err(ContentError::Write(error)) => closed_pipe_is_fine(error).map_err(unwritable)?,
        Err(ContentError::Cancelled) => return Err(interrupted_by_user()),
        Err(ContentError::Panicked(message)) => return Err(not_started(message)),
    }
    statistics::tell(global, &execution, output)?;
    Ok(0)
}
