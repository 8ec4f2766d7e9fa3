//! The one place that maps files into memory.

use crate::fault::{self, Op};
use crate::{Error, ReadFile, Result, Stat};
use memmap2::MmapOptions;
use rustix::fd::{AsFd, AsRawFd};
use std::ops::Deref;
use std::path::Path;

/// A whole file, read-only, mapped.
#[derive(Debug)]
pub struct MappedFile {
    raw: Option<memmap2::Mmap>,
    stat: Option<Stat>,
}

impl MappedFile {
    /// Maps the regular file at `path`; its pages are read when they are touched. An empty file is an empty
    /// map.
    pub fn open(path: &Path) -> Result<Self> {
        let file = ReadFile::open_regular(path)?;
        let stat = file.stat()?;
        let map = match stat.size {
            0 => MappedFile {
                raw: None,
                stat: None,
            },
            _ => Self::of(&file, path)?,
        };
        Ok(MappedFile {
            stat: Some(stat),
            ..map
        })
    }

    /// Maps a file that is not empty; `path` is what errors name.
    pub fn of(file: &impl AsFd, path: &Path) -> Result<Self> {
        Self::with(&MmapOptions::new(), file, path)
    }

    /// Maps a file that is not empty and will be read from its beginning to its end: all pages are
    /// there when this returns.
    pub fn at_once(file: &ReadFile) -> Result<Self> {
        Self::with(MmapOptions::new().populate(), file, file.path())
    }

    #[allow(unsafe_code)]
    fn with(options: &MmapOptions, file: &impl AsFd, path: &Path) -> Result<Self> {
        let mapped = fault::check(Op::Read).and_then(|()| {
            // SAFETY: the map is private and read-only. Git never changes a pack, an index or an
            // accelerator in place: it writes a new file and renames it, which leaves this map on
            // the old one; a pack that is being received is only appended to, and mapped anew after
            // that. Someone who truncates such a file under a running program ends it by SIGBUS, as
            // it ends git; no code relies on two reads of a byte being equal for its memory safety.
            unsafe { options.map(file.as_fd().as_raw_fd()) }
        });
        let raw = mapped.map_err(|source| Error::new("map", path, source))?;
        Ok(MappedFile {
            raw: Some(raw),
            stat: None,
        })
    }

    /// The file as it was when it was opened by its name.
    pub fn stat(&self) -> Option<Stat> {
        self.stat
    }
}

impl Deref for MappedFile {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.raw.as_deref().unwrap_or_default()
    }
}
