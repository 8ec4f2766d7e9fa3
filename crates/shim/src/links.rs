//! The directory whose `git` is hedgerow.

use crate::search::{find, Found};
use hedgerow_fs::{Error, PrivateDir};
use std::ffi::OsStr;
use std::fmt;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Why links cannot be made or removed.
#[derive(Debug)]
pub enum LinksError {
    /// Something else has the name of the link.
    Foreign(PathBuf),
    /// There is no link of ours.
    NotInstalled(PathBuf),
    /// A call of the system failed.
    Fs(Error),
}

impl fmt::Display for LinksError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LinksError::Foreign(path) => {
                write!(f, "'{}' is not a link to hedgerow", path.display())
            }
            LinksError::NotInstalled(path) => {
                write!(f, "there is no 'git' in '{}'", path.display())
            }
            LinksError::Fs(error) => error.fmt(f),
        }
    }
}

impl From<Error> for LinksError {
    fn from(error: Error) -> Self {
        LinksError::Fs(error)
    }
}

/// Makes `directory`, if it is missing, and the link `git` in it to `program`, an absolute path. One
/// that is there is renewed.
///
/// # Errors
/// Something that is no link to a hedgerow has that name; nothing was changed then.
pub fn install(directory: &Path, program: &Path) -> Result<(), LinksError> {
    let link = directory.join("git");
    hedgerow_fs::create_directories(directory)?;
    if hedgerow_fs::lstat(&link)?.is_some() {
        if !is_ours(&link) {
            return Err(LinksError::Foreign(link));
        }
        hedgerow_fs::remove_file(&link)?;
    }
    Ok(hedgerow_fs::create_link(&link, program)?)
}

/// Removes the link `git` from `directory`, and the directory if it is empty then.
///
/// # Errors
/// There is no such link, or it does not lead to a hedgerow; nothing was changed then.
pub fn remove(directory: &Path) -> Result<(), LinksError> {
    let link = directory.join("git");
    if hedgerow_fs::lstat(&link)?.is_none() {
        return Err(LinksError::NotInstalled(directory.to_owned()));
    }
    if !is_ours(&link) {
        return Err(LinksError::Foreign(link));
    }
    hedgerow_fs::remove_file(&link)?;
    // It may have been there before.
    let _ = hedgerow_fs::remove_directory(directory);
    Ok(())
}

/// Whether the link leads to a program of our name, which may be gone, or to this one.
fn is_ours(link: &Path) -> bool {
    let Ok(target) = hedgerow_fs::read_link(link) else {
        return false;
    };
    let id = |stat: hedgerow_fs::Stat| (stat.dev, stat.ino);
    let target_id = hedgerow_fs::stat(link).ok().flatten().map(id);
    Path::new(&target).file_name() == Some(OsStr::new("hedgerow"))
        || target_id.is_some() && target_id == hedgerow_fs::own_program_stat().map(id)
}

/// What a call of `git` meets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// The real git.
    Inactive(Found),
    /// hedgerow, which hands over to the real git.
    Active {
        /// The directory with the link.
        directory: PathBuf,
        /// The real git; `None` if there is none.
        real: Option<PathBuf>,
    },
}

/// The state with this `PATH`.
pub fn state(path: &OsStr) -> State {
    match find(path, None) {
        Found {
            ours: Some(directory),
            real,
            ours_is_first: true,
        } => State::Active { directory, real },
        found => State::Inactive(found),
    }
}

/// What the name of a temporary directory begins with; the number of its process follows.
const TEMPORARY: &str = "hedgerow-git-";
/// How often a directory is made that another process takes for abandoned.
const ATTEMPTS: u32 = 16;

/// A directory with the link, as long as the value lives.
#[derive(Debug)]
pub struct TemporaryLink {
    /// It is locked: without the lock it was left by a process that was killed.
    directory: PrivateDir,
}

impl TemporaryLink {
    /// Makes it below `parent`, for this user alone. Those that processes left there which were killed
    /// are removed.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new(parent: &Path, program: &Path) -> Result<Self, Error> {
        remove_abandoned(parent);
        let path = parent.join(format!("{TEMPORARY}{}", std::process::id()));
        for _ in 0..ATTEMPTS {
            let directory = PrivateDir::open_or_create(&path)?;
            if directory.try_lock()? {
                let link = TemporaryLink { directory };
                hedgerow_fs::create_link(&path.join("git"), program)?;
                return Ok(link);
            }
        }
        Err(Error::new("lock", path, ErrorKind::WouldBlock))
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Makes a link of another name to `program`.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn add(&self, name: &str, program: &Path) -> Result<(), Error> {
        hedgerow_fs::create_link(&self.directory().join(name), program)
    }
}

impl Drop for TemporaryLink {
    /// Removes the directory, with the link and whatever else was put beside it.
    fn drop(&mut self) {
        let entries = hedgerow_fs::list_directory(self.directory()).ok().flatten();
        for entry in entries.unwrap_or_default() {
            let path = self.directory().join(OsStr::from_bytes(&entry.name));
            let _ = hedgerow_fs::remove_file(&path);
        }
        let _ = hedgerow_fs::remove_directory(self.directory());
    }
}

/// Removes temporary directories without a process. What cannot be removed harms nobody.
fn remove_abandoned(parent: &Path) {
    let entries = hedgerow_fs::list_directory(parent).ok().flatten();
    for entry in entries.unwrap_or_default() {
        let number = entry.name.strip_prefix(TEMPORARY.as_bytes());
        if !number.is_some_and(|number| number.iter().all(u8::is_ascii_digit)) {
            continue;
        }
        // Those of others are refused.
        let directory = PrivateDir::open_or_create(&parent.join(OsStr::from_bytes(&entry.name)));
        if let Ok(directory) = directory {
            if matches!(directory.try_lock(), Ok(true)) {
                drop(TemporaryLink { directory });
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests prepare files")]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_temporary_link_goes_with_its_value_and_an_abandoned_one_with_the_next() {
        let place = tempfile::tempdir().unwrap();
        let abandoned = place.path().join("hedgerow-git-1");
        PrivateDir::open_or_create(&abandoned).unwrap();
        std::os::unix::fs::symlink("/gone", abandoned.join("git")).unwrap();
        let other = place.path().join("hedgerow-git-2x");
        fs::create_dir(&other).unwrap();
        let first = TemporaryLink::new(place.path(), Path::new("/opt/1/hedgerow")).unwrap();
        assert!(!abandoned.exists() && other.exists());
        // A second process finds that it is in use.
        remove_abandoned(place.path());
        let link = first.directory().join("git");
        assert_eq!(fs::read_link(&link).unwrap(), Path::new("/opt/1/hedgerow"));
        drop(first);
        assert!(!link.parent().unwrap().exists());
    }

    #[test]
    fn the_link_is_made_renewed_and_removed_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("a/b");
        let link = directory.join("git");
        for version in ["/opt/1/hedgerow", "/opt/2/hedgerow"] {
            install(&directory, Path::new(version)).unwrap();
            assert_eq!(fs::read_link(&link).unwrap(), Path::new(version));
        }
        // A program of another name is known if it is this one.
        remove(&directory).unwrap();
        let own = std::env::current_exe().unwrap();
        install(&directory, &own).unwrap();
        install(&directory, &own).unwrap();
        remove(&directory).unwrap();
        assert!(!fs::exists(&directory).unwrap());
        assert!(matches!(
            remove(&directory),
            Err(LinksError::NotInstalled(_))
        ));
        fs::create_dir(&directory).unwrap();
        fs::write(&link, "mine").unwrap();
        let refused = install(&directory, Path::new("/opt/1/hedgerow"));
        assert!(matches!(refused, Err(LinksError::Foreign(_))));
        assert!(matches!(remove(&directory), Err(LinksError::Foreign(_))));
        assert_eq!(fs::read(&link).unwrap(), b"mine");
    }
}
