//! A FUSE file system that shows a directory again and answers as late as a network file system
//! would. It exists for the tests and the benchmarks of hedgerow; nothing that is shipped
//! depends on it.
//!
//! [`Mount`] serves one from the threads of a test; the program `latencyfs` from a process of
//! its own. What is charged and why stands in the crate's README.
//!
//! This is the one crate besides `hedgerow-fs` that makes system calls, through rustix and
//! without `unsafe`: it is not a client of a file system but the server of one, and what it needs
//! (an `O_PATH` descriptor for each inode, device nodes, mounting) hedgerow must never do.

mod absences;
mod answers;
mod attributes;
mod backing;
mod call;
mod control;
mod counters;
mod delays;
mod directories;
mod files;
mod filesystem;
mod handles;
mod inodes;
mod mount;
mod names;
mod node;
mod nodes;
mod requests;
mod server;
mod settings;

pub use counters::Snapshot;
pub use delays::{Delays, Op};
pub use mount::{Mount, Skip};
pub use server::{unmount, Server, Unmounted};
pub use settings::Settings;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, whether or not another thread panicked while it held the lock: every state that is
/// kept under a lock here is whole after each statement.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
