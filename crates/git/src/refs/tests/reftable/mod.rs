//! The store of tables.

mod beside_git;
mod damaged;
mod stacks;

use super::{check, edit, id, listed};
use crate::config::{ReftableSettings, Sharing};
use crate::refs::{self, RefStorage, RefStore, WriteOptions};
use crate::repository::Scratch;
use hedgerow_testkit::git_is_at_least;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

fn open(git_dir: &Path, hash: gix_hash::Kind) -> Arc<dyn RefStore> {
    refs::open(RefStorage::Reftable, git_dir, git_dir, hash)
}

/// Whether the installed git knows tables.
fn git_knows_tables() -> bool {
    git_is_at_least(2, 45, "reftable")
}

fn options() -> WriteOptions<'static> {
    WriteOptions {
        sharing: Sharing::Umask,
        sync: false,
        lock_timeout: Some(Duration::ZERO),
        packed_lock_timeout: Some(Duration::ZERO),
        reftable: ReftableSettings {
            lock_timeout: Some(Duration::from_secs(10)),
            ..ReftableSettings::default()
        },
        is_cancelled: &|| false,
    }
}

/// A store without a table, in a directory that is no repository.
fn empty(scratch: &Scratch) -> Arc<dyn RefStore> {
    let directory = scratch.path("home");
    std::fs::create_dir(directory.join("reftable")).unwrap();
    open(&directory, gix_hash::Kind::Sha1)
}

/// The names in the list of the stack in `directory`.
fn tables(directory: &Path) -> Vec<String> {
    let list = std::fs::read_to_string(directory.join("reftable/tables.list")).unwrap();
    list.lines().map(str::to_owned).collect()
}

#[test]
fn tables_do_what_every_store_must() {
    check(&*empty(&Scratch::new()));
}
