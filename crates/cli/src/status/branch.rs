//! What is checked out and how it stands to its upstream, as all formats need it.

use bstr::{BStr, BString, ByteSlice};
use hedgerow_git::branches::Tracking;
use hedgerow_git::refs::Head;
use hedgerow_git::repository::Repository;
use hedgerow_git::{ObjectId, Result};

/// What is checked out.
#[derive(Debug)]
pub struct Branch {
    /// The commit, unless there is none yet.
    pub id: Option<ObjectId>,
    /// The branch by its full name, unless HEAD is detached.
    pub name: Option<BString>,
    /// How it stands to the branch it follows, if it follows one.
    pub tracking: Option<Tracking>,
    /// That branch by the shortest name that means it.
    pub upstream: BString,
    /// Commits were not counted, only compared: `--no-ahead-behind`.
    pub uncounted: bool,
}

impl Branch {
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
        Ok(Branch {
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
