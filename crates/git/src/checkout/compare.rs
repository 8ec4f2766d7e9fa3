//! Content decides where stat data cannot: files whose stat data differ, or are racy.

use super::state::State;
use crate::convert::{Buffers, Conversion, Converter, ToGit};
use crate::index::{Entry, EntryStat, Index, Mode};
use crate::repository::Objects;
use crate::{Error, Result};
use bstr::{BStr, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_engine::{run_tasks, Failure, Options};
use hedgerow_fs::{Dir, ReadFile, Stat};
use std::sync::Mutex;

/// Bytes of a file that are hashed at a time.
const PIECE_BYTES: usize = 128 * 1024;
/// A file that needs converting is read whole, up to this size.
const CONVERTED_LIMIT_BYTES: u64 = 2 << 30;

/// A file that turned out to hold what the index says, with its state now.
pub(crate) type Refreshed = (u32, EntryStat);

/// Reads every [`State::Suspect`] file and replaces its state by [`State::Clean`] or
/// [`State::Modified`]. Returns the clean ones, in ascending order.
pub(crate) fn settle(
    root: &Dir,
    index: &Index,
    states: &mut [State],
    converter: &Converter,
    objects: Objects<'_>,
    options: &Options,
) -> Result<Vec<Refreshed>> {
    let suspects = |row: &u32| states[*row as usize] == State::Suspect;
    let rows: Vec<u32> = (0..states.len() as u32).filter(suspects).collect();
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let found: Mutex<Vec<(u32, Option<EntryStat>)>> = Mutex::new(Vec::with_capacity(rows.len()));
    let work = |buffers: &mut Buffers, row: u32, _: &hedgerow_engine::Scope<'_, u32>| {
        let entry = &index.entries()[row as usize];
        let outcome = hash_file(
            root,
            index.path(entry),
            entry,
            index.hash(),
            converter,
            objects,
            buffers,
        );
        let same = outcome.ok().filter(|(id, _)| *id == entry.id);
        if let Ok(mut found) = found.lock() {
            found.push((row, same.map(|(_, stat)| EntryStat::from(&stat))));
        }
        Ok::<(), Error>(())
    };
    run_tasks(options, rows, |_| Buffers::default(), work).map_err(|failure| match failure {
        Failure::Cancelled => Error::Interrupted,
        Failure::Failed(error) => error,
        Failure::Panicked(reason) => Error::Internal { reason },
    })?;
    let mut refreshed = Vec::new();
    for (row, stat) in found.into_inner().unwrap_or_default() {
        states[row as usize] = match stat {
            Some(_) => State::Clean,
            None => State::Modified,
        };
        refreshed.extend(stat.map(|stat| (row, stat)));
    }
    refreshed.sort_unstable_by_key(|(row, _)| *row);
    Ok(refreshed)
}

/// The object id that the file would have if it were added, and its state before it was read.
fn hash_file(
    root: &Dir,
    path: &BStr,
    entry: &Entry,
    hash: gix_hash::Kind,
    converter: &Converter,
    objects: Objects<'_>,
    buffers: &mut Buffers,
) -> Result<(ObjectId, Stat)> {
    let (parent, name) = match path.rfind_byte(b'/') {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (&path[..0], &path[..]),
    };
    let directory = root.open_dir(parent)?;
    if entry.mode == Mode::Symlink {
        let stat = directory.stat(name)?;
        if stat.kind == hedgerow_fs::FileKind::Symlink {
            let target = directory.read_link(name)?;
            return Ok((blob_id(hash, &target)?, stat));
        }
    }
    let file = directory.open_file(name)?;
    let stat = file.stat()?;
    let conversion = converter.conversion(path);
    if entry.mode == Mode::Symlink || matches!(conversion, Conversion::Plain) {
        return Ok((stream_id(hash, &file, stat.size)?, stat));
    }
    let mut content = Vec::new();
    file.read_to_end(&mut content, CONVERTED_LIMIT_BYTES)?;
    let mut index_content = || {
        Ok(objects
            .store
            .read(&objects.replacement(&entry.id)?)
            .ok()
            .map(|o| o.1))
    };
    let request = ToGit {
        write_object: false,
        renormalize: false,
        index_content: &mut index_content,
    };
    let cleaned = converter.to_git(buffers, conversion, path, &content, request)?;
    Ok((blob_id(hash, cleaned.content)?, stat))
}

fn blob_id(hash: gix_hash::Kind, content: &[u8]) -> Result<ObjectId> {
    let mut hasher = start(hash, content.len() as u64);
    hasher.update(content);
    finish(hasher)
}

fn stream_id(hash: gix_hash::Kind, file: &ReadFile, size: u64) -> Result<ObjectId> {
    let mut hasher = start(hash, size);
    let mut piece = vec![0; PIECE_BYTES.min(size as usize + 1)];
    loop {
        match file.read(&mut piece)? {
            0 => return finish(hasher),
            count => hasher.update(&piece[..count]),
        }
    }
}

fn start(hash: gix_hash::Kind, size: u64) -> gix_hash::Hasher {
    let mut hasher = gix_hash::hasher(hash);
    hasher.update(format!("blob {size}\0").as_bytes());
    hasher
}

fn finish(hasher: gix_hash::Hasher) -> Result<ObjectId> {
    hasher.try_finalize().map_err(|error| Error::Internal {
        reason: error.to_string(),
    })
}
