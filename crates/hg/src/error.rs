use bstr::BString;
use std::path::PathBuf;

/// The result of working with a Mercurial working copy.
pub type Result<T> = std::result::Result<T, Error>;

/// What can go wrong with a Mercurial working copy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A system call failed.
    #[error(transparent)]
    Fs(#[from] hedgerow_fs::Error),
    /// The repository requires something that hedgerow does not know or does not support.
    #[error("unsupported: '{}' requires '{requirement}': {reason}", path.display())]
    Requirement {
        /// The file that lists it.
        path: PathBuf,
        /// The requirement.
        requirement: BString,
        /// Why it is unsupported, or that it is unknown.
        reason: &'static str,
    },
    /// A file below `.hg` that violates its format.
    #[error("corrupt '{}': {reason}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The violation and its position.
        reason: String,
    },
    /// A configuration file that cannot be read.
    #[error("{}:{line}: {reason}", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The reason.
        reason: String,
    },
    /// A setting with an invalid value.
    #[error("{name} is not a boolean ('{value}')")]
    Setting {
        /// Section and name, with a dot between them.
        name: &'static str,
        /// The value.
        value: BString,
    },
    /// A pattern of an ignore file that cannot be used.
    #[error("{}:{line}: invalid pattern '{pattern}': {reason}", path.display())]
    Pattern {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The pattern as written.
        pattern: BString,
        /// The reason.
        reason: String,
    },
    /// Ignore files that include each other endlessly, or too many of them.
    #[error("{}:{line}: {reason}", path.display())]
    Include {
        /// The file with the line that exceeds the limit.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The limit that was exceeded.
        reason: &'static str,
    },
    /// The argument as given.
    #[error("{word}: {reason}")]
    Argument {
        /// The argument as given.
        word: BString,
        /// The reason.
        reason: String,
    },
    /// A path through a symbolic link, which Mercurial does not follow.
    #[error("path {path} traverses symbolic link {link}")]
    Link {
        /// The path relative to the root, quoted.
        path: String,
        /// The link, quoted.
        link: String,
    },
    /// A path into another repository, which Mercurial does not enter.
    #[error("path '{path}' is inside nested repo {repository}")]
    Nested {
        /// The path relative to the root.
        path: BString,
        /// The directory of the other repository, quoted.
        repository: String,
    },
    /// Mercurial was run to compare files and did not answer as expected.
    #[error("cannot ask Mercurial: {reason}")]
    Program {
        /// The error.
        reason: String,
    },
    /// The caller's token was cancelled.
    #[error("interrupted")]
    Interrupted,
    /// A defect of this program.
    #[error("internal error: {reason}")]
    Internal {
        /// The error.
        reason: String,
    },
}

impl From<hedgerow_engine::Failure<Error>> for Error {
    fn from(failure: hedgerow_engine::Failure<Error>) -> Self {
        match failure {
            hedgerow_engine::Failure::Cancelled => Error::Interrupted,
            hedgerow_engine::Failure::Failed(error) => error,
            hedgerow_engine::Failure::Panicked(reason) => Error::Internal { reason },
        }
    }
}
