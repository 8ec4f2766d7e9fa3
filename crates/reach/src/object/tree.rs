use crate::{Error, Result};
use gix_hash::oid;
use std::cmp::Ordering;

/// What an entry of a tree is, as far as a walk cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A directory.
    Tree,
    /// A file or a symbolic link.
    Blob,
    /// A commit of another repository, which a walk does not enter.
    Submodule,
}

/// An entry of a tree.
#[derive(Clone, Copy, Debug)]
pub struct TreeEntry<'d> {
    /// Its mode as it stands there.
    pub mode: u32,
    /// Its name.
    pub name: &'d [u8],
    /// Its object.
    pub id: &'d oid,
}

impl TreeEntry<'_> {
    /// What it is, by its mode: what is neither directory nor submodule is a blob, as for git.
    pub fn kind(&self) -> EntryKind {
        match self.mode & 0o170_000 {
            0o040_000 => EntryKind::Tree,
            0o160_000 => EntryKind::Submodule,
            _ => EntryKind::Blob,
        }
    }

    /// How its place in a tree compares with that of `other`: git sorts directories as if their
    /// names ended in a slash.
    pub fn cmp_place(&self, other: &TreeEntry<'_>) -> Ordering {
        let common = self.name.len().min(other.name.len());
        let (own, others) = (self.name.split_at(common), other.name.split_at(common));
        let after = |entry: &TreeEntry<'_>, rest: &[u8]| match rest.first() {
            Some(byte) => *byte,
            None if entry.kind() == EntryKind::Tree => b'/',
            None => 0,
        };
        own.0
            .cmp(others.0)
            .then_with(|| after(self, own.1).cmp(&after(other, others.1)))
    }
}

/// The entries of a tree, in their order. After an error there is nothing more.
#[derive(Clone, Debug)]
pub struct TreeEntries<'d> {
    rest: &'d [u8],
    hash_len: usize,
}

impl<'d> TreeEntries<'d> {
    /// The entries of a tree with that content, in a repository whose ids have `hash_len` bytes.
    pub fn new(content: &'d [u8], hash_len: usize) -> Self {
        TreeEntries {
            rest: content,
            hash_len,
        }
    }

    /// The next entry; `None` at the end. An error is a reason.
    pub fn next_entry(&mut self) -> Result<Option<TreeEntry<'d>>, &'static str> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let found = parse(self.rest, self.hash_len);
        self.rest = found.as_ref().map_or(&[][..], |(_, rest)| rest);
        found.map(|(entry, _)| Some(entry))
    }

    /// Passes over the entries that both have next, as long as they are the same.
    pub fn skip_common(&mut self, other: &mut TreeEntries<'_>) {
        let common = common_length(self.rest, other.rest);
        if common == self.rest.len() && common == other.rest.len() {
            (self.rest, other.rest) = (&[], &[]);
            return;
        }
        let mut skipped = 0;
        while let Some(length) = self.rest.get(skipped..).and_then(|rest| self.length(rest)) {
            if skipped + length > common {
                break;
            }
            skipped += length;
        }
        self.rest = self.rest.get(skipped..).unwrap_or_default();
        other.rest = other.rest.get(skipped..).unwrap_or_default();
    }

    /// How many bytes the first entry of `data` takes, if it is whole.
    fn length(&self, data: &[u8]) -> Option<usize> {
        Some(memchr::memchr(0, data)? + 1 + self.hash_len)
    }

    /// What is still to come.
    pub(crate) fn rest(&self) -> &'d [u8] {
        self.rest
    }

    /// The next entry of the tree `tree`; `None` at the end.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn next_of(&mut self, tree: &oid) -> Result<Option<TreeEntry<'d>>> {
        self.next_entry()
            .map_err(|reason| Error::malformed("tree", tree, reason))
    }
}

/// How many bytes `a` and `b` start with in common.
fn common_length(a: &[u8], b: &[u8]) -> usize {
    const PIECE: usize = 256;
    let pieces = a.chunks_exact(PIECE).zip(b.chunks_exact(PIECE));
    let same = pieces.take_while(|(a, b)| a == b).count() * PIECE;
    let (a, b) = (a.get(same..), b.get(same..));
    let rest = a.unwrap_or_default().iter().zip(b.unwrap_or_default());
    same + rest.take_while(|(a, b)| a == b).count()
}

fn parse(data: &[u8], hash_len: usize) -> Result<(TreeEntry<'_>, &[u8]), &'static str> {
    let mut mode = 0_u32;
    let mut at = 0;
    loop {
        match data.get(at) {
            Some(digit @ b'0'..=b'7') if mode <= u32::MAX >> 3 => {
                mode = mode << 3 | u32::from(digit - b'0');
            }
            Some(b' ') if at > 0 => break,
            _ => return Err("a mode is malformed"),
        }
        at += 1;
    }
    let rest = data.get(at + 1..).unwrap_or_default();
    let end = memchr::memchr(0, rest);
    let (name, rest) = rest.split_at(end.ok_or("it ends within a name")?);
    if name.is_empty() {
        return Err("a name is empty");
    }
    let id = rest.get(1..=hash_len).ok_or("it ends within an id")?;
    let rest = rest.get(hash_len + 1..).unwrap_or_default();
    let id = oid::try_from_bytes(id).map_err(|_| "an id has no length of an id")?;
    Ok((TreeEntry { mode, name, id }, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Found = (u32, Vec<u8>, EntryKind);

    fn entries(data: &[u8]) -> Result<Vec<Found>, &'static str> {
        let mut entries = TreeEntries::new(data, 20);
        let mut found = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            found.push((entry.mode, entry.name.to_vec(), entry.kind()));
        }
        Ok(found)
    }

    #[test]
    fn entries_are_told_apart_by_their_modes() {
        let mut data = Vec::new();
        for (mode, name) in [
            ("100644", "a"),
            ("40000", "b"),
            ("160000", "c"),
            ("120000", "d"),
        ] {
            data.extend_from_slice(format!("{mode} {name}\0").as_bytes());
            data.extend_from_slice(&[7; 20]);
        }
        let kinds: Vec<EntryKind> = entries(&data).unwrap().iter().map(|e| e.2).collect();
        use EntryKind::{Blob, Submodule, Tree};
        assert_eq!(kinds, [Blob, Tree, Submodule, Blob]);
        for end in 1..28 {
            assert_eq!(entries(&data[..end]).is_ok(), end == 29 - 1, "{end}");
        }
        assert!(entries(b" a\0").is_err());
        assert!(entries(b"100644 \0aaaaaaaaaaaaaaaaaaaa").is_err());
    }

    /// A tree of files called by numbers, with the first bytes of their ids.
    fn tree(files: &[(u16, u8)]) -> Vec<u8> {
        let file = |(name, id): &(u16, u8)| {
            let name = format!("100644 f{name}\0").into_bytes();
            [name, vec![*id; 20]].concat()
        };
        files.iter().flat_map(file).collect()
    }

    proptest! {
        #[test]
        fn what_is_common_is_passed_over(
            mut one in prop::collection::vec((0_u16..300, 0_u8..3), 0..40),
            start in prop::collection::vec((0_u16..300, 0_u8..3), 0..60),
            mut other in prop::collection::vec((0_u16..300, 0_u8..3), 0..40),
        ) {
            one.splice(0..0, start.iter().copied());
            other.splice(0..0, start.iter().copied());
            let common = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
            let (a, b) = (tree(&one), tree(&other));
            let (mut a, mut b) = (TreeEntries::new(&a, 20), TreeEntries::new(&b, 20));
            a.skip_common(&mut b);
            prop_assert_eq!(a.rest(), tree(&one[common..]));
            prop_assert_eq!(b.rest(), tree(&other[common..]));
        }

        #[test]
        fn random_bytes_never_panic(data in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = entries(&data);
            let _ = entries(&[b"100644 a\0", data.as_slice()].concat());
        }
    }
}
