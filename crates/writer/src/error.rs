use std::error::Error as StdError;

/// Why a whole run of writing or removing ended early. A failure of a single entry is a [`Problem`]
/// instead, and does not end the run.
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
    /// Something already exists in the entry's place; on a file system that ignores case, possibly
    /// an entry whose name differs only in case.
    #[error("something is in the way")]
    Collided,
    /// A device file, although device files are not to be created.
    #[error("no device files are made here")]
    Device,
    /// The entry's content could not be read; nothing was created.
    #[error(transparent)]
    Content(Box<dyn StdError + Send + Sync>),
    /// The user cancelled while the entry was being written.
    #[error("interrupted")]
    Cancelled,
}

impl Problem {
    /// The system's message, without operation and path.
    pub fn reason(&self) -> String {
        match self {
            Problem::Fs(error) => error.reason(),
            Problem::Collided | Problem::Device | Problem::Content(_) | Problem::Cancelled => {
                self.to_string()
            }
        }
    }

    /// Whether a directory was found in place of a file.
    pub fn is_directory(&self) -> bool {
        match self {
            Problem::Fs(error) => error.kind() == std::io::ErrorKind::IsADirectory,
            Problem::Collided | Problem::Device | Problem::Content(_) | Problem::Cancelled => false,
        }
    }

    /// Whether the file system is full or a quota is exceeded, so that other entries would fail,
    /// too.
    pub fn is_full(&self) -> bool {
        use std::io::ErrorKind::{QuotaExceeded, StorageFull};
        matches!(self, Problem::Fs(error) if [StorageFull, QuotaExceeded].contains(&error.kind()))
    }

    /// A problem with the content rather than the target.
    pub fn content(error: impl StdError + Send + Sync + 'static) -> Self {
        Problem::Content(Box::new(error))
    }
}
