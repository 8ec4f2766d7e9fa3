//! What keeps objects alive beside references: the logs of references and the indexes, of all
//! working trees.

use super::reflog::{parse, LOG_LIMIT_BYTES};
use super::Repository;
use crate::index::{Index, Referenced};
use crate::{Error, Result};
use bstr::{BString, ByteSlice};
use hedgerow_fs::FileKind;
use hedgerow_pack::ObjectId;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const INDEX_LIMIT_BYTES: u64 = 4 << 30;
/// Directories of logs nested deeper are refused.
const NESTING_LIMIT: usize = 256;

/// A log and what it refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// The full name of its reference.
    pub name: BString,
    /// All objects that it names, in order of ids.
    pub ids: BTreeSet<ObjectId>,
}

impl Repository {
    /// The logs of all references, those of other working trees included.
    ///
    /// # Errors
    /// If one cannot be read: what it refers to would be lost.
    pub fn all_logs(&self) -> Result<Vec<Log>> {
        let mut logs = Vec::new();
        for git_dir in self.git_dirs()? {
            read_logs(&git_dir.join("logs"), &BString::default(), 0, &mut logs)?;
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
    /// If a directory cannot be listed.
    pub fn worktree_references(&self) -> Result<Vec<ObjectId>> {
        let mut found = self.worktree_heads()?;
        for git_dir in self.git_dirs()? {
            for part in ["refs/bisect", "refs/worktree", "refs/rewritten"] {
                read_references(&git_dir.join(part), 0, &mut found)?;
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

fn read_logs(directory: &Path, name: &BString, depth: usize, logs: &mut Vec<Log>) -> Result<()> {
    let entries = hedgerow_fs::list_directory(directory)?.unwrap_or_default();
    for entry in entries {
        let path = directory.join(OsStr::from_bytes(&entry.name));
        let name = if name.is_empty() {
            BString::from(entry.name.clone())
        } else {
            [name.as_bytes(), b"/", &entry.name].concat().into()
        };
        match hedgerow_fs::stat(&path)?.map(|stat| stat.kind) {
            Some(FileKind::Directory) if depth < NESTING_LIMIT => {
                read_logs(&path, &name, depth + 1, logs)?;
            }
            Some(FileKind::File) => {
                let content = hedgerow_fs::read_file(&path, LOG_LIMIT_BYTES)?.unwrap_or_default();
                let entries = content.lines().filter_map(parse);
                let ids = entries.flat_map(|entry| [entry.old, entry.new]);
                let ids = ids.filter(|id| !id.is_null()).collect();
                logs.push(Log { name, ids });
            }
            _ => {}
        }
    }
    Ok(())
}

/// References of one working tree, which only it has names for. A symbolic one leads to another.
fn read_references(directory: &Path, depth: usize, found: &mut Vec<ObjectId>) -> Result<()> {
    for entry in hedgerow_fs::list_directory(directory)?.unwrap_or_default() {
        let path = directory.join(OsStr::from_bytes(&entry.name));
        match hedgerow_fs::stat(&path)?.map(|stat| stat.kind) {
            Some(FileKind::Directory) if depth < NESTING_LIMIT => {
                read_references(&path, depth + 1, found)?;
            }
            Some(FileKind::File) => {
                let line = crate::discover::read_line_file(&path)?.unwrap_or_default();
                found.extend(ObjectId::from_hex(line.trim()).ok());
            }
            _ => {}
        }
    }
    Ok(())
}
