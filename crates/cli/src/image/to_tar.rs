//! `hedgerow image to-tar`: an archive of what is in an image.

use super::arguments::ToTar;
use super::unreadable;
use crate::failure::{Failure, PARTIAL};
use crate::global::Global;
use crate::output::Output;
use crate::progress::Meter;
use crate::statistics;
use crate::walk::{interrupted_by_user, not_started};
use hedgerow_engine::{CancelToken, Options};
use hedgerow_fs::{Destination, OutputFile, OutputStream, StandardOutput};
use hedgerow_squashfs::nodes_of_image;
use hedgerow_tar::{write_nodes, Error, SinkError, SinkOptions, WriteOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

/// So much is collected before it is written, in bytes.
const BUFFER_BYTES: usize = 1 << 20;

pub fn run(command: &ToTar, global: &Global, output: &Output) -> Result<u8, Failure> {
    if global.json {
        return Err(not_started(
            "an archive is what it is: to-tar takes no --json",
        ));
    }
    let interrupted = hedgerow_fs::catch_interrupts().map_err(Failure::fatal)?;
    let image = Arc::new(super::open(&command.place, global)?);
    let nodes = nodes_of_image(&image, &[]);
    let nodes = nodes.map_err(|error| unreadable(&command.place.image, error))?;
    let passed = super::passed_nodes(&image, true);
    let meter = Meter::start(global, "Archiving", &passed);
    let nodes = nodes.inspect(|node| node.iter().for_each(|node| passed.add(node)));
    let options = SinkOptions {
        write: WriteOptions {
            sparse: !command.dense,
            ..WriteOptions::default()
        },
        skip_unusable: true,
        readers: Options {
            jobs: global.jobs(),
            cancel: CancelToken::from_static(interrupted),
            name: "read",
            recorder: statistics::recorder(global),
            ..Default::default()
        },
        ..SinkOptions::default()
    };
    let named = command.output.as_deref();
    let written = match named.filter(|path| *path != Path::new("-")) {
        Some(path) => match super::place(path, global, command.force)? {
            Destination::File(target) => {
                let file = ArchiveFile::create(&target).map_err(not_started)?;
                write_nodes(nodes, file, &options).and_then(|(file, skipped)| {
                    file.finish(command.force).map_err(Error::Write)?;
                    Ok(skipped)
                })
            }
            Destination::Stream(sink) => {
                let stream = sink.open().map_err(not_started)?;
                to_stream(stream, |writer| write_nodes(nodes, writer, &options))
            }
        },
        None if StandardOutput::is_terminal() => {
            return Err(Failure {
                hint: Some("-o FILE writes it there".into()),
                ..not_started("an archive is not for a terminal")
            })
        }
        None => to_stdout(|writer| write_nodes(nodes, writer, &options)),
    };
    drop(meter);
    let skipped = match written {
        Ok(skipped) => skipped,
        Err(SinkError::Cancelled) => return Err(interrupted_by_user()),
        Err(SinkError::Archive(Error::Write(error))) => {
            return Err(unwritable(command.output.as_deref(), error))
        }
        Err(error) => return Err(not_started(error)),
    };
    for error in &skipped {
        output.error(format_args!("left out {error}"));
    }
    statistics::tell(global, options.readers.recorder.as_deref(), output)?;
    Ok(if skipped.is_empty() { 0 } else { PARTIAL })
}

fn unwritable(archive: Option<&Path>, error: io::Error) -> Failure {
    // What the system said at the end has its own sentence already.
    match error.downcast::<hedgerow_fs::Error>() {
        Ok(error) => not_started(error),
        Err(error) => {
            let archive = archive.unwrap_or(Path::new("standard output"));
            not_started(hedgerow_fs::Error::new("write", archive, error))
        }
    }
}

/// Has an archive written into what is no regular file. Nobody to read the rest of it is no error.
fn to_stream<T: Default>(
    stream: OutputStream,
    write: impl FnOnce(BufWriter<OutputStream>) -> Result<(BufWriter<OutputStream>, T), SinkError>,
) -> Result<T, SinkError> {
    let written = write(BufWriter::with_capacity(BUFFER_BYTES, stream));
    unless_closed(written.and_then(|(writer, rest)| {
        let stream = writer.into_inner();
        let stream = stream.map_err(|error| Error::Write(error.into_error()))?;
        let closed = stream.close().map_err(|error| Error::Write(error.source));
        Ok(closed.map(|()| rest)?)
    }))
}

/// What goes to standard output.
pub type BufferedOutput = BufWriter<StandardOutput>;

/// Has an archive written to standard output. Nobody to read the rest of it is no error.
pub fn to_stdout<T: Default>(
    write: impl FnOnce(BufferedOutput) -> Result<(BufferedOutput, T), SinkError>,
) -> Result<T, SinkError> {
    let writer = BufWriter::with_capacity(BUFFER_BYTES, StandardOutput);
    unless_closed(write(writer).and_then(|(mut writer, rest)| {
        writer.flush().map_err(Error::Write)?;
        Ok(rest)
    }))
}

fn unless_closed<T: Default>(written: Result<T, SinkError>) -> Result<T, SinkError> {
    match written {
        Err(SinkError::Archive(Error::Write(error)))
            if error.kind() == io::ErrorKind::BrokenPipe =>
        {
            Ok(T::default())
        }
        written => written,
    }
}

/// An archive that gets its name when it is whole.
struct ArchiveFile {
    file: OutputFile,
    position: u64,
    buffer: Vec<u8>,
}

impl ArchiveFile {
    fn create(target: &Path) -> Result<Self, hedgerow_fs::Error> {
        Ok(ArchiveFile {
            file: OutputFile::create(target)?,
            position: 0,
            buffer: Vec::with_capacity(BUFFER_BYTES),
        })
    }

    fn finish(mut self, replace: bool) -> io::Result<()> {
        self.flush()?;
        if replace {
            let taken = self.file.take_attributes_of_target();
            taken.map_err(io::Error::other)?;
            // Else a power cut could leave neither the archive that was there nor this one.
            self.file.sync().map_err(io::Error::other)?;
        }
        self.file.commit(replace).map_err(io::Error::other)
    }
}

impl Write for ArchiveFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BUFFER_BYTES {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let written = self.file.write_at(&self.buffer, self.position);
        written.map_err(|error| error.source)?;
        self.position += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}
