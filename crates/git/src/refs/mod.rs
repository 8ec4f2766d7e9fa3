//! References: what one is, how its name must look, and the store that they are kept in, behind a
//! trait. Nothing here knows a repository; which store one has is told by its format.

mod files;
mod log;
mod model;
mod names;
mod reftable;
mod store;
#[cfg(test)]
mod tests;

pub use log::{Log, LogEntry, Signature};
pub(crate) use model::{problem, RefValue};
pub use model::{Head, NamedReference, Reference, ReferenceProblem};
pub use names::name_fits;
pub(crate) use names::{is_safe_name, NAME_RULES};
pub use store::IsCancelled;
pub(crate) use store::{
    follow, follow_from, Expected, Listed, LogMessage, Logged, RefChange, RefEdit, RefStore,
    RefTransaction, WriteOptions,
};

use std::path::Path;
use std::sync::Arc;

/// How the references of a repository are stored: `extensions.refStorage` of git-config(1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RefStorage {
    /// A file for each reference, and `packed-refs`.
    #[default]
    Files,
    /// Tables.
    Reftable,
}

/// Opens the references of the working tree with the directory `git_dir`. Nothing is read yet.
pub(crate) fn open(
    storage: RefStorage,
    git_dir: &Path,
    common_dir: &Path,
    hash: gix_hash::Kind,
) -> Arc<dyn RefStore> {
    match storage {
        RefStorage::Files => Arc::new(files::Files::new(git_dir, common_dir, hash)),
        RefStorage::Reftable => Arc::new(reftable::Reftable::new(git_dir, common_dir, hash)),
    }
}
