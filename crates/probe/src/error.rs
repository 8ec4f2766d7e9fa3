/// The result of a measurement.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a measurement failed. Its files were removed, as far as possible.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A system call failed.
    #[error(transparent)]
    Fs(#[from] hedgerow_fs::Error),
    /// The caller's token was cancelled.
    #[error("interrupted")]
    Cancelled,
    /// A worker panicked: a defect of this program.
    #[error("internal error: {0}")]
    Panicked(String),
}

impl From<hedgerow_engine::Failure<Error>> for Error {
    fn from(failure: hedgerow_engine::Failure<Error>) -> Self {
        match failure {
            hedgerow_engine::Failure::Cancelled => Error::Cancelled,
            hedgerow_engine::Failure::Failed(error) => error,
            hedgerow_engine::Failure::Panicked(message) => Error::Panicked(message),
        }
    }
}
