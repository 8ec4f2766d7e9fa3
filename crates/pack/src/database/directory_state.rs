//! Whether directories have changed since they were listed.

use hedgerow_fs::Timestamp;
use std::path::{Path, PathBuf};

/// When some pack directories were last changed, as seen before they were listed.
#[derive(Debug)]
pub(crate) struct DirectoryStates {
    states: Vec<DirectoryState>,
}

#[derive(Debug)]
struct DirectoryState {
    /// When it was changed, and which one it is; `None` for one that is not there.
    changed: Option<(Timestamp, u64)>,
    asked: Timestamp,
}

/// A change this long before the question, in nanoseconds, would have been followed by one of
/// another time.
const SETTLED_AFTER_NS: i128 = 50_000_000;
/// The same where the file system counts in seconds.
const SETTLED_AFTER_COARSE_NS: i128 = 2_000_000_000;

impl DirectoryStates {
    /// Asks for the pack directories of the object directories `objects`.
    pub fn ask(objects: &[PathBuf]) -> Self {
        let states = objects
            .iter()
            .map(|path| DirectoryState::ask(&path.join("pack")));
        DirectoryStates {
            states: states.collect(),
        }
    }

    /// Whether a listing right after `self` was asked misses nothing of what there was when
    /// `later` was.
    pub fn are_same(&self, later: &DirectoryStates) -> bool {
        let mut pairs = self.states.iter().zip(&later.states);
        self.states.len() == later.states.len() && pairs.all(|(then, now)| then.is_same(now))
    }
}

impl DirectoryState {
    fn ask(directory: &Path) -> Self {
        let stat = hedgerow_fs::stat(directory).ok().flatten();
        DirectoryState {
            changed: stat.map(|stat| (stat.mtime, stat.ino)),
            asked: hedgerow_fs::file_time(),
        }
    }

    /// File systems count time in ticks: what changes twice in one looks as if it changed once.
    fn is_same(&self, later: &DirectoryState) -> bool {
        let ns = |time: Timestamp| {
            i128::from(time.seconds) * 1_000_000_000 + i128::from(time.nanoseconds)
        };
        let settled = |(changed, _): (Timestamp, u64)| {
            let least = match changed.nanoseconds {
                0 => SETTLED_AFTER_COARSE_NS,
                _ => SETTLED_AFTER_NS,
            };
            ns(self.asked) - ns(changed) > least
        };
        self.changed == later.changed && self.changed.is_none_or(settled)
    }
}
