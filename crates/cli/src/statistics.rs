//! `--stats`: what the engine did.

use crate::arguments::Global;
use crate::environment;
use crate::failure::Failure;
use crate::output::Output;
use crate::stats;
use hedgerow_engine::Recorder;
use std::sync::Arc;

/// A recorder, if its figures are asked for.
pub fn recorder(global: &Global) -> Option<Arc<Recorder>> {
    global.stats.as_ref().map(|_| Arc::new(Recorder::default()))
}

/// Shows the figures, or writes them as JSON to the file that was named, beside its place first.
pub fn tell(global: &Global, recorder: Option<&Recorder>, output: &Output) -> Result<(), Failure> {
    let (Some(wanted), Some(recorder)) = (&global.stats, recorder) else {
        return Ok(());
    };
    let statistics = recorder.snapshot();
    let Some(path) = wanted else {
        output.error_line(stats::summary(&statistics).trim_end());
        return Ok(());
    };
    let json = serde_json::to_vec_pretty(&statistics).map_err(Failure::fatal)?;
    let path = environment::from_directory(global, path);
    let mut file = hedgerow_fs::LockFile::acquire(&path).map_err(Failure::fatal)?;
    file.write_all(&json).map_err(Failure::fatal)?;
    file.write_all(b"\n").map_err(Failure::fatal)?;
    file.commit().map_err(Failure::fatal)?;
    Ok(())
}
