use hedgerow_fs::OpenDirectory;
use std::io;
use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

/// No more directories than this are kept open for the tasks that will need them.
const KEPT_LIMIT: usize = 1024;

/// Counts the directories that are open, so that few enough are kept open for later.
#[derive(Debug)]
pub(crate) struct Handles {
    open: Arc<AtomicUsize>,
    kept_limit: usize,
}

/// An open directory that is counted.
#[derive(Debug)]
pub(crate) struct Handle {
    directory: OpenDirectory,
    open: Arc<AtomicUsize>,
}

impl Handles {
    /// As many as the process's limit on descriptors allows.
    pub(crate) fn new() -> Self {
        Handles {
            open: Arc::default(),
            kept_limit: hedgerow_engine::directories_to_keep().min(KEPT_LIMIT),
        }
    }

    pub(crate) fn count(&self, directory: OpenDirectory) -> Arc<Handle> {
        self.open.fetch_add(1, Ordering::Relaxed);
        Arc::new(Handle {
            directory,
            open: self.open.clone(),
        })
    }

    /// Whether a directory may stay open for tasks that wait.
    pub(crate) fn may_keep(&self) -> bool {
        self.open.load(Ordering::Relaxed) <= self.kept_limit
    }
}

impl Handle {
    /// Opens the directory `path` beneath this one; if it can only be statted in, for that.
    pub(crate) fn open(&self, path: &[u8], only_stat: bool) -> io::Result<OpenDirectory> {
        if only_stat {
            self.directory.open_to_stat(path)
        } else {
            self.directory.open_below(path)
        }
    }
}

impl Deref for Handle {
    type Target = OpenDirectory;

    fn deref(&self) -> &OpenDirectory {
        &self.directory
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}
