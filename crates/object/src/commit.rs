use crate::line::{hex_len, parse_id, seconds, take_id};
use crate::{Malformed, ObjectKind};
use gix_hash::{oid, ObjectId};

/// A commit, as far as a walk looks into it.
#[derive(Clone, Copy, Debug)]
pub struct CommitRef<'d> {
    tree: ObjectId,
    /// The lines of the parents.
    parents: &'d [u8],
    hex_len: usize,
    /// What follows the parents.
    rest: &'d [u8],
}

impl<'d> CommitRef<'d> {
    /// Parses the commit `id` from its content.
    ///
    /// # Errors
    /// [`Malformed`] without a line for a tree, and for a parent that is no id.
    pub fn parse(id: &oid, content: &'d [u8]) -> Result<Self, Malformed> {
        let bad = |reason| Malformed::new(ObjectKind::Commit, id, reason);
        let hex_len = hex_len(id);
        let mut rest = content;
        let tree = take_id(&mut rest, b"tree ", hex_len).and_then(parse_id);
        let tree = tree.ok_or_else(|| bad("it has no tree"))?;
        let start = rest;
        while let Some(hex) = take_id(&mut rest, b"parent ", hex_len) {
            if !hex.iter().all(u8::is_ascii_hexdigit) {
                return Err(bad("a parent is no id"));
            }
        }
        if rest.starts_with(b"parent ") {
            return Err(bad("a parent is no id"));
        }
        let length = start.len() - rest.len();
        Ok(CommitRef {
            tree,
            parents: start.get(..length).unwrap_or_default(),
            hex_len,
            rest,
        })
    }

    /// Its tree.
    pub fn tree(&self) -> ObjectId {
        self.tree
    }

    /// Its parents, first one first.
    pub fn parents(&self) -> ParentIds<'d> {
        ParentIds {
            rest: self.parents,
            hex_len: self.hex_len,
        }
    }

    /// When it was committed, in seconds since the epoch; 0 if that cannot be read.
    pub fn seconds(&self) -> u64 {
        let Some(author) = self.rest.strip_prefix(b"author ") else {
            return 0;
        };
        let end = memchr::memchr(b'\n', author);
        let next = end
            .and_then(|end| author.get(end + 1..))
            .unwrap_or_default();
        next.strip_prefix(b"committer ").map_or(0, seconds)
    }

    /// When it was written, in seconds since the epoch; 0 if that cannot be read.
    pub fn author_seconds(&self) -> u64 {
        self.rest.strip_prefix(b"author ").map_or(0, seconds)
    }
}

/// The parents of a commit: see [`CommitRef::parents`].
#[derive(Clone, Debug)]
pub struct ParentIds<'d> {
    rest: &'d [u8],
    hex_len: usize,
}

impl Iterator for ParentIds<'_> {
    type Item = ObjectId;

    fn next(&mut self) -> Option<ObjectId> {
        parse_id(take_id(&mut self.rest, b"parent ", self.hex_len)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

    fn id() -> ObjectId {
        ObjectId::null(gix_hash::Kind::Sha1)
    }

    #[test]
    fn what_a_walk_needs_is_found() {
        let text = format!(
            "tree {TREE}\nparent {}\nparent {}\nauthor A <a@b> 5 +0100\n\
             committer C <c> d> 1234567890 +0000\n\nmessage\n",
            "1".repeat(40),
            "2".repeat(40)
        );
        let commit = CommitRef::parse(&id(), text.as_bytes()).unwrap();
        assert_eq!(commit.tree().to_string(), TREE);
        let parents: Vec<String> = commit.parents().map(|id| id.to_string()).collect();
        assert_eq!(parents, ["1".repeat(40), "2".repeat(40)]);
        assert_eq!(
            (commit.seconds(), commit.author_seconds()),
            (1_234_567_890, 5)
        );
    }

    #[test]
    fn a_commit_needs_a_tree_and_whole_parents() {
        for bad in [
            String::new(),
            format!("tree {}\n", &TREE[1..]),
            format!("tree {TREE}"),
            format!("tree {TREE}\nparent {}\n", &TREE[1..]),
            format!("tree {TREE}\nparent {}\n", "x".repeat(40)),
        ] {
            assert!(CommitRef::parse(&id(), bad.as_bytes()).is_err(), "{bad}");
        }
        let least = format!("tree {TREE}\n");
        let commit = CommitRef::parse(&id(), least.as_bytes()).unwrap();
        assert_eq!((commit.seconds(), commit.parents().count()), (0, 0));
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(data in prop::collection::vec(any::<u8>(), 0..200)) {
            let text = [format!("tree {TREE}\nauthor ").as_bytes(), &data].concat();
            for data in [&data, &text] {
                if let Ok(commit) = CommitRef::parse(&id(), data) {
                    commit.seconds();
                    commit.author_seconds();
                }
            }
        }
    }
}
