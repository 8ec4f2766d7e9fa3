//! Requests about open files.

use crate::attributes;
use crate::backing;
use crate::call::{Answer, Call};
use crate::control;
use crate::delays::Op;
use crate::filesystem::LatencyFs;
use crate::names::Place;
use fuser::{Errno, FileAttr, FileHandle, INodeNo, Request};
use rustix::fs::{Mode, OFlags};
use std::io;
use std::sync::atomic::Ordering::Relaxed;

/// Flags of open(2) that are passed on. The others are handled by the kernel or, like `O_DIRECT`,
/// must not be applied to the backing file.
const PASSED_ON: OFlags = OFlags::RWMODE.union(OFlags::APPEND).union(OFlags::TRUNC);

impl LatencyFs {
    pub(crate) fn open_file(&self, call: &mut Call, id: INodeNo, flags: i32) -> Answer<FileHandle> {
        call.charge(Op::Open);
        let flags = OFlags::from_bits_retain(flags as u32) & PASSED_ON;
        let node = self.node(id)?;
        let opened = backing::reopen(node.handle()?, flags)?;
        Ok(self.files.add(opened))
    }

    pub(crate) fn create_file(
        &self,
        call: &mut Call,
        request: &Request,
        at: Place,
        mode: u32,
        flags: i32,
    ) -> Answer<(FileHandle, FileAttr)> {
        call.charge(Op::Create);
        control::refuse(at)?;
        let flags = OFlags::from_bits_retain(flags as u32);
        let is_exclusive = flags.contains(OFlags::EXCL);
        self.about_to_create(call, at, is_exclusive);
        let directory = self.node(at.parent)?;
        let handle = directory.handle()?;
        let passed_on = flags & (PASSED_ON | OFlags::EXCL);
        let flags = passed_on | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode_bits = Mode::from_raw_mode(mode);
        let opened = rustix::fs::openat(&handle, at.name, flags, mode_bits);
        let opened = opened.map_err(io::Error::from)?;
        self.give(&handle, at.name, request, Some(mode))?;
        let stat = backing::stat(&opened)?;
        let id = self.id_of(stat.st_ino);
        if !self.nodes.acquire(id, &directory, at.name) {
            let held = backing::open_handle(&handle, at.name)?;
            self.nodes.insert(id, held, &stat, &directory, at.name);
        }
        Ok((self.files.add(opened), attributes::of(&stat, id)))
    }

    pub(crate) fn read_file(
        &self,
        call: &mut Call,
        opened: FileHandle,
        offset: u64,
        size: u32,
    ) -> Answer<Vec<u8>> {
        call.charge(Op::Read);
        let file = self.files.get(opened)?;
        let mut content = vec![0; size as usize]; // the kernel asks for 1 MiB at most
        let length = rustix::io::pread(&*file, &mut content, offset).map_err(io::Error::from)?;
        content.truncate(length);
        Ok(content)
    }

    pub(crate) fn write_file(
        &self,
        call: &mut Call,
        id: INodeNo,
        opened: FileHandle,
        offset: u64,
        data: &[u8],
    ) -> Answer<u32> {
        call.charge(Op::Write);
        let (node, file) = (self.node(id)?, self.files.get(opened)?);
        let written = rustix::io::pwrite(&*file, data, offset).map_err(io::Error::from)?;
        node.unflushed.fetch_add(written as u64, Relaxed);
        Ok(written as u32) // no more than the kernel sent
    }

    /// Handles the closing of a descriptor of the file.
    pub(crate) fn flush_file(
        &self,
        call: &mut Call,
        id: INodeNo,
        opened: FileHandle,
    ) -> Answer<()> {
        let node = self.node(id)?;
        self.charge_flush(call, &node);
        if let Some(lost) = self.settings.lost_at_close {
            let file = self.files.get(opened)?;
            let path = hedgerow_fs::read_link(backing::link_to(&*file).as_ref());
            let is_lost = path.is_ok_and(|path| path.to_string_lossy().contains(lost));
            if is_lost && rustix::fs::ftruncate(&*file, 0).is_ok() {
                return Err(Errno::EDQUOT);
            }
        }
        Ok(())
    }

    pub(crate) fn sync_file(
        &self,
        call: &mut Call,
        id: INodeNo,
        opened: FileHandle,
        is_data_only: bool,
    ) -> Answer<()> {
        call.charge(Op::Fsync);
        self.node(id)?.unflushed.store(0, Relaxed);
        let file = self.files.get(opened)?;
        if is_data_only {
            rustix::fs::fdatasync(&*file)
        } else {
            rustix::fs::fsync(&*file)
        }
        .map_err(io::Error::from)?;
        Ok(())
    }
}
