//! A cache of whole responses: the same fetch arrives again and again, from machines that all do
//! the same.
//!
//! Each response is a file: [`HEADER_BYTES`] that say whether it is whole, and what was sent. The
//! first who misses it makes it, under a name that ends in `.partial` and with a lock that ends
//! with the process; whoever misses it meanwhile reads along. When it is whole it gets the name
//! that is looked for. What a request reaches does not change, because objects do not; what else a
//! response depends on is part of its key.

mod new;
mod stored;

pub use new::NewResponse;
pub use stored::{Available, StoredResponse};

use crate::Result;
use gix_hash::Kind;
use hedgerow_fs::{Dir, Making, OutputFile, ReadFile, Timestamp};
use hedgerow_probe::FileSystem;
use std::path::PathBuf;
use std::time::Duration;

const WHOLE: &str = "response";
const PARTIAL: &str = "partial";

/// Before what was sent: zeros, and when it is whole [`MAGIC`] and its length in bytes, a 64-bit
/// number, the highest byte first.
const HEADER_BYTES: u64 = 16;
const MAGIC: [u8; 8] = *b"HRSP\0\0\0\x01";

/// A directory of responses.
#[derive(Clone, Debug)]
pub struct ResponseCache {
    /// Where they are. It is made when it is first needed.
    pub directory: PathBuf,
    /// The most they may take, in bytes. A single larger one is not kept.
    pub max_bytes: u64,
    /// How old they may become, in seconds.
    pub max_age_seconds: u64,
    /// So long one waits for whoever makes the same response to go on, in seconds; 0: nobody
    /// waits for another.
    pub max_wait_seconds: u64,
}

/// What identifies a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseKey(String);

/// What there is of a response.
#[derive(Debug)]
pub enum Found {
    /// All of it, or somebody makes it.
    Stored(StoredResponse),
    /// Nothing: whoever asked is to make it.
    Missing(NewResponse),
}

impl ResponseKey {
    /// The key of the response to a request that consists of these parts.
    pub fn of<'p>(parts: impl IntoIterator<Item = &'p [u8]>) -> Self {
        let mut hasher = gix_hash::hasher(Kind::Sha256);
        for part in parts {
            hasher.update(&(part.len() as u64).to_be_bytes());
            hasher.update(part);
        }
        let id = hasher
            .try_finalize()
            .expect("SHA-256 detects no collisions");
        ResponseKey(id.to_string())
    }
}

impl ResponseCache {
    /// The response to the request with `key`, whole or growing, or else the place to make it.
    ///
    /// # Errors
    /// If the directory or the file cannot be made.
    pub fn look(&self, key: &ResponseKey) -> Result<Found> {
        if let Some(stored) = self.find(key) {
            return Ok(Found::Stored(stored));
        }
        hedgerow_fs::create_directories(&self.directory)?;
        let (whole, partial) = (self.path(key, WHOLE), self.path(key, PARTIAL));
        if self.max_wait_seconds > 0 && self.shows_writes_to_others() {
            match OutputFile::create_for_all(&whole, &partial) {
                Ok(Making::Another(file)) => {
                    let max_wait = Duration::from_secs(self.max_wait_seconds);
                    return Ok(Found::Stored(StoredResponse::of_another(file, max_wait)));
                }
                Ok(Making::Mine(file)) => {
                    // Whoever made it may have come to the end just now.
                    if let Some(stored) = self.find(key) {
                        return Ok(Found::Stored(stored));
                    }
                    self.remove_abandoned();
                    let new = NewResponse::new(file, Some(partial), self.max_bytes);
                    return Ok(Found::Missing(new));
                }
                // There are no locks here: everybody makes it.
                Err(_) => {}
            }
        }
        let file = OutputFile::create(&whole)?;
        Ok(Found::Missing(NewResponse::new(file, None, self.max_bytes)))
    }

    /// The response to the request with `key`, if there is one that is whole and not too old.
    pub fn find(&self, key: &ResponseKey) -> Option<StoredResponse> {
        let file = ReadFile::open(&self.path(key, WHOLE)).ok()?;
        let modified = file.stat().ok()?.mtime;
        StoredResponse::whole(file).filter(|_| self.is_fresh(modified))
    }

    /// Keeps `response`, which is whole, and removes what is too old or too much.
    ///
    /// # Errors
    /// If it cannot be named, or the directory cannot be listed. Who follows it gets it all the
    /// same.
    pub fn keep(&self, response: NewResponse) -> Result<()> {
        response.finish()?;
        self.clean()
    }

    /// Removes what is too old or was abandoned, and of the rest the oldest as long as it is too
    /// much.
    pub fn clean(&self) -> Result<()> {
        self.remove_abandoned();
        let directory = Dir::open(&self.directory)?;
        let mut kept = Vec::new();
        let mut bytes = 0_u64;
        for (name, kind) in self.names()? {
            // Others may clean at the same time: what is gone is gone.
            let Ok(stat) = directory.stat(&name) else {
                continue;
            };
            if kind == Kept::Partial {
                bytes += stat.size;
            } else if !self.is_fresh(stat.mtime) {
                self.remove(&name);
            } else if kind == Kept::Whole {
                bytes += stat.size;
                kept.push((stat.mtime, stat.size, name));
            }
        }
        kept.sort_unstable();
        for (_, size, name) in kept {
            if bytes <= self.max_bytes {
                break;
            }
            self.remove(&name);
            bytes -= size;
        }
        Ok(())
    }

    /// Removes what those left who were killed. What cannot be removed now will be tried again.
    fn remove_abandoned(&self) {
        for (name, kind) in self.names().unwrap_or_default() {
            if kind == Kept::Partial {
                let _ = OutputFile::remove_abandoned(&self.named(&name));
            }
        }
    }

    fn names(&self) -> Result<Vec<(Vec<u8>, Kept)>> {
        let entries = hedgerow_fs::list_directory(&self.directory)?;
        let entries = entries.unwrap_or_default().into_iter();
        let known = entries.filter_map(|entry| {
            let kind = Kept::of(&entry.name)?;
            Some((entry.name, kind))
        });
        Ok(known.collect())
    }

    fn remove(&self, name: &[u8]) {
        // What cannot be removed now will be tried again.
        let _ = hedgerow_fs::remove_file(&self.named(name));
    }

    /// Whether another process that reads a file here sees what was written to it so far, and
    /// nothing else. Of a file that grows on another machine that is not so.
    fn shows_writes_to_others(&self) -> bool {
        FileSystem::of(&self.directory).is_ok_and(|system| {
            !system.is_network && system.name.is_some_and(|name| name != "fuse")
        })
    }

    fn is_fresh(&self, modified: Timestamp) -> bool {
        stored::age_seconds(modified) <= self.max_age_seconds
    }

    fn path(&self, key: &ResponseKey, extension: &str) -> PathBuf {
        self.directory.join(format!("{}.{extension}", key.0))
    }

    fn named(&self, name: &[u8]) -> PathBuf {
        use std::os::unix::ffi::OsStrExt;
        self.directory.join(std::ffi::OsStr::from_bytes(name))
    }
}

/// What is in the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    Whole,
    /// Somebody makes it, or was killed.
    Partial,
    /// It was about to get its name when its maker was killed.
    Unnamed,
}

impl Kept {
    fn of(name: &[u8]) -> Option<Self> {
        let has = |extension: &str| name.ends_with(extension.as_bytes());
        match () {
            () if name.starts_with(b".") => {
                let is_response = name
                    .windows(WHOLE.len())
                    .any(|part| part == WHOLE.as_bytes());
                is_response.then_some(Kept::Unnamed)
            }
            () if has(".response") => Some(Kept::Whole),
            () if has(".partial") => Some(Kept::Partial),
            () => None,
        }
    }
}

#[cfg(test)]
mod tests;
