//! The locks of trees.

use crate::store::lock_position;
use crate::{Error, Result};
use hedgerow_fs::RangeLock;
use std::path::Path;

/// Held from the first look at a tree until its layers, its sign and its mount are what they should be.
/// It ends with the process.
#[derive(Debug)]
pub struct TreeLock {
    _lock: RangeLock,
}

impl TreeLock {
    /// Locks what `name` stands for, in a file of the directory `directory`; waits for others.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn acquire(directory: &Path, name: &[u8]) -> Result<Self> {
        let lock = acquire(directory, name, false)?;
        lock.ok_or(Error::Interrupted)
    }

    /// The same, unless somebody else holds the lock.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn try_acquire(directory: &Path, name: &[u8]) -> Result<Option<Self>> {
        acquire(directory, name, true)
    }
}

fn acquire(directory: &Path, name: &[u8], is_cancelled: bool) -> Result<Option<TreeLock>> {
    let path = directory.join("lock");
    let position = lock_position(name);
    let lock = RangeLock::acquire(&path, position, &|| is_cancelled)?;
    Ok(lock.map(|_lock| TreeLock { _lock }))
}
