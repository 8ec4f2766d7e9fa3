//! Requests about inodes: attributes, the target of a link, the free space of the file system.

use crate::attributes;
use crate::backing;
use crate::call::{Answer, Call};
use crate::delays::Op;
use crate::filesystem::LatencyFs;
use crate::node::Node;
use fuser::{FileAttr, FileHandle, INodeNo, TimeOrNow};
use rustix::fs::{OFlags, StatVfs, Timestamps};
use std::io;
use std::sync::atomic::Ordering::Relaxed;

/// The changes of a SETATTR request.
pub(crate) struct Changes {
    pub(crate) mode: Option<u32>,
    pub(crate) uid: Option<u32>,
    pub(crate) gid: Option<u32>,
    pub(crate) size: Option<u64>,
    pub(crate) atime: Option<TimeOrNow>,
    pub(crate) mtime: Option<TimeOrNow>,
    /// The file opened by the caller, which may allow more than the current permissions.
    pub(crate) opened: Option<FileHandle>,
}

impl LatencyFs {
    pub(crate) fn attributes(
        &self,
        call: &mut Call,
        id: INodeNo,
        opened: Option<FileHandle>,
    ) -> Answer<FileAttr> {
        let node = self.node(id)?;
        // The answer to a flush includes the attributes.
        if !self.charge_flush(call, &node) {
            call.charge(Op::Getattr);
        }
        let stat = match opened {
            Some(handle) => backing::stat(&*self.files.get(handle)?)?,
            None => backing::stat(node.handle()?)?,
        };
        Ok(attributes::of(&stat, self.id_of(stat.st_ino)))
    }

    /// Charges a flush if an NFS client would still have unwritten data of this file.
    pub(crate) fn charge_flush(&self, call: &mut Call, node: &Node) -> bool {
        let is_due = node.unflushed.swap(0, Relaxed) > 0;
        if is_due {
            call.charge(Op::Flush);
            call.charge(Op::Commit);
        }
        is_due
    }

    pub(crate) fn change(
        &self,
        call: &mut Call,
        id: INodeNo,
        changes: &Changes,
    ) -> Answer<FileAttr> {
        call.charge(Op::Setattr);
        let node = self.node(id)?;
        let handle = node.handle()?;
        if let Some(mode) = changes.mode {
            backing::set_mode(&handle, mode)?;
        }
        if changes.uid.is_some() || changes.gid.is_some() {
            backing::set_owner(&handle, changes.uid, changes.gid)?;
        }
        if let Some(size) = changes.size {
            match changes.opened {
                Some(opened) => rustix::fs::ftruncate(&*self.files.get(opened)?, size),
                None => rustix::fs::ftruncate(backing::reopen(&handle, OFlags::WRONLY)?, size),
            }
            .map_err(io::Error::from)?;
        }
        if changes.atime.is_some() || changes.mtime.is_some() {
            // Data written later would change the time again.
            self.charge_flush(call, &node);
            let times = Timestamps {
                last_access: attributes::to_set(changes.atime),
                last_modification: attributes::to_set(changes.mtime),
            };
            backing::set_times(&handle, &times)?;
        }
        let stat = backing::stat(&handle)?;
        Ok(attributes::of(&stat, self.id_of(stat.st_ino)))
    }

    pub(crate) fn link_target(&self, call: &mut Call, id: INodeNo) -> Answer<Vec<u8>> {
        call.charge(Op::Readlink);
        let node = self.node(id)?;
        let target = rustix::fs::readlinkat(node.handle()?, "", Vec::new());
        Ok(target.map_err(io::Error::from)?.into_bytes())
    }

    pub(crate) fn room(&self, call: &mut Call, id: INodeNo) -> Answer<StatVfs> {
        call.charge(Op::Statfs);
        let node = self.node(id)?;
        Ok(rustix::fs::fstatvfs(node.handle()?).map_err(io::Error::from)?)
    }
}
