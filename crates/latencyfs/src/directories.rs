//! Requests about open directories.

use crate::backing::{self, Entry};
use crate::call::{Answer, Call};
use crate::delays::Op;
use crate::filesystem::LatencyFs;
use crate::lock;
use crate::node::Node;
use fuser::{FileHandle, INodeNo};
use rustix::fd::OwnedFd;
use rustix::fs::OFlags;
use std::sync::{Arc, Mutex};

/// A directory that the kernel has open.
pub(crate) struct OpenDirectory {
    fd: OwnedFd,
    pub(crate) node: Arc<Node>,
    listing: Mutex<Listing>,
}

#[derive(Default)]
struct Listing {
    entries: Vec<Entry>,
    /// Number of entries already charged.
    fetched: usize,
}

impl LatencyFs {
    pub(crate) fn open_directory(&self, call: &mut Call, id: INodeNo) -> Answer<FileHandle> {
        call.charge(Op::Opendir);
        let node = self.node(id)?;
        let fd = backing::reopen(node.handle()?, OFlags::RDONLY | OFlags::DIRECTORY)?;
        Ok(self.directories.add(OpenDirectory {
            fd,
            node,
            listing: Mutex::default(),
        }))
    }

    /// Returns the entries from `offset` on, with the offset after each, and charges for a batch
    /// when its first entry is requested. `show` returns true when the answer is full.
    pub(crate) fn list(
        &self,
        call: &mut Call,
        opened: FileHandle,
        offset: u64,
        mut show: impl FnMut(&OpenDirectory, &Entry, u64) -> bool,
    ) -> Answer<()> {
        let directory = self.directories.get(opened)?;
        let mut listing = lock(&directory.listing);
        if offset == 0 {
            listing.entries = backing::list(&directory.fd)?;
            listing.fetched = 0;
        }
        let first = usize::try_from(offset).unwrap_or(usize::MAX);
        for at in first..listing.entries.len() {
            if at >= listing.fetched {
                // An answer never waits for a second batch.
                if at > first {
                    break;
                }
                listing.fetched = at + self.settings.readdir_batch;
                call.charge(Op::Readdir);
            }
            if show(&directory, &listing.entries[at], at as u64 + 1) {
                break;
            }
        }
        Ok(())
    }
}
