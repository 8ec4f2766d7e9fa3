use super::arguments::Cat;
use super::{open, unreadable, unwritable};
use crate::failure::Failure;
use crate::global::Global;
use crate::output::Output;
use crate::statistics;
use crate::walk::{closed_pipe_is_fine, interrupted_by_user, not_started, sink::write};
use hedgerow_engine::{run_ordered, CancelToken, Options, Window};
use hedgerow_squashfs::{Body, Error};
use std::io;
use std::os::unix::ffi::OsStrExt;

/// Bytes that may be decompressed before they are written.
const WINDOW: Window = Window { bytes: 16 << 20 };

/// Why the rest of a file was not printed.
enum Stopped {
    Read(Error),
    Write(io::Error),
}

pub fn run(command: &Cat, global: &Global, output: &Output) -> Result<u8, Failure> {
    if global.json {
        return Err(not_started(
            "a file is printed as it is: cat takes no --json",
        ));
    }
    let interrupted = hedgerow_fs::catch_interrupts().map_err(Failure::fatal)?;
    let image = open(&command.place, global)?;
    let failed = |error| unreadable(&command.place.image, error);
    let path = command.path.as_bytes();
    let inode = image.find(path).map_err(failed)?;
    let Body::File(file) = &inode.body else {
        return Err(failed(Error::Kind {
            path: path.into(),
            expected: "regular file",
        }));
    };
    let options = Options {
        jobs: global.jobs(),
        cancel: CancelToken::from_static(interrupted),
        name: "cat",
        recorder: statistics::recorder(global),
        ..Default::default()
    };
    let pieces = image.pieces(file).map_err(failed)?;
    let ran = run_ordered(
        &options,
        WINDOW,
        pieces.map(|piece| match piece {
            Ok(piece) => Ok((piece, u64::from(piece.length))),
            Err(error) => Err(Stopped::Read(error)),
        }),
        |_| (),
        |(), piece| {
            let mut content = Vec::new();
            let read = image.read_piece(&piece, &mut content);
            read.map(|()| content).map_err(Stopped::Read)
        },
        |_, content| write(&content).map_err(Stopped::Write),
    );
    match ran {
        Ok(_) => {}
        Err(hedgerow_engine::Failure::Failed(Stopped::Read(error))) => return Err(failed(error)),
        Err(hedgerow_engine::Failure::Failed(Stopped::Write(error))) => {
            closed_pipe_is_fine(error).map_err(unwritable)?;
        }
        Err(hedgerow_engine::Failure::Cancelled) => return Err(interrupted_by_user()),
        Err(hedgerow_engine::Failure::Panicked(message)) => return Err(not_started(message)),
    }
    statistics::tell(global, options.recorder.as_deref(), output)?;
    Ok(0)
}
