//! The repository format: what `config` says must be understood before anything else is read.
//! gitrepository-layout(5) and git's Documentation/technical/repository-version.

use crate::config::{boolean, read_file, settings_of};
use crate::refs::RefStorage;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_config::file::SectionRef;
use gix_config::File;
use std::path::Path;

/// The newest `core.repositoryFormatVersion` that is read.
const NEWEST_VERSION: i64 = 1;

/// What `core.repositoryFormatVersion`, `extensions.*`, `core.bare` and `core.worktree` say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    pub hash: gix_hash::Kind,
    /// `extensions.refStorage`: how references are stored.
    pub ref_storage: RefStorage,
    /// `extensions.worktreeConfig`: each working tree has a `config.worktree` of its own.
    pub worktree_config: bool,
    /// `extensions.relativeWorktrees`: working trees may name each other by relative paths.
    pub relative_worktrees: bool,
    /// `extensions.submodulePathConfig`: where a submodule's Git directory is, its settings say.
    pub submodule_paths: bool,
    /// `extensions.partialClone`: the remote that has the objects missing here.
    pub partial_clone: Option<BString>,
    /// `extensions.preciousObjects`: objects must not be deleted.
    pub precious_objects: bool,
    /// `core.bare`, whichever working tree says it.
    pub bare: Option<bool>,
    /// `core.bare`, where it says that there is no working tree here.
    pub lacks_work_tree: bool,
    /// `core.worktree`.
    pub work_tree: Option<BString>,
}

impl Default for Format {
    fn default() -> Self {
        Format {
            hash: gix_hash::Kind::Sha1,
            ref_storage: RefStorage::Files,
            worktree_config: false,
            relative_worktrees: false,
            submodule_paths: false,
            partial_clone: None,
            precious_objects: false,
            bare: None,
            lacks_work_tree: false,
            work_tree: None,
        }
    }
}

/// Reads the format of the repository with the directories `git_dir` and `common_dir`. A missing
/// `config` file and one without a version count as the oldest format. References are stored as
/// `backend` says, whatever the repository does. The second is what was read of `config`.
pub(crate) fn read(
    git_dir: &Path,
    common_dir: &Path,
    backend: Option<&BString>,
) -> Result<(Format, Option<File>)> {
    let file = read_file(&common_dir.join("config"))?;
    let mut format = match &file {
        Some(file) => of_config(file, git_dir, common_dir)?,
        None => Format::default(),
    };
    if let Some(backend) = backend {
        let (storage, place) = ref_storage(backend).ok_or_else(|| {
            let name = backend
                .split_once_str("://")
                .map_or(&backend[..], |(name, _)| name);
            Error::Setup {
                reason: format!("unknown ref storage format: '{}'", name.as_bstr()),
            }
        })?;
        if let Some(place) = place {
            return Err(stored_elsewhere(place.as_ref()));
        }
        format.ref_storage = storage;
    }
    Ok((format, file))
}

fn of_config(file: &File, git_dir: &Path, common_dir: &Path) -> Result<Format> {
    let mut reader = Reader::default();
    reader.sections(file)?;
    let Some(version) = reader.version else {
        return Ok(Format::default());
    };
    reader.check(version)?;
    let mut format = reader.format;
    let mut is_own = git_dir == common_dir;
    if format.worktree_config {
        is_own = true;
        if let Some(own) = read_file(&git_dir.join("config.worktree"))? {
            let mut reader = Reader::default();
            reader.sections(&own)?;
            format.bare = reader.format.bare.or(format.bare);
            format.work_tree = reader.format.work_tree.or(format.work_tree);
        }
    }
    // What the main working tree says about itself does not concern a linked one.
    format.lacks_work_tree = is_own && format.bare == Some(true);
    format.work_tree = format.work_tree.filter(|_| is_own);
    Ok(format)
}

#[derive(Default)]
struct Reader {
    format: Format,
    version: Option<i64>,
    unknown: Vec<BString>,
    newer: Vec<BString>,
    /// Where references are stored, if that is not the repository.
    other_ref_storage: Option<BString>,
    compatible_hash: bool,
}

impl Reader {
    fn sections(&mut self, file: &File) -> Result<()> {
        for section in file.sections() {
            let header = section.header();
            if header.subsection_name().is_some() {
                continue;
            }
            match header.name().to_ascii_lowercase().as_slice() {
                b"core" => self.core(section)?,
                b"extensions" => self.extensions(section)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn core(&mut self, section: SectionRef<'_>) -> Result<()> {
        for (name, value) in settings_of(section) {
            match name.as_slice() {
                b"repositoryformatversion" => {
                    let text = required("core.repositoryformatversion", value)?;
                    let number = hedgerow_numbers::integer(text.as_ref()).map_err(|why| {
                        let key = "core.repositoryformatversion";
                        let why = why.words();
                        bad(format!(
                            "bad numeric config value '{text}' for '{key}': {why}"
                        ))
                    })?;
                    self.version = Some(number);
                }
                b"bare" => self.format.bare = Some(switch("core.bare", value)?),
                b"worktree" => self.format.work_tree = Some(required("core.worktree", value)?),
                _ => {}
            }
        }
        Ok(())
    }

    fn extensions(&mut self, section: SectionRef<'_>) -> Result<()> {
        for (name, value) in settings_of(section) {
            match name.as_slice() {
                b"noop" => {}
                b"preciousobjects" => {
                    self.format.precious_objects = switch("extensions.preciousobjects", value)?;
                }
                b"partialclone" => {
                    self.format.partial_clone = Some(required("extensions.partialclone", value)?);
                }
                b"worktreeconfig" => {
                    self.format.worktree_config = switch("extensions.worktreeconfig", value)?;
                }
                _ => {
                    if self.newer_extension(&name, value)? {
                        self.newer.push(name);
                    } else {
                        self.unknown.push(name);
                    }
                }
            }
        }
        Ok(())
    }

    /// An extension that takes effect with version 1 only. Returns false for an unknown one.
    fn newer_extension(&mut self, name: &BString, value: Option<BString>) -> Result<bool> {
        let key = format!("extensions.{name}");
        match name.as_slice() {
            b"noop-v1" => {}
            b"relativeworktrees" => self.format.relative_worktrees = switch(&key, value)?,
            b"submodulepathconfig" => self.format.submodule_paths = switch(&key, value)?,
            b"objectformat" => {
                self.format.hash = hash_kind(&key, required(&key, value)?)?;
            }
            b"compatobjectformat" => {
                hash_kind(&key, required(&key, value)?)?;
                self.compatible_hash = true;
            }
            b"refstorage" => {
                let value = required(&key, value)?;
                let storage = ref_storage(&value);
                let storage = storage.ok_or_else(|| invalid(&key, value.as_bstr()))?;
                (self.format.ref_storage, self.other_ref_storage) = storage;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn check(&self, version: i64) -> Result<()> {
        if version > NEWEST_VERSION {
            return Err(Error::Setup {
                reason: format!("Expected git repo version <= {NEWEST_VERSION}, found {version}"),
            });
        }
        if version >= 1 && !self.unknown.is_empty() {
            return Err(list("unknown repository extension", &self.unknown));
        }
        if version == 0 && !self.newer.is_empty() {
            let start = "repo version is 0, but v1-only extension";
            return Err(list(start, &self.newer));
        }
        let unsupported = |what: &str| Error::Unsupported { what: what.into() };
        if let Some(place) = &self.other_ref_storage {
            return Err(stored_elsewhere(place.as_bstr()));
        }
        if self.compatible_hash {
            return Err(unsupported("extensions.compatObjectFormat"));
        }
        Ok(())
    }
}

/// What stands for a way to store references: the name of a format, or a URI, which has a place
/// behind it.
fn ref_storage(value: &BString) -> Option<(RefStorage, Option<BString>)> {
    let parts = value.split_once_str("://");
    let (format, place) = parts.map_or((&value[..], None), |(name, place)| (name, Some(place)));
    let storage = match format {
        b"files" => RefStorage::Files,
        b"reftable" => RefStorage::Reftable,
        _ => return None,
    };
    Some((storage, place.map(BString::from)))
}

fn stored_elsewhere(place: &BStr) -> Error {
    Error::Unsupported {
        what: format!("references stored at '{place}'"),
    }
}

fn list(start: &str, names: &[BString]) -> Error {
    let plural = if names.len() == 1 { "" } else { "s" };
    let mut reason = format!("{start}{plural} found:");
    for name in names {
        reason.push_str(&format!("\n\t{name}"));
    }
    Error::Setup { reason }
}

fn switch(key: &str, value: Option<BString>) -> Result<bool> {
    match value {
        None => Ok(true),
        Some(text) => boolean(text.as_ref())
            .ok_or_else(|| bad(format!("bad boolean config value '{text}' for '{key}'"))),
    }
}

fn required(key: &str, value: Option<BString>) -> Result<BString> {
    value.ok_or_else(|| bad(format!("missing value for '{key}'")))
}

fn hash_kind(key: &str, value: BString) -> Result<gix_hash::Kind> {
    match value.as_slice() {
        b"sha1" => Ok(gix_hash::Kind::Sha1),
        b"sha256" => Ok(gix_hash::Kind::Sha256),
        other => Err(invalid(key, other.as_bstr())),
    }
}

fn invalid(key: &str, value: &BStr) -> Error {
    bad(format!("invalid value for '{key}': '{value}'"))
}

fn bad(reason: String) -> Error {
    Error::Config { reason }
}
