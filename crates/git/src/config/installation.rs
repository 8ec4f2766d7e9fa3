//! Where git is installed. That decides which files of the system it reads: `sysconfdir` in git's
//! Makefile is `/etc` below the prefix `/usr`, and `etc` in any other prefix.

use super::Environment;
use std::path::{Path, PathBuf};

/// The prefix of distributions.
const USUAL: &str = "/usr";

/// A place where git is installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Installation {
    prefix: PathBuf,
    system_directory: PathBuf,
}

impl Default for Installation {
    fn default() -> Self {
        Installation {
            prefix: USUAL.into(),
            system_directory: "/etc".into(),
        }
    }
}

impl Installation {
    /// That of the first git in `PATH`, as far as its place tells; else the usual one.
    pub fn find(environment: &Environment) -> Self {
        let path = environment.path.as_deref().unwrap_or_default();
        let program = hedgerow_fs::find_other_program(path, "git");
        // What a relative part of PATH leads to depends on where one is: a repository decides nothing here.
        let program = program.filter(|program| program.is_absolute());
        let found = program.and_then(|program| Installation::of(&program));
        found.unwrap_or_default()
    }

    /// That of a program. What stands alone, such as a script around git, has none.
    fn of(program: &Path) -> Option<Self> {
        let real = hedgerow_fs::real_path(program).ok()?;
        let directory = real.parent()?;
        let places = ["bin", "libexec/git-core", "lib/git-core"];
        let place = places.iter().find(|place| directory.ends_with(place))?;
        let prefix = directory.ancestors().nth(Path::new(place).iter().count())?;
        let cores = places[1..].iter().map(|core| prefix.join(core));
        if prefix == Path::new(USUAL)
            || !cores
                .into_iter()
                .any(|core| hedgerow_fs::is_directory(&core))
        {
            return None;
        }
        // Nix builds git with the system's directory, Homebrew with that of all its packages.
        let cellar = prefix.ancestors().find(|above| above.ends_with("Cellar"));
        let system_directory = match cellar.and_then(Path::parent) {
            Some(all) => all.join("etc"),
            None if prefix.starts_with("/nix/store") => "/etc".into(),
            None => prefix.join("etc"),
        };
        Some(Installation {
            prefix: prefix.to_owned(),
            system_directory,
        })
    }

    /// What `%(prefix)/` stands for.
    pub fn prefix(&self) -> &Path {
        &self.prefix
    }

    /// The file of the system called `name`.
    pub fn system_file(&self, name: &str) -> PathBuf {
        self.system_directory.join(name)
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests prepare files")]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{symlink, PermissionsExt};

    /// A git below `prefix`, with the directory of its other programs.
    fn install(prefix: &Path) -> PathBuf {
        for directory in ["bin", "libexec/git-core"] {
            fs::create_dir_all(prefix.join(directory)).unwrap();
        }
        let program = prefix.join("bin/git");
        fs::write(&program, "").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        program
    }

    #[test]
    fn the_prefix_decides_which_files_are_read() {
        let scratch = hedgerow_testkit::temporary();
        let root = fs::canonicalize(scratch.path()).unwrap();
        let program = install(&root.join("opt"));
        symlink(&program, root.join("git")).unwrap();
        let brewed = install(&root.join("brew/Cellar/git/2.55"));
        for (program, file) in [
            (&program, root.join("opt/etc/gitconfig")),
            (&root.join("git"), root.join("opt/etc/gitconfig")),
            (&brewed, root.join("brew/etc/gitconfig")),
        ] {
            let found = Installation::of(program).unwrap();
            assert_eq!(found.system_file("gitconfig"), file);
        }
        let environment = Environment {
            path: Some(root.join("opt/bin").into_os_string()),
            ..Environment::default()
        };
        let found = Installation::find(&environment);
        assert_eq!(found.prefix(), root.join("opt"));
    }

    #[test]
    fn what_is_no_installation_means_the_usual_one() {
        let scratch = hedgerow_testkit::temporary();
        let wrapper = install(&scratch.path().join("home"));
        fs::remove_dir(scratch.path().join("home/libexec/git-core")).unwrap();
        assert_eq!(Installation::of(&wrapper), None);
        let none = Installation::find(&Environment::default());
        assert_eq!(none.system_file("gitconfig"), Path::new("/etc/gitconfig"));
    }
}
