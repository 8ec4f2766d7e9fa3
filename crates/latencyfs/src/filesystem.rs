//! The state of the file system, shared by all requests.

use crate::absences::Absences;
use crate::backing;
use crate::call::{Answer, Call};
use crate::counters::Counters;
use crate::directories::OpenDirectory;
use crate::handles::Handles;
use crate::node::Node;
use crate::nodes::Nodes;
use crate::server;
use crate::settings::Settings;
use fuser::{Errno, FileAttr, FileType, INodeNo, Request};
use rustix::fd::OwnedFd;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A mirror of a directory.
pub(crate) struct LatencyFs {
    pub(crate) settings: Arc<Settings>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) identity: Identity,
    pub(crate) root_device: u64,
    pub(crate) nodes: Nodes,
    pub(crate) absences: Absences,
    pub(crate) files: Handles<OwnedFd>,
    pub(crate) directories: Handles<OpenDirectory>,
    pub(crate) controls: Handles<String>,
    root_ino: u64,
}

/// The identity of the server process, under which objects are created at first.
pub(crate) struct Identity {
    pub(crate) is_root: bool,
    pub(crate) umask: u32,
    uid: u32,
    gid: u32,
}

impl Identity {
    fn of_this_process() -> Identity {
        Identity {
            is_root: rustix::process::geteuid().is_root(),
            umask: server::umask(),
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
        }
    }

    pub(crate) fn differs(&self, request: &Request) -> bool {
        (self.uid, self.gid) != (request.uid(), request.gid())
    }
}

impl LatencyFs {
    /// Mirrors `backing`; at most `held_inodes` inodes are held by descriptors.
    pub(crate) fn new(
        backing: &Path,
        settings: Arc<Settings>,
        counters: Arc<Counters>,
        held_inodes: usize,
    ) -> io::Result<Self> {
        let root = backing::open_root(backing)?;
        let stat = backing::stat(&root)?;
        let nodes = Nodes::new(held_inodes);
        nodes.insert_root(INodeNo::ROOT.0, root);
        Ok(LatencyFs {
            absences: Absences::new(settings.absence_ttl),
            settings,
            counters,
            identity: Identity::of_this_process(),
            root_ino: stat.st_ino,
            root_device: stat.st_dev,
            nodes,
            files: Handles::new(),
            directories: Handles::new(),
            controls: Handles::new(),
        })
    }

    /// Backing inode numbers are shifted by one, because FUSE reserves 1 for the root.
    pub(crate) fn id_of(&self, ino: u64) -> u64 {
        if ino == self.root_ino {
            INodeNo::ROOT.0
        } else {
            ino.wrapping_add(1)
        }
    }

    pub(crate) fn node(&self, id: INodeNo) -> Answer<Arc<Node>> {
        self.nodes.get(id.0).ok_or(Errno::ESTALE)
    }

    pub(crate) fn serve<T>(&self, work: impl FnOnce(&mut Call) -> Answer<T>) -> Answer<T> {
        Call::serve(&self.settings.delays, &self.counters, work)
    }

    pub(crate) fn ttl(&self, attributes: &FileAttr) -> Duration {
        match attributes.kind {
            FileType::Directory => self.settings.directory_ttl,
            _ => self.settings.file_ttl,
        }
    }
}
