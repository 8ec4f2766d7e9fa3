//! A commit as the source of an image.

use crate::arguments::Global;
use crate::environment;
use crate::output::Output;
use bstr::ByteSlice;
use hedgerow_engine::CancelToken;
use hedgerow_git::archive::{nodes_of_commit, ArchiveOptions, Nodes};
use hedgerow_git::repository::Repository;
use hedgerow_git::Error;
use hedgerow_tree::NodeError;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What a source that is a commit begins with.
const PREFIX: &[u8] = b"git:";

/// The revision that a source names, if it is one; a directory of such a name has `./` in front.
pub fn revision(source: &Path) -> Option<&[u8]> {
    source.as_os_str().as_bytes().strip_prefix(PREFIX)
}

/// A revision of the repository that git would use here.
pub struct Source<'a> {
    pub revision: &'a [u8],
    /// What SOURCE_DATE_EPOCH says.
    pub epoch: Option<u32>,
}

impl Source<'_> {
    /// Lists it for `consume`, and says what git would warn of.
    pub fn list<T>(
        &self,
        global: &Global,
        output: &Output,
        cancel: &CancelToken,
        consume: impl FnOnce(Nodes) -> T,
    ) -> Result<T, NodeError> {
        let environment = environment::of_git(global);
        let environment = environment.map_err(|failure| NodeError::source(failure.message))?;
        let options = ArchiveOptions {
            worktree_attributes: false,
            tree_mtime_s: self.epoch.map_or(0, i64::from),
            cancel: cancel.clone(),
        };
        let listed = Repository::discover(&environment).and_then(|repository| {
            let listed = nodes_of_commit(&repository, self.revision.as_bstr(), &options, consume)?;
            Ok((listed, repository.objects().warnings()))
        });
        match listed {
            Ok((listed, warnings)) => {
                let warnings = warnings.iter().chain(&listed.warnings);
                warnings.for_each(|warning| output.warn(warning));
                Ok(listed.outcome)
            }
            Err(Error::Interrupted) => Err(NodeError::Cancelled),
            Err(error) => Err(NodeError::source(error)),
        }
    }
}
