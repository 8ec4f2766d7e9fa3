use bstr::BString;
use hedgerow_codec::block::BlockError;
use hedgerow_tree::{shown_path, NodeError};
use std::path::PathBuf;

/// Why an image cannot be written. An existing file under its name is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// A file of the source, or the image file, failed.
    #[error(transparent)]
    File(#[from] hedgerow_fs::Error),
    /// A compressor failed.
    #[error(transparent)]
    Compress(#[from] BlockError),
    /// The source, or an entry of it, cannot be read.
    #[error(transparent)]
    Source(NodeError),
    /// An entry that the format cannot hold, or that is invalid.
    #[error("cannot store '{}': {reason}", shown_path(.path))]
    Entry {
        /// The path in the image.
        path: BString,
        /// What is wrong with it.
        reason: String,
    },
    /// Files have more bytes of holes than
    /// [`hole_limit_bytes`](crate::gather::GatherOptions::hole_limit_bytes).
    #[error("cannot store '{path}': with it, files have more than {limit_bytes} bytes of holes")]
    Holes {
        /// The file that exceeds the limit.
        path: BString,
        /// The limit in bytes.
        limit_bytes: u64,
    },
    /// The image exceeds a limit of the format.
    #[error("cannot write the image: {reason}")]
    Limit {
        /// Which limit.
        reason: String,
    },
    /// A block of the older image turned out to be unusable.
    #[error("cannot use blocks of the older image: {0}")]
    Reuse(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A part of an image cannot be merged with the others.
    #[error("cannot merge '{}': {reason}", .path.display())]
    Part {
        /// The part.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The user cancelled.
    #[error("interrupted")]
    Cancelled,
    /// A worker panicked, which is a defect of this program; the message of the panic.
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
    /// An entry that the format cannot hold, or that is invalid.
    pub fn entry(path: &[u8], reason: impl Into<String>) -> Self {
        WriteError::Entry {
            path: path.into(),
            reason: reason.into(),
        }
    }
}
