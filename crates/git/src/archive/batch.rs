//! Turns entries into nodes in batches: objects that are located together share delta bases.

use super::content::{InCommit, Shared};
use super::rules::RuleMaker;
use super::source::Source;
use super::walk::{ArchiveEntry, Change, Walk};
use super::ArchiveOptions;
use crate::repository::{Objects, Repository};
use crate::Result;
use bstr::BString;
use hedgerow_engine::CancelToken;
use hedgerow_pack::{Location, ObjectId, Reader, SharedBases};
use hedgerow_tree::{EntryKind, Node, NodeError, NodeKind};
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
    big_file_bytes: u64,
    entries: usize,
    cancel: CancelToken,
    root: Option<Node>,
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
    ) -> Result<Self> {
        let maker = RuleMaker::new(repository, options)?;
        let has_commit = source.commit.is_some();
        let cancel = options.cancel.clone();
        Ok(Batcher {
            objects: repository.shared_objects(),
            shared: shared.clone(),
            walk: Walk::new(repository, source.tree, maker, has_commit, cancel.clone())?,
            headers: Reader::new(repository.objects()),
            modes: KINDS.map(|kind| source.mode(kind)),
            mtime_s: source.mtime_s,
            big_file_bytes: repository.settings().big_file_bytes,
            entries: FIRST_ENTRIES,
            cancel,
            root: Some(root(shared, repository.hash_kind())),
        })
    }

    /// The next nodes; empty if there are no more.
    pub fn next_nodes(&mut self) -> Result<Vec<Result<Node, NodeError>>> {
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
        let mut nodes: Vec<_> = self.root.take().map(Ok).into_iter().collect();
        nodes.reserve(found.len());
        for (found, (id, location)) in found.into_iter().zip(located) {
            if self.cancel.is_cancelled() {
                return Err(crate::Error::Interrupted);
            }
            nodes.push(Ok(self.node(found, id, location, &bases)));
        }
        Ok(nodes)
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

    fn node(
        &mut self,
        found: ArchiveEntry,
        id: ObjectId,
        location: Option<Location>,
        bases: &Arc<SharedBases>,
    ) -> Node {
        let kind = match found.kind {
            EntryKind::File | EntryKind::Executable => NodeKind::File,
            EntryKind::Symlink => NodeKind::Symlink,
            EntryKind::Directory | EntryKind::Gitlink => NodeKind::Directory,
        };
        let mut size_bytes = 0;
        if let (NodeKind::File, Some(location)) = (kind, location) {
            // A damaged object is reported when its content is read.
            size_bytes = self.headers.size_bytes(&id, location).unwrap_or(0);
        }
        let change = found
            .change
            .filter(|change| self.is_done(change, size_bytes));
        let is_blob = kind == NodeKind::File && change.is_none();
        let mode = KINDS.iter().position(|kind| *kind == found.kind);
        Node {
            path: found.path.clone().into(),
            kind,
            mode: mode.map_or(0, |at| self.modes[at]),
            uid: 0,
            gid: 0,
            mtime_s: self.mtime_s,
            mtime_ns: 0,
            size_bytes,
            device: (0, 0),
            link: None,
            content_id: is_blob.then(|| content_id(&id)),
            handle: Box::new(InCommit {
                shared: self.shared.clone(),
                bases: Some(bases.clone()),
                path: found.path,
                named: found.id,
                id,
                location,
                size_bytes,
                change,
            }),
        }
    }

    /// Whether the change is made: git streams large files unconverted, unless placeholders are to
    /// be expanded.
    fn is_done(&self, change: &Change, size_bytes: u64) -> bool {
        change.subst || size_bytes <= self.big_file_bytes
    }
}

/// The top of the tree, which has no entry in an archive.
fn root(shared: &Arc<Shared>, hash: gix_hash::Kind) -> Node {
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
