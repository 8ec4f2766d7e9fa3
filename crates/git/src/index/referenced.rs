//! The objects that an index refers to: they must be kept even if nothing else refers to them.

use super::{Directory, Index, Mode};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_pack::ObjectKind;

/// An object that an index refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Referenced {
    /// The object.
    pub id: ObjectId,
    /// Its kind.
    pub kind: ObjectKind,
    /// Its path.
    pub path: BString,
}

impl Index {
    /// The blobs of all entries, the trees of the cache tree, and the sides of resolved conflicts.
    /// Submodules' commits are not included.
    pub fn referenced(&self) -> Vec<Referenced> {
        let mut found = Vec::new();
        for (path, entry) in self.iter() {
            let kind = match entry.mode {
                Mode::Gitlink => continue,
                Mode::SparseDirectory => ObjectKind::Tree,
                _ => ObjectKind::Blob,
            };
            let (id, path) = (entry.id, path.to_owned());
            found.push(Referenced { id, kind, path });
        }
        if let Some(tree) = &self.extensions.cache_tree {
            let mut pending = vec![(BString::default(), tree.root())];
            while let Some((path, directory)) = pending.pop() {
                if let Some(id) = directory.id() {
                    let (id, kind) = (*id, ObjectKind::Tree);
                    let path = path.clone();
                    found.push(Referenced { id, kind, path });
                }
                let below = |child: Directory<'_>| joined(path.as_ref(), child.name());
                pending.extend(directory.children().map(|child| (below(child), child)));
            }
        }
        if let Some(data) = &self.extensions.resolve_undo {
            resolved(data, self.hash.len_in_bytes(), &mut found);
        }
        found
    }
}

fn joined(directory: &BStr, name: &BStr) -> BString {
    if directory.is_empty() {
        name.to_owned()
    } else {
        [directory.as_bytes(), b"/", name].concat().into()
    }
}

/// Parses `REUC`: a path, the modes of three stages in octal, each ended by NUL, and the ids of the
/// stages whose mode is not 0. Stops at the first error.
fn resolved(mut data: &[u8], hash_len: usize, found: &mut Vec<Referenced>) {
    let until_nul = |data: &mut &[u8]| -> Option<BString> {
        let (text, rest) = data.split_once_str(b"\0")?;
        let text = text.into();
        *data = rest;
        Some(text)
    };
    while !data.is_empty() {
        let Some(path) = until_nul(&mut data) else {
            return;
        };
        let modes: Option<Vec<BString>> = (0..3).map(|_| until_nul(&mut data)).collect();
        for mode in modes.unwrap_or_default() {
            if mode.iter().all(|digit| *digit == b'0') {
                continue;
            }
            let Some((id, rest)) = data.split_at_checked(hash_len) else {
                return;
            };
            data = rest;
            if let (Ok(id), false) = (ObjectId::try_from(id), mode == "160000") {
                let (kind, path) = (ObjectKind::Blob, path.clone());
                found.push(Referenced { id, kind, path });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolved_conflicts_are_read_as_far_as_they_are_whole() {
        let mut data = b"a/b\x00100644\x000\x00100755\x00".to_vec();
        data.extend([1; 20]);
        data.extend([2; 20]);
        let whole = data.len();
        data.extend(b"c\x000\x000\x00100644\x00");
        data.extend([3; 20]);
        for end in 0..=data.len() {
            let mut found = Vec::new();
            resolved(&data[..end], 20, &mut found);
            if end >= whole {
                assert_eq!(found[0].path, "a/b");
                assert_eq!(found[1].id, ObjectId::from([2; 20]));
            }
            assert_eq!(found.len() == 3, end == data.len());
        }
    }
}
