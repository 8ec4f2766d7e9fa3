use std::path::PathBuf;

/// The result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

/// What can go wrong with images and mounts.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A system call failed.
    #[error(transparent)]
    Fs(#[from] hedgerow_fs::Error),
    /// A tree is to be unmounted while it is in use.
    #[error("cannot unmount '{}': it is in use; leave the directory and end the programs that work in it", path.display())]
    InUse {
        /// Its top.
        path: PathBuf,
    },
    /// What is found is not what this program writes.
    #[error("'{}' {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The caller cancelled.
    #[error("interrupted")]
    Interrupted,
}
