/// The kind of a tree entry in Git, including the only permission bit that Git stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EntryKind {
    /// A regular file that is not executable.
    File,
    /// A regular file that its owner may execute.
    Executable,
    /// A symbolic link; its content is its target.
    Symlink,
    /// A directory.
    Directory,
    /// A commit of another repository (submodule); on disk, an empty directory until it is
    /// populated.
    Gitlink,
}

impl EntryKind {
    /// Whether it is written as a regular file.
    pub fn is_file(self) -> bool {
        matches!(self, EntryKind::File | EntryKind::Executable)
    }

    /// Whether it is a directory on disk.
    pub fn is_directory(self) -> bool {
        matches!(self, EntryKind::Directory | EntryKind::Gitlink)
    }
}
