//! The attribute `builtin_objectmode`, which git makes up for each path: gitattributes(5).

use crate::index::Mode;
use crate::repository::{Environment, Repository};
use crate::tree::Difference;
use crate::{Error, Result};
use bstr::{BStr, BString};
use hedgerow_fs::FileKind;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

pub(super) const NAME: &[u8] = b"builtin_objectmode";

/// Where the modes of paths are from.
#[derive(Clone, Debug)]
pub(super) enum Modes {
    /// From the files below the directory `top`.
    OfFiles {
        top: PathBuf,
        environment: Box<Environment>,
        /// The submodules of the index.
        links: HashSet<BString>,
    },
    /// From a tree.
    OfTree(HashMap<BString, Mode>),
}

impl Modes {
    /// Those of the working tree.
    ///
    /// # Errors
    /// An entry of the index below the directory `leading` has no file: git cannot tell its mode then, and
    /// ends.
    pub(super) fn of_files(repository: &Repository, leading: &BStr) -> Result<Self> {
        let top = repository.work_tree().unwrap_or(repository.git_dir());
        let loaded = repository.load_index()?;
        let mut links = HashSet::new();
        for (path, entry) in loaded.iter().flat_map(|(index, _)| index.iter()) {
            if entry.mode == Mode::Gitlink {
                links.insert(path.to_owned());
            }
            let is_asked = path.starts_with(leading);
            if is_asked && hedgerow_fs::lstat(&top.join(OsStr::from_bytes(path)))?.is_none() {
                return Err(Error::Setup {
                    reason: format!("unable to stat '{path}': No such file or directory"),
                });
            }
        }
        Ok(Modes::OfFiles {
            top: top.to_owned(),
            environment: Box::new(repository.environment().clone()),
            links,
        })
    }

    /// Those of a tree, of which every entry is listed as new.
    pub(super) fn of_tree(all: &Difference) -> Self {
        let modes = all.changes().iter().filter_map(|change| {
            let side = change.new?;
            Some((all.path(change).to_owned(), Mode::from(side.kind)))
        });
        Modes::OfTree(modes.collect())
    }

    /// The mode of `path` as it is in trees, with six digits; `None` for what has none.
    pub(super) fn of(&self, path: &BStr) -> Option<&'static str> {
        let (top, environment, links) = match self {
            Modes::OfTree(modes) => return modes.get(path).map(|mode| digits(*mode)),
            Modes::OfFiles {
                top,
                environment,
                links,
            } => (top, environment, links),
        };
        let place = top.join(OsStr::from_bytes(path));
        let stat = hedgerow_fs::lstat(&place).ok().flatten()?;
        Some(digits(match stat.kind {
            FileKind::File if stat.mode & 0o100 != 0 => Mode::Executable,
            FileKind::File => Mode::File,
            FileKind::Symlink => Mode::Symlink,
            FileKind::Directory if !links.contains(path) => {
                let inner = Repository::open_submodule_for_head(&place, environment);
                let head = inner.and_then(|inner| inner.head());
                if head.is_ok_and(|head| head.id().is_some()) {
                    Mode::Gitlink
                } else {
                    Mode::SparseDirectory
                }
            }
            _ => Mode::Gitlink,
        }))
    }
}

fn digits(mode: Mode) -> &'static str {
    match mode {
        Mode::File => "100644",
        Mode::Executable => "100755",
        Mode::Symlink => "120000",
        Mode::Gitlink => "160000",
        Mode::SparseDirectory => "040000",
    }
}
