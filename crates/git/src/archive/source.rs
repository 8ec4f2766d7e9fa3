//! The tree to list, and the properties that its commit gives to all entries.

use super::{ArchiveOptions, CheckedOut};
use crate::repository::{Commit, Repository};
use crate::revision::{RevisionProblem, Wanted};
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use hedgerow_numbers::{integer, BadNumber};
use hedgerow_pack::{ObjectId, ObjectKind};
use hedgerow_tree::EntryKind;

/// Default of `tar.umask`.
const UMASK: u16 = 0o002;
const SET_GROUP_ID: u16 = 0o2000;

/// A tree with the common properties of its entries.
pub(super) struct Source {
    pub tree: ObjectId,
    /// The commit that it belongs to, if one was named.
    pub commit: Option<Commit>,
    /// The full name of the reference, if one was named; that which a symbolic one leads to.
    pub reference: Option<BString>,
    pub mtime_s: i64,
    umask: u16,
    /// What directories have besides.
    of_directories: u16,
    /// Git's warnings.
    pub warnings: Vec<String>,
}

impl Source {
    pub fn resolve(
        repository: &Repository,
        revision: &BStr,
        options: &ArchiveOptions,
    ) -> Result<Self> {
        let resolved = repository.resolve_with(revision, Wanted::Any, None)?;
        let commit = match repository.peel(&resolved.id, Some(ObjectKind::Commit))? {
            Some(id) => Some(repository.commit(&id)?),
            None => None,
        };
        let tree = match &commit {
            Some(commit) => Some(commit.tree),
            None => repository.peel(&resolved.id, Some(ObjectKind::Tree))?,
        };
        let tree = tree.ok_or_else(|| Error::Revision {
            spec: revision.to_owned(),
            reason: RevisionProblem::Unresolved("not a tree object".into()),
        })?;
        let found = repository.find_reference(revision)?;
        let found = found.map(|found| found.reference);
        Ok(Source {
            tree,
            reference: found.map(|found| found.target.unwrap_or(found.name)),
            mtime_s: commit
                .as_ref()
                .map_or(options.tree_mtime_s, |commit| commit.seconds),
            commit,
            umask: umask(repository)?,
            of_directories: 0,
            warnings: resolved.warnings,
        })
    }

    /// A tree that is checked out, of a commit or a reference that filters are told.
    pub fn of_checkout(checkout: &CheckedOut<'_>) -> Self {
        Source {
            tree: checkout.tree,
            commit: checkout.commit.clone(),
            reference: checkout.reference.clone(),
            mtime_s: checkout.mtime_s,
            umask: (checkout.umask & 0o777) as u16,
            of_directories: if checkout.set_group { SET_GROUP_ID } else { 0 },
            warnings: Vec::new(),
        }
    }

    /// The permission bits of an entry.
    pub fn mode(&self, kind: EntryKind) -> u16 {
        match kind {
            EntryKind::Symlink => 0o777,
            EntryKind::File => 0o666 & !self.umask,
            EntryKind::Executable => 0o777 & !self.umask,
            EntryKind::Directory | EntryKind::Gitlink => 0o777 & !self.umask | self.of_directories,
        }
    }
}

/// `tar.umask`.
fn umask(repository: &Repository) -> Result<u16> {
    let Some(value) = repository.config().string("tar.umask") else {
        return Ok(UMASK);
    };
    if value == "user" {
        return process_umask();
    }
    let number = integer(value.as_bstr())
        .and_then(|number| i32::try_from(number).map_err(|_| BadNumber::OutOfRange));
    match number {
        Ok(number) => Ok((number & 0o777) as u16),
        Err(reason) => Err(Error::Config {
            reason: format!(
                "bad numeric config value '{value}' for 'tar.umask': {}",
                reason.words()
            ),
        }),
    }
}

/// The umask of this process.
fn process_umask() -> Result<u16> {
    let umask = hedgerow_fs::umask().and_then(|umask| u16::try_from(umask).ok());
    umask.ok_or_else(|| Error::Setup {
        reason: "the system does not tell the umask that tar.umask asks for".into(),
    })
}
