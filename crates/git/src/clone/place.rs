//! Where a clone goes, and what an interrupted one leaves there.

use super::directory::directory_of;
use crate::worktrees::tree_removal::remove_tree;
use crate::Result;
use bstr::BString;
use hedgerow_fs::{DirEntry, FileKind};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often, and after which pauses, what is left is looked at: programs that git started may still
/// write there for a moment.
const TRIES: u32 = 40;
const PAUSE: Duration = Duration::from_millis(25);

/// What a repository has at its top while git receives into it, before it has references:
/// gitrepository-layout(5).
const GIT_NAMES: [&str; 11] = [
    "HEAD",
    "branches",
    "config",
    "config.lock",
    "description",
    "hooks",
    "info",
    "objects",
    "refs",
    "reftable",
    "shallow",
];

/// The directory of a clone that is to be made.
#[derive(Clone, Debug)]
pub struct Place {
    path: PathBuf,
    is_bare: bool,
    before: Before,
}

/// What there was before the clone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    Nothing,
    EmptyDirectory,
    Other,
}

impl Before {
    /// What cannot be looked at is not ours to remove: git says what is wrong with it.
    fn of(path: &Path) -> Before {
        let is_absent = matches!(hedgerow_fs::lstat(path), Ok(None));
        let entries = hedgerow_fs::list_directory(path);
        let is_empty =
            entries.is_ok_and(|entries| entries.is_some_and(|entries| entries.is_empty()));
        match (is_absent, is_empty) {
            (true, _) => Before::Nothing,
            (false, true) => Before::EmptyDirectory,
            (false, false) => Before::Other,
        }
    }
}

impl Place {
    /// Where git makes the clone of `source`, which is a URL or a path seen from `cwd`: at `given`, or
    /// else in a directory of `cwd` that is named after the source. `None` if no name can be made of it.
    pub fn new(source: &OsStr, given: Option<&OsStr>, is_bare: bool, cwd: &Path) -> Option<Place> {
        let given = given.map(|given| BString::from(given.as_bytes()));
        let name = given.or_else(|| guessed(source, is_bare, cwd))?;
        let path = cwd.join(OsStr::from_bytes(&name));
        Some(Place {
            before: Before::of(&path),
            path,
            is_bare,
        })
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes what git left of a clone that was interrupted. It removes everything itself, but programs
    /// that it started may write there meanwhile, and its own removal may be cut short. What
    /// was there before the clone, and what is not git's, stays.
    ///
    /// # Errors
    /// Something cannot be removed.
    pub fn clear(&self) -> Result<()> {
        if self.before == Before::Other {
            return Ok(());
        }
        for _ in 1..TRIES {
            if self.try_to_clear().is_ok() {
                return Ok(());
            }
            std::thread::sleep(PAUSE);
        }
        self.try_to_clear()
    }

    fn try_to_clear(&self) -> Result<()> {
        let Some(entries) = hedgerow_fs::list_directory(&self.path)? else {
            return Ok(());
        };
        if !entries.iter().all(|entry| self.is_of_git(entry)) {
            return Ok(());
        }
        for entry in &entries {
            remove_tree(&self.path.join(OsStr::from_bytes(&entry.name)))?;
        }
        if self.before == Before::Nothing {
            hedgerow_fs::remove_directory(&self.path)?;
        }
        Ok(())
    }

    fn is_of_git(&self, entry: &DirEntry) -> bool {
        if self.is_bare {
            let mut names = GIT_NAMES.iter();
            return names.any(|name| entry.name == name.as_bytes());
        }
        entry.name == b".git"
    }
}

/// The name that git makes of `source`.
fn guessed(source: &OsStr, is_bare: bool, cwd: &Path) -> Option<BString> {
    let is_file = |path: &OsStr| {
        let stat = hedgerow_fs::stat(&cwd.join(path)).ok().flatten();
        stat.is_some_and(|stat| stat.kind == FileKind::File)
    };
    let with_suffix = [source.as_bytes(), b".bundle"].concat();
    let is_bundle = is_file(source) || is_file(OsStr::from_bytes(&with_suffix));
    let mut name = directory_of(source.as_bytes(), is_bundle)?;
    if is_bare {
        name.extend_from_slice(b".git");
    }
    Some(name)
}

#[cfg(test)]
#[allow(
    clippy::disallowed_methods,
    reason = "tests play the user, who has no handle"
)]
mod tests {
    use super::*;
    use hedgerow_testkit::temporary;
    use std::fs;

    fn place(home: &Path, name: &str, is_bare: bool) -> Place {
        let given = Some(OsStr::new(name));
        Place::new(OsStr::new("file:///source"), given, is_bare, home).unwrap()
    }

    /// What git leaves where a program of its own writes while it removes.
    fn leave(place: &Place) {
        let git_dir = if place.is_bare {
            place.path.clone()
        } else {
            place.path.join(".git")
        };
        fs::create_dir_all(git_dir.join("objects/pack")).unwrap();
        fs::write(git_dir.join("objects/pack/tmp_idx_Sb9xPt"), "index").unwrap();
    }

    #[test]
    fn what_git_left_goes() {
        let home = temporary();
        for is_bare in [false, true] {
            let new = place(home.path(), "new", is_bare);
            new.clear().unwrap();
            leave(&new);
            new.clear().unwrap();
            assert!(!home.path().join("new").exists());
        }
        fs::create_dir(home.path().join("empty")).unwrap();
        let empty = place(home.path(), "empty", false);
        leave(&empty);
        empty.clear().unwrap();
        assert_eq!(fs::read_dir(home.path().join("empty")).unwrap().count(), 0);
    }

    #[test]
    fn what_is_not_gits_stays() {
        let home = temporary();
        // It came while the clone was made.
        let new = place(home.path(), "new", false);
        leave(&new);
        fs::write(home.path().join("new/precious"), "").unwrap();
        new.clear().unwrap();
        assert!(home.path().join("new/precious").exists());
        // It was there before.
        fs::create_dir_all(home.path().join("other/.git/objects")).unwrap();
        place(home.path(), "other", false).clear().unwrap();
        assert!(home.path().join("other/.git/objects").exists());
        fs::write(home.path().join("file"), "").unwrap();
        place(home.path(), "file", false).clear().unwrap();
        assert!(home.path().join("file").exists());
    }

    #[test]
    fn a_place_is_named_as_git_names_it() {
        let home = temporary();
        fs::write(home.path().join("b.bundle"), "").unwrap();
        for (source, is_bare, name) in [
            ("../a/r.git", false, "r"),
            ("../a/r.git", true, "r.git"),
            ("b.bundle", false, "b"),
            ("b", true, "b.git"),
        ] {
            let place = Place::new(OsStr::new(source), None, is_bare, home.path());
            assert_eq!(place.unwrap().path(), home.path().join(name));
        }
    }
}
