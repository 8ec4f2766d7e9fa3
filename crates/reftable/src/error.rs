/// The result of reading or writing a table.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can be wrong with a table.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Its bytes are no table.
    #[error("{reason} at byte {position}")]
    Malformed {
        /// What is wrong.
        reason: &'static str,
        /// Where the block begins that is wrong, in bytes from the start of the table.
        position: u64,
    },
    /// Its bytes could not be read or written.
    #[error(transparent)]
    Bytes(Box<dyn std::error::Error + Send + Sync>),
    /// A record does not fit into a block.
    #[error("'{name}' does not fit into a block of {block_size} bytes")]
    TooLarge {
        /// The name of its reference.
        name: bstr::BString,
        /// The size that blocks may have.
        block_size: usize,
    },
    /// Records for a table are not in ascending order, or are of another kind than the table's.
    #[error("records of '{name}' cannot stand where they were put")]
    Misplaced {
        /// The name of the reference.
        name: bstr::BString,
    },
}

impl Error {
    /// The error of whoever gives or takes bytes.
    pub fn bytes(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Error::Bytes(Box::new(error))
    }
}

/// That what begins at `position` is no part of a table.
pub(crate) fn malformed(reason: &'static str, position: u64) -> Error {
    Error::Malformed { reason, position }
}
