use gix_hash::ObjectId;
use hedgerow_object::ObjectKind;
use std::collections::{HashMap, HashSet};

/// Number of links remembered as noted lately.
const RECENT: usize = 1 << 13;

/// What the checks of some objects found. Where an object was not refused, it is told or asked
/// for when all objects are known.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// Broken rules that are no more than a warning.
    pub warnings: Vec<String>,
    /// What objects refer to, and as what.
    pub links: HashMap<ObjectId, Option<ObjectKind>>,
    /// Links noted lately, each in a slot given by its id; empty before the first one. Most entries
    /// of a tree are those of the tree examined before.
    recent: Vec<Option<(ObjectId, ObjectKind)>>,
    /// Large blobs that the repository has: id, offset of the entry, size.
    pub large: Vec<(ObjectId, u64, u64)>,
    /// Blobs that a tree calls `.gitmodules`.
    pub modules: HashSet<ObjectId>,
    /// Blobs that a tree calls `.gitattributes`.
    pub attributes: HashSet<ObjectId>,
    /// The first object that was referred to as two kinds.
    pub mismatch: Option<ObjectId>,
}

impl Findings {
    /// Adds those of other objects.
    pub fn append(&mut self, other: Findings) {
        self.warnings.extend(other.warnings);
        self.large.extend(other.large);
        self.modules.extend(other.modules);
        self.attributes.extend(other.attributes);
        self.mismatch = self.mismatch.or(other.mismatch);
        if self.links.is_empty() {
            self.links = other.links;
            return;
        }
        for (id, kind) in other.links {
            self.link(id, kind);
        }
    }

    /// Notes that something refers to `id`, as a `kind` if that is known.
    pub(crate) fn link(&mut self, id: ObjectId, kind: Option<ObjectKind>) {
        let slot = slot_of(&id);
        let link = kind.map(|kind| (id, kind));
        if link.is_some() && self.recent.get(slot) == Some(&link) {
            return;
        }
        let known = self.links.entry(id).or_insert(kind);
        match (*known, kind) {
            (None, kind) => *known = kind,
            (Some(known), Some(kind)) if known != kind => {
                self.mismatch.get_or_insert(id);
            }
            _ => {}
        }
        if self.recent.is_empty() {
            self.recent = vec![None; RECENT];
        }
        if let Some(recent) = self.recent.get_mut(slot) {
            *recent = link;
        }
    }
}

/// Where a link to `id` is remembered. Whoever chooses ids can only have them forgotten.
fn slot_of(id: &ObjectId) -> usize {
    let bytes = id.as_bytes().first_chunk().copied().unwrap_or_default();
    u32::from_le_bytes(bytes) as usize % RECENT
}
