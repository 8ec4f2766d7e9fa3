//! Encodes answers for the kernel.

use crate::call::Answer;
use crate::filesystem::LatencyFs;
use fuser::{
    FileAttr, FileHandle, FopenFlags, Generation, ReplyAttr, ReplyData, ReplyEmpty, ReplyEntry,
    ReplyOpen, ReplyWrite,
};

/// The same for all inodes, because a number is not reused while the kernel knows it.
pub(crate) const NO_GENERATION: Generation = Generation(0);

impl LatencyFs {
    pub(crate) fn answer_entry(&self, answer: Answer<FileAttr>, reply: ReplyEntry) {
        match answer {
            Ok(found) => {
                let (ttl, name_ttl) = (self.ttl(&found), self.settings.name_ttl);
                reply.entry_with_ttls(&ttl, &name_ttl, &found, NO_GENERATION);
            }
            Err(error) => reply.error(error),
        }
    }

    pub(crate) fn answer_attributes(&self, answer: Answer<FileAttr>, reply: ReplyAttr) {
        match answer {
            Ok(found) => reply.attr(&self.ttl(&found), &found),
            Err(error) => reply.error(error),
        }
    }
}

pub(crate) fn answer_empty(answer: Answer<()>, reply: ReplyEmpty) {
    match answer {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(error),
    }
}

pub(crate) fn answer_data(answer: Answer<Vec<u8>>, reply: ReplyData) {
    match answer {
        Ok(data) => reply.data(&data),
        Err(error) => reply.error(error),
    }
}

pub(crate) fn answer_open(answer: Answer<FileHandle>, flags: FopenFlags, reply: ReplyOpen) {
    match answer {
        Ok(handle) => reply.opened(handle, flags),
        Err(error) => reply.error(error),
    }
}

pub(crate) fn answer_written(answer: Answer<u32>, reply: ReplyWrite) {
    match answer {
        Ok(length) => reply.written(length),
        Err(error) => reply.error(error),
    }
}
