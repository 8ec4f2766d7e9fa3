//! A cache of whole responses: the same fetch arrives again and again, from machines that all do
//! the same.
//!
//! Each response is a file: a [`Header`](header::Header), the bytes sent, and a list of what it was
//! made from ([`Sources`]). The first process that misses a response makes it, under a name that
//! ends in `.partial` and with a lock that ends with the process; other processes that miss it
//! meanwhile read along. When it is complete it gets its final name. The result of a request does
//! not change, because objects do not; everything else that a response depends on is part of its
//! key.
//!
//! The directory and the files are accessible to one user only ([`PrivateDir`]), and still nothing
//! is trusted: a file is sent only if its header names the request and the repository, the files it
//! was made from exist unchanged, and its digest is right. The whole file is read for that before
//! the first byte is sent, so that a damaged one is made again without the client noticing.

mod header;
mod new;
mod sources;
mod stored;

pub use new::NewResponse;
pub use stored::{Available, StoredResponse};

use crate::Result;
use hedgerow_fs::{
    Claim, FileKind, FileSystem, FileSystemPlace, OutputFile, PrivateDir, Timestamp,
};
use sources::Sources;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

const WHOLE: &str = ".response";
const PARTIAL: &str = ".partial";
/// Number of hexadecimal digits of a file name before its extension.
const NAME_DIGITS: usize = 64;

/// Options of a cache of responses.
#[derive(Clone, Debug)]
pub struct CacheOptions {
    /// The directory of the responses. It is created if it is missing.
    pub directory: PathBuf,
    /// The object directories of the repository, its own first.
    pub objects: Vec<PathBuf>,
    /// Maximum size of all responses, in bytes, with those that are being written or read. What does not fit is
    /// not kept. Processes that begin at the same time may exceed it by a sixty-fourth each.
    pub max_bytes: u64,
    /// Maximum age of a response, in seconds.
    pub max_age_seconds: u64,
    /// How long a follower waits without progress for the process that makes the same response, in
    /// seconds; 0 disables following.
    pub max_wait_seconds: u64,
}

/// A directory of responses, as one repository uses it.
#[derive(Clone, Debug)]
pub struct ResponseCache {
    directory: PrivateDir,
    options: CacheOptions,
    /// The hash that identifies the repository.
    repository: [u8; 32],
}

/// The hash that identifies a response.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ResponseKey([u8; 32]);

/// The result of a lookup.
#[derive(Debug)]
pub enum CacheLookup {
    /// A response that is complete, or that another process is making.
    Stored(StoredResponse),
    /// None: the caller has to make it.
    Missing(NewResponse),
}

impl ResponseKey {
    /// The key of the response to a request with these parts.
    pub fn of<'p>(parts: impl IntoIterator<Item = &'p [u8]>) -> Self {
        ResponseKey(hash(parts))
    }
}

impl ResponseCache {
    /// Opens the directory.
    ///
    /// # Errors
    /// If it cannot be used ([`PrivateDir::open_or_create`]), or an object directory does not
    /// exist.
    pub fn open(options: CacheOptions) -> Result<Self> {
        let directory = PrivateDir::open_or_create(&options.directory)?;
        let mut parts = Vec::new();
        for objects in &options.objects {
            let real = hedgerow_fs::real_path(objects)?;
            let gone =
                || hedgerow_fs::Error::new("stat", &real, io::Error::from(io::ErrorKind::NotFound));
            let stat = hedgerow_fs::stat(&real)?.ok_or_else(gone)?;
            parts.push(real.as_os_str().as_bytes().to_vec());
            parts.push([stat.dev.to_be_bytes(), stat.ino.to_be_bytes()].concat());
        }
        Ok(ResponseCache {
            directory,
            repository: hash(parts.iter().map(Vec::as_slice)),
            options,
        })
    }

    /// The response to the request with `key`, complete or growing, or else a new one to write.
    ///
    /// # Errors
    /// If the file cannot be created, or the sources cannot be listed.
    pub fn look(&self, key: &ResponseKey) -> Result<CacheLookup> {
        let sources = Sources::list(&self.options)?;
        if let Some(stored) = self.find_made_from(key, &sources) {
            return Ok(CacheLookup::Stored(stored));
        }
        let (whole, partial) = (self.name(key, WHOLE), self.name(key, PARTIAL));
        let identity = self.identity(key);
        let max_bytes = self.options.max_bytes;
        if self.options.max_wait_seconds > 0 && self.shows_writes_to_others() {
            match OutputFile::create_for_all(&self.directory, &whole, &partial) {
                Ok(Claim::Follower(file)) => {
                    let max_wait = Duration::from_secs(self.options.max_wait_seconds);
                    let stored = StoredResponse::of_another(file, &identity, max_wait);
                    return Ok(CacheLookup::Stored(stored));
                }
                Ok(Claim::Writer(file)) => {
                    // Its maker may have finished in the meantime.
                    if let Some(stored) = self.find_made_from(key, &sources) {
                        return Ok(CacheLookup::Stored(stored));
                    }
                    self.remove_abandoned();
                    let partial = Some((self.directory.clone(), partial));
                    let new = NewResponse::new(file, partial, identity, sources, max_bytes);
                    return Ok(CacheLookup::Missing(new));
                }
                // Without locks, each process makes its own response.
                Err(_) => {}
            }
        }
        let file = OutputFile::create_private(&self.directory, &whole)?;
        let new = NewResponse::new(file, None, identity, sources, max_bytes);
        Ok(CacheLookup::Missing(new))
    }

    /// The response to the request with `key`, if there is one that is complete, not expired, and
    /// made from files that still exist unchanged.
    pub fn find(&self, key: &ResponseKey) -> Option<StoredResponse> {
        self.find_made_from(key, &Sources::list(&self.options).ok()?)
    }

    fn find_made_from(&self, key: &ResponseKey, sources: &Sources) -> Option<StoredResponse> {
        let file = self.directory.open_file(&self.name(key, WHOLE)).ok()?;
        if !self.is_fresh(file.stat().ok()?.mtime) {
            return None;
        }
        StoredResponse::whole(file, &self.identity(key), sources, self.options.max_bytes)
    }

    /// Keeps `response`, which is complete, and removes expired responses and those over the size
    /// limit.
    ///
    /// # Errors
    /// If it cannot be renamed, or the directory cannot be listed. Followers get it all the same.
    pub fn keep(&self, response: NewResponse) -> Result<()> {
        let sources = Sources::list(&self.options)?;
        if sources.to_bytes().len() <= sources::MAX_BYTES {
            response.finish(&sources)?;
        }
        self.clean()
    }

    /// Removes expired and abandoned responses, then the oldest ones until the size limit is met.
    /// Files with names that are not the cache's own are left alone.
    ///
    /// # Errors
    /// If the directory cannot be listed.
    pub fn clean(&self) -> Result<()> {
        self.remove_abandoned();
        self.make_room(0).map(drop)
    }

    /// Removes expired responses, then the oldest ones until `more` bytes fit within the size limit; false if
    /// they do not fit. What somebody still reads stays: it would take its place all the same.
    ///
    /// # Errors
    /// If the directory cannot be listed.
    pub fn make_room(&self, more: u64) -> Result<bool> {
        let mut kept = Vec::new();
        let mut bytes = more;
        for (name, kind) in self.names()? {
            // Other processes may clean at the same time and remove it first.
            let Ok(stat) = self.directory.stat(&name) else {
                continue;
            };
            if stat.kind != FileKind::File {
                self.remove(&name);
            } else if kind == Kept::Partial {
                bytes = bytes.saturating_add(stat.size);
            } else if !self.is_fresh(stat.mtime) && !self.is_in_use(&name) {
                self.remove(&name);
            } else if kind == Kept::Whole {
                bytes = bytes.saturating_add(stat.size);
                kept.push((stat.mtime, stat.size, name));
            }
        }
        kept.sort_unstable();
        for (_, size, name) in kept {
            if bytes <= self.options.max_bytes {
                break;
            }
            if !self.is_in_use(&name) {
                self.remove(&name);
                bytes = bytes.saturating_sub(size);
            }
        }
        Ok(bytes <= self.options.max_bytes)
    }

    /// How many bytes a writer takes before it looks again whether more fit.
    pub(crate) fn step(&self) -> u64 {
        self.options.max_bytes / 64
    }

    fn is_in_use(&self, name: &str) -> bool {
        let used = self
            .directory
            .open_file(name)
            .and_then(|file| file.is_in_use());
        matches!(used, Ok(true))
    }

    /// Removes partial files of processes that were killed. Files that cannot be removed are tried
    /// again next time.
    fn remove_abandoned(&self) {
        for (name, kind) in self.names().unwrap_or_default() {
            if kind == Kept::Partial {
                let _ = OutputFile::remove_abandoned(&self.directory, &name);
            }
        }
    }

    fn names(&self) -> Result<Vec<(String, Kept)>> {
        let entries = self.directory.list()?.into_iter();
        let known = entries.filter_map(|entry| {
            let name = String::from_utf8(entry.name).ok()?;
            let kind = Kept::of(&name)?;
            Some((name, kind))
        });
        Ok(known.collect())
    }

    fn remove(&self, name: &str) {
        // If it cannot be removed now, the next cleaning tries again.
        let _ = self.directory.remove(name);
    }

    /// Whether another process reading a file here sees exactly what has been written to it so far.
    /// That does not hold for a file that grows on another machine.
    fn shows_writes_to_others(&self) -> bool {
        FileSystem::at(self.directory.path())
            .is_ok_and(|system| system.place == FileSystemPlace::Local)
    }

    /// A date in the future counts as expired; otherwise the file would never expire.
    fn is_fresh(&self, modified: Timestamp) -> bool {
        age_seconds(modified).is_some_and(|age| age <= self.options.max_age_seconds)
    }

    fn identity(&self, key: &ResponseKey) -> (ResponseKey, [u8; 32]) {
        (key.clone(), self.repository)
    }

    fn name(&self, key: &ResponseKey, extension: &str) -> String {
        let name = hash([self.repository.as_slice(), &key.0]);
        format!("{}{extension}", blake3::Hash::from_bytes(name).to_hex())
    }
}

/// The age in seconds; `None` if `time` is in the future.
fn age_seconds(time: Timestamp) -> Option<u64> {
    let age = hedgerow_fs::now().seconds.checked_sub(time.seconds)?;
    u64::try_from(age).ok()
}

/// A hash of `parts` that also depends on where one part ends and the next begins.
fn hash<'p>(parts: impl IntoIterator<Item = &'p [u8]>) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    *hasher.finalize().as_bytes()
}

/// The kinds of files in the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    Whole,
    /// Being written, or left by a process that was killed.
    Partial,
    /// Complete, but its maker was killed before it got its final name.
    Unnamed,
}

impl Kept {
    fn of(name: &str) -> Option<Self> {
        let (rest, is_hidden) = match name.strip_prefix('.') {
            Some(rest) => (rest, true),
            None => (name, false),
        };
        let (digits, extension) = rest.split_at_checked(NAME_DIGITS)?;
        let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if !digits.bytes().all(is_digit) {
            return None;
        }
        match extension {
            WHOLE if !is_hidden => Some(Kept::Whole),
            PARTIAL if !is_hidden => Some(Kept::Partial),
            _ if is_hidden && extension.starts_with(WHOLE) => Some(Kept::Unnamed),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
