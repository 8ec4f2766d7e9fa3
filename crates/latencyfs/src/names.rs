//! Requests about names: looking up, creating, renaming and removing.

use crate::attributes;
use crate::backing;
use crate::call::{Answer, Call};
use crate::control;
use crate::delays::Op;
use crate::filesystem::LatencyFs;
use crate::node::{Handle, Node};
use fuser::{Errno, FileAttr, INodeNo, Request};
use rustix::fs::{AtFlags, FileType, Mode, RenameFlags, CWD};
use std::borrow::Cow;
use std::ffi::OsStr;
use std::io;
use std::sync::Arc;

/// A name in a directory.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) parent: INodeNo,
    pub(crate) name: &'a OsStr,
}

/// Result of a lookup.
pub(crate) enum ResolvedName {
    Node(FileAttr),
    /// Nothing; the client may cache that.
    Absence,
}

impl LatencyFs {
    pub(crate) fn look_up(&self, call: &mut Call, at: Place) -> Answer<ResolvedName> {
        call.charge(Op::Lookup);
        match self.find(&self.node(at.parent)?, at.name) {
            Err(Errno::ENOENT) if self.absences.ttl().is_some() => {
                if self.absences.note(at.parent.0, at.name) {
                    call.refund(Op::Lookup);
                }
                Ok(ResolvedName::Absence)
            }
            found => found.map(ResolvedName::Node),
        }
    }

    /// Looks up `name` in `directory` and adds one reference of the kernel to the inode.
    pub(crate) fn find(&self, directory: &Arc<Node>, name: &OsStr) -> Answer<FileAttr> {
        let handle = directory.handle()?;
        let name = &*self.real_name(&handle, name)?;
        let stat = backing::stat_at(&handle, name)?;
        self.require_same_file_system(stat.st_dev)?;
        let id = self.id_of(stat.st_ino);
        if self.nodes.acquire(id, directory, name) {
            return Ok(attributes::of(&stat, id));
        }
        let fd = backing::open_handle(&handle, name)?;
        // Another file may have taken the name since; the open descriptor decides.
        let stat = backing::stat(&fd)?;
        self.require_same_file_system(stat.st_dev)?;
        let id = self.id_of(stat.st_ino);
        self.nodes.insert(id, fd, &stat, directory, name);
        Ok(attributes::of(&stat, id))
    }

    /// The name that an entry has in the directory where case is ignored.
    fn real_name<'n>(&self, directory: &Handle, name: &'n OsStr) -> io::Result<Cow<'n, OsStr>> {
        if !self.settings.ignore_case || backing::stat_at(directory, name).is_ok() {
            return Ok(Cow::Borrowed(name));
        }
        let real = backing::name_ignoring_case(directory, name)?;
        Ok(real.map_or(Cow::Borrowed(name), Cow::Owned))
    }

    /// File systems mounted inside the backing directory are refused: they have inode numbers of
    /// their own.
    fn require_same_file_system(&self, device: u64) -> Answer<()> {
        if device == self.root_device {
            Ok(())
        } else {
            Err(Errno::EXDEV)
        }
    }

    pub(crate) fn make_node(
        &self,
        call: &mut Call,
        request: &Request,
        at: Place,
        mode: u32,
        device: u32,
    ) -> Answer<FileAttr> {
        call.charge(Op::Create);
        let kind = FileType::from_raw_mode(mode);
        self.make(call, request, at, Some(mode), |directory| {
            let mode = Mode::from_raw_mode(mode);
            rustix::fs::mknodat(directory, at.name, kind, mode, device.into())
        })
    }

    pub(crate) fn make_directory(
        &self,
        call: &mut Call,
        request: &Request,
        at: Place,
        mode: u32,
    ) -> Answer<FileAttr> {
        call.charge(Op::Mkdir);
        self.make(call, request, at, Some(mode), |directory| {
            rustix::fs::mkdirat(directory, at.name, Mode::from_raw_mode(mode))
        })
    }

    pub(crate) fn make_symlink(
        &self,
        call: &mut Call,
        request: &Request,
        at: Place,
        target: &OsStr,
    ) -> Answer<FileAttr> {
        call.charge(Op::Symlink);
        self.make(call, request, at, None, |directory| {
            rustix::fs::symlinkat(target, directory, at.name)
        })
    }

    /// Runs `create` for a new name, gives the new object to the caller, and looks it up.
    fn make(
        &self,
        call: &mut Call,
        request: &Request,
        at: Place,
        mode: Option<u32>,
        create: impl FnOnce(&Handle) -> rustix::io::Result<()>,
    ) -> Answer<FileAttr> {
        control::refuse(at)?;
        self.about_to_create(call, at, true);
        let directory = self.node(at.parent)?;
        let handle = directory.handle()?;
        create(&handle).map_err(io::Error::from)?;
        self.give(&handle, at.name, request, mode)?;
        self.find(&directory, at.name)
    }

    /// For an exclusive creation, takes back the charge of the preceding lookup if only the
    /// creation can have caused it.
    pub(crate) fn about_to_create(&self, call: &mut Call, at: Place, is_exclusive: bool) {
        if self.absences.end(at.parent.0, at.name) && is_exclusive {
            call.refund(Op::Lookup);
        }
    }

    /// Gives a new object to the caller if it was created under another identity, and restores the
    /// permissions that this process's umask removed. The kernel has already applied the caller's
    /// umask.
    pub(crate) fn give(
        &self,
        directory: &Handle,
        name: &OsStr,
        request: &Request,
        mode: Option<u32>,
    ) -> io::Result<()> {
        let is_foreign = self.identity.is_root && self.identity.differs(request);
        let mode = mode.filter(|mode| mode & self.identity.umask != 0);
        if !is_foreign && mode.is_none() {
            return Ok(());
        }
        let handle = backing::open_handle(directory, name)?;
        if is_foreign {
            backing::set_owner(&handle, Some(request.uid()), Some(request.gid()))?;
        }
        match mode {
            Some(mode) => backing::set_mode(&handle, mode),
            None => Ok(()),
        }
    }

    pub(crate) fn make_link(&self, call: &mut Call, from: INodeNo, at: Place) -> Answer<FileAttr> {
        call.charge(Op::Link);
        control::refuse(at)?;
        self.about_to_create(call, at, true);
        let (node, directory) = (self.node(from)?, self.node(at.parent)?);
        let (source, target) = (node.handle()?, directory.handle()?);
        // Through `/proc`, because linking a descriptor directly needs a privilege.
        let source = backing::link_to(&source);
        let flags = AtFlags::SYMLINK_FOLLOW;
        rustix::fs::linkat(CWD, source, &target, at.name, flags).map_err(io::Error::from)?;
        self.find(&directory, at.name)
    }

    pub(crate) fn remove(&self, call: &mut Call, at: Place, flags: AtFlags) -> Answer<()> {
        call.charge(Op::Remove);
        control::refuse(at)?;
        let directory = self.node(at.parent)?;
        let handle = directory.handle()?;
        let name = self.real_name(&handle, at.name)?;
        rustix::fs::unlinkat(&handle, &*name, flags).map_err(io::Error::from)?;
        Ok(())
    }

    pub(crate) fn move_name(
        &self,
        call: &mut Call,
        from: Place,
        to: Place,
        flags: RenameFlags,
    ) -> Answer<()> {
        call.charge(Op::Rename);
        control::refuse(from)?;
        control::refuse(to)?;
        self.absences.end(to.parent.0, to.name);
        let (source, target) = (self.node(from.parent)?, self.node(to.parent)?);
        let (old, new) = (source.handle()?, target.handle()?);
        let from_name = &*self.real_name(&old, from.name)?;
        let mut to_name = &*self.real_name(&new, to.name)?;
        if from.parent == to.parent && from_name == to_name {
            // The same entry in another case: that becomes its name.
            to_name = to.name;
        }
        rustix::fs::renameat_with(&old, from_name, &new, to_name, flags)
            .map_err(io::Error::from)?;
        // Both names, because an exchange moves two objects.
        let ends = [(&target, &new, to_name), (&source, &old, from_name)];
        for (directory, handle, name) in ends {
            if let Ok(stat) = backing::stat_at(handle, name) {
                self.nodes.moved(self.id_of(stat.st_ino), directory, name);
            }
        }
        Ok(())
    }
}
