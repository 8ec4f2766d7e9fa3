use bstr::BString;
use hedgerow_codec::block::BlockError;

/// Why an image cannot be written. The file under its name is as it was.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// A file of the source or the image itself.
    #[error(transparent)]
    File(#[from] hedgerow_fs::Error),
    /// A compressor failed.
    #[error(transparent)]
    Compress(#[from] BlockError),
    /// Something of the source cannot be listed.
    #[error(transparent)]
    Omission(#[from] hedgerow_tree::Omission),
    /// The source cannot be listed at all.
    #[error(transparent)]
    Source(#[from] hedgerow_walk::SourceError),
    /// An entry that the format cannot hold, or that makes no sense.
    #[error("cannot store '{path}': {reason}")]
    Entry {
        /// Its path in the image.
        path: BString,
        /// What is wrong with it.
        reason: String,
    },
    /// The image as a whole would be more than the format can hold.
    #[error("cannot write the image: {reason}")]
    Limit {
        /// What is too much.
        reason: String,
    },
    /// The user asked for the end.
    #[error("interrupted")]
    Cancelled,
    /// A defect of this program, in the words of the panic.
    #[error("a worker panicked: {0}")]
    Panicked(String),
}

impl From<hedgerow_engine::Failure<WriteError>> for WriteError {
    fn from(failure: hedgerow_engine::Failure<WriteError>) -> Self {
        use hedgerow_engine::Failure;
        match failure {
            Failure::Failed(error) => error,
            Failure::Cancelled => WriteError::Cancelled,
            Failure::Panicked(message) => WriteError::Panicked(message),
        }
    }
}
