//! The list of working trees, and finding one of them.

use super::words::real_as_far_as_it_goes;
use crate::discover::read_line_file;
use crate::refs::{follow, Reference};
use crate::repository::Repository;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A working tree of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkingTree {
    /// The name of its administrative directory; `None` for the main one.
    pub id: Option<BString>,
    /// Its top, as its administrative directory names it. It need not exist.
    pub path: PathBuf,
    /// Its Git directory.
    pub git_dir: PathBuf,
    /// The main one is none: the repository is bare.
    pub is_bare: bool,
    /// It is that of this repository handle.
    pub is_current: bool,
    /// What its `HEAD` says.
    pub head: WorktreeHead,
}

/// What the `HEAD` of a working tree says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorktreeHead {
    /// A branch, by its full name, and its commit unless it is unborn.
    Branch(BString, Option<ObjectId>),
    /// A commit.
    Detached(ObjectId),
    /// Nothing that makes sense.
    Broken,
}

impl WorktreeHead {
    /// The commit, if there is one.
    pub fn id(&self) -> Option<ObjectId> {
        match self {
            WorktreeHead::Branch(_, id) => *id,
            WorktreeHead::Detached(id) => Some(*id),
            WorktreeHead::Broken => None,
        }
    }
}

impl Repository {
    /// All working trees: the main one first, then the linked ones in the order in which the file
    /// system lists them.
    ///
    /// # Errors
    /// If their directory cannot be listed, or a file in one cannot be read.
    pub fn worktrees(&self) -> Result<Vec<WorkingTree>> {
        let common = hedgerow_fs::real_path(self.common_dir())?;
        let mut found = vec![WorkingTree {
            id: None,
            path: without_dot_git(&common),
            git_dir: self.common_dir().to_owned(),
            is_bare: self.main_is_bare()?,
            is_current: self.git_dir() == self.common_dir(),
            head: self.worktree_head(self.common_dir())?,
        }];
        let linked = self.common_dir().join("worktrees");
        for entry in hedgerow_fs::list_directory(&linked)?.unwrap_or_default() {
            found.extend(self.linked_worktree(entry.name.as_bstr())?);
        }
        Ok(found)
    }

    /// The linked working tree with the administrative directory `id`; `None` if that does not say
    /// where it is.
    pub(crate) fn linked_worktree(&self, id: &BStr) -> Result<Option<WorkingTree>> {
        let git_dir = self.admin_dir(id);
        let Some(path) = top_of(&git_dir)? else {
            return Ok(None);
        };
        Ok(Some(WorkingTree {
            id: Some(id.to_owned()),
            path,
            is_bare: false,
            is_current: hedgerow_fs::real_path(&git_dir).is_ok_and(|real| {
                hedgerow_fs::real_path(self.git_dir()).is_ok_and(|own| own == real)
            }),
            head: self.worktree_head(&git_dir)?,
            git_dir,
        }))
    }

    /// The administrative directory `id`.
    pub(crate) fn admin_dir(&self, id: &BStr) -> PathBuf {
        self.common_dir()
            .join("worktrees")
            .join(OsStr::from_bytes(id))
    }

    fn worktree_head(&self, git_dir: &Path) -> Result<WorktreeHead> {
        let refs = self.refs().worktree_refs(git_dir);
        Ok(match follow(&*refs, "HEAD".into()) {
            Ok(Some(Reference {
                target: Some(name),
                id,
                ..
            })) => WorktreeHead::Branch(name, id),
            Ok(Some(Reference { id: Some(id), .. })) => WorktreeHead::Detached(id),
            Ok(_) | Err(Error::Reference { .. }) => WorktreeHead::Broken,
            Err(error) => return Err(error),
        })
    }

    /// The working tree that `word` means to a user: the only one whose path ends with it, or the
    /// one at that path.
    ///
    /// # Errors
    /// [`Error::Setup`], in git's words, if there is none.
    pub(crate) fn find_worktree(
        &self,
        trees: Vec<WorkingTree>,
        word: &BStr,
    ) -> Result<WorkingTree> {
        let unknown = || Error::Setup {
            reason: format!("'{word}' is not a working tree"),
        };
        if word.is_empty() {
            return Err(unknown());
        }
        let mut fitting = trees.iter().filter(|tree| ends_with(&tree.path, word));
        let only = match (fitting.next(), fitting.next()) {
            (Some(only), None) => Some(only.clone()),
            _ => None,
        };
        let path = self.environment().cwd.join(OsStr::from_bytes(word));
        let found = only.or_else(|| at_path(&trees, &path).cloned());
        found.ok_or_else(unknown)
    }
}

impl WorkingTree {
    /// Whether it is the main one.
    pub fn is_main(&self) -> bool {
        self.id.is_none()
    }

    /// Why it is locked, if it is; the reason may be empty.
    ///
    /// # Errors
    /// If the file with the reason cannot be read.
    pub fn lock_reason(&self) -> Result<Option<BString>> {
        if self.is_main() {
            return Ok(None);
        }
        let reason = hedgerow_fs::read_file(&self.git_dir.join("locked"), REASON_LIMIT_BYTES)?;
        Ok(reason.map(|reason| reason.trim_ascii().into()))
    }
}

/// The top of the working tree with the administrative directory `git_dir`, if that says where it is.
pub(crate) fn top_of(git_dir: &Path) -> Result<Option<PathBuf>> {
    let Some(line) = read_line_file(&git_dir.join("gitdir"))? else {
        return Ok(None);
    };
    let line = line.trim_ascii_end();
    if line.is_empty() {
        return Ok(None);
    }
    let path = without_dot_git(Path::new(OsStr::from_bytes(line)));
    Ok(Some(if path.is_absolute() {
        path
    } else {
        real_as_far_as_it_goes(&git_dir.join(path))
    }))
}

const REASON_LIMIT_BYTES: u64 = 64 << 20;

/// The working tree of `trees` at `path`, links resolved.
pub(crate) fn at_path<'t>(trees: &'t [WorkingTree], path: &Path) -> Option<&'t WorkingTree> {
    let path = real_but_for_the_last(path)?;
    let is_there = |tree: &&WorkingTree| real_but_for_the_last(&tree.path).as_ref() == Some(&path);
    trees.iter().find(is_there)
}

/// `path` with links resolved; its last part need not exist.
fn real_but_for_the_last(path: &Path) -> Option<PathBuf> {
    if let Ok(real) = hedgerow_fs::real_path(path) {
        return Some(real);
    }
    let parent = hedgerow_fs::real_path(path.parent()?).ok()?;
    Some(parent.join(path.file_name()?))
}

fn ends_with(path: &Path, suffix: &BStr) -> bool {
    let path = path.as_os_str().as_bytes();
    let Some(start) = path.strip_suffix(suffix.as_bytes()) else {
        return false;
    };
    !suffix.is_empty() && (start.is_empty() || start.ends_with(b"/"))
}

/// `path` without `/.git` at its end.
pub(crate) fn without_dot_git(path: &Path) -> PathBuf {
    match path.file_name() {
        Some(name) if name == ".git" => path.parent().unwrap_or(path).to_owned(),
        _ => path.to_owned(),
    }
}
