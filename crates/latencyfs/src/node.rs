//! An inode that the kernel knows, and how to find its backing file.

use crate::{backing, lock};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ffi::{OsStr, OsString};
use std::io;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

/// An inode that the kernel knows.
pub(crate) struct Node {
    place: Place,
    /// Bytes written since the last flush, which an NFS client would still have in its cache.
    pub(crate) unflushed: AtomicU64,
}

/// How to find the backing file.
pub(crate) enum Place {
    /// By an `O_PATH` descriptor: renames need no bookkeeping, and the inode number cannot be
    /// reused for another file.
    Held(OwnedFd),
    /// By the directory and the name where it was last seen.
    Named {
        at: Mutex<(Arc<Node>, OsString)>,
        ino: u64,
    },
}

/// A handle of a node for the duration of one operation.
pub(crate) enum Handle<'a> {
    Held(&'a OwnedFd),
    Opened(OwnedFd),
}

impl AsFd for Handle<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Handle::Held(fd) => fd.as_fd(),
            Handle::Opened(fd) => fd.as_fd(),
        }
    }
}

impl Node {
    pub(crate) fn new(place: Place) -> Node {
        Node {
            place,
            unflushed: AtomicU64::new(0),
        }
    }

    pub(crate) fn is_held(&self) -> bool {
        matches!(self.place, Place::Held(_))
    }

    /// Opens the node; `ESTALE` if another file has taken its name.
    pub(crate) fn handle(&self) -> io::Result<Handle<'_>> {
        match &self.place {
            Place::Held(fd) => Ok(Handle::Held(fd)),
            Place::Named { at, ino } => {
                let (directory, name) = lock(at).clone();
                let fd = backing::open_handle(directory.handle()?, &name)?;
                if backing::stat(&fd)?.st_ino == *ino {
                    Ok(Handle::Opened(fd))
                } else {
                    Err(backing::stale())
                }
            }
        }
    }

    /// Records where the node was seen.
    pub(crate) fn seen_at(&self, directory: &Arc<Node>, name: &OsStr) {
        if let Place::Named { at, .. } = &self.place {
            let before = std::mem::replace(&mut *lock(at), (directory.clone(), name.to_owned()));
            drop(before);
        }
    }
}
