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
    /// A tree is to be unmounted while something else is mounted within it.
    #[error("cannot unmount '{}': '{}' is mounted within it; unmount that first", path.display(), inner.display())]
    HasMounts {
        /// Its top.
        path: PathBuf,
        /// Where the other one is.
        inner: PathBuf,
    },
    /// The layers of a tree are where the kernel takes none.
    #[error("cannot mount '{}': the kernel does not take the file system of '{}' for an overlay: NFS and another overlay cannot hold its layers; ext4, XFS, Btrfs and tmpfs can", top.display(), upper.display())]
    BadPlace {
        /// Where it is to be mounted.
        top: PathBuf,
        /// The layer of changes.
        upper: PathBuf,
    },
    /// A tree is to be unmounted in a user namespace, and was mounted outside.
    #[error("cannot unmount '{}': it was mounted outside this user namespace", path.display())]
    Outside {
        /// Its top.
        path: PathBuf,
    },
    /// A tree is to be mounted while it is mounted at another place, or hidden by another mount.
    #[error("the changes in '{}' are mounted on '{}' already; unmount that first, or what hides it", upper.display(), place.display())]
    Elsewhere {
        /// The layer of changes.
        upper: PathBuf,
        /// Where it is mounted.
        place: PathBuf,
    },
    /// The layer of a tree is used where this process does not see it.
    #[error("the changes in '{}' are in use: in another mount namespace, or by programs that still work in a mount that was removed", upper.display())]
    Busy {
        /// The layer of changes.
        upper: PathBuf,
    },
    /// The top of a tree is that of another one.
    #[error("'{}' is the working tree of the changes in '{}', not of those in '{}': a copy of a repository has no mounted working trees; 'hedgerow worktree move' gives this one a place of its own", path.display(), other.display(), own.display())]
    Foreign {
        /// The top.
        path: PathBuf,
        /// The layers of the other one.
        other: PathBuf,
        /// The layers of this one.
        own: PathBuf,
    },
    /// An image cannot be mounted.
    #[error("cannot mount the image '{}': {reason}; if it is damaged, delete it; it will be rebuilt", path.display())]
    Image {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// What is found is not what this program writes.
    #[error("'{}' {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The layers of a tree are not what this program writes.
    #[error("'{}' {reason}; the changes of the working tree are in '{}'", path.display(), upper.display())]
    BadLayers {
        /// The file or directory.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
        /// The layer of changes.
        upper: PathBuf,
    },
    /// The caller cancelled.
    #[error("interrupted")]
    Interrupted,
}
