//! Decodes the kernel's requests.

use crate::answers::{answer_data, answer_empty, answer_open, answer_written, NO_GENERATION};
use crate::attributes;
use crate::control;
use crate::filesystem::LatencyFs;
use crate::inodes::Changes;
use crate::names::{Place, ResolvedName};
use fuser::{
    FileHandle, FileType, Filesystem, FopenFlags, INodeNo, InitFlags, KernelConfig, LockOwner,
    OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyDirectoryPlus,
    ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use rustix::fs::AtFlags;
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

impl Filesystem for LatencyFs {
    fn init(&mut self, _request: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let mut wanted = vec![
            InitFlags::FUSE_PARALLEL_DIROPS,
            InitFlags::FUSE_ATOMIC_O_TRUNC,
            InitFlags::FUSE_AUTO_INVAL_DATA,
            InitFlags::FUSE_MAX_PAGES,
            InitFlags::FUSE_CACHE_SYMLINKS,
            InitFlags::FUSE_ASYNC_DIO,
        ];
        if self.settings.readdirplus {
            wanted.push(InitFlags::FUSE_DO_READDIRPLUS);
        }
        // An older kernel may lack any of these, and applies its own limits to the rest.
        for flag in wanted {
            let _ = config.add_capabilities(flag);
        }
        let _ = config.set_max_write(1 << 20);
        let slots = u16::try_from(self.settings.slots).unwrap_or(u16::MAX);
        let _ = config.set_max_background(slots);
        Ok(())
    }

    fn lookup(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let at = Place { parent, name };
        if control::is_at(at) {
            return reply.entry(&Duration::ZERO, &control::attributes(), NO_GENERATION);
        }
        match self.serve(|call| self.look_up(call, at)) {
            Ok(ResolvedName::Node(found)) => self.answer_entry(Ok(found), reply),
            Ok(ResolvedName::Absence) => {
                // Node id 0 tells the kernel to cache the absence.
                let nothing = attributes::of_nothing(0, FileType::RegularFile);
                let ttl = self.settings.absence_ttl;
                reply.entry_with_ttls(&ttl, &ttl, &nothing, NO_GENERATION);
            }
            Err(error) => reply.error(error),
        }
    }

    fn forget(&self, _request: &Request, id: INodeNo, count: u64) {
        if id != INodeNo::ROOT {
            self.nodes.forget(id.0, count);
        }
    }

    fn getattr(
        &self,
        _request: &Request,
        id: INodeNo,
        handle: Option<FileHandle>,
        reply: ReplyAttr,
    ) {
        if control::is(id) {
            return reply.attr(&Duration::ZERO, &control::attributes());
        }
        let answer = self.serve(|call| self.attributes(call, id, handle));
        self.answer_attributes(answer, reply);
    }

    fn setattr(
        &self,
        _request: &Request,
        id: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        atime: Option<TimeOrNow>,
        mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        opened: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<fuser::BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        if control::is(id) {
            return reply.attr(&Duration::ZERO, &control::attributes());
        }
        let changes = Changes {
            mode,
            uid,
            gid,
            size,
            atime,
            mtime,
            opened,
        };
        let answer = self.serve(|call| self.change(call, id, &changes));
        self.answer_attributes(answer, reply);
    }

    fn readlink(&self, _request: &Request, id: INodeNo, reply: ReplyData) {
        answer_data(self.serve(|call| self.link_target(call, id)), reply);
    }

    fn mknod(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        device: u32,
        reply: ReplyEntry,
    ) {
        let at = Place { parent, name };
        let answer = self.serve(|call| self.make_node(call, request, at, mode, device));
        self.answer_entry(answer, reply);
    }

    fn mkdir(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        reply: ReplyEntry,
    ) {
        let at = Place { parent, name };
        let answer = self.serve(|call| self.make_directory(call, request, at, mode));
        self.answer_entry(answer, reply);
    }

    fn symlink(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        target: &Path,
        reply: ReplyEntry,
    ) {
        let at = Place { parent, name };
        let target = target.as_os_str();
        let answer = self.serve(|call| self.make_symlink(call, request, at, target));
        self.answer_entry(answer, reply);
    }

    fn link(
        &self,
        _request: &Request,
        id: INodeNo,
        parent: INodeNo,
        name: &OsStr,
        reply: ReplyEntry,
    ) {
        let at = Place { parent, name };
        self.answer_entry(self.serve(|call| self.make_link(call, id, at)), reply);
    }

    fn unlink(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let at = Place { parent, name };
        let flags = AtFlags::empty();
        answer_empty(self.serve(|call| self.remove(call, at, flags)), reply);
    }

    fn rmdir(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let at = Place { parent, name };
        let flags = AtFlags::REMOVEDIR;
        answer_empty(self.serve(|call| self.remove(call, at, flags)), reply);
    }

    fn rename(
        &self,
        _request: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let from = Place { parent, name };
        let to = Place {
            parent: new_parent,
            name: new_name,
        };
        let flags = rustix::fs::RenameFlags::from_bits_retain(flags.bits());
        answer_empty(
            self.serve(|call| self.move_name(call, from, to, flags)),
            reply,
        );
    }

    fn open(&self, _request: &Request, id: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        if control::is(id) {
            return reply.opened(self.open_control(), FopenFlags::FOPEN_DIRECT_IO);
        }
        let answer = self.serve(|call| self.open_file(call, id, flags.0));
        // FUSE_AUTO_INVAL_DATA drops outdated pages.
        answer_open(answer, FopenFlags::FOPEN_KEEP_CACHE, reply);
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let at = Place { parent, name };
        match self.serve(|call| self.create_file(call, request, at, mode, flags)) {
            Ok((handle, made)) => {
                let ttl = self.ttl(&made);
                reply.created(&ttl, &made, NO_GENERATION, handle, FopenFlags::empty());
            }
            Err(error) => reply.error(error),
        }
    }

    fn read(
        &self,
        _request: &Request,
        id: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        if control::is(id) {
            return answer_data(self.read_control(handle, offset, size), reply);
        }
        let answer = self.serve(|call| self.read_file(call, handle, offset, size));
        answer_data(answer, reply);
    }

    fn write(
        &self,
        _request: &Request,
        id: INodeNo,
        handle: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        if control::is(id) {
            return answer_written(self.write_control(data), reply);
        }
        let answer = self.serve(|call| self.write_file(call, id, handle, offset, data));
        answer_written(answer, reply);
    }

    fn flush(
        &self,
        _request: &Request,
        id: INodeNo,
        handle: FileHandle,
        _lock_owner: LockOwner,
        reply: ReplyEmpty,
    ) {
        if control::is(id) {
            return reply.ok();
        }
        answer_empty(self.serve(|call| self.flush_file(call, id, handle)), reply);
    }

    fn release(
        &self,
        _request: &Request,
        id: INodeNo,
        handle: FileHandle,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        _flush: bool,
        reply: ReplyEmpty,
    ) {
        if control::is(id) {
            self.controls.remove(handle)
        } else {
            self.files.remove(handle)
        }
        reply.ok();
    }

    fn fsync(
        &self,
        _request: &Request,
        id: INodeNo,
        handle: FileHandle,
        is_data_only: bool,
        reply: ReplyEmpty,
    ) {
        if control::is(id) {
            return reply.ok();
        }
        let answer = self.serve(|call| self.sync_file(call, id, handle, is_data_only));
        answer_empty(answer, reply);
    }

    fn opendir(&self, _request: &Request, id: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        let answer = self.serve(|call| self.open_directory(call, id));
        answer_open(answer, FopenFlags::empty(), reply);
    }

    fn readdir(
        &self,
        _request: &Request,
        _id: INodeNo,
        handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let answer = self.serve(|call| {
            self.list(call, handle, offset, |_, entry, next| {
                let id = INodeNo(self.id_of(entry.ino));
                reply.add(id, next, entry.kind, &entry.name)
            })
        });
        match answer {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(error),
        }
    }

    fn readdirplus(
        &self,
        _request: &Request,
        _id: INodeNo,
        handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectoryPlus,
    ) {
        let answer = self.serve(|call| {
            self.list(call, handle, offset, |directory, entry, next| {
                let (name, zero) = (entry.name.as_os_str(), Duration::ZERO);
                if name == "." || name == ".." {
                    // Node id 0: the kernel uses only the name.
                    let itself = self.id_of(entry.ino);
                    let itself = attributes::of_nothing(itself, FileType::Directory);
                    return reply.add(INodeNo(0), next, name, &zero, &itself, NO_GENERATION);
                }
                let Ok(found) = self.find(&directory.node, name) else {
                    return false; // removed since the listing was read
                };
                let ttl = self.ttl(&found);
                let is_full = reply.add(found.ino, next, name, &ttl, &found, NO_GENERATION);
                if is_full {
                    self.nodes.forget(found.ino.0, 1);
                }
                is_full
            })
        });
        match answer {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(error),
        }
    }

    fn releasedir(
        &self,
        _request: &Request,
        _id: INodeNo,
        handle: FileHandle,
        _flags: OpenFlags,
        reply: ReplyEmpty,
    ) {
        self.directories.remove(handle);
        reply.ok();
    }

    fn fsyncdir(
        &self,
        _request: &Request,
        _id: INodeNo,
        _handle: FileHandle,
        _is_data_only: bool,
        reply: ReplyEmpty,
    ) {
        reply.ok(); // servers commit directory changes before they answer
    }

    fn statfs(&self, _request: &Request, id: INodeNo, reply: ReplyStatfs) {
        match self.serve(|call| self.room(call, id)) {
            Ok(room) => reply.statfs(
                room.f_blocks,
                room.f_bfree,
                room.f_bavail,
                room.f_files,
                room.f_ffree,
                room.f_bsize as u32,
                room.f_namemax as u32,
                room.f_frsize as u32,
            ),
            Err(error) => reply.error(error),
        }
    }
}
