//! Files with several names: the first name is extracted, the others are linked to it.

use super::batches::Job;
use super::directory::Directory;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Identifies a file within a source; all its names have the same key.
pub(super) type Key = (u64, u64);

/// Files with several names, by key.
#[derive(Default)]
pub(super) struct Links {
    files: Mutex<HashMap<Key, First>>,
    /// Directories with first names that could not be reached any more if they had their attributes,
    /// by path.
    held: Mutex<HashMap<Box<[u8]>, Arc<Directory>>>,
}

/// The state of the first name of a file.
enum First {
    /// It is being extracted, and these jobs wait for it.
    Awaited(Vec<Job>),
    /// It exists under this path.
    Made(Box<[u8]>),
    /// It could not be extracted.
    Failed(Box<[u8]>),
}

/// How to handle another name of a file.
pub(super) enum Further {
    /// It waits until the first name is extracted.
    Waits,
    /// Link it to the first name at this path.
    Link(Job, Box<[u8]>),
    /// The first name failed, so this one fails, too.
    Fail(Job, Box<[u8]>),
}

impl Links {
    /// Whether this is the first name of its file.
    pub fn is_first(&self, key: Key) -> bool {
        let mut links = self.lock();
        let before = links.len();
        links.entry(key).or_insert(First::Awaited(Vec::new()));
        links.len() > before
    }

    /// How to handle `job`, which is for another name than the first.
    pub fn further(&self, key: Key, job: Job) -> Further {
        match self.lock().get_mut(&key) {
            Some(First::Awaited(waiting)) => {
                waiting.push(job);
                Further::Waits
            }
            Some(First::Made(path)) => Further::Link(job, path.clone()),
            Some(First::Failed(path)) => Further::Fail(job, path.clone()),
            None => Further::Fail(job, Box::default()),
        }
    }

    /// Records the result for the first name. Returns the jobs that waited for it.
    pub fn settle(&self, key: Key, path: &[u8], is_made: bool) -> Vec<Job> {
        let first = if is_made {
            First::Made(path.into())
        } else {
            First::Failed(path.into())
        };
        match self.lock().insert(key, first) {
            Some(First::Awaited(waiting)) => waiting,
            _ => Vec::new(),
        }
    }

    /// Keeps a directory without its attributes until all links are made.
    pub fn hold(&self, directory: &Arc<Directory>) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.entry(directory.path.as_slice().into())
            .or_insert_with(|| directory.clone());
    }

    /// Returns the directories that were held, in the order of their paths.
    pub fn release(&self) -> Vec<Arc<Directory>> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let mut directories: Vec<_> = std::mem::take(&mut *held).into_values().collect();
        directories.sort_by(|one, other| one.path.cmp(&other.path));
        directories
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, First>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
