//! Tree objects: for each entry the mode in octal digits, a space, the name, a NUL byte and the id,
//! as bytes. There is nothing between two entries, and nothing before the first or after the last.

use crate::{Malformed, ObjectKind};
use gix_hash::{oid, Kind};
use std::cmp::Ordering;

const TYPE_BITS: u32 = 0o170_000;
const TREE: u32 = 0o040_000;
const FILE: u32 = 0o100_000;
const LINK: u32 = 0o120_000;
const SUBMODULE: u32 = 0o160_000;
const OWNER_EXECUTES: u32 = 0o100;
/// The bits of a mode that git keeps.
const MODE_BITS: u32 = 0xffff;

/// An entry of a tree as it stands there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawTreeEntry<'t> {
    /// What stands before the first space: octal digits, if the entry is sound.
    pub mode: &'t [u8],
    /// Its name, which may be empty.
    pub name: &'t [u8],
    /// Its object.
    pub id: &'t oid,
}

/// The entries of a tree as they stand there: only their boundaries are checked. After an error
/// there is nothing more.
///
/// For callers with rules of their own; [`TreeEntries`] checks modes and names as git's walks do.
#[derive(Clone, Debug)]
pub struct RawTreeEntries<'t>(Rest<'t>);

/// An entry of a tree.
#[derive(Clone, Copy, Debug)]
pub struct TreeEntry<'t> {
    /// Its mode as git takes it, see [`canonical_mode`].
    pub mode: u32,
    /// Its name.
    pub name: &'t [u8],
    /// Its object.
    pub id: &'t oid,
}

/// The entries of a tree, in their order, with modes of octal digits and names that are not empty.
/// After an error there is nothing more.
#[derive(Clone, Debug)]
pub struct TreeEntries<'t>(Rest<'t>);

/// Why a tree cannot be read any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeFault {
    /// What is wrong with the entry.
    pub problem: TreeProblem,
    /// Where the entry starts, in bytes from the start of the tree.
    pub offset: usize,
}

/// What can be wrong with an entry of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeProblem {
    /// No mode, or one that is no number.
    Mode,
    /// No NUL byte ends the name.
    Name,
    /// The name is empty.
    EmptyName,
    /// The tree ends within the id.
    Id,
}

impl TreeFault {
    /// What is wrong, in words.
    pub fn reason(self) -> &'static str {
        match self.problem {
            TreeProblem::Mode => "a mode is malformed",
            TreeProblem::Name => "it ends within a name",
            TreeProblem::EmptyName => "a name is empty",
            TreeProblem::Id => "it ends within an id",
        }
    }
}

impl<'t> RawTreeEntries<'t> {
    /// The entries of a tree with that content, in a repository with ids of that kind.
    pub fn new(content: &'t [u8], hash: Kind) -> Self {
        RawTreeEntries(Rest::new(content, hash))
    }
}

impl<'t> Iterator for RawTreeEntries<'t> {
    type Item = Result<RawTreeEntry<'t>, TreeFault>;

    fn next(&mut self) -> Option<Self::Item> {
        let found = self.0.split_entry(split_digits, true)?;
        Some(found.map(|(mode, name, id)| RawTreeEntry { mode, name, id }))
    }
}

impl TreeEntry<'_> {
    /// The kind of the object that it names, by its mode. `None` for a submodule, whose commit is of
    /// another repository.
    #[inline]
    pub fn object_kind(&self) -> Option<ObjectKind> {
        match self.mode & TYPE_BITS {
            TREE => Some(ObjectKind::Tree),
            SUBMODULE => None,
            _ => Some(ObjectKind::Blob),
        }
    }

    /// Whether it is a directory.
    #[inline]
    pub fn is_tree(&self) -> bool {
        self.mode & TYPE_BITS == TREE
    }

    /// How its place in a tree compares with that of `other`.
    #[inline]
    pub fn cmp_place(&self, other: &TreeEntry<'_>) -> Ordering {
        compare_places((self.name, self.is_tree()), (other.name, other.is_tree()))
    }
}

/// Compares the places that two entries have in a tree, by their names and whether they are
/// directories: git sorts bytewise, directories as if their names ended in a slash.
#[inline]
pub fn compare_places(one: (&[u8], bool), other: (&[u8], bool)) -> Ordering {
    let common = one.0.len().min(other.0.len());
    let (own, others) = (one.0.split_at(common), other.0.split_at(common));
    let after = |is_tree: bool, rest: &[u8]| match rest.first() {
        Some(byte) => *byte,
        None if is_tree => b'/',
        None => 0,
    };
    own.0
        .cmp(others.0)
        .then_with(|| after(one.1, own.1).cmp(&after(other.1, others.1)))
}

impl<'t> TreeEntries<'t> {
    /// The entries of a tree with that content, in a repository with ids of that kind.
    #[inline]
    pub fn new(content: &'t [u8], hash: Kind) -> Self {
        TreeEntries(Rest::new(content, hash))
    }

    /// The next entry; `None` at the end.
    ///
    /// # Errors
    /// [`TreeFault`] if it is not whole, its mode is no octal number, or its name is empty.
    #[inline]
    pub fn next_entry(&mut self) -> Result<Option<TreeEntry<'t>>, TreeFault> {
        match self.0.split_entry(split_octal, false) {
            None => Ok(None),
            Some(Ok((mode, name, id))) => Ok(Some(TreeEntry { mode, name, id })),
            Some(Err(fault)) => Err(fault),
        }
    }

    /// The next entry of the tree `tree`; `None` at the end.
    ///
    /// # Errors
    /// [`Malformed`] where [`TreeEntries::next_entry`] fails.
    #[inline]
    pub fn next_of(&mut self, tree: &oid) -> Result<Option<TreeEntry<'t>>, Malformed> {
        self.next_entry()
            .map_err(|fault| Malformed::new(ObjectKind::Tree, tree, fault.reason()))
    }

    /// Bytes of the entries that were passed.
    #[inline]
    pub fn offset(&self) -> usize {
        self.0.offset()
    }

    /// Passes over the entries that both have next, as long as they are the same.
    pub fn skip_common(&mut self, other: &mut TreeEntries<'_>) {
        let (own, others) = (&mut self.0, &mut other.0);
        let common = common_length(own.bytes, others.bytes);
        if common == own.bytes.len() && common == others.bytes.len() {
            (own.bytes, others.bytes) = (&[], &[]);
            return;
        }
        let mut skipped = 0;
        while let Some(length) = own.bytes.get(skipped..).and_then(|rest| own.length(rest)) {
            if skipped + length > common {
                break;
            }
            skipped += length;
        }
        own.bytes = own.bytes.get(skipped..).unwrap_or_default();
        others.bytes = others.bytes.get(skipped..).unwrap_or_default();
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

/// What is left of a tree.
#[derive(Clone, Debug)]
struct Rest<'t> {
    bytes: &'t [u8],
    /// Bytes of the whole tree.
    size: usize,
    /// Bytes of an id, as of a [`Kind`].
    hash_len: usize,
}

type Parts<'t, M> = (M, &'t [u8], &'t oid);

impl<'t> Rest<'t> {
    #[inline]
    fn new(content: &'t [u8], hash: Kind) -> Self {
        Rest {
            bytes: content,
            size: content.len(),
            hash_len: hash.len_in_bytes(),
        }
    }

    #[inline]
    fn offset(&self) -> usize {
        self.size - self.bytes.len()
    }

    /// Splits the mode, the name and the id of the next entry off; `None` at the end. `split_mode`
    /// splits off the mode and the space after it. It is a parameter so that a mode is looked at
    /// once, by whoever wants it as a number and by whoever wants its digits.
    #[inline(always)]
    fn split_entry<M>(
        &mut self,
        split_mode: impl FnOnce(&'t [u8]) -> Option<(M, &'t [u8])>,
        allows_empty_names: bool,
    ) -> Option<Result<Parts<'t, M>, TreeFault>> {
        if self.bytes.is_empty() {
            return None;
        }
        match split(self.bytes, self.hash_len, split_mode, allows_empty_names) {
            Ok((parts, rest)) => {
                self.bytes = rest;
                Some(Ok(parts))
            }
            Err(problem) => {
                let offset = self.offset();
                self.bytes = &[];
                Some(Err(TreeFault { problem, offset }))
            }
        }
    }

    /// How many bytes the first entry of `data` takes, if it is whole.
    fn length(&self, data: &[u8]) -> Option<usize> {
        Some(memchr::memchr(0, data)? + 1 + self.hash_len)
    }
}

#[inline(always)]
fn split<'t, M>(
    data: &'t [u8],
    hash_len: usize,
    split_mode: impl FnOnce(&'t [u8]) -> Option<(M, &'t [u8])>,
    allows_empty_names: bool,
) -> Result<(Parts<'t, M>, &'t [u8]), TreeProblem> {
    let (mode, rest) = split_mode(data).ok_or(TreeProblem::Mode)?;
    let end = memchr::memchr(0, rest);
    let (name, rest) = rest.split_at(end.ok_or(TreeProblem::Name)?);
    if name.is_empty() && !allows_empty_names {
        return Err(TreeProblem::EmptyName);
    }
    let id = rest.get(1..=hash_len).ok_or(TreeProblem::Id)?;
    let rest = rest.get(hash_len + 1..).unwrap_or_default();
    // It has the length of an id: `Rest::new` sees to that.
    Ok(((mode, name, oid::from_bytes_unchecked(id)), rest))
}

/// The number that octal digits stand for, as git keeps it: its last 16 bits, however many digits there
/// are. `None` if there are none, or anything else.
pub fn mode_of_digits(digits: &[u8]) -> Option<u32> {
    let octal = |mode, digit: &u8| matches!(digit, b'0'..=b'7').then(|| append_digit(mode, *digit));
    let mode = digits.iter().try_fold(0, octal)?;
    (!digits.is_empty()).then_some(mode & MODE_BITS)
}

/// What git takes a mode of a tree for, whatever stands there: a file, which the owner may execute or not,
/// a symbolic link, a directory, and else a submodule.
#[inline]
pub fn canonical_mode(mode: u32) -> u32 {
    match mode & TYPE_BITS {
        FILE if mode & OWNER_EXECUTES != 0 => 0o100_755,
        FILE => 0o100_644,
        LINK => LINK,
        TREE => TREE,
        _ => SUBMODULE,
    }
}

#[inline]
fn append_digit(mode: u32, digit: u8) -> u32 {
    mode << 3 | u32::from(digit - b'0')
}

/// The mode at the start of `data` as git takes it, and what follows its space.
#[inline(always)]
fn split_octal(data: &[u8]) -> Option<(u32, &[u8])> {
    let mut mode = 0_u32;
    let mut at = 0;
    loop {
        match data.get(at) {
            Some(digit @ b'0'..=b'7') => mode = append_digit(mode, *digit),
            Some(b' ') if at > 0 => break,
            _ => return None,
        }
        at += 1;
    }
    let mode = canonical_mode(mode & MODE_BITS);
    Some((mode, data.get(at + 1..).unwrap_or_default()))
}

/// What stands before the first space of `data`, and what follows that.
#[inline(always)]
fn split_digits(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let space = data.iter().position(|byte| *byte == b' ')?;
    Some((data.get(..space)?, data.get(space + 1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Listed = (u32, Vec<u8>, Option<ObjectKind>);

    fn entries(data: &[u8]) -> Result<Vec<Listed>, TreeFault> {
        let mut entries = TreeEntries::new(data, Kind::Sha1);
        let mut found = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            found.push((entry.mode, entry.name.to_vec(), entry.object_kind()));
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
        let kinds: Vec<Option<ObjectKind>> = entries(&data).unwrap().iter().map(|e| e.2).collect();
        let (blob, tree) = (Some(ObjectKind::Blob), Some(ObjectKind::Tree));
        assert_eq!(kinds, [blob, tree, None, blob]);
        for end in 1..28 {
            assert_eq!(entries(&data[..end]).is_ok(), end == 29 - 1, "{end}");
        }
        assert!(entries(b" a\0").is_err());
        assert!(entries(b"100644 \0aaaaaaaaaaaaaaaaaaaa").is_err());
    }

    #[test]
    fn odd_modes_are_taken_as_git_takes_them() {
        let zeros = format!("{}100644", "0".repeat(30));
        for (mode, taken) in [
            ("100664", 0o100_644),
            ("100600", 0o100_644),
            ("100775", 0o100_755),
            ("100611", 0o100_644),
            ("40755", 0o040_000),
            ("120777", 0o120_000),
            ("160777", 0o160_000),
            ("777", 0o160_000),
            ("0", 0o160_000),
            ("10000", 0o160_000),
            ("17777777777", 0o160_000),
            ("77777777777777100644", 0o100_644),
            (&zeros, 0o100_644),
        ] {
            let data = [format!("{mode} a\0").as_bytes(), &[7; 20]].concat();
            assert_eq!(entries(&data).unwrap()[0].0, taken, "{mode}");
            let digits = mode_of_digits(mode.as_bytes()).unwrap();
            assert_eq!(canonical_mode(digits), taken, "{mode}");
        }
        for mode in ["", "8", "100648", "-1", "+1", "0x1"] {
            assert_eq!(mode_of_digits(mode.as_bytes()), None, "{mode}");
            let data = [format!("{mode} a\0").as_bytes(), &[7; 20]].concat();
            assert!(entries(&data).is_err(), "{mode}");
        }
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
            let (mut a, mut b) = (TreeEntries::new(&a, Kind::Sha1), TreeEntries::new(&b, Kind::Sha1));
            a.skip_common(&mut b);
            prop_assert_eq!(a.0.bytes, tree(&one[common..]));
            prop_assert_eq!(b.0.bytes, tree(&other[common..]));
        }

        #[test]
        fn random_bytes_never_panic(data in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = entries(&data);
            let _ = entries(&[b"100644 a\0", data.as_slice()].concat());
        }
    }
}
