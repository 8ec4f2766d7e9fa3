//! The links of objects: what commits, tags and trees lead to. gitformat: git-cat-file(1), and
//! `Documentation/gitformat-*` of git for what is not written down there.

use crate::{Error, Result};
use hedgerow_pack::{oid, ObjectId, ObjectKind};
use std::cmp::Ordering;

/// Where a commit leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitLinks {
    /// Its tree.
    pub tree: ObjectId,
    /// Its parents, the first one first.
    pub parents: Vec<ObjectId>,
    /// When it was committed, in seconds since 1970; 0 if that cannot be read, as git has it.
    pub date: i64,
}

/// Where an annotated tag leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagLink {
    /// What it is of.
    pub target: ObjectId,
    /// The kind it says that is of.
    pub kind: ObjectKind,
}

/// One entry of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeEntry<'d> {
    /// Kind and permissions.
    pub mode: u32,
    /// Its name, without slashes.
    pub name: &'d [u8],
    /// The object it is of.
    pub id: &'d oid,
}

const TYPE_MASK: u32 = 0o170_000;
const DIRECTORY: u32 = 0o040_000;
const SUBMODULE: u32 = 0o160_000;

/// Reads the links of the commit `id` with this content.
pub fn commit_links(id: &oid, content: &[u8]) -> Result<CommitLinks> {
    let corrupt = |reason| Error::corrupt(id.to_owned(), ObjectKind::Commit, reason);
    let mut rest = content;
    let tree = take_id(&mut rest, b"tree ").ok_or_else(|| corrupt("no tree"))?;
    let mut parents = Vec::new();
    while rest.starts_with(b"parent ") {
        let parent = take_id(&mut rest, b"parent ");
        parents.push(parent.ok_or_else(|| corrupt("bad parent"))?);
    }
    Ok(CommitLinks {
        tree,
        parents,
        date: committer_date(rest).unwrap_or_default(),
    })
}

/// Reads the link of the tag `id` with this content.
pub fn tag_link(id: &oid, content: &[u8]) -> Result<TagLink> {
    let corrupt = |reason| Error::corrupt(id.to_owned(), ObjectKind::Tag, reason);
    let mut rest = content;
    let target = take_id(&mut rest, b"object ").ok_or_else(|| corrupt("no object"))?;
    let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let kind = line.strip_prefix(b"type ").and_then(ObjectKind::from_name);
    Ok(TagLink {
        target,
        kind: kind.ok_or_else(|| corrupt("no type"))?,
    })
}

/// The entries of a tree with this content, ids of `hash_len` bytes. What does not follow the
/// format is an error with the reason, and the end.
pub fn entries(
    content: &[u8],
    hash_len: usize,
) -> impl Iterator<Item = Result<TreeEntry<'_>, &'static str>> {
    let mut rest = content;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let entry = take_entry(&mut rest, hash_len);
        if entry.is_err() {
            rest = &[];
        }
        Some(entry)
    })
}

impl TreeEntry<'_> {
    /// Whether it is a directory.
    pub fn is_tree(&self) -> bool {
        self.mode & TYPE_MASK == DIRECTORY
    }

    /// Whether it is a commit of another repository.
    pub fn is_submodule(&self) -> bool {
        self.mode & TYPE_MASK == SUBMODULE
    }

    /// How its place in a tree compares with that of `other`: git sorts directories as if their
    /// names ended in a slash.
    pub fn cmp_place(&self, other: &TreeEntry<'_>) -> Ordering {
        let common = self.name.len().min(other.name.len());
        let (own, others) = (self.name.split_at(common), other.name.split_at(common));
        let after = |entry: &TreeEntry<'_>, rest: &[u8]| match rest.first() {
            Some(byte) => *byte,
            None if entry.is_tree() => b'/',
            None => 0,
        };
        own.0
            .cmp(others.0)
            .then_with(|| after(self, own.1).cmp(&after(other, others.1)))
    }
}

/// Takes a line of `word` and an id.
fn take_id(rest: &mut &[u8], word: &[u8]) -> Option<ObjectId> {
    let line = rest.strip_prefix(word)?;
    let end = line.iter().position(|byte| *byte == b'\n')?;
    let (id, after) = line.split_at(end);
    *rest = after.get(1..).unwrap_or_default();
    ObjectId::from_hex(id).ok()
}

/// The date of the line `committer name <address> seconds zone`.
fn committer_date(rest: &[u8]) -> Option<i64> {
    let line = rest
        .split(|byte| *byte == b'\n')
        .take_while(|line| !line.is_empty())
        .find_map(|line| line.strip_prefix(b"committer "))?;
    let after = line.iter().rposition(|byte| *byte == b'>')? + 1;
    let date = line.get(after..)?.trim_ascii_start();
    let end = date.iter().position(|byte| !byte.is_ascii_digit());
    let digits = date.get(..end.unwrap_or(date.len()))?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn take_entry<'d>(rest: &mut &'d [u8], hash_len: usize) -> Result<TreeEntry<'d>, &'static str> {
    let mut mode = 0_u32;
    let mut at = 0;
    loop {
        match rest.get(at) {
            Some(b' ') if at > 0 => break,
            Some(digit @ b'0'..=b'7') if at < 7 => mode = mode << 3 | u32::from(digit - b'0'),
            _ => return Err("malformed mode in tree entry"),
        }
        at += 1;
    }
    let named = rest.get(at + 1..).unwrap_or_default();
    let end = memchr::memchr(0, named).ok_or("truncated tree")?;
    if end == 0 {
        return Err("empty filename in tree entry");
    }
    let (name, after) = named.split_at(end);
    let id = after.get(1..1 + hash_len).ok_or("truncated tree")?;
    *rest = after.get(1 + hash_len..).unwrap_or_default();
    let id = oid::try_from_bytes(id).map_err(|_| "truncated tree")?;
    Ok(TreeEntry { mode, name, id })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ID: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

    fn id() -> ObjectId {
        ObjectId::from_hex(ID.as_bytes()).unwrap()
    }

    #[test]
    fn commits_lead_to_trees_and_parents() {
        let text = format!(
            "tree {ID}\nparent {ID}\nparent {ID}\nauthor A <a> 1 +0000\n\
             committer C <c> 1234567 +0200\n\ncommitter X <x> 99 +0000\n"
        );
        let links = commit_links(&id(), text.as_bytes()).unwrap();
        assert_eq!(
            (links.tree, links.parents.len(), links.date),
            (id(), 2, 1_234_567)
        );
        let undated = commit_links(&id(), format!("tree {ID}\nauthor\n\n").as_bytes()).unwrap();
        assert_eq!((undated.parents.len(), undated.date), (0, 0));
        for bad in [
            "",
            "tree 12\n",
            &format!("parent {ID}\n"),
            &format!("tree {ID}"),
        ] {
            assert!(commit_links(&id(), bad.as_bytes()).is_err(), "{bad}");
        }
        let bad = format!("tree {ID}\nparent x\n");
        let error = commit_links(&id(), bad.as_bytes()).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("commit {ID} is corrupt: bad parent")
        );
    }

    #[test]
    fn tags_lead_to_their_targets() {
        let text = format!("object {ID}\ntype tree\ntag v1\n\n");
        let link = tag_link(&id(), text.as_bytes()).unwrap();
        assert_eq!((link.target, link.kind), (id(), ObjectKind::Tree));
        for bad in [
            format!("object {ID}\n"),
            format!("object {ID}\ntype x\n"),
            "type tree\n".into(),
        ] {
            assert!(tag_link(&id(), bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn directories_are_sorted_as_if_they_ended_in_a_slash() {
        let id = id();
        let entry = |mode, name| TreeEntry {
            mode,
            name,
            id: &id,
        };
        let (file, directory) = (0o100_644, 0o040_000);
        let order = |a, b| TreeEntry::cmp_place(&a, &b);
        assert_eq!(
            order(entry(file, b"a"), entry(directory, b"a")),
            Ordering::Less
        );
        assert_eq!(
            order(entry(directory, b"a"), entry(file, b"a.c")),
            Ordering::Greater
        );
        assert_eq!(
            order(entry(directory, b"a"), entry(file, b"a0")),
            Ordering::Less
        );
        assert_eq!(order(entry(file, b"a"), entry(file, b"a")), Ordering::Equal);
    }

    proptest! {
        #[test]
        fn random_trees_end(content in prop::collection::vec(any::<u8>(), 0..100)) {
            let tree = [b"100644 a\0".as_slice(), &content].concat();
            for data in [content.as_slice(), &tree] {
                prop_assert!(entries(data, 20).count() <= data.len());
            }
            let _ = commit_links(&id(), &content);
            let _ = tag_link(&id(), &content);
        }
    }
}
