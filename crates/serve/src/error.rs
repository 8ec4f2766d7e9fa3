use hedgerow_engine::Failure;
use hedgerow_pack::Fault;
use std::path::PathBuf;

/// The result of making a pack.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a pack could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An object cannot be read.
    #[error(transparent)]
    Object(#[from] hedgerow_pack::Error),
    /// The reachable objects could not be determined.
    #[error(transparent)]
    Reach(#[from] hedgerow_reach::Error),
    /// The repository, or its configuration, cannot be used.
    #[error(transparent)]
    Git(#[from] hedgerow_git::Error),
    /// A system call failed.
    #[error(transparent)]
    Fs(#[from] hedgerow_fs::Error),
    /// A pack cannot be copied.
    #[error("cannot copy from '{}': {fault}", pack.display())]
    Copy {
        /// The pack.
        pack: PathBuf,
        /// The fault in it.
        fault: Fault,
    },
    /// A pack whose objects are needed cannot be used.
    #[error("packfile {} cannot be accessed: {reason}", pack.display())]
    Unusable {
        /// The pack.
        pack: PathBuf,
        /// Why.
        reason: String,
    },
    /// The output of the pack cannot be written.
    #[error("cannot write the pack: {}", hedgerow_fs::reason(.0))]
    Write(#[from] std::io::Error),
    /// A pack holds at most 2^32 - 1 objects.
    #[error("{0} objects are too many for one pack")]
    TooMany(u64),
    /// A list of objects, or of packs to take them from, that cannot be used, in git's words.
    #[error("{0}")]
    List(String),
    /// The operation was cancelled.
    #[error("interrupted")]
    Cancelled,
    /// An internal error.
    #[error("internal error: {0}")]
    Panicked(String),
}

impl From<Failure<Error>> for Error {
    fn from(failure: Failure<Error>) -> Self {
        match failure {
            Failure::Failed(error) => error,
            Failure::Cancelled => Error::Cancelled,
            Failure::Panicked(message) => Error::Panicked(message),
        }
    }
}
