//! A cache of whole responses: the same fetch arrives again and again, from machines that all do
//! the same.
//!
//! Each response is a file, written under no name and named when it is whole, so that any number
//! of processes may write and read at once. What a request reaches does not change, because
//! objects do not; what else a response depends on is part of its key.

use crate::Result;
use gix_hash::Kind;
use hedgerow_fs::{Dir, OutputFile, ReadFile, Timestamp};
use std::path::{Path, PathBuf};

const EXTENSION: &str = "response";

/// A directory of responses.
#[derive(Clone, Debug)]
pub struct ResponseCache {
    /// Where they are. It is made when it is first needed.
    pub directory: PathBuf,
    /// The most they may take, in bytes. A single larger one is not kept.
    pub max_bytes: u64,
    /// How old they may become, in seconds.
    pub max_age_seconds: u64,
}

/// What identifies a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseKey(String);

/// A response that is being written.
#[derive(Debug)]
pub struct NewResponse {
    file: OutputFile,
    written: u64,
    max_bytes: u64,
    /// Whether it has become too large, or could not be written.
    is_given_up: bool,
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
    /// The response to the request with `key`, if there is one that is not too old.
    pub fn find(&self, key: &ResponseKey) -> Option<ReadFile> {
        let file = ReadFile::open(&self.path(key)).ok()?;
        let stat = file.stat().ok()?;
        self.is_fresh(stat.mtime).then_some(file)
    }

    /// Begins to write the response to the request with `key`.
    ///
    /// # Errors
    /// If the directory or the file cannot be made.
    pub fn begin(&self, key: &ResponseKey) -> Result<NewResponse> {
        hedgerow_fs::create_directories(&self.directory)?;
        Ok(NewResponse {
            file: OutputFile::create(&self.path(key))?,
            written: 0,
            max_bytes: self.max_bytes,
            is_given_up: false,
        })
    }

    /// Keeps `response`, which is whole, and removes what is too old or too much.
    ///
    /// # Errors
    /// If it cannot be named, or the directory cannot be listed.
    pub fn keep(&self, response: NewResponse) -> Result<()> {
        if !response.is_given_up {
            response.file.commit(true)?;
        }
        self.clean()
    }

    /// Removes what is too old, and of the rest the oldest as long as it is too much.
    pub fn clean(&self) -> Result<()> {
        let Some(entries) = hedgerow_fs::list_directory(&self.directory)? else {
            return Ok(());
        };
        let directory = Dir::open(&self.directory)?;
        let mut kept = Vec::new();
        let mut bytes = 0_u64;
        for entry in entries {
            let is_response = entry.name.ends_with(b".response");
            // Others may clean at the same time: what is gone is gone.
            let Some(stat) = directory.stat(&entry.name).ok().filter(|_| is_response) else {
                continue;
            };
            if self.is_fresh(stat.mtime) {
                bytes += stat.size;
                kept.push((stat.mtime, stat.size, entry.name));
            } else {
                self.remove(&entry.name);
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

    fn remove(&self, name: &[u8]) {
        use std::os::unix::ffi::OsStrExt;
        let path = self.directory.join(std::ffi::OsStr::from_bytes(name));
        // What cannot be removed now will be tried again.
        let _ = hedgerow_fs::remove_file(&path);
    }

    fn is_fresh(&self, modified: Timestamp) -> bool {
        let age = hedgerow_fs::file_time()
            .seconds
            .saturating_sub(modified.seconds);
        u64::try_from(age).map_or(true, |age| age <= self.max_age_seconds)
    }

    fn path(&self, key: &ResponseKey) -> PathBuf {
        Path::new(&self.directory).join(format!("{}.{EXTENSION}", key.0))
    }
}

impl NewResponse {
    /// Appends `bytes`. What cannot be kept is given up: the request is answered all the same.
    pub fn write(&mut self, bytes: &[u8]) {
        if self.is_given_up {
            return;
        }
        let end = self.written + bytes.len() as u64;
        let is_written = end <= self.max_bytes && self.file.write_at(bytes, self.written).is_ok();
        self.is_given_up = !is_written;
        self.written = end;
    }
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests look at files"
    )]

    use super::*;

    fn cache(max_bytes: u64, max_age_seconds: u64) -> (tempfile::TempDir, ResponseCache) {
        let directory = tempfile::tempdir().unwrap();
        let cache = ResponseCache {
            directory: directory.path().join("responses"),
            max_bytes,
            max_age_seconds,
        };
        (directory, cache)
    }

    fn put(cache: &ResponseCache, name: &str, content: &[u8]) -> ResponseKey {
        let key = ResponseKey::of([name.as_bytes()]);
        let mut response = cache.begin(&key).unwrap();
        for piece in content.chunks(3) {
            response.write(piece);
        }
        cache.keep(response).unwrap();
        key
    }

    fn content(cache: &ResponseCache, key: &ResponseKey) -> Option<Vec<u8>> {
        let mut content = Vec::new();
        cache.find(key)?.read_to_end(&mut content, 1000).unwrap();
        Some(content)
    }

    #[test]
    fn a_response_is_there_when_it_is_whole() {
        let (_directory, cache) = cache(100, 100);
        let key = ResponseKey::of([b"a".as_slice()]);
        let mut unfinished = cache.begin(&key).unwrap();
        unfinished.write(b"half");
        assert!(content(&cache, &key).is_none());
        drop(unfinished);
        let key = put(&cache, "a", b"whole");
        assert_eq!(content(&cache, &key).unwrap(), b"whole");
        assert_eq!(std::fs::read_dir(&cache.directory).unwrap().count(), 1);
    }

    #[test]
    fn parts_are_told_apart() {
        let of = |parts: [&str; 2]| ResponseKey::of(parts.map(str::as_bytes));
        assert_ne!(of(["ab", "c"]), of(["a", "bc"]));
        assert_eq!(of(["ab", "c"]), of(["ab", "c"]));
    }

    #[test]
    fn the_oldest_go_when_there_is_no_room() {
        let (_directory, cache) = cache(10, 100);
        let first = put(&cache, "first", b"12345");
        let path = cache.path(&first);
        let old = std::time::SystemTime::now() - std::time::Duration::from_secs(50);
        std::fs::File::open(&path)
            .unwrap()
            .set_modified(old)
            .unwrap();
        let second = put(&cache, "second", b"12345");
        assert!(content(&cache, &first).is_some());
        let third = put(&cache, "third", b"12345");
        assert!(content(&cache, &first).is_none());
        assert!(content(&cache, &second).is_some() && content(&cache, &third).is_some());
        let large = put(&cache, "large", b"12345678901");
        assert!(content(&cache, &large).is_none());
    }

    #[test]
    fn the_old_expire() {
        let (_directory, cache) = cache(100, 10);
        let key = put(&cache, "a", b"b");
        let old = std::time::SystemTime::now() - std::time::Duration::from_secs(50);
        std::fs::File::open(cache.path(&key))
            .unwrap()
            .set_modified(old)
            .unwrap();
        assert!(content(&cache, &key).is_none());
        cache.clean().unwrap();
        assert_eq!(std::fs::read_dir(&cache.directory).unwrap().count(), 0);
    }
}
