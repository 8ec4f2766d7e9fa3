//! Moving `HEAD`: what git-checkout(1) does to it.

use super::refs::{broken, is_safe_name};
use super::{Head, Repository, Signature};
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use hedgerow_fs::LockFile;
use hedgerow_pack::ObjectId;

/// Where `HEAD` is to point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeadTarget {
    /// A branch, by its full name; it need not exist yet.
    Branch(BString),
    /// A commit.
    Detached(ObjectId),
}

/// The files that describe a merge, cherry-pick or revert under way, which a switch ends.
const BRANCH_STATE: [&str; 9] = [
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "AUTO_MERGE",
    "MERGE_HEAD",
    "MERGE_RR",
    "MERGE_MSG",
    "MERGE_MODE",
    "SQUASH_MSG",
    "MERGE_AUTOSTASH",
];

impl Repository {
    /// Points `HEAD` at `target` and logs `message`, under `HEAD.lock`. Other references are not
    /// touched. Fails with the lock's path if another process holds it.
    pub fn switch_head(
        &self,
        target: &HeadTarget,
        message: &BStr,
        committer: &Signature,
    ) -> Result<()> {
        let lock = LockFile::acquire(&self.git_dir.join("HEAD"))?;
        let old = self.head()?;
        let (content, new) = match target {
            HeadTarget::Branch(name) => {
                if !name.starts_with(b"refs/") || !is_safe_name(name.as_ref()) {
                    return Err(broken(name.as_ref(), "not the name of a reference"));
                }
                let new = self.reference(name.as_ref())?.and_then(|found| found.id);
                ([b"ref: ", &name[..], b"\n"].concat(), new)
            }
            HeadTarget::Detached(id) => {
                if old == (Head::Detached { id: *id }) {
                    return Ok(());
                }
                (format!("{id}\n").into_bytes(), Some(*id))
            }
        };
        let mut lock = lock;
        lock.write_all(&content)?;
        if let Some(new) = new {
            let old = old.id();
            self.append_log("HEAD".into(), old.as_deref(), &new, committer, message)?;
        }
        lock.commit()?;
        Ok(())
    }

    /// The message git logs for a switch from `old` to what the user called `new`.
    pub fn checkout_message(&self, old: &Head, new: &BStr) -> BString {
        let from = match old {
            Head::Branch { name, .. } => {
                let name = name.as_bstr();
                name.strip_prefix(b"refs/heads/")
                    .map_or_else(|| name.to_owned(), BString::from)
            }
            Head::Detached { id } => id.to_string().into(),
        };
        [b"checkout: moving from ", &from[..], b" to ", new]
            .concat()
            .into()
    }

    /// Removes what describes a merge, cherry-pick or revert under way: switching ends it.
    pub fn remove_branch_state(&self) -> Result<Vec<&'static str>> {
        let known = [
            ("CHERRY_PICK_HEAD", "cherry picking"),
            ("REVERT_HEAD", "revert"),
        ];
        let ongoing = known
            .iter()
            .filter(|(file, _)| hedgerow_fs::exists(&self.git_dir.join(file)));
        let ended = ongoing.map(|(_, name)| *name).collect();
        for name in BRANCH_STATE {
            hedgerow_fs::remove_file(&self.git_dir.join(name))?;
        }
        Ok(ended)
    }
}
