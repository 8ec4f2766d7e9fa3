use super::store::ObjectStore;
use crate::error::Result;
use crate::loose;
use crate::pack_file::index::PackIndex;
use gix_hash::{oid, ObjectId, Prefix};
use std::cmp::Ordering;

impl ObjectStore {
    /// The objects whose ids start with `prefix`, packed and loose, each once, in order of ids.
    /// Packs whose index cannot be read are left out.
    pub fn find_prefix(&self, prefix: &Prefix) -> Result<Vec<ObjectId>> {
        if prefix.hex_len() > self.options.hash.len_in_hex() {
            return Ok(Vec::new());
        }
        loop {
            let seen = self.generations().count();
            let found = self.search_prefix(prefix)?;
            if !found.is_empty() || !self.relist(seen)? {
                return Ok(found);
            }
        }
    }

    fn search_prefix(&self, prefix: &Prefix) -> Result<Vec<ObjectId>> {
        let mut found = Vec::new();
        let order = |id: &[u8]| compare(prefix, id);
        for index in self.packs().filter_map(|(_, pack)| pack.index().ok()) {
            add_packed(index, order, &mut found);
        }
        // With one digit only, the directories of sixteen first bytes match.
        let first = prefix.as_oid().first_byte();
        let last = if prefix.hex_len() < 2 {
            first | 15
        } else {
            first
        };
        for directory in &self.directories {
            for byte in first..=last {
                let ids = loose::list(directory, byte, self.options.hash)?;
                found.extend(
                    ids.iter()
                        .filter(|id| order(id.as_slice()) == Ordering::Equal),
                );
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }
}

fn add_packed(index: &PackIndex, order: impl Fn(&[u8]) -> Ordering, found: &mut Vec<ObjectId>) {
    let (ids, data) = index.ids();
    for position in ids.lower_bound(data, &order)..ids.count() {
        match ids.id(data, position) {
            Some(id) if order(id) == Ordering::Equal => {
                found.push(ObjectId::from_bytes_or_panic(id));
            }
            _ => break,
        }
    }
}

/// How `id` compares to the prefix, seen from the id.
fn compare(prefix: &Prefix, id: &[u8]) -> Ordering {
    prefix.cmp_oid(oid::from_bytes_unchecked(id)).reverse()
}
