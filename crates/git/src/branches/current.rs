//! The current branch and its relation to the upstream.

use super::Tracking;
use crate::refs::Head;
use crate::repository::Repository;
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;

/// What HEAD names, and how that compares with its upstream.
#[derive(Debug)]
pub struct CurrentBranch {
    /// The current commit; `None` if there is none yet.
    pub id: Option<ObjectId>,
    /// The full name of the branch; `None` if HEAD is detached.
    pub name: Option<BString>,
    /// The relation to the upstream branch, if there is one.
    pub tracking: Option<Tracking>,
    /// The shortest unambiguous name of the upstream branch.
    pub upstream: BString,
    /// Whether commits were only compared, not counted: `--no-ahead-behind`.
    pub uncounted: bool,
}

impl CurrentBranch {
    /// Reads HEAD and, if `count`, counts the commits between the branch and its upstream.
    pub fn read(repository: &Repository, count: bool) -> Result<Self> {
        let head = repository.head()?;
        let tracking = match &head {
            Head::Branch { name, .. } if count => repository.tracking_status(name.as_bstr())?,
            Head::Branch { name, .. } => repository.tracking_difference(name.as_bstr())?,
            Head::Detached { .. } => None,
        };
        let upstream = tracking
            .as_ref()
            .map(|tracking| repository.shorten_reference(tracking.upstream.tracking.as_ref()));
        Ok(CurrentBranch {
            upstream: upstream.unwrap_or_default(),
            id: head.id(),
            name: head.branch().map(BStr::to_owned),
            tracking,
            uncounted: !count,
        })
    }

    /// The name of the branch without `refs/heads/`.
    pub fn short_name(&self) -> Option<&BStr> {
        let name = self.name.as_ref()?;
        let short = name.strip_prefix(b"refs/heads/").unwrap_or(name);
        Some(short.as_bstr())
    }
}
