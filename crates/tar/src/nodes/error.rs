use bstr::BString;
use hedgerow_tree::NodeError;
use std::path::{Path, PathBuf};

/// Why an archive cannot be a tree, or an entry of it not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// It cannot be read.
    #[error("cannot read the archive '{}': {source}", archive.display())]
    Archive {
        /// The archive.
        archive: PathBuf,
        /// Why.
        source: crate::Error,
    },
    /// There is not a byte of it: whoever was to write it has failed.
    #[error("the archive '{}' is empty: it has not even an end mark", .0.display())]
    Empty(PathBuf),
    /// Its contents cannot be put aside, or not be read again.
    #[error(transparent)]
    Fs(#[from] hedgerow_fs::Error),
    /// It has more members than may be kept in memory.
    #[error("the archive '{}' has too many members: their index takes more than {limit} bytes", archive.display())]
    TooMany {
        /// The archive.
        archive: PathBuf,
        /// What it may take, in bytes.
        limit: usize,
    },
    /// Something has entries below it and is no directory.
    #[error("'{0}' has entries below it in the archive, and is no directory")]
    NotADirectory(BString),
    /// What is to be the root is not there.
    #[error("there is no directory '{0}' in the archive")]
    NoRoot(BString),
    /// A member was passed over.
    #[error("'{path}': {reason}")]
    Skipped {
        /// Its name as the archive tells it.
        path: BString,
        /// Why.
        reason: crate::Unusable,
    },
    /// So many more members were passed over than are named.
    #[error("{0} more members of the archive cannot be used")]
    MoreSkipped(u64),
    /// A hard link that leads to nothing.
    #[error("'{path}': a hard link to '{target}', which is not in the archive")]
    DanglingLink {
        /// The link.
        path: BString,
        /// What it names.
        target: BString,
    },
    /// A hard link to a directory.
    #[error("'{path}': a hard link to the directory '{target}'")]
    LinkToDirectory {
        /// The link.
        path: BString,
        /// What it names.
        target: BString,
    },
}

impl SourceError {
    pub(super) fn archive(archive: &Path, source: crate::Error) -> SourceError {
        SourceError::Archive {
            archive: archive.to_owned(),
            source,
        }
    }
}

impl From<SourceError> for NodeError {
    /// An error about one member is one of an entry, any other one of the archive.
    fn from(error: SourceError) -> NodeError {
        match error {
            SourceError::Skipped { .. }
            | SourceError::MoreSkipped(_)
            | SourceError::DanglingLink { .. }
            | SourceError::LinkToDirectory { .. } => NodeError::entry(error),
            _ => NodeError::source(error),
        }
    }
}
