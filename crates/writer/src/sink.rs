use crate::{Form, Place, Problem};
use hedgerow_engine::span;
use hedgerow_fs::{Error, NewFile, Stat};
use std::io;

/// Maximum length of a symbolic link's target in bytes: `PATH_MAX` of Linux.
const SYMLINK_LIMIT_BYTES: usize = 4096;

/// Receives the content of one entry.
///
/// The first write creates the file, so if the content cannot be read, nothing is created and the
/// file to be replaced stays. An entry that fails later is removed again, so no incomplete files
/// are left.
#[derive(Debug)]
pub struct Sink<'a> {
    place: Place<'a>,
    form: Form,
    file: Option<NewFile>,
    target: Vec<u8>,
    ends_in_hole: bool,
    len: u64,
}

impl<'a> Sink<'a> {
    pub(crate) fn new(place: Place<'a>, form: Form) -> Self {
        let target = Vec::new();
        Sink {
            place,
            form,
            file: None,
            target,
            ends_in_hole: false,
            len: 0,
        }
    }

    /// Appends `content`. A single call with the whole content is the most efficient.
    pub fn write(&mut self, content: &[u8]) -> Result<(), Problem> {
        if self.form == Form::Symlink {
            return self.extend_target(content);
        }
        let file = self.open()?;
        let traced = span("write");
        let outcome = file.write_all(content);
        drop(traced);
        self.len += content.len() as u64;
        self.ends_in_hole &= content.is_empty();
        outcome.map_err(|source| self.error("write", source))
    }

    /// Appends `bytes` zero bytes, as a hole if the file system supports holes.
    pub fn write_hole(&mut self, bytes: u64) -> Result<(), Problem> {
        let file = self.open()?;
        let outcome = file.skip(bytes);
        self.len += bytes;
        self.ends_in_hole = true;
        outcome.map_err(|source| self.error("write", source))
    }

    /// Completes the entry after the last write. Returns its stat data.
    pub(crate) fn finish(mut self) -> Result<Stat, Problem> {
        if self.form == Form::Symlink {
            let _traced = span("create");
            self.place.make_way()?;
            let Place {
                directory, name, ..
            } = self.place;
            directory
                .create_symlink(name, &self.target)
                .map_err(in_the_way)?;
            return Ok(directory.stat(name)?);
        }
        self.open()?;
        let len = self.len;
        let ends_in_hole = self.ends_in_hole;
        let file = self.file.take().expect("the file was opened above");
        let traced = span("close");
        let outcome = (|| {
            if ends_in_hole {
                file.set_len(len).map_err(|source| ("write", source))?;
            }
            // Before closing: on NFS, both calls flush the file, and the second one then costs
            // nothing.
            let stat = file.stat().map_err(|source| ("stat", source))?;
            file.close().map_err(|source| ("close", source))?;
            Ok(stat)
        })();
        drop(traced);
        outcome.map_err(|(operation, source)| {
            self.remove();
            self.error(operation, source)
        })
    }

    /// Removes what was created of an entry that failed.
    pub(crate) fn abandon(mut self) {
        if self.file.take().is_some() {
            self.remove();
        }
    }

    fn open(&mut self) -> Result<&NewFile, Problem> {
        if self.file.is_none() {
            let _traced = span("create");
            self.place.make_way()?;
            let executable = self.form == Form::Executable;
            let created = self.place.directory.create(self.place.name, executable);
            self.file = Some(created.map_err(in_the_way)?);
        }
        Ok(self.file.as_ref().expect("the file was opened above"))
    }

    fn extend_target(&mut self, content: &[u8]) -> Result<(), Problem> {
        if self.target.len() + content.len() >= SYMLINK_LIMIT_BYTES {
            let reason = io::Error::from_raw_os_error(36);
            return Err(self.error("create symlink", reason));
        }
        self.target.extend_from_slice(content);
        Ok(())
    }

    fn remove(&self) {
        // Ignored: the failure of the entry itself is reported already.
        let _ = self.place.directory.remove_file(self.place.name);
    }

    fn error(&self, operation: &'static str, source: io::Error) -> Problem {
        Problem::Fs(Error::new(
            operation,
            self.place.directory.path_of(self.place.name),
            source,
        ))
    }
}

fn in_the_way(error: Error) -> Problem {
    match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::IsADirectory => Problem::Collided,
        _ => Problem::Fs(error),
    }
}
