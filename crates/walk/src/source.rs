use crate::{walk_sorted, Receiver, WalkOptions};
use hedgerow_engine::Failure;
use hedgerow_fs::OpenDirectory;
use hedgerow_tree::{canonical_order, Entry, Omission, TreeSource};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// A directory as a source of entries, listed by [`walk_sorted`].
///
/// ```
/// use hedgerow_tree::TreeSource;
/// use hedgerow_walk::{DirectorySource, WalkOptions};
/// use std::ops::ControlFlow;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/src/sorted");
/// let source = DirectorySource::new(
///     directory.into(),
///     WalkOptions {
///         metadata: true,
///         ..WalkOptions::default()
///     },
/// );
/// let (mut names, mut bytes) = (Vec::new(), 0);
/// let omissions = source.list(&mut |entry| {
///     names.push(String::from_utf8_lossy(entry.path).into_owned());
///     bytes += entry.metadata.map_or(0, |metadata| metadata.size_bytes);
///     ControlFlow::Continue(())
/// })?;
/// assert!(omissions.is_empty());
/// assert!(names.contains(&"mod.rs".to_owned()) && names.is_sorted());
/// assert!(bytes > 0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct DirectorySource {
    path: PathBuf,
    options: WalkOptions,
}

/// Why a directory cannot be listed at all.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// It cannot be opened.
    #[error(transparent)]
    Open(#[from] hedgerow_fs::Error),
    /// It was cancelled.
    #[error("interrupted")]
    Cancelled,
    /// A defect of this program, with the message of the panic.
    #[error("a worker panicked: {0}")]
    Panicked(String),
}

impl DirectorySource {
    /// The tree below the directory at `path`. Links are followed only in that path.
    pub fn new(path: PathBuf, options: WalkOptions) -> Self {
        DirectorySource { path, options }
    }
}

impl TreeSource for DirectorySource {
    type Error = SourceError;

    fn list(
        &self,
        visit: &mut (dyn FnMut(Entry<'_>) -> ControlFlow<()> + Send),
    ) -> Result<Vec<Omission>, SourceError> {
        let root = OpenDirectory::open(&self.path)
            .map_err(|source| hedgerow_fs::Error::new("open", &self.path, source))?;
        let caller = Caller {
            visit: Mutex::new(visit),
            omissions: Mutex::default(),
        };
        match walk_sorted(root, &self.path, &caller, &self.options) {
            Ok(_) | Err(Failure::Failed(Enough)) => {}
            Err(Failure::Cancelled) => return Err(SourceError::Cancelled),
            Err(Failure::Panicked(message)) => return Err(SourceError::Panicked(message)),
        }
        let omissions = caller.omissions.into_inner();
        let mut omissions = omissions.unwrap_or_else(PoisonError::into_inner);
        omissions.sort_by(|a, b| canonical_order(&a.path, &b.path));
        Ok(omissions)
    }
}

/// The callback of [`TreeSource::list`] for each entry.
type Visit<'v> = dyn FnMut(Entry<'_>) -> ControlFlow<()> + Send + 'v;

/// The caller of a [`TreeSource`], as a [`Receiver`].
struct Caller<'v> {
    visit: Mutex<&'v mut Visit<'v>>,
    omissions: Mutex<Vec<Omission>>,
}

/// The caller wants no more entries.
struct Enough;

impl Receiver for Caller<'_> {
    type Worker = ();
    type Error = Enough;

    fn worker(&self) {}

    fn entry(&self, _: &mut (), entry: Entry<'_>) -> Result<(), Enough> {
        let mut visit = self.visit.lock().unwrap_or_else(PoisonError::into_inner);
        match visit(entry) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Enough),
        }
    }

    fn omitted(&self, _: &mut (), omission: Omission) -> Result<(), Enough> {
        let omissions = self.omissions.lock();
        omissions
            .unwrap_or_else(PoisonError::into_inner)
            .push(omission);
        Ok(())
    }
}
