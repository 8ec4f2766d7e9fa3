//! Writes a commit as an archive: git-archive(1), with its bytes.
//!
//! ```no_run
//! use hedgerow::archive::{write_archive, ArchiveFormat, ArchiveOutput, TarOptions};
//!
//! # use hedgerow::{Environment, Repository};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = std::path::absolute(".")?;
//! # let environment = Environment::from_vars(std::env::vars_os(), directory)?;
//! # let repository = Repository::discover(&environment)?;
//! let options = TarOptions {
//!     prefix: "v1.2/".into(),
//!     ..TarOptions::default()
//! };
//! let mut bytes = Vec::new();
//! let (format, output) = (ArchiveFormat::Tar, ArchiveOutput::Stream(&mut bytes));
//! let told = &mut |path: &bstr::BStr| println!("{path}");
//! write_archive(&repository, "v1.2".into(), format, &options, output, told)?;
//! # Ok(())
//! # }
//! ```

pub use crate::image::ArchiveOutput;
pub use hedgerow_git::archive::{ExtraFile, TarOptions};

use crate::image::ArchiveFile;
use bstr::BStr;
use hedgerow_git::archive;
use hedgerow_git::repository::Repository;
use hedgerow_git::{Error, Result};
use hedgerow_tar::{Compression, Compressor};
use std::io::{BufWriter, ErrorKind, Write};
use std::path::Path;

/// What is written at once, in bytes.
const BUFFER_BYTES: usize = 256 << 10;

/// What an archive is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveFormat {
    /// A tar archive.
    Tar,
    /// One that is compressed by gzip, at this level from 0 to 9.
    Gzip(Option<u32>),
}

/// The formats, by git's names.
pub const FORMATS: [(&str, ArchiveFormat); 3] = [
    ("tar", ArchiveFormat::Tar),
    ("tgz", ArchiveFormat::Gzip(None)),
    ("tar.gz", ArchiveFormat::Gzip(None)),
];

/// Writes the tree that `revision` names to `output`; `told` gets the path of each entry. Returns
/// git's warnings. In a subdirectory of the working tree, only what is in it is written.
///
/// The bytes of a tar archive are those of git; a compressed one holds the same. A reader that
/// closes its end of a pipe ends it without an error.
///
/// # Errors
/// In git's words, if there is no such tree or a pathspec matches nothing: nothing was written then.
pub fn write_archive(
    repository: &Repository,
    revision: &BStr,
    format: ArchiveFormat,
    options: &TarOptions,
    output: ArchiveOutput<'_>,
    told: &mut dyn FnMut(&BStr),
) -> Result<Vec<String>> {
    let mut job = Job {
        repository,
        revision,
        format,
        options,
        told,
    };
    match output {
        ArchiveOutput::File { path, replace } => {
            let mut file = ArchiveFile::create(path)?;
            let warnings = job.write(&mut file)?;
            file.finish(replace)?;
            Ok(warnings)
        }
        ArchiveOutput::Stream(stream) => match job.write(stream) {
            Err(Error::Fs(error)) if error.source.kind() == ErrorKind::BrokenPipe => Ok(Vec::new()),
            written => written,
        },
    }
}

struct Job<'a> {
    repository: &'a Repository,
    revision: &'a BStr,
    format: ArchiveFormat,
    options: &'a TarOptions,
    told: &'a mut dyn FnMut(&BStr),
}

impl Job<'_> {
    fn write(&mut self, out: &mut dyn Write) -> Result<Vec<String>> {
        let failed = |error| {
            let place = Path::new("the archive");
            Error::from(hedgerow_fs::Error::new("write", place, error))
        };
        let out = BufWriter::with_capacity(BUFFER_BYTES, out);
        let mut out = match self.format {
            ArchiveFormat::Tar => Compressor::new(out, Compression::None).map_err(failed)?,
            ArchiveFormat::Gzip(level) => Compressor::gzip_of_unix(out, level),
        };
        let (repository, revision) = (self.repository, self.revision);
        let told = &mut *self.told;
        let warnings = archive::write_archive(repository, revision, self.options, &mut out, told)?;
        let mut out = out.finish().map_err(failed)?;
        out.flush().map_err(failed)?;
        Ok(warnings)
    }
}
