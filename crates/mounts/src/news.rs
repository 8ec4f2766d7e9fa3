//! What changed in the layer of a tree since a moment, by the times of status changes (`ctime`), which
//! nobody can set.

use crate::changes::{joined, names, prefix, standing, Standing};
use crate::{LayeredTree, Result};
use hedgerow_fs::{Dir, SpoolFile, Timestamp};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// How long a later time stamp is waited for: most file systems have one after 10 ms at the latest.
const STAMP_LIMIT: Duration = Duration::from_millis(40);
const STAMP_PAUSE: Duration = Duration::from_micros(500);

/// What changed in a layer since a moment.
#[derive(Debug)]
pub struct LayerNews {
    upper: Dir,
    since: Timestamp,
    /// The directories with new or lost names, those below the replaced ones among them. The top has an
    /// empty path.
    pub directories: Vec<Vec<u8>>,
    /// The directories that came, or were moved, to their path as a whole: anything below may be
    /// different.
    replaced: BTreeSet<Vec<u8>>,
    /// The directory that was asked for last; `None` if it is not in the layer.
    last: Option<(Vec<u8>, Option<Dir>)>,
}

impl LayeredTree {
    /// The time stamp of a file that changes now, on the file system of the layer: no other clock tells
    /// what comes before a change there, and what after.
    ///
    /// # Errors
    /// If no file can be made beside the layer.
    pub fn now(&self) -> Result<Timestamp> {
        let file = SpoolFile::create(self.directory())?.into_read_file();
        Ok(file.stat()?.ctime)
    }

    /// The same, later than `earlier`. Where that takes too long, it is the same.
    ///
    /// # Errors
    /// As of [`now`](Self::now).
    pub fn now_after(&self, earlier: Timestamp) -> Result<Timestamp> {
        let begun = Instant::now();
        loop {
            let now = self.now()?;
            if now > earlier || begun.elapsed() >= STAMP_LIMIT {
                return Ok(now);
            }
            std::thread::sleep(STAMP_PAUSE);
        }
    }

    /// What changed in the layer at the time stamp `since` or later. `None` if anything may have: a
    /// directory of the image was moved.
    ///
    /// # Errors
    /// If the layer cannot be read.
    pub fn news(&self, since: Timestamp) -> Result<Option<LayerNews>> {
        let prefix = prefix(self.state()?.is_privileged);
        let mut news = LayerNews {
            upper: Dir::open(&self.upper())?,
            since,
            directories: Vec::new(),
            replaced: BTreeSet::new(),
            last: None,
        };
        let mut pending = vec![(Vec::new(), false)];
        while let Some((path, is_replaced)) = pending.pop() {
            let is_top = path.is_empty();
            let directory = (!is_top).then(|| news.upper.open_dir(&path)).transpose()?;
            let directory = directory.as_ref().unwrap_or(&news.upper);
            let is_new = directory.stat_self()?.ctime >= since;
            let standing = if is_top {
                Standing::Merged
            } else {
                standing(directory, prefix)?
            };
            if is_new && standing == Standing::Moved {
                return Ok(None);
            }
            // What is in a directory keeps its times when that is moved.
            let is_replaced = is_replaced || is_new && standing != Standing::Merged;
            let below = names(directory)?.into_iter();
            let below = below.filter(|(_, is_directory)| *is_directory);
            pending.extend(below.map(|(name, _)| (joined(&path, &name), is_replaced)));
            if is_replaced {
                news.replaced.insert(path.clone());
            }
            if is_new || is_replaced {
                news.directories.push(path);
            }
        }
        Ok(Some(news))
    }
}

impl LayerNews {
    /// Whether the file at `path` may have changed. What is not in the layer counts as gone from it.
    /// Those of one directory are best asked for one after the other.
    pub fn is_changed(&mut self, path: &[u8]) -> bool {
        let (above, name) = match path.iter().rposition(|byte| *byte == b'/') {
            Some(end) => (&path[..end], &path[end + 1..]),
            None => (&b""[..], path),
        };
        if self.last.as_ref().is_none_or(|(path, _)| path != above) {
            let directory = self.upper.open_dir(above).ok();
            self.last = Some((above.to_vec(), directory));
        }
        let directory = match &self.last {
            Some((path, directory)) if !path.is_empty() => directory.as_ref(),
            _ => Some(&self.upper),
        };
        let stat = directory.and_then(|directory| directory.stat(name).ok());
        stat.is_none_or(|stat| stat.ctime >= self.since) || self.is_replaced(path)
    }

    fn is_replaced(&self, path: &[u8]) -> bool {
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let mut above = slashes.map(|(at, _)| &path[..at]);
        above.any(|directory| self.replaced.contains(directory))
    }
}
