//! Making working trees and their administrative directories name each other again.

use super::links::{is_no_file, is_there};
use super::list::without_dot_git;
use super::mounted::{drop_plain_link, hold, layers_of, lock_admin, lock_half_made, point_to_top};
use super::words::real_as_far_as_it_goes;
use super::WorkingTree;
use crate::discover::{git_file_target, GitFileProblem};
use crate::repository::Repository;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use hedgerow_mounts::sign_directory;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const LINE_LIMIT_BYTES: u64 = 1 << 20;

/// What a repair has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// What is wrong, in git's words.
    pub reason: &'static str,
    /// Where.
    pub path: BString,
    /// It cannot be repaired.
    pub is_error: bool,
}

struct Repairs<'a> {
    repository: &'a Repository,
    is_relative: bool,
    visit: &'a mut dyn FnMut(&Repair),
}

/// Repairs the links of all working trees: first those of the ones at `words`, which were moved (by
/// default the current directory), then those that are where they are known to be. `visit` is shown
/// what is found.
///
/// # Errors
/// A file cannot be written.
pub fn repair(
    repository: &Repository,
    words: &[BString],
    relative_paths: Option<bool>,
    visit: &mut dyn FnMut(&Repair),
) -> Result<()> {
    let mut repairs = Repairs {
        repository,
        is_relative: repository.uses_relative_paths(relative_paths)?,
        visit,
    };
    let here = repository
        .work_tree()
        .map_or(BString::from("."), |top| top.as_os_str().as_bytes().into());
    let here = [here];
    let words = if words.is_empty() { &here } else { words };
    // A path that leads nowhere ends the command before anything is written.
    for word in words {
        let path = place_of(repository, word.as_ref());
        let above = path.parent().unwrap_or(&path);
        if word.is_empty() || !hedgerow_fs::is_directory(above) {
            let shown = if word.is_empty() { &path } else { above };
            return Err(Error::Setup {
                reason: format!("Invalid path '{}'", shown.display()),
            });
        }
    }
    for word in words {
        repairs.moved(word.as_ref())?;
    }
    for tree in repository.worktrees()?.iter().skip(1) {
        repairs.known(tree)?;
    }
    Ok(())
}

/// Where the working tree at `word` is: as git looks for it, from the top of the working tree in which the
/// user is, not from below.
fn place_of(repository: &Repository, word: &BStr) -> PathBuf {
    let here = match repository.work_tree() {
        Some(top) if !repository.prefix().is_empty() => top,
        _ => &repository.environment().cwd,
    };
    here.join(OsStr::from_bytes(word))
}

impl Repairs<'_> {
    fn tell(&mut self, is_error: bool, path: impl Into<BString>, reason: &'static str) {
        let path = path.into();
        (self.visit)(&Repair {
            reason,
            path,
            is_error,
        });
    }

    /// The `.git` file of a working tree that is where it is known to be.
    fn known(&mut self, tree: &WorkingTree) -> Result<()> {
        if !is_there(&tree.path) {
            return Ok(());
        }
        let shown = tree.path.as_os_str().as_bytes();
        if tree.is_mounted()? == Some(false) {
            return self.unmounted(tree);
        }
        // What a killed `add` has left is no working tree.
        if let Some(id) = &tree.id {
            if lock_half_made(self.repository, id.as_ref())?.is_some() {
                return Ok(());
            }
        }
        if !hedgerow_fs::is_directory(&tree.path) {
            self.tell(true, shown, "not a directory");
            return Ok(());
        }
        let admin = hedgerow_fs::real_path(&tree.git_dir)?;
        let environment = self.repository.environment();
        let reason = match git_file_target(&tree.path.join(".git"), environment) {
            Err(problem) if is_no_file(problem) => {
                self.tell(true, shown, ".git is not a file");
                return Ok(());
            }
            Err(_) => ".git file broken",
            Ok(target) if target != admin => ".git file incorrect",
            Ok(_) if self.is_relative => ".git file absolute/relative path mismatch",
            Ok(_) => return Ok(()),
        };
        self.tell(false, shown, reason);
        self.repository
            .link_worktree(&tree.path, &admin, self.is_relative)
    }

    /// The sign in the place of a working tree that is not mounted.
    fn unmounted(&mut self, tree: &WorkingTree) -> Result<()> {
        let Some(held) = hold(self.repository, tree)? else {
            return Ok(());
        };
        let shown = tree.path.as_os_str().as_bytes();
        if held.layers.check_place(&tree.path).is_err() {
            let reason = "belongs to the changes of another repository";
            self.tell(true, shown, reason);
            return Ok(());
        }
        let layers = hedgerow_fs::real_path(held.layers.directory())?;
        if sign_directory(&tree.path.join(".git")).is_some_and(|named| named == layers) {
            return Ok(());
        }
        drop_plain_link(tree)?;
        if held.layers.sign(&tree.path).is_ok() {
            self.tell(false, shown, ".git file incorrect");
        }
        Ok(())
    }

    /// The administrative directory of a working tree that is not mounted and may have been moved to
    /// `top`, where its sign names `layers`.
    fn moved_sign(&mut self, top: &Path, layers: &Path) -> Result<()> {
        let dot_git = top.join(".git");
        let name = layers
            .parent()
            .and_then(Path::file_name)
            .unwrap_or_default();
        let admin = self.repository.admin_dir(name.as_bytes().as_bstr());
        if layers_of(&admin)?.is_none() {
            let reason = "unable to locate repository; .git file does not reference a repository";
            self.tell(true, dot_git.as_os_str().as_bytes(), reason);
            return Ok(());
        }
        let _lock = lock_admin(self.repository, name.as_bytes().as_bstr())?;
        let places = layers_of(&admin)?.map(|it| it.places()).transpose()?;
        let other = places.into_iter().flatten().find(|place| place != top);
        let gitdir = admin.join("gitdir");
        match self.problem(&gitdir, &admin, &dot_git) {
            Some("gitdir absolute/relative path mismatch") | None => Ok(()),
            Some(reason) => {
                if let Some(place) = other {
                    let reason =
                        "the working tree is mounted elsewhere; 'hedgerow worktree unmount' it \
                                  there first";
                    self.tell(true, place.as_os_str().as_bytes(), reason);
                    return Ok(());
                }
                self.tell(false, gitdir.as_os_str().as_bytes(), reason);
                point_to_top(&admin, top)
            }
        }
    }

    /// The administrative directory of a working tree that may have been moved to `word`.
    fn moved(&mut self, word: &BStr) -> Result<()> {
        let place = place_of(self.repository, word);
        let common = hedgerow_fs::real_path(self.repository.common_dir())?;
        let real = real_as_far_as_it_goes(&place);
        if without_dot_git(&real) == without_dot_git(&common) {
            return Ok(());
        }
        let dot_git = real.join(".git");
        if !hedgerow_fs::is_directory(&real) {
            self.tell(true, word, "not a valid path");
            return Ok(());
        }
        if let Some(layers) = sign_directory(&dot_git) {
            return self.moved_sign(&real, &layers);
        }
        let dot_git = hedgerow_fs::real_path(&dot_git).unwrap_or(dot_git);
        let inferred = self.inferred(&dot_git);
        let shown = dot_git.as_os_str().as_bytes();
        let environment = self.repository.environment();
        let target = match (git_file_target(&dot_git, environment), inferred) {
            // It names the administrative directory of the repository that it was copied from.
            (Ok(_) | Err(GitFileProblem::NotARepository), Some(inferred)) => inferred,
            (Ok(target), None) => target,
            (Err(problem), _) => {
                let reason = match problem {
                    problem if is_no_file(problem) => {
                        "unable to locate repository; .git is not a file"
                    }
                    GitFileProblem::NotARepository => {
                        "unable to locate repository; .git file does not reference a repository"
                    }
                    _ => "unable to locate repository; .git file broken",
                };
                self.tell(true, shown, reason);
                return Ok(());
            }
        };
        let gitdir = target.join("gitdir");
        let Some(reason) = self.problem(&gitdir, &target, &dot_git) else {
            return Ok(());
        };
        self.tell(false, gitdir.as_os_str().as_bytes(), reason);
        let top = without_dot_git(&dot_git);
        self.repository
            .link_worktree(&top, &target, self.is_relative)
    }

    /// What is wrong with the file `gitdir` in `admin`, which should name `dot_git`.
    fn problem(&self, gitdir: &Path, admin: &Path, dot_git: &Path) -> Option<&'static str> {
        let Ok(Some(line)) = hedgerow_fs::read_file(gitdir, LINE_LIMIT_BYTES) else {
            return Some("gitdir unreadable");
        };
        if self.is_relative == line.starts_with(b"/") {
            return Some("gitdir absolute/relative path mismatch");
        }
        let mut named = PathBuf::from(OsStr::from_bytes(line.trim_ascii_end()));
        if !named.is_absolute() {
            named = real_as_far_as_it_goes(&admin.join(named));
        }
        (named != dot_git).then_some("gitdir incorrect")
    }

    /// The administrative directory of this repository with the name that the file `dot_git` has at
    /// its end, if there is one.
    fn inferred(&self, dot_git: &Path) -> Option<PathBuf> {
        let content = hedgerow_fs::read_file(dot_git, LINE_LIMIT_BYTES).ok()??;
        let line = content.strip_prefix(b"gitdir:")?.trim_ascii();
        let id = &line[line.rfind_byte(b'/')? + 1..];
        if id.is_empty() {
            return None;
        }
        let admin = self.repository.admin_dir(id.as_bstr());
        hedgerow_fs::is_directory(&admin).then(|| real_as_far_as_it_goes(&admin))
    }
}
