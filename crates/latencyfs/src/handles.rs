//! Files and directories that the kernel has open, by handle number.

use crate::call::Answer;
use crate::lock;
use fuser::{Errno, FileHandle};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

const SHARDS: usize = 16;

/// Open objects of one kind.
pub(crate) struct Handles<T> {
    next: AtomicU64,
    shards: [Mutex<HashMap<u64, Arc<T>>>; SHARDS],
}

impl<T> Handles<T> {
    pub(crate) fn new() -> Self {
        Handles {
            next: AtomicU64::new(1),
            shards: std::array::from_fn(|_| Mutex::default()),
        }
    }

    fn shard(&self, handle: u64) -> &Mutex<HashMap<u64, Arc<T>>> {
        &self.shards[handle as usize % SHARDS]
    }

    pub(crate) fn add(&self, opened: T) -> FileHandle {
        let handle = self.next.fetch_add(1, Relaxed);
        lock(self.shard(handle)).insert(handle, Arc::new(opened));
        FileHandle(handle)
    }

    pub(crate) fn get(&self, handle: FileHandle) -> Answer<Arc<T>> {
        let opened = lock(self.shard(handle.0)).get(&handle.0).cloned();
        opened.ok_or(Errno::EBADF)
    }

    /// Removes a handle; its object is closed when the last request that uses it has ended.
    pub(crate) fn remove(&self, handle: FileHandle) {
        let gone = lock(self.shard(handle.0)).remove(&handle.0);
        drop(gone);
    }
}
