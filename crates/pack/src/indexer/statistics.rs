use super::delta_trees::DeltaTrees;
use super::record::{Form, Record};
use super::resolve_input::Resolved;
use gix_hash::ObjectId;
use hedgerow_object::ObjectKind;

/// Data about one object of a pack, as git-verify-pack(1) shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedObject {
    /// The object.
    pub id: ObjectId,
    /// Its kind.
    pub kind: ObjectKind,
    /// The inflated size of its entry: for a delta, that of the delta.
    pub size: u64,
    /// The length of its entry in the pack.
    pub size_in_pack: u64,
    /// The offset of its entry.
    pub offset: u64,
    /// The number of deltas needed to build it.
    pub depth: u32,
    /// The base of its delta.
    pub base: Option<ObjectId>,
}

/// Data about all objects, in pack order.
pub(crate) fn gather(
    data: &[u8],
    records: &[Record],
    delta_trees: &DeltaTrees,
    resolved: &[Resolved],
) -> Vec<PackedObject> {
    let mut kinds: Vec<Option<ObjectKind>> = vec![None; records.len()];
    for done in resolved {
        kinds[done.number as usize] = Some(done.kind);
    }
    let depths = depths(records, delta_trees);
    let ends = records.iter().skip(1).map(|record| record.offset);
    let ends = ends.chain(std::iter::once(data.len() as u64));
    let mut objects = Vec::with_capacity(records.len());
    for ((record, end), number) in records.iter().zip(ends).zip(0..) {
        let at = number as usize;
        let kind = match record.form {
            Form::Whole(kind) => Some(kind),
            _ => kinds.get(at).copied().flatten(),
        };
        let base = delta_trees
            .parent(number)
            .and_then(|base| records.get(base as usize));
        objects.extend(kind.map(|kind| PackedObject {
            id: record.id,
            kind,
            size: record.size,
            size_in_pack: end - record.offset,
            offset: record.offset,
            depth: depths[at],
            base: base.map(|base| base.id),
        }));
    }
    objects
}

/// The number of deltas from each entry down to a whole object.
fn depths(records: &[Record], delta_trees: &DeltaTrees) -> Vec<u32> {
    let mut depths: Vec<u32> = vec![0; records.len()];
    let mut chain = Vec::new();
    for number in 0..records.len() as u32 {
        // Go up to an entry of known depth or without a base, then back down.
        let mut at = number;
        while depths.get(at as usize) == Some(&0) {
            let Some(parent) = delta_trees.parent(at) else {
                break;
            };
            chain.push(at);
            at = parent;
        }
        // A base outside the pack is no delta.
        let mut depth = depths.get(at as usize).copied().unwrap_or(0);
        while let Some(delta) = chain.pop() {
            depth += 1;
            depths[delta as usize] = depth;
        }
    }
    depths
}
