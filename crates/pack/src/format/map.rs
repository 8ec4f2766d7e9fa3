//! The one place that maps files into memory.

use hedgerow_fs::{Error, ReadFile, Result, Stat};
use std::ops::Deref;
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;

/// A whole file, read-only, mapped.
#[derive(Debug)]
pub(crate) struct Map {
    raw: Option<memmap2::Mmap>,
    stat: Option<Stat>,
}

impl Map {
    /// Maps the file at `path`. An empty file is an empty map.
    pub fn open(path: &Path) -> Result<Self> {
        let file = ReadFile::open(path)?;
        let stat = file.stat()?;
        let map = match stat.size {
            0 => Map {
                raw: None,
                stat: None,
            },
            _ => Self::of(&file, path)?,
        };
        Ok(Map {
            stat: Some(stat),
            ..map
        })
    }

    /// Maps a file that is not empty; `path` is what errors name.
    #[allow(unsafe_code)]
    pub fn of(file: &impl AsFd, path: &Path) -> Result<Self> {
        // SAFETY: the map is private and read-only. Git never changes a pack, an index or an
        // accelerator in place: it writes a new file and renames it, which leaves this map on the
        // old one; a pack that is being received is only appended to, and mapped anew after that.
        // Someone who truncates such a file under a running program ends it by SIGBUS, as it ends
        // git; no code here relies on two reads of a byte being equal for its memory safety.
        let raw = unsafe { memmap2::Mmap::map(file.as_fd().as_raw_fd()) }
            .map_err(|source| Error::new("map", path, source))?;
        Ok(Map {
            raw: Some(raw),
            stat: None,
        })
    }

    /// The file as it was when it was opened by its name.
    pub fn stat(&self) -> Option<Stat> {
        self.stat
    }
}

impl Deref for Map {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.raw.as_deref().unwrap_or_default()
    }
}
