use crate::{Form, Place, Problem};
use hedgerow_fs::{Error, NewFile, Stat};
use std::io;

/// No system takes a longer target: Linux's `PATH_MAX`, in bytes.
const SYMLINK_LIMIT_BYTES: usize = 4096;

/// Where the content of one entry goes.
///
/// A file is created by the first write, so that content which cannot be had creates nothing, and
/// leaves alone what it was to replace. An entry that fails later is removed again: there are whole files or none.
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

    /// Appends `content`; the best is one call with all of it.
    pub fn write(&mut self, content: &[u8]) -> Result<(), Problem> {
        if self.form == Form::Symlink {
            return self.extend_target(content);
        }
        let file = self.open()?;
        let outcome = file.write_all(content);
        self.len += content.len() as u64;
        self.ends_in_hole &= content.is_empty();
        outcome.map_err(|source| self.error("write", source))
    }

    /// Appends `bytes` zero bytes as a hole where the file system has holes.
    pub fn write_hole(&mut self, bytes: u64) -> Result<(), Problem> {
        let file = self.open()?;
        let outcome = file.skip(bytes);
        self.len += bytes;
        self.ends_in_hole = true;
        outcome.map_err(|source| self.error("write", source))
    }

    /// Ends the entry and takes its state, once, after the last write.
    pub(crate) fn finish(mut self) -> Result<Stat, Problem> {
        if self.form == Form::Symlink {
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
        let outcome = (|| {
            if ends_in_hole {
                file.set_len(len).map_err(|source| ("write", source))?;
            }
            // Taken before closing: on NFS either of the two flushes, and the second is free.
            let stat = file.stat().map_err(|source| ("stat", source))?;
            file.close().map_err(|source| ("close", source))?;
            Ok(stat)
        })();
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
        // The entry's own failure is what is told; that its rest stays too says nothing new.
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
