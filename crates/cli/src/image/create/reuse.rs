//! The older image whose blocks are reused.

use crate::environment::from_directory;
use crate::failure::Failure;
use crate::global::Global;
use crate::image::arguments::Create;
use crate::image::unreadable;
use crate::output::Output;
use hedgerow::image::Settings;
use hedgerow::image::{Image, NotReusable, Reuse};
use hedgerow::Execution;
use std::sync::Arc;

/// The blocks of the given older image. If they cannot be used, the user is told, and everything is
/// compressed anew.
pub fn open(
    command: &Create,
    global: &Global,
    settings: &Settings,
    block_bytes: u32,
    execution: &Execution,
    output: &Output,
) -> Result<Option<Arc<Reuse>>, Failure> {
    let Some(old) = &command.reuse else {
        return Ok(None);
    };
    let image = Image::open(&from_directory(global, old), 0);
    let image = image.map_err(|error| unreadable(old, error))?;
    match Reuse::of(image, settings, block_bytes, execution) {
        Ok(reuse) => Ok(Some(Arc::new(reuse))),
        Err(NotReusable::Failed(error)) => Err(super::unwritten(*error)),
        Err(reason) => {
            let old = old.display();
            output.say(format_args!(
                "warning: nothing of '{old}' can be used again: {reason}"
            ));
            Ok(None)
        }
    }
}
