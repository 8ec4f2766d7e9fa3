use super::NotReusable;
use bstr::BString;
use hedgerow_codec::block::BlockError;
use hedgerow_tree::NodeError;

/// Why an image cannot be written. The file under its name is as it was.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// A file of the source or the image itself.
    #[error(transparent)]
    File(#[from] hedgerow_fs::Error),
    /// A compressor failed.
    #[error(transparent)]
    Compress(#[from] BlockError),
    /// The source, or something of it, cannot be had.
    #[error(transparent)]
    Source(NodeError),
    /// An entry that the format cannot hold, or that makes no sense.
    #[error("cannot store '{path}': {reason}")]
    Entry {
        /// Its path in the image.
        path: BString,
        /// What is wrong with it.
        reason: String,
    },
    /// Files have more holes than are allowed: [`CreateOptions::hole_limit_bytes`].
    ///
    /// [`CreateOptions::hole_limit_bytes`]: super::CreateOptions::hole_limit_bytes
    #[error("cannot store '{path}': with it, files have more than {limit_bytes} bytes of holes")]
    Holes {
        /// The file with which they are too many.
        path: BString,
        /// How many they may be.
        limit_bytes: u64,
    },
    /// The image as a whole would be more than the format can hold.
    #[error("cannot write the image: {reason}")]
    Limit {
        /// What is too much.
        reason: String,
    },
    /// A block of the older image turned out not to be what it should be.
    #[error("cannot use blocks of the older image: {0}")]
    Reuse(#[source] NotReusable),
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

impl From<NodeError> for WriteError {
    fn from(error: NodeError) -> Self {
        match error {
            NodeError::Cancelled => WriteError::Cancelled,
            NodeError::Source(source) => match source.downcast::<WriteError>() {
                Ok(own) => *own,
                Err(source) => WriteError::Source(NodeError::Source(source)),
            },
            error => WriteError::Source(error),
        }
    }
}

impl WriteError {
    pub(super) fn entry(path: &[u8], reason: impl Into<String>) -> Self {
        WriteError::Entry {
            path: path.into(),
            reason: reason.into(),
        }
    }
}
