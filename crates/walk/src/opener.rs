use crate::handles::{Handle, Handles};
use hedgerow_fs::OpenDirectory;
use std::io;
use std::sync::Arc;

/// Opens the directories of a tree.
#[derive(Debug)]
pub(crate) struct Opener {
    root: Arc<Handle>,
    pub(crate) handles: Handles,
    /// The only device to stay on, if any.
    device: Option<u64>,
}

impl Opener {
    pub(crate) fn new(root: OpenDirectory, one_file_system: bool) -> Self {
        let handles = Handles::new();
        Opener {
            device: if one_file_system {
                root.stat_self().ok().map(|stat| stat.dev)
            } else {
                None
            },
            root: handles.count(root),
            handles,
        }
    }

    /// Opens the directory at `path` relative to its parent or, if that was closed meanwhile, to
    /// the root. `None` if it is on a file system that must not be entered.
    pub(crate) fn open(
        &self,
        path: &[u8],
        parent: Option<&Handle>,
        only_stat: bool,
    ) -> io::Result<Option<OpenDirectory>> {
        let opened = match parent {
            Some(parent) => parent.open(hedgerow_tree::split_path(path).1, only_stat),
            None => self.root.open(path, only_stat),
        };
        let opened = match opened {
            // The server forgot the parent's handle; a path from the root finds the directory
            // again.
            Err(error) if is_stale(&error) => self.root.open(path, only_stat)?,
            other => other?,
        };
        match self.device {
            Some(device) if opened.stat_self()?.dev != device => Ok(None),
            _ => Ok(Some(opened)),
        }
    }
}

fn is_stale(error: &io::Error) -> bool {
    const ESTALE: i32 = 116;
    error.raw_os_error() == Some(ESTALE)
}
