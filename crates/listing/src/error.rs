use hedgerow_codec::block::BlockError;
use std::io;
use std::path::PathBuf;

/// Why a listing cannot be written, read, or merged.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A system call failed.
    #[error(transparent)]
    Fs(#[from] hedgerow_fs::Error),
    /// The output cannot be written.
    #[error("cannot write the listing: {}", hedgerow_fs::reason(.0))]
    Write(#[source] io::Error),
    /// A page cannot be compressed.
    #[error(transparent)]
    Compress(#[from] BlockError),
    /// A file is damaged, or was made by another program.
    #[error("'{}' is not a sound part of a listing: {what}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A file is not a list of directories that a part has left.
    #[error("'{}' is no list of directories: {what}", .path.display())]
    Rest {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A part, or a list of directories that a part has left, belongs to another listing.
    #[error(
        "'{}' is of {origin}, and {other}: all parts of a listing have the same root and options",
        .path.display()
    )]
    Differs {
        /// The file.
        path: PathBuf,
        /// Its root and options.
        origin: String,
        /// What it should go with, and the root and options of that.
        other: String,
    },
    /// Directories are in none of the parts.
    #[error("{count} directories are in none of the parts, among them '{}'", .examples.join("', '"))]
    Incomplete {
        /// Their number.
        count: u64,
        /// The first of them, as text.
        examples: Vec<String>,
    },
    /// It was cancelled.
    #[error("interrupted")]
    Cancelled,
    /// A defect of this program, with the message of the panic.
    #[error("a worker panicked: {0}")]
    Panicked(String),
}

/// The result of an operation on listings.
pub type Result<T> = std::result::Result<T, Error>;
