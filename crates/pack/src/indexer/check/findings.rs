use gix_hash::ObjectId;
use hedgerow_object::ObjectKind;
use std::collections::{HashMap, HashSet};

/// What the checks of some objects found. Where an object was not refused, it is told or asked
/// for when all objects are known.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// Broken rules that are no more than a warning.
    pub warnings: Vec<String>,
    /// What objects refer to, and as what.
    pub links: HashMap<ObjectId, Option<ObjectKind>>,
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
        let known = self.links.entry(id).or_insert(kind);
        match (*known, kind) {
            (None, kind) => *known = kind,
            (Some(known), Some(kind)) if known != kind => {
                self.mismatch.get_or_insert(id);
            }
            _ => {}
        }
    }
}
