use hedgerow_fs::OpenDirectory;
use std::io;
use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

/// Maximum number of directories kept open for tasks that will need them.
const KEPT_LIMIT: usize = 1024;

/// Counts the open directories, to limit how many are kept open for later.
#[derive(Debug)]
pub(crate) struct Handles {
    open: Arc<AtomicUsize>,
    kept_limit: usize,
}

/// An open directory that is included in the count.
#[derive(Debug)]
pub(crate) struct Handle {
    directory: OpenDirectory,
    open: Arc<AtomicUsize>,
}

impl Handles {
    /// With a limit that follows from the process's descriptor limit.
    pub(crate) fn new() -> Self {
        Handles {
            open: Arc::default(),
            kept_limit: hedgerow_engine::directories_to_keep().min(KEPT_LIMIT),
        }
    }

    /// The same, but at most `limit`.
    pub(crate) fn with_limit(limit: usize) -> Self {
        let handles = Handles::new();
        Handles {
            kept_limit: handles.kept_limit.min(limit),
            ..handles
        }
    }

    pub(crate) fn count(&self, directory: OpenDirectory) -> Arc<Handle> {
        self.open.fetch_add(1, Ordering::Relaxed);
        Arc::new(Handle {
            directory,
            open: self.open.clone(),
        })
    }

    /// Whether a directory may stay open for waiting tasks.
    pub(crate) fn may_keep(&self) -> bool {
        self.open.load(Ordering::Relaxed) <= self.kept_limit
    }
}

impl Handle {
    /// Opens the directory `path` beneath this one; with `only_stat`, only for statting its
    /// entries.
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
