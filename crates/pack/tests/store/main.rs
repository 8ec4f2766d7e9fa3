//! The object store against git, against damage, and against packs that were made to hurt.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used
)]

mod craft;
mod damage;
mod hostile;
mod oracle;

use hedgerow_pack::{ObjectStore, StoreOptions};
use hedgerow_testkit::Repository;

/// Options for the object store of a repository.
fn options(repository: &Repository) -> StoreOptions {
    StoreOptions {
        hash: repository.hash(),
        ..StoreOptions::default()
    }
}

/// The object store of a repository, opened anew.
fn open(repository: &Repository) -> ObjectStore {
    ObjectStore::open(&repository.objects(), options(repository)).unwrap()
}
