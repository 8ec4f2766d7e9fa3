use std::path::PathBuf;

/// The result of a maintenance operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a maintenance operation failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A system call failed.
    #[error(transparent)]
    Fs(#[from] hedgerow_fs::Error),
    /// The repository, or its configuration, cannot be used.
    #[error(transparent)]
    Git(#[from] hedgerow_git::Error),
    /// An object or a pack cannot be read, or an auxiliary file of a pack cannot be written.
    #[error(transparent)]
    Object(#[from] hedgerow_pack::Error),
    /// The reachable objects could not be determined.
    #[error(transparent)]
    Reach(#[from] hedgerow_reach::Error),
    /// A pack cannot be made.
    #[error(transparent)]
    Serve(#[from] hedgerow_serve::Error),
    /// The options contradict each other or the configuration; the message is git's.
    #[error("{reason}")]
    Refused {
        /// Why.
        reason: String,
    },
    /// The contents of an existing pack cannot be determined.
    #[error("cannot use '{}': {reason}", path.display())]
    Unusable {
        /// The pack or one of its auxiliary files.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The bitmap of a multi-pack-index cannot be made.
    #[error("could not write multi-pack bitmap: {reason}")]
    MidxBitmap {
        /// Why.
        reason: String,
    },
    /// The operation was interrupted.
    #[error("interrupted")]
    Interrupted,
}

/// The error for contradicting options.
pub(crate) fn refused(reason: impl std::fmt::Display) -> Error {
    let reason = reason.to_string();
    Error::Refused { reason }
}
