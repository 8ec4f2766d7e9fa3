//! `core.sharedRepository`: who else may use the files of a repository, git-init(1).

use super::Config;
use crate::{Error, Result};
use bstr::{BStr, ByteSlice};
use hedgerow_fs::{LockFile, OutputFile};
use std::path::Path;

/// What a file or directory in the Git directory is open to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// Whatever the umask leaves.
    #[default]
    Umask,
    /// At least to these permission bits.
    AtLeast(u32),
    /// To exactly these.
    Exactly(u32),
}

const GROUP: Sharing = Sharing::AtLeast(0o660);
const EVERYBODY: Sharing = Sharing::AtLeast(0o664);
/// A directory's entries belong to its group.
const SET_GROUP_ID: u32 = 0o2000;

impl Sharing {
    /// As `core.sharedRepository` has it. Fails in git's words where that shuts the owner out.
    pub(crate) fn resolve(config: &Config) -> Result<Self> {
        const KEY: &str = "core.sharedRepository";
        let Some(text) = config.string(KEY) else {
            let alone = config.bool(KEY)? == Some(true);
            return Ok(if alone { GROUP } else { Sharing::Umask });
        };
        match text.as_slice() {
            b"umask" => return Ok(Sharing::Umask),
            b"group" => return Ok(GROUP),
            b"all" | b"world" | b"everybody" => return Ok(EVERYBODY),
            _ => {}
        }
        match octal(text.as_bstr()) {
            Some(0) => Ok(Sharing::Umask),
            Some(1) => Ok(GROUP),
            Some(2) => Ok(EVERYBODY),
            Some(mode) if mode & 0o600 != 0o600 => Err(Error::Config {
                reason: format!(
                    "problem with core.sharedRepository filemode value (0{mode:03o}).\nThe \
                     owner of files must always have read and write permissions."
                ),
            }),
            Some(mode) => Ok(Sharing::Exactly(mode & 0o666)),
            None => Ok(match config.bool(KEY)? {
                Some(true) => GROUP,
                _ => Sharing::Umask,
            }),
        }
    }

    /// The mode that a file of the mode `mode` gets.
    pub(crate) fn of_file(self, mode: u32) -> u32 {
        let (wanted, exact) = match self {
            Sharing::Umask => return mode,
            Sharing::AtLeast(wanted) => (wanted, false),
            Sharing::Exactly(wanted) => (wanted, true),
        };
        let mut wanted = wanted;
        if mode & 0o200 == 0 {
            wanted &= !0o222;
        }
        if mode & 0o100 != 0 {
            wanted |= (wanted & 0o444) >> 2;
        }
        if exact {
            mode & !0o777 | wanted
        } else {
            mode | wanted
        }
    }

    fn of_directory(self, mode: u32) -> u32 {
        match self {
            Sharing::Umask => mode,
            _ => {
                let mode = self.of_file(mode);
                let mode = mode | (mode & 0o444) >> 2;
                // As in git: it matters only where the group may do something.
                match mode & 0o060 {
                    0 => mode,
                    _ => mode | SET_GROUP_ID,
                }
            }
        }
    }

    /// Whether new directories hand their group on, of those that the umask leaves `mode`.
    pub(crate) fn hands_group_on(self, mode: u32) -> bool {
        self.of_directory(mode) & SET_GROUP_ID != 0
    }

    /// Opens the file of a lock, which will be that of its target.
    pub(crate) fn open_lock(self, lock: &LockFile) -> Result<()> {
        if self == Sharing::Umask {
            return Ok(());
        }
        let mode = lock.permissions()?;
        match self.of_file(mode) {
            same if same == mode => Ok(()),
            shared => Ok(lock.set_permissions(shared)?),
        }
    }

    /// Opens a file that has no name yet.
    pub(crate) fn open_output(self, file: &OutputFile) -> Result<()> {
        if self == Sharing::Umask {
            return Ok(());
        }
        let mode = file.stat()?.mode & 0o7777;
        match self.of_file(mode) {
            same if same == mode => Ok(()),
            shared => Ok(file.set_permissions(shared)?),
        }
    }

    /// Opens the file at `path`.
    pub(crate) fn open_file(self, path: &Path) -> Result<()> {
        self.open(path, Self::of_file)
    }

    /// Creates the directory `path` and those above it that are missing, open as they should be.
    pub(crate) fn create_directories(self, path: &Path) -> Result<()> {
        let missing = path
            .ancestors()
            .take_while(|path| !hedgerow_fs::exists(path));
        let missing: Vec<&Path> = missing.collect();
        hedgerow_fs::create_directories(path)?;
        missing
            .into_iter()
            .rev()
            .try_for_each(|path| self.open(path, Self::of_directory))
    }

    fn open(self, path: &Path, shared: impl Fn(Self, u32) -> u32) -> Result<()> {
        if self == Sharing::Umask {
            return Ok(());
        }
        let Some(stat) = hedgerow_fs::stat(path)? else {
            return Ok(());
        };
        let mode = stat.mode & 0o7777;
        match shared(self, mode) {
            same if same == mode => Ok(()),
            shared => Ok(hedgerow_fs::set_permissions(path, shared)?),
        }
    }
}

fn octal(text: &BStr) -> Option<u32> {
    u32::from_str_radix(text.to_str().ok()?, 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_widened_or_replaced() {
        for (sharing, file, directory) in [
            (Sharing::Umask, 0o600, 0o700),
            (GROUP, 0o660, 0o2770),
            (EVERYBODY, 0o664, 0o2775),
            (Sharing::Exactly(0o640), 0o640, 0o2750),
            (Sharing::Exactly(0o600), 0o600, 0o700),
        ] {
            assert_eq!(sharing.of_file(0o600), file, "{sharing:?}");
            assert_eq!(sharing.of_directory(0o700), directory, "{sharing:?}");
        }
        assert_eq!(
            GROUP.of_file(0o400),
            0o440,
            "what nobody may write stays so"
        );
    }
}
