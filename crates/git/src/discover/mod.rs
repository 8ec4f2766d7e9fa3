//! Finding the repository of a directory, and what it consists of: git(1) under "ENVIRONMENT
//! VARIABLES", git-config(1) under `core.worktree`, gitrepository-layout(5).

mod format;
mod git_dir;
mod nested;
mod ownership;

pub(crate) use git_dir::{git_file_target, is_git_dir, read_line_file, GitFileProblem};
pub(crate) use nested::OtherRepositories;

use crate::config::{Environment, Protected};
use crate::{Error, Result};
use bstr::{BString, ByteSlice};
use format::Format;
use git_dir::bytes;
use ownership::Owned;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Where the parts of a repository are.
#[derive(Debug)]
pub(crate) struct Layout {
    pub git_dir: PathBuf,
    pub common_dir: PathBuf,
    pub work_tree: Option<PathBuf>,
    /// From the top of the working tree to the current directory: empty, or with a `/` at its end.
    pub prefix: BString,
    pub index_path: PathBuf,
    pub objects_dir: PathBuf,
    /// `core.bare` and `core.worktree` are both set, and no working tree is named otherwise.
    pub contradicts_itself: bool,
    /// A working tree is named that is no directory.
    pub lost_work_tree: bool,
    pub format: Format,
    /// What was read of the file `config`.
    pub config: Option<gix_config::File>,
}

/// What a walk up from the current directory ends with.
enum Discovered {
    /// A directory with a `.git`, and the Git directory that it is or names.
    Top { top: PathBuf, git_dir: PathBuf },
    /// A Git directory itself.
    Bare { git_dir: PathBuf },
}

/// Finds the repository as git does: where `GIT_DIR` says, or upwards from the current directory.
pub(crate) fn discover(environment: &Environment) -> Result<Layout> {
    let cwd = hedgerow_fs::real_path(&environment.cwd)?;
    if let Some(named) = &environment.git_dir {
        let git_dir = named_git_dir(&cwd, named, environment)?;
        return layout(&cwd, git_dir, None, true, environment);
    }
    match search(&cwd, environment)? {
        Discovered::Top { top, git_dir } => layout(&cwd, git_dir, Some(top), false, environment),
        Discovered::Bare { git_dir } => layout(&cwd, git_dir, None, false, environment),
    }
}

fn named_git_dir(cwd: &Path, named: &Path, environment: &Environment) -> Result<PathBuf> {
    let path = cwd.join(named);
    // An empty name is not the current directory, as with git.
    if is_empty(named) {
        return Err(not_a_repository(named));
    }
    if let Some(target) = git_dir::read_git_file_shown(&path, &named.display(), environment)? {
        return Ok(target);
    }
    if !git_dir::is_git_dir(&path, environment) {
        return Err(not_a_repository(named));
    }
    Ok(hedgerow_fs::real_path(&path)?)
}

fn not_a_repository(named: &Path) -> Error {
    Error::Setup {
        reason: format!("not a git repository: '{}'", named.display()),
    }
}

fn is_empty(path: &Path) -> bool {
    path.as_os_str().is_empty()
}

fn search(cwd: &Path, environment: &Environment) -> Result<Discovered> {
    let ceilings: Vec<PathBuf> = environment
        .ceiling_directories
        .iter()
        .filter(|path| path.is_absolute())
        .map(|path| hedgerow_fs::real_path(path).unwrap_or_else(|_| path.clone()))
        .collect();
    let mut protected = Protected::new(environment);
    let device = |path: &Path| Ok::<_, Error>(hedgerow_fs::stat(path)?.map(|stat| stat.dev));
    let start = device(cwd)?;
    for directory in cwd.ancestors() {
        if !environment.discover_across_file_systems && device(directory)? != start {
            return Err(Error::NotARepositoryUpTo {
                outside: directory.to_owned(),
            });
        }
        if let Some(found) = look_in(directory, environment, &mut protected)? {
            return Ok(found);
        }
        if directory
            .parent()
            .is_some_and(|parent| ceilings.iter().any(|ceiling| ceiling == parent))
        {
            break;
        }
    }
    Err(Error::NotARepository)
}

fn look_in(
    directory: &Path,
    environment: &Environment,
    protected: &mut Protected<'_>,
) -> Result<Option<Discovered>> {
    let dot_git = directory.join(".git");
    let target = git_dir::read_git_file(&dot_git, environment)?;
    if let Some(layers) = hedgerow_mounts::sign_directory(&dot_git) {
        return Err(Error::NotMounted {
            top: directory.to_owned(),
            admin: layers.parent().unwrap_or(&layers).to_owned(),
        });
    }
    let has_file = target.is_some();
    let target =
        target.or_else(|| git_dir::is_git_dir(&dot_git, environment).then(|| dot_git.clone()));
    if let Some(git_dir) = target {
        let owned = Owned {
            git_file: has_file.then_some(dot_git.as_path()),
            work_tree: Some(directory),
            git_dir: &git_dir,
        };
        ownership::check(&owned, environment, protected)?;
        let top = directory.to_owned();
        return Ok(Some(Discovered::Top { top, git_dir }));
    }
    if git_dir::is_git_dir(directory, environment) {
        check_bare_allowed(directory, protected)?;
        let owned = Owned {
            git_file: None,
            work_tree: None,
            git_dir: directory,
        };
        ownership::check(&owned, environment, protected)?;
        let git_dir = directory.to_owned();
        return Ok(Some(Discovered::Bare { git_dir }));
    }
    Ok(None)
}

/// `safe.bareRepository=explicit` lets a bare repository be found by name only. The Git directory
/// of a working tree is not meant by that.
fn check_bare_allowed(git_dir: &Path, protected: &mut Protected<'_>) -> Result<()> {
    let config = protected.config()?;
    if config
        .string("safe.bareRepository")
        .is_none_or(|value| value != "explicit")
    {
        return Ok(());
    }
    let path = bytes(git_dir);
    if path.ends_with(b"/.git")
        || path.contains_str("/.git/worktrees/")
        || path.contains_str("/.git/modules/")
    {
        return Ok(());
    }
    Err(Error::Setup {
        reason: format!(
            "cannot use bare repository '{}' (safe.bareRepository is 'explicit')",
            git_dir.display()
        ),
    })
}

fn layout(
    cwd: &Path,
    git_dir: PathBuf,
    top: Option<PathBuf>,
    named: bool,
    environment: &Environment,
) -> Result<Layout> {
    let common_dir = git_dir::common_dir(&git_dir, environment);
    let (format, config) = format::read(
        &git_dir,
        &common_dir,
        environment.reference_backend.as_ref(),
    )?;
    let work_tree = work_tree(cwd, &git_dir, top, named, &format, environment)?;
    let is_named = environment.work_tree.is_some();
    let is_configured = !is_named && format.work_tree.is_some();
    let contradicts_itself = is_configured && format.lacks_work_tree;
    let lost_work_tree = work_tree.is_none() && (is_named || is_configured) && !contradicts_itself;
    let prefix = work_tree
        .as_deref()
        .map_or_else(BString::default, |work_tree| prefix(cwd, work_tree));
    let index_path = match &environment.index_file {
        // Git has changed to the top of the working tree when it reads this.
        Some(path) => work_tree.as_deref().unwrap_or(cwd).join(path),
        None => git_dir.join("index"),
    };
    let objects_dir = match &environment.object_directory {
        Some(path) => cwd.join(path),
        None => common_dir.join("objects"),
    };
    Ok(Layout {
        git_dir,
        common_dir,
        work_tree,
        prefix,
        index_path,
        objects_dir,
        contradicts_itself,
        lost_work_tree,
        format,
        config,
    })
}

fn work_tree(
    cwd: &Path,
    git_dir: &Path,
    top: Option<PathBuf>,
    named: bool,
    format: &Format,
    environment: &Environment,
) -> Result<Option<PathBuf>> {
    if let Some(path) = &environment.work_tree {
        if is_empty(path) {
            return Err(Error::Setup {
                reason: "The empty string is not a valid path".into(),
            });
        }
        return directory(&cwd.join(path));
    }
    if let Some(path) = &format.work_tree {
        if format.lacks_work_tree {
            return Ok(None);
        }
        return directory(&git_dir.join(OsStr::from_bytes(path)));
    }
    if format.lacks_work_tree {
        return Ok(None);
    }
    if named {
        return Ok((!environment.no_implicit_work_tree).then(|| cwd.to_owned()));
    }
    Ok(top)
}

/// A named working tree, if it is a directory: otherwise only what needs it is refused.
fn directory(path: &Path) -> Result<Option<PathBuf>> {
    match hedgerow_fs::real_path(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        found => Ok(Some(found?).filter(|path| hedgerow_fs::is_directory(path))),
    }
}

fn prefix(cwd: &Path, work_tree: &Path) -> BString {
    let Ok(inner) = cwd.strip_prefix(work_tree) else {
        return BString::default();
    };
    let mut prefix = BString::from(inner.as_os_str().as_bytes());
    if !prefix.is_empty() {
        prefix.push(b'/');
    }
    prefix
}
