//! What keeps objects alive beside references: the logs of references and the indexes, of all
//! working trees.

use super::Repository;
use crate::index::{Index, Referenced};
use crate::refs::{follow_from, Log, RefValue, ReferenceProblem};
use crate::{Error, Result};
use hedgerow_pack::ObjectId;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const INDEX_LIMIT_BYTES: u64 = 4 << 30;
/// Where references are that belong to one working tree each.
const OWN_REFERENCES: [&str; 3] = ["refs/bisect/", "refs/worktree/", "refs/rewritten/"];

/// The references that name local changes which a command has put aside.
const AUTOSTASHES: [&str; 2] = ["CHECKOUT_AUTOSTASH_HEAD", "MERGE_AUTOSTASH"];

impl Repository {
    /// The logs of all references, those of other working trees included.
    ///
    /// # Errors
    /// If one cannot be read: what it refers to would be lost.
    pub fn all_logs(&self) -> Result<Vec<Log>> {
        let mut logs = Vec::new();
        for git_dir in self.git_dirs()? {
            logs.extend(self.refs.worktree_refs(&git_dir).logs()?);
        }
        Ok(logs)
    }

    /// What the indexes of all working trees refer to.
    ///
    /// # Errors
    /// If an index cannot be read.
    pub fn indexed_objects(&self) -> Result<Vec<Referenced>> {
        let mut paths = BTreeSet::from([self.index_path.clone()]);
        paths.extend(self.git_dirs()?.iter().map(|git_dir| git_dir.join("index")));
        let mut found = Vec::new();
        for path in paths {
            found.extend(self.referenced_by(&path)?);
        }
        Ok(found)
    }

    /// The commits that bisections, rebases and the like of all working trees have references for,
    /// and what their `HEAD`s say.
    ///
    /// # Errors
    /// If a directory cannot be listed, or a reference cannot be read.
    pub fn worktree_references(&self) -> Result<Vec<ObjectId>> {
        use ReferenceProblem::{BadTarget, EndlessChain, NoObjectId};
        let mut found = self.worktree_heads()?;
        for git_dir in self.git_dirs()? {
            let refs = self.refs.worktree_refs(&git_dir);
            // Local changes may be nowhere else if a switch or a merge was interrupted.
            for name in AUTOSTASHES {
                let value = refs.read(name.into()).ok().flatten();
                if let Some(RefValue::Direct(id)) = value {
                    found.push(id);
                }
            }
            for prefix in OWN_REFERENCES {
                refs.list(prefix.into(), &mut |name, value| {
                    match value.and_then(|value| follow_from(&*refs, name.to_owned(), value)) {
                        Ok(reference) => found.extend(reference.id),
                        Err(Error::Reference {
                            reason: BadTarget(_) | NoObjectId | EndlessChain,
                            ..
                        }) => {}
                        Err(error) => return Err(error),
                    }
                    Ok(())
                })?;
            }
        }
        Ok(found)
    }

    /// The Git directories of all working trees, each once.
    fn git_dirs(&self) -> Result<BTreeSet<PathBuf>> {
        let mut git_dirs = BTreeSet::from([self.git_dir.clone(), self.common_dir.clone()]);
        git_dirs.extend(
            self.working_trees()?
                .into_iter()
                .map(|(git_dir, _)| git_dir),
        );
        Ok(git_dirs)
    }

    fn referenced_by(&self, path: &Path) -> Result<Vec<Referenced>> {
        let Some(content) = hedgerow_fs::read_file(path, INDEX_LIMIT_BYTES)? else {
            return Ok(Vec::new());
        };
        let mut shared = |id: &ObjectId| {
            let path = path.with_file_name(format!("sharedindex.{id}"));
            let content = hedgerow_fs::read_file(&path, INDEX_LIMIT_BYTES)?;
            content.ok_or_else(|| Error::CorruptIndex {
                path: path.clone(),
                reason: "the shared index is missing".into(),
            })
        };
        Ok(Index::read(&content, self.hash, path, &mut shared)?.referenced())
    }
}
