//! Commit objects: git-commit-tree(1).

use super::ObjectWriter;
use crate::convert::is_utf8;
use crate::refs::Signature;
use crate::repository::Repository;
use crate::{Error, Result};
use bstr::BStr;
use gix_hash::ObjectId;
use hedgerow_object::ObjectKind;

/// A commit to be written.
#[derive(Clone, Debug)]
pub(crate) struct NewCommit<'a> {
    pub tree: ObjectId,
    pub parents: &'a [ObjectId],
    pub author: &'a Signature,
    pub committer: &'a Signature,
    /// The message, as it is stored.
    pub message: &'a BStr,
}

impl NewCommit<'_> {
    /// Writes the commit.
    pub(crate) fn write(
        &self,
        repository: &Repository,
        writer: &ObjectWriter<'_>,
    ) -> Result<ObjectId> {
        if self.message.contains(&0) {
            return Err(Error::Setup {
                reason: "a NUL byte in commit log message not allowed.".into(),
            });
        }
        let mut content = format!("tree {}\n", self.tree).into_bytes();
        for parent in self.parents {
            content.extend_from_slice(format!("parent {parent}\n").as_bytes());
        }
        for (role, who) in [("author ", self.author), ("committer ", self.committer)] {
            content.extend_from_slice(role.as_bytes());
            content.extend_from_slice(&who.to_line());
            content.push(b'\n');
        }
        let encoding = repository.config().string("i18n.commitEncoding");
        if let Some(encoding) = encoding.filter(|name| !is_utf8(name.as_ref())) {
            content.extend_from_slice(b"encoding ");
            content.extend_from_slice(&encoding);
            content.push(b'\n');
        }
        content.push(b'\n');
        content.extend_from_slice(self.message);
        writer.write_one(ObjectKind::Commit, &content)
    }
}
