//! Git asks what changed in a mounted working tree, instead of looking at every file: the settings for
//! that, and an index that vouches for what the image has. The answer is `monitor::answer`.

use super::images::{note_vouchers, noted_vouchers, read_index};
use crate::config::{read_file, ConfigChange, MountSettings, UntrackedCache, WorktreeMonitor};
use crate::convert::shell_quoted;
use crate::index::{Index, IndexBytes, Mode, UntrackedRecord, Vouchers};
use crate::repository::Repository;
use crate::worktree::write_options;
use crate::{monitor, untracked_cache, Result};
use bstr::{BStr, BString, ByteSlice};
use hedgerow_fs::{Dir, Timestamp};
use hedgerow_mounts::{LayeredTree, Lower, StoredImage};
use std::borrow::Cow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// With fewer files than this, git looks at all of them faster than a program starts.
const WORTH_FILES: usize = 5_000;
/// What the command that git runs ends with.
const WORDS: &[u8] = b" worktree monitor --";

/// Whether a value of `core.fsmonitor` is the command of a mounted working tree.
pub(crate) fn is_hook(value: &BStr) -> bool {
    value.ends_with(WORDS)
}

/// The command of the shell by which git asks the program at this path. It fails in silence where that
/// is gone; git looks at everything then.
fn hook(program: &Path) -> BString {
    let program = shell_quoted(program.as_os_str().as_bytes().as_bstr());
    [b"test -x ", &program[..], b" && ", &program, WORDS]
        .concat()
        .into()
}

/// The bytes of an index like `index`, which vouches for all files of the new working tree `linked` with
/// these layers over the image `lower`, as they are now and when it is mounted.
pub(super) fn vouching(
    linked: &Repository,
    layers: &LayeredTree,
    lower: &Lower,
    index: &mut Index,
) -> Result<Vec<u8>> {
    let last = layers.now()?;
    let records = vouch(linked, layers, lower, index)?;
    let cache = untracked_cache::without_records(linked, index.hash());
    *index.untracked_cache_mut() = cache.zip(records).map(|(mut cache, records)| {
        cache.directories = records;
        cache
    });
    index.set_fsmonitor_token(Some(token_after(layers, last)?));
    let mut content = Vec::new();
    index.write(&mut content, &write_options(linked)?);
    Ok(content)
}

/// The same for a working tree that is as its `image` has it, whose index is `bytes`; in two parts.
pub(super) fn vouching_for_image<'b>(
    linked: &Repository,
    layers: &LayeredTree,
    lower: &Lower,
    image: &StoredImage,
    bytes: &'b IndexBytes,
) -> Result<[Cow<'b, [u8]>; 2]> {
    let last = layers.now()?;
    let vouchers = match noted_vouchers(image, bytes) {
        Some(noted) => noted,
        None => {
            let mut index = read_index(image, bytes)?;
            let records = vouch(linked, layers, lower, &mut index)?;
            let checksum = bytes.checksum().unwrap_or(bytes.hash().null());
            let found = Vouchers::new(checksum, index.entries(), records.as_deref());
            // Without them, the next one takes as long.
            let _ = note_vouchers(linked, image, &found);
            found
        }
    };
    let cache = untracked_cache::without_records(linked, bytes.hash());
    let token = token_after(layers, last)?;
    Ok(bytes.vouched(&vouchers, cache.as_ref(), &token))
}

/// Vouches for all files of `index`, and finds the records of its directories.
fn vouch(
    linked: &Repository,
    layers: &LayeredTree,
    lower: &Lower,
    index: &mut Index,
) -> Result<Option<Vec<UntrackedRecord>>> {
    for entry in index.entries_mut() {
        entry.flags.fsmonitor_valid = entry.mode != Mode::Gitlink;
    }
    let layered = [Dir::open(&layers.upper())?, Dir::open(&lower.path)?];
    let open = |path: &BStr| layered.iter().find_map(|layer| layer.open_file(path).ok());
    untracked_cache::clean_records(linked, index, &open)
}

/// The token of a time stamp after `last` that no change of the layer has yet; every later one has it or a
/// later one.
fn token_after(layers: &LayeredTree, last: Timestamp) -> Result<Vec<u8>> {
    monitor::token(layers, layers.now_after(last)?)
}

/// Makes git ask `program` what changed in the working tree `linked`.
pub(super) fn watch(linked: &Repository, program: &Path) -> Result<()> {
    linked.separate_worktree_config()?;
    let mut changes = vec![ConfigChange::set("core", "fsmonitorHookVersion", "2")];
    if linked.settings().untracked_cache == UntrackedCache::Keep {
        changes.push(ConfigChange::set("core", "untrackedCache", "true"));
    }
    changes.push(ConfigChange::set("core", "fsmonitor", hook(program)));
    linked.set_in_worktree(&changes)
}

/// Whether git is to ask what changed in the new working tree `linked`, whose index has so many entries.
pub(super) fn is_watch_wished(linked: &Repository, entry_count: usize) -> Result<bool> {
    let config = linked.config();
    // Whoever has said something of a monitor, knows better.
    if config.string("core.fsmonitor").is_some() || linked.settings().ignore_case {
        return Ok(false);
    }
    Ok(match MountSettings::load(config)?.monitor {
        WorktreeMonitor::Never => false,
        WorktreeMonitor::Always => true,
        WorktreeMonitor::Auto => entry_count >= WORTH_FILES && may_separate(linked)?,
    })
}

/// Whether every program that reads the repository now does so when its working trees have settings of
/// their own: in a repository of format 1, one that does not know these refuses to.
fn may_separate(linked: &Repository) -> Result<bool> {
    if linked.has_worktree_config() {
        return Ok(true);
    }
    let file = read_file(&linked.config_path())?;
    let version = file.and_then(|file| file.string("core.repositoryFormatVersion"));
    Ok(version.is_none_or(|version| version == "0"))
}
