//! The place of an entry, which may be taken by an entry to be replaced.

use crate::Problem;
use hedgerow_fs::{Dir, FileKind, Result};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// An entry that was created, possibly under a temporary name until it is complete.
pub(super) struct Made<'n> {
    name: &'n [u8],
    temporary: Option<Vec<u8>>,
}

/// Creates the entry `name` in `directory`. If an entry exists there that is to be replaced, the
/// new one gets a temporary name first.
pub(super) fn make<'n, T>(
    directory: &Dir,
    name: &'n [u8],
    replace: bool,
    mut create: impl FnMut(&[u8]) -> Result<T>,
) -> std::result::Result<(T, Made<'n>), Problem> {
    match create(name) {
        Ok(made) => {
            let place = Made {
                name,
                temporary: None,
            };
            return Ok((made, place));
        }
        Err(error) if !is_in_the_way(&error) => return Err(error.into()),
        Err(_) => {}
    }
    if !replace || directory.stat(name)?.kind == FileKind::Directory {
        return Err(Problem::Collided);
    }
    loop {
        let temporary = temporary_name();
        match create(&temporary) {
            Err(error) if is_in_the_way(&error) => {}
            other => {
                let place = Made {
                    name,
                    temporary: Some(temporary),
                };
                return Ok((
                    other.map_err(|error| renamed(error, directory, name))?,
                    place,
                ));
            }
        }
    }
}

impl Made<'_> {
    /// The current name of the entry.
    pub fn name(&self) -> &[u8] {
        self.temporary.as_deref().unwrap_or(self.name)
    }

    /// Renames the complete entry from its temporary name, if it has one.
    pub fn keep(self, directory: &Dir) -> std::result::Result<(), Problem> {
        let Some(temporary) = &self.temporary else {
            return Ok(());
        };
        if let Err(error) = directory.rename(temporary, self.name) {
            self.remove(directory);
            return Err(renamed(error, directory, self.name).into());
        }
        Ok(())
    }

    /// Like [`Self::keep`], for another hard link to a file. If the replaced entry is a link to the
    /// same file, renaming does nothing, and the temporary name must be removed.
    pub fn keep_link(self, directory: &Dir) -> std::result::Result<(), Problem> {
        let (temporary, name) = (self.temporary.clone(), self.name);
        self.keep(directory)?;
        match temporary.map(|name| directory.remove_file(&name)) {
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => {
                Err(renamed(error, directory, name).into())
            }
            _ => Ok(()),
        }
    }

    /// Removes what was created of an entry that failed.
    pub fn remove(&self, directory: &Dir) {
        // Ignored: the failure of the entry itself is reported already.
        let _ = directory.remove_file(self.name());
    }
}

/// Replaces the temporary name in an error by the name that the caller knows.
fn renamed(error: hedgerow_fs::Error, directory: &Dir, name: &[u8]) -> hedgerow_fs::Error {
    hedgerow_fs::Error::new(error.operation, directory.path_of(name), error.source)
}

fn is_in_the_way(error: &hedgerow_fs::Error) -> bool {
    error.kind() == io::ErrorKind::AlreadyExists
}

/// A name that is unlikely to exist.
fn temporary_name() -> Vec<u8> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    format!(".hedgerow.{}.{number}.tmp", std::process::id()).into_bytes()
}
