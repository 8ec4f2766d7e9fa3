use bstr::BString;
use hedgerow_tree::NodeError;
use std::path::{Path, PathBuf};

/// Why an archive cannot become a tree, or an entry cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The archive cannot be read.
    #[error("cannot read the archive '{}': {source}", archive.display())]
    Archive {
        /// The path of the archive.
        archive: PathBuf,
        /// The cause.
        source: crate::Error,
    },
    /// The archive has no bytes at all, probably because the program that should write it failed.
    #[error("the archive '{}' is empty (no end-of-archive marker)", .0.display())]
    Empty(PathBuf),
    /// Contents cannot be spooled, or not be read back.
    #[error(transparent)]
    Fs(#[from] hedgerow_fs::Error),
    /// The index of the archive exceeds its memory limit.
    #[error("the archive '{}' has too many members: their index takes more than {limit} bytes", archive.display())]
    TooMany {
        /// The path of the archive.
        archive: PathBuf,
        /// The limit in bytes.
        limit: usize,
    },
    /// An entry has other entries below it but is not a directory.
    #[error("'{0}' has entries below it in the archive, but is not a directory")]
    NotADirectory(BString),
    /// The directory that should become the root does not exist.
    #[error("there is no directory '{0}' in the archive")]
    NoRoot(BString),
    /// A member was skipped.
    #[error("'{path}': {reason}")]
    Skipped {
        /// Its name in the archive.
        path: BString,
        /// The reason.
        reason: crate::Unusable,
    },
    /// The number of further skipped members, which are not reported one by one.
    #[error("{0} more members of the archive cannot be used")]
    MoreSkipped(u64),
    /// A hard link whose target does not exist.
    #[error("'{path}': a hard link to '{target}', which is not in the archive")]
    DanglingLink {
        /// The path of the link.
        path: BString,
        /// Its target.
        target: BString,
    },
    /// A hard link to a directory.
    #[error("'{path}': a hard link to the directory '{target}'")]
    LinkToDirectory {
        /// The path of the link.
        path: BString,
        /// Its target.
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
    /// Errors about a single member become errors of an entry, all others errors of the source.
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
