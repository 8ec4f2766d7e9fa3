//! Where a listing is written.

use hedgerow_fs::{is_there, Destination, Error, OutputFile, OutputStream, Result, StandardOutput};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The destination of a listing. A file has its name only when it is complete, so that no partial
/// one stays; a pipe or a device is written into.
#[derive(Debug)]
pub struct Output(Kind);

#[derive(Debug)]
enum Kind {
    File {
        file: OutputFile,
        bytes: u64,
        replace: bool,
    },
    Stream {
        stream: OutputStream,
        path: PathBuf,
    },
    Standard,
}

/// Whether both are the same name in the same directory.
pub fn is_one_place(one: &Path, other: &Path) -> bool {
    let directory = |path: &Path| {
        let parent = path.parent().unwrap_or(path);
        hedgerow_fs::real_path(&Path::new(".").join(parent)).ok()
    };
    let is_same = directory(one).is_some_and(|found| directory(other) == Some(found));
    one.file_name() == other.file_name() && is_same
}

impl Output {
    /// The file at `path`, which must not exist unless it may be replaced.
    pub fn to(path: &Path, replace: bool) -> Result<Self> {
        Ok(Output(match Destination::of(path)? {
            Destination::Stream(sink) => Kind::Stream {
                stream: sink.open()?,
                path: path.to_owned(),
            },
            Destination::File(target) => {
                if !replace && is_there(&target)? {
                    let exists = io::Error::from(io::ErrorKind::AlreadyExists);
                    return Err(Error::new("create", path, exists));
                }
                Kind::File {
                    file: OutputFile::create(&target)?,
                    bytes: 0,
                    replace,
                }
            }
        }))
    }

    /// Standard output.
    pub fn standard() -> Self {
        Output(Kind::Standard)
    }

    pub(crate) fn append(&mut self, content: &[u8]) -> Result<()> {
        match &mut self.0 {
            Kind::File { file, bytes, .. } => {
                file.write_at(content, *bytes)?;
                *bytes += content.len() as u64;
                Ok(())
            }
            Kind::Stream { stream, path } => stream
                .write_all(content)
                .map_err(|source| Error::new("write", path, source)),
            Kind::Standard => StandardOutput
                .write_all(content)
                .map_err(|source| Error::new("write", "standard output", source)),
        }
    }

    pub(crate) fn finish(self) -> Result<()> {
        match self.0 {
            Kind::File { file, replace, .. } => file.commit(replace),
            Kind::Stream { stream, .. } => stream.close(),
            Kind::Standard => Ok(()),
        }
    }
}
