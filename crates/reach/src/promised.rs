//! Objects promised by the remote of a partial clone: those that it sent, and those that they refer
//! to.

use crate::ids::IdSet;
use crate::Result;
use gix_hash::ObjectId;
use hedgerow_object::{CommitRef, TagRef, TreeEntries};
use hedgerow_pack::{Location, ObjectKind, ObjectStore, Reader};

/// Size of the reader's cache, in bytes.
const RECENT_BYTES: usize = 32 << 20;

/// The first of `ids` that the remote of a partial clone has promised. Reads all that came from it.
///
/// # Errors
/// If what came from the remote cannot be read.
pub fn first_promised(store: &ObjectStore, ids: &[ObjectId]) -> Result<Option<ObjectId>> {
    if ids.is_empty() {
        return Ok(None);
    }
    let promised = Promised::read(store)?;
    Ok(ids.iter().find(|id| promised.contains(id)).copied())
}

/// Those of `ids` that the remote of a partial clone has not promised. Reads all that came from it; of what
/// cannot be read, nothing is known.
pub fn not_promised(store: &ObjectStore, ids: &[ObjectId]) -> Vec<ObjectId> {
    let promised = Promised::read(store).unwrap_or_default();
    let others = ids.iter().filter(|id| !promised.contains(id));
    others.copied().collect()
}

/// The promised objects.
#[derive(Debug, Default)]
pub(crate) struct Promised {
    /// The promised objects that exist here, with their kinds.
    held: Vec<(ObjectId, ObjectKind)>,
    all: IdSet,
}

impl Promised {
    /// Reads all packs that came from a promisor remote.
    pub fn read(store: &ObjectStore) -> Result<Self> {
        let mut promised = Promised::default();
        let mut reader = Reader::with_recent(store, RECENT_BYTES);
        for pack in store.promisor_packs() {
            for entry in store.sizes_in_pack(pack) {
                let Some(id) = store.pack_object_id(pack, entry.position) else {
                    continue;
                };
                let offset = entry.offset;
                let location = Location::Packed { pack, offset };
                let (kind, content) = reader.read(id, location)?;
                name_others(id, kind, content, &mut promised.all)?;
                promised.held.push((id.to_owned(), kind));
            }
        }
        promised.all.extend(promised.held.iter().map(|(id, _)| *id));
        Ok(promised)
    }

    /// Whether the object is promised.
    pub fn contains(&self, id: &ObjectId) -> bool {
        self.all.contains(id)
    }

    /// Takes the list of promised objects that exist here.
    pub fn take_held(&mut self) -> Vec<(ObjectId, ObjectKind)> {
        std::mem::take(&mut self.held)
    }
}

fn name_others(
    id: &gix_hash::oid,
    kind: ObjectKind,
    content: &[u8],
    all: &mut IdSet,
) -> Result<()> {
    match kind {
        ObjectKind::Commit => {
            let commit = CommitRef::parse(id, content)?;
            all.insert(commit.tree());
            all.extend(commit.parents());
        }
        ObjectKind::Tag => {
            all.insert(TagRef::parse(id, content)?.target);
        }
        ObjectKind::Tree => {
            let mut entries = TreeEntries::new(content, id.kind());
            while let Some(entry) = entries.next_of(id)? {
                all.insert(entry.id.to_owned());
            }
        }
        ObjectKind::Blob => {}
    }
    Ok(())
}
