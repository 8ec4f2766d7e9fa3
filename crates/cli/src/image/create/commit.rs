//! An image of a commit.

use crate::environment;
use crate::failure::Failure;
use crate::global::Global;
use crate::walk::not_started;
use bstr::ByteSlice;
use hedgerow_git::archive::{nodes_of_commit, ArchiveOptions};
use hedgerow_git::repository::Repository;
use hedgerow_squashfs::{CreateOptions, Created, WriteError};
use hedgerow_tree::{Node, NodeError, NodeKind};
use hedgerow_walk::Patterns;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What a source that is a commit begins with.
const PREFIX: &[u8] = b"git:";

/// The revision that a source names, if it is one; a directory of such a name has `./` in front.
pub fn revision(source: &Path) -> Option<&[u8]> {
    source.as_os_str().as_bytes().strip_prefix(PREFIX)
}

/// The repository that git would use here.
pub fn repository(global: &Global) -> Result<Repository, Failure> {
    let found = Repository::discover(&environment::of_git(global)?);
    found.map_err(|error| {
        let failure = Failure::from(error);
        Failure {
            hint: failure.hint,
            ..not_started(failure.message)
        }
    })
}

/// An image that is to be made of a commit.
pub struct CommitImage<'a> {
    pub repository: &'a Repository,
    pub revision: &'a [u8],
    pub archive: ArchiveOptions,
    /// What is left out.
    pub exclude: Patterns,
    pub target: &'a Path,
    pub options: &'a CreateOptions,
}

impl CommitImage<'_> {
    /// Makes it, of entries as `change` wants them. `warn` is told what git would warn of.
    pub fn create(
        &self,
        change: impl Fn(Node) -> Node + Sync,
        warn: &dyn Fn(String),
    ) -> Result<Created, WriteError> {
        let change = |node: Result<Node, NodeError>| node.map(&change);
        let revision = self.revision.as_bstr();
        let listed = nodes_of_commit(self.repository, revision, &self.archive, |nodes| {
            let nodes = nodes.filter(kept(&self.exclude)).map(change);
            hedgerow_squashfs::create(nodes, self.target, self.options)
        });
        let listed = listed.map_err(|error| match error {
            hedgerow_git::Error::Interrupted => WriteError::Cancelled,
            error => WriteError::Source(NodeError::source(error)),
        })?;
        let warnings = self.repository.objects().warnings().into_iter();
        warnings.chain(listed.warnings).for_each(warn);
        listed.outcome
    }
}

/// Whether an entry stays; what is below a directory that does not, comes right behind it.
fn kept(exclude: &Patterns) -> impl FnMut(&Result<Node, NodeError>) -> bool + '_ {
    let mut excluded: Option<Vec<u8>> = None;
    move |node| {
        let Ok(node) = node else { return true };
        let below = |directory: &Vec<u8>| {
            let rest = node.path.strip_prefix(directory.as_slice());
            rest.is_some_and(|rest| rest.starts_with(b"/"))
        };
        if node.path.is_empty() || excluded.as_ref().is_some_and(below) {
            return node.path.is_empty();
        }
        let is_directory = node.kind == NodeKind::Directory;
        let is_excluded = exclude.excludes(&node.path, is_directory);
        if is_excluded && is_directory {
            excluded = Some(node.path.clone());
        }
        !is_excluded
    }
}
