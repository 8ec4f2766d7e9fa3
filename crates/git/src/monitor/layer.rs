//! The answer to git's question what changed in a mounted working tree: `core.fsmonitor` of
//! git-config(1). The protocol is version 2 of that in githooks(5), "fsmonitor-watchman".
//!
//! Nobody has to watch the tree. What an index has as the image has it, and the layer of changes does not
//! cover, is unchanged, whenever git looked at it. What the layer has changed if its status did since the
//! moment of the last answer. All else may have changed.

use super::image::{compare, find};
use crate::index::{joined, Index};
use crate::repository::Repository;
use crate::worktrees::mounted::layers_of;
use crate::Result;
use bstr::{BString, ByteSlice};
use hedgerow_fs::{Dir, DirEntry, FileKind, Timestamp};
use hedgerow_mounts::LayeredTree;

/// The version of the protocol.
const VERSION: &[u8] = b"2";
/// A name in a directory of which it is said that it changed, so that the directory is searched. It need
/// not exist.
const ANY_NAME: &[u8] = b"-";

/// What git asks with, for changes of the tree with these layers at the time stamp `since` or later.
///
/// # Errors
/// If the layers are gone or damaged.
pub(crate) fn token(layers: &LayeredTree, since: Timestamp) -> Result<Vec<u8>> {
    let Timestamp {
        seconds,
        nanoseconds,
    } = since;
    Ok(format!("{}{seconds}.{nanoseconds}", start(layers)?).into_bytes())
}

/// The time stamp of a token for the tree with these layers.
fn stamp(token: &[u8], layers: &LayeredTree) -> Result<Option<Timestamp>> {
    let start = start(layers)?;
    let parse = |rest: &[u8]| {
        let (seconds, nanoseconds) = std::str::from_utf8(rest).ok()?.split_once('.')?;
        Some(Timestamp {
            seconds: seconds.parse().ok()?,
            nanoseconds: nanoseconds.parse().ok()?,
        })
    };
    Ok(token.strip_prefix(start.as_bytes()).and_then(parse))
}

/// What tokens of the tree with these layers begin with: no other tree has the same, also not one over
/// the same image, or a copy.
fn start(layers: &LayeredTree) -> Result<String> {
    let layer = layers.source()?.unwrap_or_default();
    Ok(format!("{layer}:{}:", layers.state()?.image))
}

/// The answer for the mounted working tree of `repository`, to who asks with this version of the protocol
/// and this token. `None` if there is none, and everything has to be looked at.
///
/// # Errors
/// If an index or the layer of changes cannot be read.
pub fn answer(repository: &Repository, version: &[u8], asked: &[u8]) -> Result<Option<Vec<u8>>> {
    if version != VERSION || repository.settings().ignore_case {
        return Ok(None);
    }
    let Some(layers) = layers_of(repository.git_dir())? else {
        return Ok(None);
    };
    // What changes from now on is told the next time, too.
    let now = layers.now()?;
    let (path, hash) = (repository.index_path(), repository.hash_kind());
    let Some((index, _)) = Index::load(path, repository.git_dir(), hash)? else {
        return Ok(None);
    };
    // What is mounted within the tree, or was when git looked, is nowhere written down.
    let Some(mounted) = find(repository)?.filter(|it| !it.changes.has_mounts) else {
        return Ok(None);
    };
    let mut answer = Answer::new(token(&layers, now)?);
    // Where the clock was set back, it is not known what came first.
    let since = stamp(asked, &layers)?.filter(|since| *since <= now);
    let news = match since {
        Some(since) => layers.news(since)?,
        None => None,
    };
    let Some(mut news) = news else {
        answer.tell_all(repository, &index)?;
        return Ok(Some(answer.0));
    };
    let known = compare(&index, &mounted.image, &mounted.changes).entries;
    let entries = index.entries().iter().zip(known);
    for (entry, _) in entries.filter(|(_, is_known)| !is_known) {
        let path = index.path(entry);
        if news.is_changed(path) {
            answer.tell(&[path]);
        }
    }
    for directory in &news.directories {
        answer.tell_names(directory);
    }
    Ok(Some(answer.0))
}

/// An answer: the token, and paths from the top, each with a NUL at its end.
struct Answer(Vec<u8>);

impl Answer {
    fn new(token: Vec<u8>) -> Self {
        let mut answer = Answer(token);
        answer.0.push(0);
        answer
    }

    /// The path made of these parts may be different; with a slash at its end, all below it.
    fn tell(&mut self, parts: &[&[u8]]) {
        parts.iter().for_each(|part| self.0.extend_from_slice(part));
        self.0.push(0);
    }

    /// Names in this directory may be new, or gone.
    fn tell_names(&mut self, directory: &[u8]) {
        self.tell(&[&joined(directory.as_bstr(), ANY_NAME.as_bstr())]);
    }

    /// Anything may be different. Git has a word for that, `/`, but forgets nothing of its untracked
    /// cache then: it would believe that once more after the next answer.
    fn tell_all(&mut self, repository: &Repository, index: &Index) -> Result<()> {
        let mut last = None;
        for (path, _) in index.iter() {
            let end = path.find_byte(b'/').map_or(path.len(), |slash| slash + 1);
            if last.replace(&path[..end]) != Some(&path[..end]) {
                self.tell(&[&path[..end]]);
            }
        }
        let top = Dir::open(repository.require_work_tree()?)?;
        let mut pending = vec![BString::default()];
        while let Some(path) = pending.pop() {
            let directory = (!path.is_empty())
                .then(|| top.open_dir(&path))
                .transpose()?;
            let directory = directory.as_ref().unwrap_or(&top);
            for DirEntry { name, kind } in directory.list()? {
                let is_directory = match kind {
                    Some(kind) => kind == FileKind::Directory,
                    None => directory.stat(&name)?.kind == FileKind::Directory,
                };
                if is_directory && name != b".git" {
                    pending.push(joined(path.as_bstr(), name.as_bstr()));
                }
            }
            self.tell_names(&path);
        }
        Ok(())
    }
}
