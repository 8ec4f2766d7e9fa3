//! Whether a repository may be trusted: git-config(1) under `safe.directory`.

use super::git_dir::bytes;
use crate::config::{Environment, Protected};
use crate::{Error, Result};
use bstr::ByteSlice;
use std::path::{Path, PathBuf};

/// The paths that decide whose a repository is.
pub(crate) struct Owned<'a> {
    /// The `.git` file, if there is one.
    pub git_file: Option<&'a Path>,
    /// The top of the working tree, unless the repository is bare.
    pub work_tree: Option<&'a Path>,
    /// The Git directory.
    pub git_dir: &'a Path,
}

/// Fails with [`Error::DubiousOwnership`] if one of the paths belongs to another user and
/// `safe.directory` does not list the repository.
pub(crate) fn check(
    owned: &Owned<'_>,
    environment: &Environment,
    protected: &mut Protected<'_>,
) -> Result<()> {
    let mut paths = [owned.git_file, owned.work_tree, Some(owned.git_dir)]
        .into_iter()
        .flatten();
    if !environment.assume_different_owner && paths.all(|path| is_own(path, environment)) {
        return Ok(());
    }
    let shown = owned.work_tree.unwrap_or(owned.git_dir);
    let path = hedgerow_fs::real_path(shown).unwrap_or_else(|_| shown.to_owned());
    if is_listed(&path, environment, protected)? {
        return Ok(());
    }
    Err(Error::DubiousOwnership { path })
}

/// Root also trusts what belongs to the user who became root with sudo.
fn is_own(path: &Path, environment: &Environment) -> bool {
    let Ok(Some(stat)) = hedgerow_fs::lstat(path) else {
        return false;
    };
    let user = hedgerow_fs::effective_uid();
    stat.uid == user || (user == 0 && environment.sudo_uid == Some(stat.uid))
}

fn is_listed(
    path: &Path,
    environment: &Environment,
    protected: &mut Protected<'_>,
) -> Result<bool> {
    let mut safe = false;
    let config = protected.config()?;
    for value in config.strings("safe.directory") {
        match value.as_slice() {
            b"" => safe = false,
            b"*" => safe = true,
            _ => {
                let Some(listed) = config.interpolate(value.as_ref()) else {
                    continue;
                };
                safe |= matches(&listed, path, environment);
            }
        }
    }
    Ok(safe)
}

fn matches(listed: &Path, path: &Path, environment: &Environment) -> bool {
    if listed == Path::new(".") {
        return hedgerow_fs::real_path(&environment.cwd).is_ok_and(|cwd| cwd == path);
    }
    if !listed.is_absolute() {
        return false;
    }
    if let Some(parent) = bytes(listed).strip_suffix(b"/*") {
        let parent = PathBuf::from(parent.to_os_str_lossy().into_owned());
        let parent = if parent.as_os_str().is_empty() {
            PathBuf::from("/")
        } else {
            parent
        };
        return hedgerow_fs::real_path(&parent)
            .is_ok_and(|parent| path != parent && path.starts_with(parent));
    }
    hedgerow_fs::real_path(listed).is_ok_and(|listed| listed == path)
}
