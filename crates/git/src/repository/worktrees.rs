//! The other working trees of a repository: git-worktree(1) under "DETAILS".

use super::references::head_value;
use super::Repository;
use crate::config::Config;
use crate::discover::read_line_file;
use crate::refs::RefValue;
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use hedgerow_pack::ObjectId;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// A configuration file larger than this is refused.
const CONFIG_LIMIT_BYTES: u64 = 64 << 20;

impl Repository {
    /// The working tree other than this one that uses the branch with the full name `name`: has
    /// it checked out, or is rebasing or bisecting it.
    pub fn branch_checked_out_elsewhere(&self, name: &BStr) -> Result<Option<PathBuf>> {
        for (git_dir, path) in self.working_trees()? {
            if git_dir != self.git_dir && self.uses_branch(&git_dir, name)? {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    /// The working tree, this one included, that has the branch with the full name `name` checked
    /// out, or is rebasing or bisecting it: it must not be moved.
    pub fn branch_checked_out(&self, name: &BStr) -> Result<Option<PathBuf>> {
        for (git_dir, path) in self.working_trees()? {
            if self.uses_branch(&git_dir, name)? {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    fn uses_branch(&self, git_dir: &Path, name: &BStr) -> Result<bool> {
        match head_value(&*self.refs.worktree_refs(git_dir))? {
            Some(RefValue::Symbolic(branch)) if branch == name => Ok(true),
            _ => is_rebasing_or_bisecting(git_dir, name),
        }
    }

    /// The commits that the other working trees have checked out.
    pub fn worktree_heads(&self) -> Result<Vec<ObjectId>> {
        let mut heads = Vec::new();
        for (git_dir, _) in self.working_trees()? {
            if git_dir == self.git_dir {
                continue;
            }
            let id = match head_value(&*self.refs.worktree_refs(&git_dir))? {
                Some(RefValue::Symbolic(branch)) => {
                    self.reference(branch.as_ref())?.and_then(|found| found.id)
                }
                Some(RefValue::Direct(id)) => Some(id),
                None => None,
            };
            heads.extend(id);
        }
        Ok(heads)
    }

    /// Whether the main working tree is none. Seen from a linked one, its own configuration is not
    /// part of the merged one.
    pub(crate) fn main_is_bare(&self) -> Result<bool> {
        let mut bare = self.config.bool("core.bare")?;
        if bare != Some(true) && self.git_dir != self.common_dir {
            let path = self.common_dir.join("config.worktree");
            if let Some(content) = hedgerow_fs::read_file(&path, CONFIG_LIMIT_BYTES)? {
                bare = Config::of_file(&content, &path)?.bool("core.bare")?;
            }
        }
        Ok(bare.unwrap_or(false))
    }

    /// The Git directory and the top of every working tree: the main one first, linked ones by
    /// name.
    pub(crate) fn working_trees(&self) -> Result<Vec<(PathBuf, PathBuf)>> {
        let mut found = Vec::new();
        if !self.main_is_bare()? {
            let top = match self.common_dir.file_name() {
                Some(name) if name == ".git" => self.common_dir.parent(),
                _ => None,
            };
            let top = top.unwrap_or(&self.common_dir).to_owned();
            found.push((self.common_dir.clone(), top));
        }
        let linked = self.common_dir.join("worktrees");
        let mut entries = hedgerow_fs::list_directory(&linked)?.unwrap_or_default();
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        for entry in entries {
            let git_dir = linked.join(OsStr::from_bytes(&entry.name));
            let Some(line) = read_line_file(&git_dir.join("gitdir"))? else {
                continue;
            };
            let dot_git = git_dir.join(PathBuf::from(OsString::from_vec(line)));
            let top = dot_git.parent().unwrap_or(Path::new("/"));
            let top = hedgerow_fs::real_path(top).unwrap_or_else(|_| top.to_owned());
            found.push((git_dir, top));
        }
        Ok(found)
    }
}

fn is_rebasing_or_bisecting(git_dir: &Path, name: &BStr) -> Result<bool> {
    for file in [
        "rebase-merge/head-name",
        "rebase-apply/head-name",
        "BISECT_START",
    ] {
        let line = read_line_file(&git_dir.join(file))?.unwrap_or_default();
        let full = line == name.as_bytes();
        if full || [b"refs/heads/".as_slice(), &line].concat() == name.as_bytes() {
            return Ok(true);
        }
    }
    updates_branch(git_dir, name)
}

/// A rebase with `--update-refs` moves these branches at its end: three lines each, the first the
/// name.
fn updates_branch(git_dir: &Path, name: &BStr) -> Result<bool> {
    let list = read_line_file(&git_dir.join("rebase-merge/update-refs"))?.unwrap_or_default();
    let list = BString::from(list);
    let mut names = list.lines().step_by(3);
    Ok(names.any(|line| line == name.as_bytes()))
}
