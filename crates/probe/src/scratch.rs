//! The directory of a measurement, with a subdirectory for each worker.
//!
//! Creations in one directory are serialized, so each worker has its own. These are spread over
//! groups, so that on a network file system creating them in parallel is fast, too.

use crate::{Error, Result};
use hedgerow_engine::{run_tasks, CancelToken, Jobs, Options};
use hedgerow_fs::Dir;
use std::io::ErrorKind;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

const GROUPS: usize = 8;
/// Number of names to try before giving up.
const ATTEMPTS: u32 = 16;

/// The directory of a measurement. It is removed with its content when dropped.
pub(crate) struct Scratch {
    parent: Dir,
    name: Vec<u8>,
    directory: Dir,
    /// Number of workers that have a directory.
    workers: usize,
    is_removed: bool,
}

impl Scratch {
    /// Creates a new directory inside `parent`.
    pub(crate) fn new(parent: &Path) -> Result<Scratch> {
        let parent = Dir::open(parent)?;
        let mut attempt = 0;
        let name = loop {
            let name = name(attempt);
            match parent.create_dir(&name) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists && attempt < ATTEMPTS => {
                    attempt += 1;
                }
                created => {
                    created?;
                    break name;
                }
            }
        };
        match parent.open_dir(&name) {
            Ok(directory) => Ok(Scratch {
                parent,
                name,
                directory,
                workers: 0,
                is_removed: false,
            }),
            Err(error) => {
                // The first error is the one to report.
                let _ = parent.remove_dir(&name);
                Err(error.into())
            }
        }
    }

    /// Creates the missing directories for `count` workers.
    pub(crate) fn extend_to(&mut self, count: usize, cancel: &CancelToken) -> Result<()> {
        let new: Vec<usize> = (self.workers..count).collect();
        for group in new.iter().filter(|worker| **worker < GROUPS) {
            self.directory.create_dir(&group_name(*group))?;
            self.workers = group + 1;
        }
        self.workers = self.workers.max(count);
        in_parallel(new, GROUPS, cancel, |worker| {
            let group = self.directory.open_dir(&group_name(worker % GROUPS))?;
            Ok(group.create_dir(&worker_name(worker))?)
        })
    }

    /// The directory of one worker.
    pub(crate) fn of_worker(&self, worker: usize) -> Result<Dir> {
        let path = [group_name(worker % GROUPS), worker_name(worker)].join(&b'/');
        Ok(self.directory.open_dir(&path)?)
    }

    /// The path, for errors.
    pub(crate) fn path(&self) -> PathBuf {
        self.parent.path_of(&self.name)
    }

    /// Removes the files of all workers.
    pub(crate) fn clear(&self, cancel: &CancelToken) -> Result<()> {
        self.for_each_worker(cancel, |directory| {
            for entry in directory.list()? {
                directory.remove_file(&entry.name)?;
            }
            Ok(())
        })
    }

    fn for_each_worker(
        &self,
        cancel: &CancelToken,
        work: impl Fn(&Dir) -> Result<()> + Sync,
    ) -> Result<()> {
        let workers = (0..self.workers).collect();
        in_parallel(workers, self.workers, cancel, |worker| {
            match self.of_worker(worker) {
                Ok(directory) => work(&directory),
                // A directory that could not be created.
                Err(Error::Fs(error)) if error.kind() == ErrorKind::NotFound => Ok(()),
                Err(error) => Err(error),
            }
        })
    }

    /// Removes everything. A failure does not stop the removal of the rest; the first one is
    /// returned.
    pub(crate) fn remove(mut self) -> Result<()> {
        self.remove_all()
    }

    fn remove_all(&mut self) -> Result<()> {
        self.is_removed = true;
        // A cancelled measurement also cleans up.
        let uncancelled = CancelToken::default();
        let trouble = Trouble::default();
        self.for_each_worker(&uncancelled, |directory| {
            for entry in trouble.note(directory.list()).unwrap_or_default() {
                trouble.note(directory.remove_file(&entry.name));
            }
            Ok(())
        })?;
        let groups = (0..GROUPS.min(self.workers)).collect();
        in_parallel(groups, GROUPS, &uncancelled, |group| {
            let name = group_name(group);
            if let Some(directory) = trouble.note(self.directory.open_dir(&name)) {
                for entry in trouble.note(directory.list()).unwrap_or_default() {
                    trouble.note(directory.remove_dir(&entry.name));
                }
            }
            trouble.note(self.directory.remove_dir(&name));
            Ok(())
        })?;
        trouble.note(self.parent.remove_dir(&self.name));
        trouble.into_result()
    }
}

/// The first error of a removal that continues after errors.
#[derive(Default)]
struct Trouble(Mutex<Option<hedgerow_fs::Error>>);

impl Trouble {
    fn note<T>(&self, done: hedgerow_fs::Result<T>) -> Option<T> {
        done.map_err(|error| {
            let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert(error);
        })
        .ok()
    }

    fn into_result(self) -> Result<()> {
        let first = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        first.map_or(Ok(()), |error| Err(error.into()))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.is_removed {
            // If it is dropped without `remove`, there is an earlier error that matters more.
            let _ = self.remove_all();
        }
    }
}

/// Runs `work` for each number, with up to `workers` in parallel.
fn in_parallel(
    numbers: Vec<usize>,
    workers: usize,
    cancel: &CancelToken,
    work: impl Fn(usize) -> Result<()> + Sync,
) -> Result<()> {
    let options = Options {
        jobs: Jobs::Fixed(NonZeroUsize::new(workers).unwrap_or(NonZeroUsize::MIN)),
        cancel: cancel.clone(),
        name: "probe",
        ..Options::default()
    };
    run_tasks(&options, numbers, |_| (), |_, number, _| work(number))?;
    Ok(())
}

/// A name that no other process is likely to choose; creating it shows whether it is taken.
fn name(attempt: u32) -> Vec<u8> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanoseconds = now.map(|now| now.as_nanos() as u64).unwrap_or_default();
    let mixed = (nanoseconds ^ u64::from(std::process::id()) << 32)
        .wrapping_add(u64::from(attempt))
        .wrapping_mul(0x9E37_79B9_7F4A_7C15);
    format!(".hedgerow-tune-{mixed:016x}").into_bytes()
}

fn group_name(group: usize) -> Vec<u8> {
    format!("g{group}").into_bytes()
}

fn worker_name(worker: usize) -> Vec<u8> {
    format!("w{worker}").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_empty(directory: &Path) -> bool {
        hedgerow_fs::list_directory(directory)
            .unwrap()
            .unwrap()
            .is_empty()
    }

    #[test]
    fn what_is_dropped_or_removed_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let cancel = CancelToken::default();
        for is_dropped in [true, false] {
            let mut scratch = Scratch::new(directory.path()).unwrap();
            scratch.extend_to(2, &cancel).unwrap();
            scratch.extend_to(21, &cancel).unwrap();
            for worker in [0, 1, 20] {
                let own = scratch.of_worker(worker).unwrap();
                own.create(b"file", false).unwrap();
            }
            assert!(!is_empty(directory.path()));
            if is_dropped {
                drop(scratch)
            } else {
                scratch.remove().unwrap()
            }
            assert!(is_empty(directory.path()));
        }
    }

    #[test]
    fn a_cancelled_one_cleans_up_nevertheless() {
        let directory = tempfile::tempdir().unwrap();
        let cancel = CancelToken::default();
        let mut scratch = Scratch::new(directory.path()).unwrap();
        scratch.extend_to(4, &cancel).unwrap();
        cancel.cancel();
        assert!(matches!(
            scratch.extend_to(16, &cancel),
            Err(Error::Cancelled)
        ));
        drop(scratch);
        assert!(is_empty(directory.path()));
    }

    #[test]
    fn a_missing_directory_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let missing = directory.path().join("missing");
        let error = Scratch::new(&missing).err().unwrap().to_string();
        assert!(
            error.contains("missing': No such file or directory"),
            "{error}"
        );
    }
}
