//! `hedgerow image to-tar`: converts an image to an archive.

use super::arguments::ToTar;
use super::unreadable;
use crate::execution;
use crate::failure::{Failure, PARTIAL};
use crate::global::Global;
use crate::output::Output;
use crate::progress::Meter;
use crate::statistics;
use crate::walk::{interrupted_by_user, not_started};
use hedgerow::image::TarError as Error;
use hedgerow::image::{
    to_archive, ArchiveError, ArchiveOptions, ArchiveOutput, SinkError, SinkOptions, WriteOptions,
};
use hedgerow::Stage;
use hedgerow_fs::{Destination, StandardOutput};
use std::io;
use std::path::Path;

pub fn run(command: &ToTar, global: &Global, output: &Output) -> Result<u8, Failure> {
    if global.json {
        return Err(not_started("to-tar prints an archive, not JSON"));
    }
    let execution = execution::interruptible(global)?;
    let image = super::open(&command.place, global)?;
    let options = ArchiveOptions {
        sink: SinkOptions {
            write: WriteOptions {
                sparse: !command.dense,
                ..WriteOptions::default()
            },
            skip_unusable: true,
            execution: execution.clone(),
            ..SinkOptions::default()
        },
        ..ArchiveOptions::default()
    };
    let meter = Meter::start(global, "Archiving", &execution.progress, Stage::Entries);
    let named = command.output.as_deref();
    let written = match named.filter(|path| *path != Path::new("-")) {
        Some(path) => match super::place(path, global, command.force)? {
            Destination::File(target) => {
                let file = ArchiveOutput::File {
                    path: &target,
                    replace: command.force,
                };
                to_archive(&image, file, &options)
            }
            Destination::Stream(sink) => {
                let mut stream = sink.open().map_err(not_started)?;
                let skipped = to_archive(&image, ArchiveOutput::Stream(&mut stream), &options);
                skipped.and_then(|skipped| match stream.close() {
                    // A closed pipe is not an error: the reader wants no more.
                    Err(error) if error.source.kind() != io::ErrorKind::BrokenPipe => {
                        Err(SinkError::Archive(Error::Write(error.source)).into())
                    }
                    _ => Ok(skipped),
                })
            }
        },
        None if StandardOutput::is_terminal() => {
            return Err(Failure {
                hint: Some("use -o FILE to write it to a file".into()),
                ..not_started("an archive is not for a terminal")
            })
        }
        None => to_archive(&image, ArchiveOutput::Stream(&mut StandardOutput), &options),
    };
    drop(meter);
    let skipped = match written {
        Ok(skipped) => skipped,
        Err(ArchiveError::Image(error)) => return Err(unreadable(&command.place.image, error)),
        Err(ArchiveError::Sink(SinkError::Cancelled)) => return Err(interrupted_by_user()),
        Err(ArchiveError::Sink(SinkError::Archive(Error::Write(error)))) => {
            return Err(unwritable(command.output.as_deref(), error))
        }
        Err(error) => return Err(not_started(error)),
    };
    for error in &skipped {
        output.error(format_args!("left out {error}"));
    }
    statistics::tell(global, &execution, output)?;
    Ok(if skipped.is_empty() { 0 } else { PARTIAL })
}

fn unwritable(archive: Option<&Path>, error: io::Error) -> Failure {
    // An error of the system already has a complete message.
    match error.downcast::<hedgerow_fs::Error>() {
        Ok(error) => not_started(error),
        Err(error) => {
            let archive = archive.unwrap_or(Path::new("standard output"));
            not_started(hedgerow_fs::Error::new("write", archive, error))
        }
    }
}
