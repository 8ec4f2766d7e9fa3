//! Files with several names: the first is extracted, the others are linked to it.

use super::batches::Job;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What entries of a source have in common that are one file.
pub(super) type Key = (u64, u64);

/// Files with several names, by what those have in common.
#[derive(Default)]
pub(super) struct Links(Mutex<HashMap<Key, First>>);

/// How far the first name of a file is.
enum First {
    /// It is being extracted; the others wait for it.
    Awaited(Vec<Job>),
    /// It is there.
    Made(Box<[u8]>),
    /// It could not be extracted.
    Failed(Box<[u8]>),
}

/// What can be done with a further name.
pub(super) enum Further {
    /// It was put aside until the first name is there.
    Waits,
    /// The first name is there.
    Link(Job, Box<[u8]>),
    /// There is no first name.
    Fail(Job, Box<[u8]>),
}

impl Links {
    /// Whether a name is the first one that is seen of its file.
    pub fn is_first(&self, key: Key) -> bool {
        let mut links = self.lock();
        let before = links.len();
        links.entry(key).or_insert(First::Awaited(Vec::new()));
        links.len() > before
    }

    /// What can be done with `job`, which is for another name than the first.
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

    /// The first name is there or not; returns those that waited for it.
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

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, First>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
