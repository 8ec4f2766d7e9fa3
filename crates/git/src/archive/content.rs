//! The content of an entry, read on demand, on any thread.

use super::described::{described, Described};
use super::facts::Facts;
use super::filters::Filters;
use super::queue::{Place, Queue};
use super::source::Source;
use super::subst;
use super::walk::Change;
use super::ArchiveOptions;
use crate::config::Environment;
use crate::convert::{Buffers, Conversion};
use crate::repository::Repository;
use crate::{Error, Result};
use bstr::{BString, ByteSlice};
use hedgerow_pack::{
    Location, ObjectId, ObjectKind, ObjectStore, ObjectStream, Reader, RestingReader, SharedBases,
};
use hedgerow_tree::{Content, Handle, NodeError};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Blobs of more bytes than this are streamed where possible. That takes constant memory but twice
/// the time, because the blob is inflated in pieces.
const STREAMED_BYTES: u64 = 64 << 20;
/// Contents up to this size are changed whatever `core.bigFileThreshold` is, in bytes.
const CHANGED_BYTES: u64 = 512 << 20;
/// Longest target of a symbolic link that Linux can read, in bytes.
const TARGET_LIMIT_BYTES: u64 = 4095;

/// Data shared by the entries of a commit.
pub(super) struct Shared {
    store: Arc<ObjectStore>,
    /// Blobs of more bytes than this are streamed where possible.
    streamed_from: u64,
    /// Content to be changed must be in memory as a whole, so larger blobs are refused, in bytes.
    changed_up_to: u64,
    /// The remote of a partial clone.
    remote: Option<BString>,
    commit: Option<ObjectId>,
    /// A placeholder that is not expanded here is an error.
    strict_placeholders: bool,
    /// For opening the repository again to collect facts about the commit.
    environment: Environment,
    facts: OnceLock<Result<Facts, String>>,
    /// Where files wait in their order for the only `%(describe)` of an archive.
    describing: Arc<Queue>,
    is_described: AtomicBool,
    pub filters: Filters,
    /// Idle readers with their buffers, as many as were used at the same time.
    kits: Mutex<Vec<Kit>>,
    warnings: Mutex<Vec<String>>,
}

/// State of reading and converting that is reused from entry to entry.
#[derive(Default)]
struct Kit {
    reader: RestingReader,
    buffers: Buffers,
}

impl Shared {
    pub fn new(repository: &Repository, source: &Source, options: &ArchiveOptions) -> Result<Self> {
        Ok(Shared {
            store: repository.store(),
            streamed_from: repository.settings().big_file_bytes.min(STREAMED_BYTES),
            changed_up_to: repository.settings().big_file_bytes.max(CHANGED_BYTES),
            remote: repository.partial_clone_remote().map(ToOwned::to_owned),
            commit: source.commit.as_ref().map(|commit| commit.id),
            strict_placeholders: options.strict_placeholders,
            environment: repository.environment().clone(),
            facts: OnceLock::new(),
            describing: Arc::default(),
            is_described: AtomicBool::new(false),
            filters: Filters::new(repository, source)?,
            kits: Mutex::default(),
            warnings: Mutex::default(),
        })
    }

    /// Records a warning for the end.
    pub fn warn(&self, warning: String) {
        let mut warnings = lock(&self.warnings);
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }

    /// The values for placeholders, if there is a commit. Most trees contain no placeholders, so
    /// the values are collected when the first one is met.
    fn facts(&self) -> Result<Option<&Facts>, String> {
        let Some(commit) = &self.commit else {
            return Ok(None);
        };
        let facts = self.facts.get_or_init(|| {
            Facts::collect(&self.environment, commit).map_err(|error| error.to_string())
        });
        facts.as_ref().map(Some).map_err(Clone::clone)
    }

    /// Ends the filters, and returns git's warnings.
    pub fn finish(&self) -> Vec<String> {
        let failures = self.filters.finish();
        let mut warnings = std::mem::take(&mut *lock(&self.warnings));
        warnings.extend(failures);
        warnings
    }

    fn kit(&self) -> Kit {
        lock(&self.kits).pop().unwrap_or_default()
    }

    fn put_back(&self, mut kit: Kit) {
        kit.reader.clear();
        lock(&self.kits).push(kit);
    }
}

/// Ignores poisoning: a list is consistent even if a thread panicked while it held the lock.
fn lock<T>(list: &Mutex<T>) -> MutexGuard<'_, T> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An entry of a commit.
pub(super) struct InCommit {
    pub shared: Arc<Shared>,
    pub bases: Option<Arc<SharedBases>>,
    pub path: BString,
    /// The object that the tree names, and the one that is read instead after replacement.
    pub named: ObjectId,
    pub id: ObjectId,
    pub location: Option<Location>,
    pub size_bytes: u64,
    pub change: Option<Change>,
    /// Its place in the queue before a filter process, where files go through it in their order.
    pub place: Option<Place>,
    /// Its place in the queue of files with placeholders. Without one, none is described.
    pub describing: Option<Place>,
}

impl Handle for InCommit {
    fn target(&mut self) -> Result<Vec<u8>, NodeError> {
        let size_bytes = self.size_of_blob().map_err(NodeError::entry)?;
        if size_bytes > TARGET_LIMIT_BYTES {
            let reason = format!("the target of the link is {size_bytes} bytes");
            return Err(NodeError::entry(self.unreadable(reason)));
        }
        let kit = self.read().map_err(NodeError::entry)?;
        let target = kit.reader.content().to_vec();
        self.shared.put_back(kit);
        Ok(target)
    }

    fn open(&mut self) -> Result<Box<dyn Content>, NodeError> {
        self.opened().map_err(NodeError::entry)
    }
}

impl InCommit {
    /// Takes the next place in the queue before the filter process that changes it, if one does, and
    /// in that of the files with placeholders.
    pub fn queue(&mut self) {
        if let Some(change) = &self.change {
            self.describing = change.subst.then(|| self.shared.describing.place());
            if let Conversion::Driver(driver) = &change.conversion {
                let filters = &self.shared.filters;
                self.place = filters.place(&change.rules.converter, driver);
            }
        }
    }

    fn opened(&mut self) -> Result<Box<dyn Content>> {
        let Some(change) = self.change.take() else {
            if let Some(stream) = self.stream()? {
                let path = self.path.clone();
                let shared = self.shared.clone();
                return Ok(Box::new(Streamed {
                    shared,
                    path,
                    stream,
                }));
            }
            return Ok(Box::new(Whole {
                kit: Some(self.read()?),
                shared: self.shared.clone(),
                position: 0,
            }));
        };
        if self.size_bytes > self.shared.changed_up_to {
            let (size, limit) = (self.size_bytes, self.shared.changed_up_to);
            self.change = Some(change);
            return Err(self.unreadable(format!(
                "{size} bytes are too many to expand placeholders in: \
                 the limit is {limit}"
            )));
        }
        let mut kit = self.read()?;
        let changed = self.changed(&change, &mut kit);
        (self.place, self.describing) = (None, None);
        self.shared.put_back(kit);
        self.change = Some(change);
        let bytes = changed?;
        Ok(Box::new(Changed { bytes, position: 0 }))
    }

    fn located(&self) -> Result<Location> {
        self.location.ok_or_else(|| {
            let id = self.id;
            let reason = match &self.shared.remote {
                Some(remote) => format!(
                    "object {id} is missing: this is a partial clone, and '{remote}' has it"
                ),
                None => format!("object {id} is missing"),
            };
            self.unreadable(reason)
        })
    }

    /// How much memory the content takes once it is open, in bytes: none to speak of if it is
    /// streamed, else all of it.
    pub fn held_bytes(&self) -> u64 {
        let is_streamed = |location| {
            let mut reader = Reader::new(&self.shared.store);
            reader.is_streamable(&self.id, location, self.shared.streamed_from)
        };
        let is_large = self.size_bytes > self.shared.streamed_from && self.change.is_none();
        match self.location {
            Some(location) if is_large && is_streamed(location) => 0,
            _ => self.size_bytes,
        }
    }

    /// The size from the object's header, in bytes.
    fn size_of_blob(&self) -> Result<u64> {
        let mut reader = Reader::new(&self.shared.store);
        let size_bytes = reader.size_bytes(&self.id, self.located()?);
        size_bytes.map_err(|error| self.unreadable(error.to_string()))
    }

    fn unreadable(&self, reason: String) -> Error {
        let path = self.path.clone();
        Error::Content { path, reason }
    }

    /// Reads the whole blob.
    fn read(&self) -> Result<Kit> {
        let location = self.located()?;
        let Kit { reader, buffers } = self.shared.kit();
        let store = &self.shared.store;
        let (reader, read) = reader.read(store, self.bases.as_deref(), &self.id, location);
        let kit = Kit { reader, buffers };
        match read.and_then(|kind| Ok(kind.expect(ObjectKind::Blob, &self.id)?)) {
            Ok(()) => Ok(kit),
            Err(error) => {
                self.shared.put_back(kit);
                Err(self.unreadable(error.to_string()))
            }
        }
    }

    /// The blob as a stream, if it is large enough.
    fn stream(&self) -> Result<Option<ObjectStream>> {
        if self.size_bytes <= self.shared.streamed_from {
            return Ok(None);
        }
        let mut reader = Reader::new(&self.shared.store);
        let stream = reader.open_stream(&self.id, self.located()?);
        let stream = stream.map_err(|error| self.unreadable(error.to_string()))?;
        // An object of another kind is reported when it is read whole.
        Ok(stream.filter(|stream| stream.kind() == ObjectKind::Blob))
    }

    /// The content as in a working tree, with placeholders expanded.
    fn changed(&self, change: &Change, kit: &mut Kit) -> Result<Vec<u8>> {
        let Change {
            rules,
            conversion,
            subst,
        } = change;
        let path = self.path.as_bstr();
        let content = kit.reader.content();
        let converted = rules.converter.to_worktree(
            &mut kit.buffers,
            *conversion,
            path,
            &self.named,
            content,
        )?;
        if let Some(message) = converted.message {
            self.shared.warn(message);
        }
        let mut bytes = match conversion {
            Conversion::Driver(driver) => {
                let filters = &self.shared.filters;
                let content = converted.content;
                if let Some(place) = &self.place {
                    place.wait();
                }
                let (bytes, messages) =
                    filters.smudge(&rules.converter, driver, path, &self.named, content)?;
                messages.into_iter().for_each(|it| self.shared.warn(it));
                bytes
            }
            _ => converted.content.to_vec(),
        };
        // As in git, placeholders are expanded after the conversion.
        if *subst && subst::is_needed(&bytes) {
            let facts = self.shared.facts();
            let facts = facts.map_err(|reason| self.unreadable(reason))?;
            if let Some(facts) = facts {
                let mut describe = |text: &[u8]| self.described(text);
                let (expanded, left) = subst::expand(&bytes, facts, &mut describe)?;
                for name in left {
                    if self.shared.strict_placeholders {
                        let reason = format!("the placeholder %{name} is not built here");
                        return Err(self.unreadable(reason));
                    }
                    self.shared.warn(format!(
                        "'{path}': the placeholder %{name} is left as it is; git archive expands it"
                    ));
                }
                bytes = expanded;
            }
        }
        Ok(bytes)
    }

    /// What `%(describe` and what follows it stand for.
    fn described(&self, text: &[u8]) -> Result<Described> {
        let Some(place) = &self.describing else {
            return Ok(Described::Never);
        };
        place.wait();
        if self.shared.is_described.swap(true, Ordering::Relaxed) {
            return Ok(Described::Kept);
        }
        let repository = Repository::discover(&self.shared.environment)?;
        let commit = self.shared.commit.as_ref();
        let commit = commit.expect("placeholders are expanded with a commit");
        described(&repository, commit, text)
    }
}

/// A blob in memory.
struct Whole {
    shared: Arc<Shared>,
    /// Present until it is dropped.
    kit: Option<Kit>,
    position: usize,
}

impl Whole {
    fn bytes(&self) -> &[u8] {
        let kit = self.kit.as_ref();
        let kit = kit.expect("it is there until it is dropped");
        kit.reader.content()
    }
}

impl Content for Whole {
    fn size_bytes(&self) -> u64 {
        self.bytes().len() as u64
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, NodeError> {
        let count = copy(self.bytes(), self.position, buffer);
        self.position += count;
        Ok(count)
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        if let Some(kit) = self.kit.take() {
            self.shared.put_back(kit);
        }
    }
}

/// A content that was changed from the blob's.
struct Changed {
    bytes: Vec<u8>,
    position: usize,
}

impl Content for Changed {
    fn size_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, NodeError> {
        let count = copy(&self.bytes, self.position, buffer);
        self.position += count;
        Ok(count)
    }
}

fn copy(bytes: &[u8], position: usize, buffer: &mut [u8]) -> usize {
    let rest = &bytes[position..];
    let count = rest.len().min(buffer.len());
    buffer[..count].copy_from_slice(&rest[..count]);
    count
}

/// A large blob, which is streamed.
struct Streamed {
    shared: Arc<Shared>,
    path: BString,
    stream: ObjectStream,
}

impl Content for Streamed {
    fn size_bytes(&self) -> u64 {
        self.stream.size_bytes()
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, NodeError> {
        let read = self.stream.read(&self.shared.store, buffer);
        read.map_err(|error| {
            NodeError::entry(Error::Content {
                path: self.path.clone(),
                reason: error.to_string(),
            })
        })
    }
}
