//! The control file: reading it returns the counters, writing to it changes delays.
//!
//! It is in the root, is not listed, costs nothing, and cannot be replaced or removed.

use crate::attributes;
use crate::call::Answer;
use crate::filesystem::LatencyFs;
use crate::names::Place;
use fuser::{Errno, FileAttr, FileHandle, FileType, INodeNo};

const ID: INodeNo = INodeNo(u64::MAX - 1);
const NAME: &str = ".latencyfs";

/// Whether an inode is that of the control file.
pub(crate) fn is(id: INodeNo) -> bool {
    id == ID
}

/// Whether a name is that of the control file.
pub(crate) fn is_at(at: Place) -> bool {
    at.parent == INodeNo::ROOT && at.name == NAME
}

/// Refuses to give another file the control file's name.
pub(crate) fn refuse(at: Place) -> Answer<()> {
    if is_at(at) {
        Err(Errno::EPERM)
    } else {
        Ok(())
    }
}

/// The control file's attributes; it belongs to the mounting user.
pub(crate) fn attributes() -> FileAttr {
    attributes::of_nothing(ID.0, FileType::RegularFile)
}

impl LatencyFs {
    /// Opens the control file. Its text is fixed while it is open: read in pieces from changing
    /// counters, it would not be valid JSON.
    pub(crate) fn open_control(&self) -> FileHandle {
        self.controls.add(self.counters.snapshot().to_json())
    }

    pub(crate) fn read_control(
        &self,
        opened: FileHandle,
        offset: u64,
        size: u32,
    ) -> Answer<Vec<u8>> {
        let text = self.controls.get(opened)?;
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        let rest = text.as_bytes().get(offset..).unwrap_or_default();
        Ok(rest.iter().copied().take(size as usize).collect())
    }

    /// Executes the written commands, one per line, up to the first invalid one.
    pub(crate) fn write_control(&self, data: &[u8]) -> Answer<u32> {
        let text = std::str::from_utf8(data).map_err(|_| Errno::EINVAL)?;
        for line in text.lines() {
            self.control(line)?;
        }
        Ok(data.len() as u32) // no more than the kernel sent
    }

    fn control(&self, line: &str) -> Answer<()> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [] => {}
            ["reset"] => self.counters.reset(),
            [name, us] => {
                let us = us.parse().map_err(|_| Errno::EINVAL)?;
                if name == "rtt" {
                    self.settings.delays.set_nfs(us);
                } else if !self.settings.delays.set_named(name, us) {
                    return Err(Errno::EINVAL);
                }
            }
            _ => return Err(Errno::EINVAL),
        }
        Ok(())
    }
}
