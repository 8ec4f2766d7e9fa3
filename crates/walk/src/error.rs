use std::io;

/// The operation on a directory that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Opening it.
    Open,
    /// Reading its entries.
    List,
}

impl Operation {
    /// The operation as the verb of a sentence.
    pub fn verb(self) -> &'static str {
        match self {
            Operation::Open => "open",
            Operation::List => "list",
        }
    }
}

/// A directory that could not be read, or not completely.
#[derive(Debug, thiserror::Error)]
#[error("cannot {} directory: {source}", .operation.verb())]
pub struct ScanError {
    /// The operation.
    pub operation: Operation,
    /// The system's reason.
    pub source: io::Error,
}
