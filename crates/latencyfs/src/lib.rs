//! A FUSE file system that mirrors a directory and delays its answers like a network file system.
//! It is used by the tests and benchmarks of hedgerow; nothing that is shipped depends on it.
//!
//! [`Mount`] serves a mount from threads of a test; the program `latencyfs` serves it from a
//! process of its own. The crate's README explains what is charged and why.
//!
//! Besides `hedgerow-fs`, this is the only crate that makes system calls, through rustix and
//! without `unsafe`: it is not a client of a file system but the server of one, and needs calls
//! that hedgerow must never make (an `O_PATH` descriptor for each inode, device nodes, mounting).

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

/// Locks a mutex, ignoring poisoning: every value kept under a lock here is consistent after each
/// statement.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
