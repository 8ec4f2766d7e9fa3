//! What `.gitmodules` and the configuration say of submodules: gitmodules(5). Names and addresses
//! that would lead elsewhere are refused, as by git.

use crate::config::{boolean, Config};
use crate::index::{Index, Mode, Stage};
use crate::repository::Repository;
use crate::worktree::pathspecs::Pathspecs;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use hedgerow_fs::{Dir, FileKind};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

pub(crate) const FILE: &[u8] = b".gitmodules";
/// A larger file is refused, in bytes.
const LIMIT_BYTES: u64 = 64 << 20;

/// A submodule of `.gitmodules`.
#[derive(Clone, Debug)]
pub(crate) struct Module {
    pub name: BString,
    /// Where it is cloned from.
    pub url: Option<BString>,
    /// How it is updated.
    pub update: Option<BString>,
    /// A clone of it should have a history of one commit.
    pub is_shallow: bool,
}

/// The submodules of a working tree, by path.
pub(crate) struct Modules {
    by_path: HashMap<BString, Module>,
    /// Git's warnings about what is ignored.
    pub warnings: Vec<String>,
}

impl Modules {
    /// Those of the working tree, or of `index` if there is no such file.
    pub(crate) fn read(repository: &Repository, index: &Index) -> Result<Self> {
        let root = Dir::open(repository.require_work_tree()?)?;
        let mut content = Vec::new();
        let file = match root.open_file(FILE) {
            Ok(file) => file,
            // Not to be read is not to be absent.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => return Err(error.into()),
            Err(_) => return Modules::of_index(repository, index),
        };
        match file.read_to_end(&mut content, LIMIT_BYTES) {
            Err(error) if error.kind() == ErrorKind::IsADirectory => {
                let path = root.path_of(FILE);
                let ignored = format!("unable to access '{}': Is a directory", path.display());
                let mut modules = Modules::parse(b"")?;
                modules.warnings.push(ignored);
                Ok(modules)
            }
            read => read
                .map_err(Error::from)
                .and_then(|()| Modules::parse(&content)),
        }
    }

    /// Those of `index`.
    pub(crate) fn of_index(repository: &Repository, index: &Index) -> Result<Self> {
        match index.find(FILE.as_bstr(), Stage::Merged) {
            Ok(row) => Modules::parse(&repository.read_object(&index.entries()[row].id)?.1),
            Err(_) => Modules::parse(b""),
        }
    }

    /// None at all.
    pub(crate) fn none() -> Self {
        Modules {
            by_path: HashMap::new(),
            warnings: Vec::new(),
        }
    }

    fn parse(content: &[u8]) -> Result<Self> {
        let mut modules = Modules::none();
        let file = Config::of_file(content, Path::new(".gitmodules"))?;
        for name in file.subsections("submodule") {
            modules.add(&file, name)?;
        }
        Ok(modules)
    }

    fn add(&mut self, file: &Config, name: BString) -> Result<()> {
        if !is_safe_name(name.as_bstr()) {
            let ignored = format!("ignoring suspicious submodule name: {name}");
            self.warnings.push(ignored);
            return Ok(());
        }
        let mut value = |key: &str| {
            let value = file.string_in("submodule", name.as_bstr(), key)?;
            if matches!(key, "path" | "url") && value.starts_with(b"-") {
                let ignored = format!(
                    "ignoring 'submodule.{name}.{key}' which may be interpreted as a \
                     command-line option: {value}"
                );
                self.warnings.push(ignored);
                return None;
            }
            Some(value)
        };
        let (path, url, update) = (value("path"), value("url"), value("update"));
        let is_shallow = value("shallow").is_some_and(|word| boolean(word.as_bstr()) == Some(true));
        if update
            .as_ref()
            .is_some_and(|update| !is_plain(update.as_bstr()))
        {
            return Err(Error::Setup {
                reason: format!("invalid value for 'submodule.{name}.update'"),
            });
        }
        if let Some(path) = path {
            let module = Module {
                name,
                url,
                update,
                is_shallow,
            };
            self.by_path.insert(path, module);
        }
        Ok(())
    }

    pub(crate) fn at(&self, path: &BStr) -> Option<&Module> {
        self.by_path.get(path)
    }

    /// Whether the submodule is active: git-submodule(1) under "ACTIVE SUBMODULES", gitsubmodules(7).
    pub(crate) fn is_active(&self, repository: &Repository, path: &BStr) -> Result<bool> {
        let Some(module) = self.at(path) else {
            return Ok(false);
        };
        let config = repository.config();
        let name = module.name.as_bstr();
        if let Some(word) = config.string_in("submodule", name, "active") {
            return boolean(word.as_bstr()).ok_or_else(|| Error::Config {
                reason: format!("bad boolean config value '{word}' for 'submodule.{name}.active'"),
            });
        }
        let patterns = config.strings("submodule.active");
        if !patterns.is_empty() {
            let specs = Pathspecs::at_top(repository, &patterns)?;
            return Ok(specs.fits(path, Mode::Gitlink));
        }
        Ok(config.string_in("submodule", name, "url").is_some())
    }
}

/// Whether the name leads to no other directory below `modules`: no part of it is `..`.
fn is_safe_name(name: &BStr) -> bool {
    let mut parts = name.split(|byte| matches!(byte, b'/' | b'\\'));
    !name.is_empty() && parts.all(|part| part != b"..")
}

/// Whether `.gitmodules` may say so: commands may only be in the configuration.
fn is_plain(update: &BStr) -> bool {
    [&b"none"[..], b"checkout", b"rebase", b"merge"].contains(&update.as_bytes())
}

/// Refuses a submodule that is reached through a link: somebody may have put it there.
pub(super) fn refuse_links(top: &Path, path: &BStr) -> Result<()> {
    let slashes = path.find_iter(b"/").chain([path.len()]);
    for end in slashes {
        let part = &path[..end];
        let stat = hedgerow_fs::lstat(&top.join(OsStr::from_bytes(part)))?;
        if stat.is_some_and(|stat| stat.kind == FileKind::Symlink) {
            let part = part.as_bstr();
            return Err(Error::Setup {
                reason: format!(
                    "expected '{part}' in submodule path '{path}' not to be a symbolic link"
                ),
            });
        }
    }
    Ok(())
}
