//! The answer to git's question what changed in a mounted working tree: `core.fsmonitor` of
//! git-config(1). The protocol is version 2 of that in githooks(5), "fsmonitor-watchman".
//!
//! Nobody has to watch the tree. What an index has as the image has it, and the layer of changes does not
//! cover, is unchanged, whenever git looked at it. What the layer has changed if its status did since the
//! moment of the last answer. All else may have changed.

use super::image::{compare, find};
use crate::index::Index;
use crate::repository::Repository;
use crate::Result;
use hedgerow_mounts::{ImageName, CLOCK_LAG_NS};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The version of the protocol.
const VERSION: &[u8] = b"2";
/// A name in a directory of which it is said that it changed, so that the directory is searched. It need
/// not exist.
const ANY_NAME: &[u8] = b"-";

/// A moment, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(i128);

impl Moment {
    fn now() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Moment(now.map_or(0, |now| now.as_nanos() as i128))
    }

    /// A moment that is late enough for everything up to now to lie before it.
    pub fn soon() -> Self {
        Moment(Moment::now().0 + CLOCK_LAG_NS + 1)
    }

    /// Waits until it has come.
    pub fn wait(self) {
        let left_ns = (self.0 - Moment::now().0).clamp(0, CLOCK_LAG_NS + 1);
        if left_ns > 0 {
            std::thread::sleep(Duration::from_nanos(left_ns as u64));
        }
    }

    /// What git asks with, for changes of a tree over `image` since this moment.
    pub fn token(self, image: &ImageName) -> Vec<u8> {
        format!("hedgerow:{image}:{}", self.0).into_bytes()
    }

    /// The moment of a token for a tree over `image`.
    fn of_token(token: &[u8], image: &ImageName) -> Option<Self> {
        let start = format!("hedgerow:{image}:");
        let number = token.strip_prefix(start.as_bytes())?;
        let number = std::str::from_utf8(number).ok()?.parse().ok()?;
        Some(Moment(number))
    }
}

/// The answer for the mounted working tree of `repository`, to who asks with this version of the protocol
/// and this token. `None` if there is none, and everything has to be looked at.
///
/// # Errors
/// If an index or the layer of changes cannot be read.
pub fn answer(repository: &Repository, version: &[u8], token: &[u8]) -> Result<Option<Vec<u8>>> {
    if version != VERSION || repository.settings().ignore_case {
        return Ok(None);
    }
    // What changes from now on is told the next time, too.
    let now = Moment::now();
    let (path, hash) = (repository.index_path(), repository.hash_kind());
    let Some((index, _)) = Index::load(path, repository.git_dir(), hash)? else {
        return Ok(None);
    };
    // What is mounted within the tree, or was when git looked, is nowhere written down.
    let Some(mounted) = find(repository)?.filter(|it| !it.changes.has_mounts) else {
        return Ok(None);
    };
    let mut answer = [&now.token(&mounted.name)[..], b"\0"].concat();
    let mut tell = |parts: &[&[u8]]| {
        parts.iter().for_each(|part| answer.extend_from_slice(part));
        answer.push(0);
    };
    let since = Moment::of_token(token, &mounted.name);
    // Where the clock was set back, it is not known what came first.
    let news = match since.filter(|since| *since <= now) {
        Some(since) => mounted.layers.news(since.0)?,
        None => None,
    };
    let Some(mut news) = news else {
        tell(&[b"/"]);
        return Ok(Some(answer));
    };
    let known = compare(&index, &mounted.image, &mounted.changes).entries;
    let entries = index.entries().iter().zip(known);
    for (entry, _) in entries.filter(|(_, is_known)| !is_known) {
        let path = index.path(entry);
        if news.is_changed(path) {
            tell(&[path]);
        }
    }
    for directory in &news.directories {
        let slash: &[u8] = if directory.is_empty() { b"" } else { b"/" };
        tell(&[directory, slash, ANY_NAME]);
    }
    Ok(Some(answer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_of_one_image_and_one_moment() {
        let name = |digit: &str| ImageName::parse(&format!("{}-ab", digit.repeat(40))).unwrap();
        let (image, other) = (name("1"), name("2"));
        let token = Moment(-7).token(&image);
        assert_eq!(Moment::of_token(&token, &image), Some(Moment(-7)));
        assert_eq!(Moment::of_token(&token, &other), None);
        for foreign in [&b""[..], b"1732", b"builtin:1:2", &token[..token.len() - 2]] {
            assert_eq!(Moment::of_token(foreign, &image), None);
        }
    }

    #[test]
    fn what_changes_now_lies_before_soon() {
        let soon = Moment::soon();
        assert!(Moment::now() < soon);
        soon.wait();
        assert!(Moment::now() >= soon);
    }
}
