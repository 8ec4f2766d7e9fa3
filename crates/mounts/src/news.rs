//! What changed in the layer of a tree since a moment, by the times of status changes (`ctime`), which
//! nobody can set.

use crate::changes::{joined, names, prefix, standing, Standing};
use crate::{LayeredTree, Result};
use hedgerow_fs::{Dir, Timestamp};
use std::collections::BTreeSet;

/// So long the clock of files may be behind that of the system, which ticks more finely, in nanoseconds.
pub const CLOCK_LAG_NS: i128 = 12_000_000;
const SECOND_NS: i128 = 1_000_000_000;

/// What changed in a layer since a moment.
#[derive(Debug)]
pub struct LayerNews {
    upper: Dir,
    since_ns: i128,
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
    /// What changed in the layer since `since_ns`, in nanoseconds since 1970. `None` if anything may have:
    /// a directory of the image was moved.
    ///
    /// # Errors
    /// If the layer cannot be read.
    pub fn news(&self, since_ns: i128) -> Result<Option<LayerNews>> {
        let prefix = prefix(self.state()?.is_privileged);
        let mut news = LayerNews {
            upper: Dir::open(&self.upper())?,
            since_ns,
            directories: Vec::new(),
            replaced: BTreeSet::new(),
            last: None,
        };
        let mut pending = vec![(Vec::new(), false)];
        while let Some((path, is_replaced)) = pending.pop() {
            let is_top = path.is_empty();
            let directory = (!is_top).then(|| news.upper.open_dir(&path)).transpose()?;
            let directory = directory.as_ref().unwrap_or(&news.upper);
            let is_new = is_since(directory.stat_self()?.ctime, since_ns);
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
        stat.is_none_or(|stat| is_since(stat.ctime, self.since_ns)) || self.is_replaced(path)
    }

    fn is_replaced(&self, path: &[u8]) -> bool {
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let mut above = slashes.map(|(at, _)| &path[..at]);
        above.any(|directory| self.replaced.contains(directory))
    }
}

/// Whether a file of which the status changed at `ctime` may have done so since `since_ns`.
fn is_since(ctime: Timestamp, since_ns: i128) -> bool {
    // A file system that keeps no fractions of seconds loses up to one.
    let lag = CLOCK_LAG_NS + if ctime.nanoseconds == 0 { SECOND_NS } else { 0 };
    let ctime_ns = i128::from(ctime.seconds) * SECOND_NS + i128::from(ctime.nanoseconds);
    ctime_ns + lag >= since_ns
}
