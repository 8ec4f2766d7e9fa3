use crate::{Error, Result};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// Connects to the server that listens at the local socket `path`. A call on the stream that makes
/// no progress for `patience` fails.
///
/// Fails with `NotFound` or `ConnectionRefused` if there is no server.
pub fn connect_local(path: &Path, patience: Duration) -> Result<UnixStream> {
    let failed = |source| Error::new("connect to", path, source);
    let stream = UnixStream::connect(path).map_err(failed)?;
    stream.set_read_timeout(Some(patience)).map_err(failed)?;
    stream.set_write_timeout(Some(patience)).map_err(failed)?;
    Ok(stream)
}
