use std::error::Error as StdError;

/// Why a whole run of writing or removing ended early. Failures of single entries are not
/// errors of the run: they are [`Problem`]s, and the run goes on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The caller's token was cancelled.
    #[error("interrupted")]
    Cancelled,
    /// A worker panicked: a defect of this program.
    #[error("internal error: {0}")]
    Panicked(String),
}

impl From<hedgerow_engine::Failure<std::convert::Infallible>> for Error {
    fn from(failure: hedgerow_engine::Failure<std::convert::Infallible>) -> Self {
        match failure {
            hedgerow_engine::Failure::Cancelled => Error::Cancelled,
            hedgerow_engine::Failure::Failed(never) => match never {},
            hedgerow_engine::Failure::Panicked(message) => Error::Panicked(message),
        }
    }
}

/// Why one entry was not written or removed.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// A system call failed.
    #[error(transparent)]
    Fs(#[from] hedgerow_fs::Error),
    /// Something is already at the entry's place: on a file system that ignores case, the other
    /// of two names that differ only there.
    #[error("something is in the way")]
    Collided,
    /// A device file where none is to be made.
    #[error("no device files are made here")]
    Device,
    /// The entry's content could not be had; nothing was created.
    #[error(transparent)]
    Content(Box<dyn StdError + Send + Sync>),
    /// The user asked for the end while it was being written.
    #[error("interrupted")]
    Cancelled,
}

impl Problem {
    /// What the system said, without operation and path.
    pub fn reason(&self) -> String {
        match self {
            Problem::Fs(error) => error.reason(),
            Problem::Collided | Problem::Device | Problem::Content(_) | Problem::Cancelled => {
                self.to_string()
            }
        }
    }

    /// Whether there was a directory where a file was expected.
    pub fn is_directory(&self) -> bool {
        match self {
            Problem::Fs(error) => error.kind() == std::io::ErrorKind::IsADirectory,
            Problem::Collided | Problem::Device | Problem::Content(_) | Problem::Cancelled => false,
        }
    }

    /// Whether there was no room for it, so that there is none for others.
    pub fn is_full(&self) -> bool {
        use std::io::ErrorKind::{QuotaExceeded, StorageFull};
        matches!(self, Problem::Fs(error) if [StorageFull, QuotaExceeded].contains(&error.kind()))
    }

    /// A problem of the content rather than of the target.
    pub fn content(error: impl StdError + Send + Sync + 'static) -> Self {
        Problem::Content(Box::new(error))
    }
}
