//! Where a submodule is: its directory in the working tree and its Git directory, which name each
//! other. Git keeps the latter below `modules` of the repository around it.

use super::modules::Modules;
use super::read_index;
use crate::config::{ConfigChange, Environment};
use crate::discover::is_git_dir;
use crate::index::{Mode, Stage};
use crate::repository::Repository;
use crate::worktrees::{relative, write_line};
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use hedgerow_fs::FileKind;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What the `.git` of a submodule's directory is.
#[derive(Debug)]
pub(crate) enum Linked {
    /// Nothing: the submodule is not populated.
    No,
    /// A file that leads to a Git directory.
    File(PathBuf),
    /// The Git directory itself.
    Directory,
    /// Something that leads nowhere.
    Broken(Error),
}

impl Linked {
    /// Examines the submodule in `directory`; in git's words, it is `shown`.
    pub(crate) fn of(repository: &Repository, directory: &Path, shown: &BStr) -> Result<Self> {
        let dot_git = directory.join(".git");
        let kind = match hedgerow_fs::lstat(&dot_git) {
            Ok(stat) => stat.map(|stat| stat.kind),
            Err(error) if error.is_absent() => None,
            Err(error) => return Err(error.into()),
        };
        let others = repository.other_repositories();
        match others.has_submodule(&dot_git, &format!("{shown}/.git")) {
            Ok(true) if kind == Some(FileKind::Directory) => Ok(Linked::Directory),
            Ok(true) => Ok(Linked::File(
                Repository::open_submodule(directory, repository.environment())?
                    .git_dir()
                    .to_owned(),
            )),
            Ok(false) => Ok(Linked::No),
            Err(error) => Ok(Linked::Broken(error)),
        }
    }
}

/// Where the Git directory of a submodule is, if it was cloned: below `modules`. One inside of
/// that of another submodule is refused. A name that starts with a slash is below `modules`, too.
pub(crate) fn git_dir_of(repository: &Repository, name: &BStr) -> Result<PathBuf> {
    if repository.has_submodule_paths() {
        return configured_git_dir(repository, name);
    }
    let modules = repository.git_dir().join("modules");
    let name = name.trim_start_with(|it| it == '/').as_bstr();
    for slash in name.find_iter(b"/") {
        let around = modules.join(OsStr::from_bytes(&name[..slash]));
        if is_git_dir(&around, repository.environment()) {
            let git_dir = modules.join(OsStr::from_bytes(name));
            return Err(Error::Setup {
                reason: format!(
                    "refusing to create/use '{}' in another submodule's git dir",
                    git_dir.display()
                ),
            });
        }
    }
    Ok(modules.join(OsStr::from_bytes(name)))
}

/// The same where `extensions.submodulePathConfig` is on: its last name is that of one directory below
/// `modules`.
fn configured_git_dir(repository: &Repository, name: &BStr) -> Result<PathBuf> {
    let config = repository.config();
    let path = config.string_in("submodule", name, "gitdir");
    let path = path.ok_or_else(|| Error::Setup {
        reason: format!("the 'submodule.{name}.gitdir' config does not exist for module '{name}'"),
    })?;
    let last = path
        .rfind("/modules/")
        .map(|at| &path[at + "/modules/".len()..]);
    if last.is_none_or(|last| last.is_empty() || last == b".." || last.contains(&b'/')) {
        return Err(Error::Setup {
            reason: format!("refusing to create/use '{path}' in another submodule's  git dir."),
        });
    }
    let top = repository.require_work_tree()?;
    Ok(top.join(OsStr::from_bytes(&path)))
}

/// Git alone gives a new submodule a Git directory where `extensions.submodulePathConfig` is on.
pub(super) fn refuse_new(repository: &Repository) -> Result<()> {
    if repository.has_submodule_paths() {
        return Err(Error::NotBuilt {
            reason:
                "registering submodules with extensions.submodulePathConfig: git submodule does \
                     that"
                    .into(),
        });
    }
    Ok(())
}

/// Opens a submodule, whose working tree has to be where it belongs. `git_dir`: it is not connected
/// with that yet.
pub(crate) fn opened(
    environment: &Environment,
    directory: &Path,
    git_dir: Option<&Path>,
) -> Result<Repository> {
    if let Some(git_dir) = git_dir {
        return stand_alone(environment, git_dir, git_dir);
    }
    let submodule = Repository::open_submodule(directory, environment)?;
    let top = submodule.require_work_tree()?;
    if hedgerow_fs::real_path(top)? != hedgerow_fs::real_path(directory)? {
        return Err(Error::Setup {
            reason: format!(
                "the working tree of the submodule in '{}' is elsewhere: '{}'",
                directory.display(),
                top.display()
            ),
        });
    }
    Ok(submodule)
}

/// Opens the Git directory of a submodule with `work_tree`, whatever it says itself.
pub(crate) fn stand_alone(
    environment: &Environment,
    git_dir: &Path,
    work_tree: &Path,
) -> Result<Repository> {
    Repository::discover(&Environment {
        cwd: work_tree.to_owned(),
        git_dir: Some(git_dir.to_owned()),
        work_tree: Some(work_tree.to_owned()),
        index_file: None,
        common_dir: None,
        object_directory: None,
        ..environment.clone()
    })
}

/// Makes the directory and the Git directory of a submodule name each other. `drops_index`: what the
/// index says of files is about a working tree that is gone.
pub(crate) fn connect(
    environment: &Environment,
    directory: &Path,
    git_dir: &Path,
    drops_index: bool,
) -> Result<()> {
    hedgerow_fs::create_directories(directory)?;
    let top = hedgerow_fs::real_path(directory)?;
    let git_dir = hedgerow_fs::real_path(git_dir)?;
    if drops_index {
        hedgerow_fs::remove_file(&git_dir.join("index"))?;
    }
    let to_git_dir = relative(&git_dir, &top);
    let line = [b"gitdir: ", to_git_dir.as_os_str().as_bytes()].concat();
    write_line(&top.join(".git"), &line)?;
    let submodule = opened(environment, directory, Some(&git_dir))?;
    let to_top = BString::from(relative(&top, &git_dir).as_os_str().as_bytes());
    if submodule.config().string("core.worktree").as_ref() == Some(&to_top) {
        return Ok(());
    }
    submodule.set_config("core", &[("worktree", to_top)])
}

/// Corrects `core.worktree` of a submodule that has it, as git does. Where it is not set, the directory may
/// be a working tree of another repository, whose settings stay as they are.
pub(crate) fn ensure_worktree(submodule: &Repository, directory: &Path) -> Result<()> {
    let top = hedgerow_fs::real_path(directory)?;
    let git_dir = hedgerow_fs::real_path(submodule.git_dir())?;
    let to_top = BString::from(relative(&top, &git_dir).as_os_str().as_bytes());
    let set = submodule.config().string("core.worktree");
    if set.is_some_and(|set| set != to_top) {
        submodule.set_config("core", &[("worktree", to_top)])?;
    }
    Ok(())
}

/// Takes the `.git` file of a submodule away, whose other files are gone. Its Git directory stays, and
/// does not name the directory any more.
pub(crate) fn disconnect(submodule: &Repository, directory: &Path) -> Result<()> {
    hedgerow_fs::remove_file(&directory.join(".git"))?;
    let unset = ConfigChange::unset("core", "worktree");
    submodule
        .prepare_config_file(&submodule.config_path(), &[unset])?
        .commit()?;
    Ok(())
}

/// Moves the Git directory of a submodule from its directory to where it belongs, `git_dir`; those of
/// submodules in it, too. Returns git's words about each.
pub(crate) fn absorb(
    environment: &Environment,
    directory: &Path,
    git_dir: &Path,
    shown: &BStr,
) -> Result<Vec<String>> {
    let old = hedgerow_fs::real_path(&directory.join(".git"))?;
    if let Some(around) = git_dir.parent() {
        hedgerow_fs::create_directories(around)?;
    }
    hedgerow_fs::rename(&old, git_dir)?;
    let git_dir = hedgerow_fs::real_path(git_dir)?;
    connect(environment, directory, &git_dir, false)?;
    let mut said = vec![format!(
        "Migrating git directory of '{shown}' from\n'{}' to\n'{}'",
        old.display(),
        git_dir.display()
    )];
    said.extend(absorb_inner(environment, directory, shown)?);
    Ok(said)
}

/// The same for the submodules of a submodule that was moved: those that were absorbed by it before
/// are connected again.
pub(crate) fn absorb_inner(
    environment: &Environment,
    directory: &Path,
    above: &BStr,
) -> Result<Vec<String>> {
    let submodule = opened(environment, directory, None)?;
    let index = read_index(&submodule)?;
    let modules = Modules::read(&submodule, &index)?;
    let links = index.entries().iter().filter(|entry| {
        let is_merged = entry.flags.stage == Stage::Merged;
        entry.mode == Mode::Gitlink && is_merged
    });
    let mut said = Vec::new();
    for entry in links {
        let path = index.path(entry);
        let Some(module) = modules.at(path) else {
            continue;
        };
        let git_dir = git_dir_of(&submodule, module.name.as_bstr())?;
        let inner = directory.join(OsStr::from_bytes(path));
        let shown = BString::from([above.as_bytes(), b"/", path].concat());
        match Linked::of(&submodule, &inner, path)? {
            Linked::Directory => {
                said.extend(absorb(environment, &inner, &git_dir, shown.as_bstr())?);
            }
            Linked::Broken(_) if is_git_dir(&git_dir, environment) => {
                connect(environment, &inner, &git_dir, false)?;
                said.extend(absorb_inner(environment, &inner, shown.as_bstr())?);
            }
            Linked::No | Linked::File(_) | Linked::Broken(_) => {}
        }
    }
    Ok(said)
}

/// Why the Git directory of a submodule cannot be moved to `git_dir`, if it cannot.
pub(crate) fn unabsorbable(
    directory: &Path,
    git_dir: &Path,
    path: &BStr,
) -> Result<Option<String>> {
    let linked = hedgerow_fs::list_directory(&directory.join(".git/worktrees"))?;
    if linked.is_some_and(|linked| !linked.is_empty()) {
        return Ok(Some(format!(
            "relocate_gitdir for submodule '{path}' with more than one worktree not supported"
        )));
    }
    if hedgerow_fs::is_there(git_dir)? {
        return Ok(Some(format!(
            "could not migrate git directory from '{}' to '{}'",
            directory.join(".git").display(),
            git_dir.display()
        )));
    }
    Ok(None)
}
