use std::path::PathBuf;

/// The result of tending a repository.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a repository could not be tended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A system call failed.
    #[error(transparent)]
    Fs(#[from] hedgerow_fs::Error),
    /// The repository, or its configuration, cannot be used.
    #[error(transparent)]
    Git(#[from] hedgerow_git::Error),
    /// An object or a pack cannot be read, or what belongs to a pack not be written.
    #[error(transparent)]
    Object(#[from] hedgerow_pack::Error),
    /// What is reachable could not be found out.
    #[error(transparent)]
    Reach(#[from] hedgerow_reach::Error),
    /// A pack cannot be made.
    #[error(transparent)]
    Serve(#[from] hedgerow_serve::Error),
    /// What was asked for contradicts itself, or the configuration: in git's words.
    #[error("{reason}")]
    Refused {
        /// Why.
        reason: String,
    },
    /// What an existing pack holds cannot be found out.
    #[error("cannot use '{}': {reason}", path.display())]
    Unusable {
        /// The pack, or what belongs to it.
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
    /// It was interrupted.
    #[error("interrupted")]
    Interrupted,
}

/// What contradicts itself.
pub(crate) fn refused(reason: impl std::fmt::Display) -> Error {
    let reason = reason.to_string();
    Error::Refused { reason }
}
