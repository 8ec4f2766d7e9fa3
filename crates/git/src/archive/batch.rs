//! Turns entries into nodes in batches: objects that are located together share delta bases.

use super::content::{InCommit, Shared};
use super::rules::RuleMaker;
use super::source::Source;
use super::walk::{ArchiveEntry, Change, Selection, Walk};
use super::ArchiveOptions;
use crate::repository::{Objects, Repository};
use crate::Result;
use bstr::BString;
use hedgerow_engine::CancelToken;
use hedgerow_pack::{Location, ObjectId, Reader, SharedBases};
use hedgerow_tree::{EntryKind, Node, NodeKind};
use std::sync::Arc;

/// Number of entries of the first batch, which is small because the consumer waits for it, and
/// largest number of entries of a batch. Each batch is twice as large as the one before.
const FIRST_ENTRIES: usize = 2 << 10;
const MOST_ENTRIES: usize = 16 << 10;
/// Memory limit for the delta bases of one batch, in bytes.
const BASE_BUDGET_BYTES: usize = 32 << 20;

/// Makes the nodes of a tree.
pub(super) struct Batcher<'r> {
    objects: Objects<'r>,
    shared: Arc<Shared>,
    walk: Walk<'r>,
    /// Reads the headers of blobs.
    headers: Reader<'r>,
    modes: [u16; 5],
    mtime_s: i64,
    /// Larger files stay as they are unless placeholders are expanded in them, in bytes.
    converted_up_to: u64,
    entries: usize,
    cancel: CancelToken,
}

/// An entry of the tree with access to its content.
pub(super) struct Item {
    pub kind: EntryKind,
    pub mode: u16,
    pub mtime_s: i64,
    pub handle: InCommit,
}

const KINDS: [EntryKind; 5] = [
    EntryKind::File,
    EntryKind::Executable,
    EntryKind::Symlink,
    EntryKind::Directory,
    EntryKind::Gitlink,
];

impl<'r> Batcher<'r> {
    pub fn new(
        repository: &'r Repository,
        shared: &Arc<Shared>,
        source: &Source,
        options: &ArchiveOptions,
        selection: Selection,
    ) -> Result<Self> {
        let maker = RuleMaker::new(repository, options)?;
        let has_commit = source.commit.is_some();
        let cancel = options.cancel.clone();
        let tree = source.tree;
        let walk = Walk::new(
            repository,
            tree,
            maker,
            has_commit,
            selection,
            cancel.clone(),
        );
        Ok(Batcher {
            objects: repository.shared_objects(),
            shared: shared.clone(),
            walk: walk?,
            headers: Reader::new(repository.objects()),
            modes: KINDS.map(|kind| source.mode(kind)),
            mtime_s: source.mtime_s,
            converted_up_to: if options.as_checkout {
                u64::MAX
            } else {
                repository.settings().big_file_bytes
            },
            entries: FIRST_ENTRIES,
            cancel,
        })
    }

    /// The next entries; empty if there are no more.
    pub fn next_items(&mut self) -> Result<Vec<Item>> {
        let found = self.walk.find(self.entries)?;
        for message in self.walk.messages.drain(..) {
            self.shared.warn(message);
        }
        self.entries = (self.entries * 2).min(MOST_ENTRIES);
        let located = self.locate(&found)?;
        // A base is counted once for each object that needs it; equal blobs are read only once.
        let mut needed: Vec<Location> = located.iter().filter_map(|(_, at)| *at).collect();
        needed.sort_unstable();
        needed.dedup();
        let store = self.objects.store;
        let bases = Arc::new(SharedBases::plan(store, &needed, BASE_BUDGET_BYTES)?);
        let mut items = Vec::with_capacity(found.len());
        for (found, (id, location)) in found.into_iter().zip(located) {
            if self.cancel.is_cancelled() {
                return Err(crate::Error::Interrupted);
            }
            items.push(self.item(found, id, location, &bases));
        }
        Ok(items)
    }

    /// The object to read for each entry, after replacement, and its location.
    fn locate(&self, found: &[ArchiveEntry]) -> Result<Vec<(ObjectId, Option<Location>)>> {
        let objects = self.objects;
        let has_blob = |found: &&ArchiveEntry| !found.kind.is_directory();
        let ids = found.iter().filter(has_blob);
        let ids: Vec<ObjectId> = ids
            .map(|found| objects.replacement(&found.id))
            .collect::<Result<_>>()?;
        let locations = objects.store.locate_all(&ids)?;
        let mut blobs = ids.into_iter().zip(locations);
        let located = found.iter().map(|found| {
            if has_blob(&found) {
                blobs.next().unwrap_or((found.id, None))
            } else {
                (found.id, None)
            }
        });
        Ok(located.collect())
    }

    fn item(
        &mut self,
        found: ArchiveEntry,
        id: ObjectId,
        location: Option<Location>,
        bases: &Arc<SharedBases>,
    ) -> Item {
        let is_file = matches!(found.kind, EntryKind::File | EntryKind::Executable);
        let mut size_bytes = 0;
        if let (true, Some(location)) = (is_file, location) {
            // A damaged object is reported when its content is read.
            size_bytes = self.headers.size_bytes(&id, location).unwrap_or(0);
        }
        let change = found
            .change
            .filter(|change| self.is_done(change, size_bytes));
        let mode = KINDS.iter().position(|kind| *kind == found.kind);
        Item {
            kind: found.kind,
            mode: mode.map_or(0, |at| self.modes[at]),
            mtime_s: self.mtime_s,
            handle: InCommit {
                shared: self.shared.clone(),
                bases: Some(bases.clone()),
                path: found.path,
                named: found.id,
                id,
                location,
                size_bytes,
                change,
                place: None,
                describing: None,
            },
        }
    }

    /// Whether the change is made: git streams large files unconverted, unless placeholders are to
    /// be expanded.
    fn is_done(&self, change: &Change, size_bytes: u64) -> bool {
        change.subst || size_bytes <= self.converted_up_to
    }
}

impl Item {
    pub fn into_node(self) -> Node {
        let kind = match self.kind {
            EntryKind::File | EntryKind::Executable => NodeKind::File,
            EntryKind::Symlink => NodeKind::Symlink,
            EntryKind::Directory | EntryKind::Gitlink => NodeKind::Directory,
        };
        let handle = self.handle;
        let is_blob = kind == NodeKind::File && handle.change.is_none();
        Node {
            path: handle.path.clone().into(),
            kind,
            mode: self.mode,
            uid: 0,
            gid: 0,
            mtime_s: self.mtime_s,
            mtime_ns: 0,
            size_bytes: handle.size_bytes,
            device: (0, 0),
            link: None,
            content_id: is_blob.then(|| content_id(&handle.id)),
            handle: Box::new(handle),
        }
    }
}

/// The top of the tree, which has no entry in an archive.
pub(super) fn root(shared: &Arc<Shared>, hash: gix_hash::Kind) -> Node {
    let id = ObjectId::empty_tree(hash);
    Node {
        path: Vec::new(),
        kind: NodeKind::Directory,
        mode: 0o755,
        uid: 0,
        gid: 0,
        mtime_s: 0,
        mtime_ns: 0,
        size_bytes: 0,
        device: (0, 0),
        link: None,
        content_id: None,
        handle: Box::new(InCommit {
            shared: shared.clone(),
            bases: None,
            path: BString::default(),
            named: id,
            id,
            location: None,
            size_bytes: 0,
            change: None,
            place: None,
            describing: None,
        }),
    }
}

/// The id of a blob, padded; if there is room, with the length of the hash.
fn content_id(id: &ObjectId) -> [u8; 32] {
    let bytes = id.as_slice();
    let mut content_id = [0; 32];
    if bytes.len() < content_id.len() {
        content_id[31] = bytes.len() as u8;
    }
    content_id
        .iter_mut()
        .zip(bytes)
        .for_each(|(to, from)| *to = *from);
    content_id
}
