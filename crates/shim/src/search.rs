//! Finding the real git: the first `git` in `PATH` that is not this program.

use hedgerow_fs::{FileKind, Stat};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What stands in `PATH` under the name of git.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The first directory whose `git` is this program.
    pub ours: Option<PathBuf>,
    /// The real git.
    pub real: Option<PathBuf>,
    /// Whether that directory comes before the real git.
    pub ours_is_first: bool,
}

/// Looks through `path`, the value of `PATH`. Programs up to `after`, and that one, are passed over.
pub fn find(path: &OsStr, after: Option<&Path>) -> Found {
    let own = hedgerow_fs::own_program_stat();
    let is_own = |stat: &Stat| {
        let own = own.as_ref();
        own.is_some_and(|own| (own.dev, own.ino) == (stat.dev, stat.ino))
    };
    let mut found = Found::default();
    let mut passed = after.is_none();
    for directory in path.as_bytes().split(|byte| *byte == b':') {
        // An empty part is the current directory, as for execvp(3).
        let directory = match directory {
            b"" => Path::new("."),
            directory => Path::new(OsStr::from_bytes(directory)),
        };
        let program = directory.join("git");
        let Some(stat) = stat(&program).filter(|stat| stat.kind == FileKind::File) else {
            continue;
        };
        // This program may be the one that another hedgerow took for the real git.
        let is_last_passed = after == Some(program.as_path());
        if is_own(&stat) {
            passed |= is_last_passed;
            found.ours.get_or_insert_with(|| directory.to_owned());
            found.ours_is_first |= found.real.is_none();
        } else if !passed {
            passed = is_last_passed;
        } else if found.real.is_none() && hedgerow_fs::is_executable(&program) {
            found.real = Some(program);
        }
    }
    found
}

fn stat(path: &Path) -> Option<Stat> {
    hedgerow_fs::stat(path).ok().flatten()
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests prepare files")]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{symlink, PermissionsExt};

    #[test]
    fn the_real_git_is_the_first_that_is_not_this_program() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        for name in ["none", "shim", "not-executable", "first", "second"] {
            fs::create_dir(at(name)).unwrap();
        }
        symlink(std::env::current_exe().unwrap(), at("shim/git")).unwrap();
        for (name, mode) in [
            ("not-executable", 0o644),
            ("first", 0o755),
            ("second", 0o755),
        ] {
            let program = at(name).join("git");
            fs::write(&program, "#!/bin/sh\n").unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(mode)).unwrap();
        }
        let names = ["none", "shim", "not-executable", "first", "second"];
        let path = std::env::join_paths(names.map(at)).unwrap();
        let found = find(&path, None);
        assert_eq!(found.ours, Some(at("shim")));
        assert!(found.ours_is_first);
        let first = at("first/git");
        // Root may execute only what has an executable bit, too.
        assert_eq!(found.real, Some(first.clone()));
        assert_eq!(find(&path, Some(&first)).real, Some(at("second/git")));
        let second = at("second/git");
        assert_eq!(find(&path, Some(&second)).real, None);
        // Another hedgerow before this one took it for the real git.
        let names = ["first", "shim", "second"];
        let path = std::env::join_paths(names.map(at)).unwrap();
        assert_eq!(find(&path, Some(&at("shim/git"))).real, Some(second));
    }
}
