//! What a directory, its repository and the machine are like, and what would make commands faster.
//!
//! [`examine`] collects facts and changes nothing. [`advise`] is a pure function of them.

mod advice;

pub use advice::{advise, Advice, Standing};

use crate::config::Environment;
use crate::index::Index;
use crate::repository::Repository;
use crate::{Error, Result};
use hedgerow_fs::{cpu, Exit, FileSystem, Process};
use std::path::{Path, PathBuf};

/// Settings of git that decide how fast its commands and ours are here.
pub const SETTINGS: [&str; 9] = [
    "checkout.workers",
    "checkout.thresholdForParallelism",
    "core.fsmonitor",
    "core.multiPackIndex",
    "core.preloadIndex",
    "core.untrackedCache",
    "feature.manyFiles",
    "index.version",
    "repack.writeBitmaps",
];

/// Upper limit for what `git version` prints, in bytes.
const VERSION_LIMIT_BYTES: u64 = 4096;

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The directory that was examined.
    pub directory: PathBuf,
    /// Its file system.
    pub file_system: FileSystem,
    /// What the machine allows.
    pub limits: SystemLimits,
    /// The version of the git in `PATH`, if there is one.
    pub git_version: Option<String>,
    /// The repository that the directory belongs to, if any.
    pub repository: Option<RepositoryFacts>,
}

/// What the machine allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemLimits {
    /// Processors that this process can keep busy.
    pub processors: usize,
    /// Open files of this process.
    pub descriptors: u64,
    /// Threads of this user; `None` if there is no limit.
    pub threads: Option<u64>,
    /// Files and directories that this user may watch; `None` if that is not known.
    pub watches: Option<u64>,
}

/// What is known about a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryFacts {
    /// Its Git directory.
    pub git_dir: PathBuf,
    /// Whether it is bare; in the Git directory of another one there is no working tree either.
    pub is_bare: bool,
    /// Its working tree, if it has one here.
    pub work_tree: Option<PathBuf>,
    /// The values of [`SETTINGS`], in that order.
    pub settings: Vec<Setting>,
    /// Entries of the index.
    pub tracked: usize,
    /// Whether git has filled the index's cache of untracked files.
    pub has_untracked_cache: bool,
    /// Packs, without those of alternates.
    pub packs: usize,
    /// Whether the packs have one common index.
    pub has_multi_pack_index: bool,
    /// Whether a pack or the common index has reachability bitmaps.
    pub has_bitmaps: bool,
    /// Whether there is a commit-graph.
    pub has_commit_graph: bool,
    /// Loose objects, estimated from one of 256 directories.
    pub loose_objects: usize,
}

/// A setting of git and its value here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its key.
    pub key: &'static str,
    /// Its value; `None` if it is not set.
    pub value: Option<String>,
}

/// Looks at `directory`, at the repository that `environment` leads to from there, and at the
/// machine. A directory outside of any repository is no error.
///
/// # Errors
/// If the directory or the repository cannot be read.
pub fn examine(directory: &Path, environment: &Environment) -> Result<Facts> {
    hedgerow_fs::check_directory(directory)?;
    let environment = Environment {
        cwd: directory.to_owned(),
        ..environment.clone()
    };
    let repository = match Repository::discover(&environment) {
        Err(Error::NotARepository | Error::NotARepositoryUpTo { .. }) => None,
        found => Some(repository_facts(&found?)?),
    };
    Ok(Facts {
        directory: directory.to_owned(),
        file_system: FileSystem::at(directory)?,
        limits: SystemLimits {
            processors: cpu::available(),
            descriptors: hedgerow_fs::descriptor_limit(),
            threads: hedgerow_fs::thread_limit(),
            watches: hedgerow_fs::watch_limit(),
        },
        git_version: git_version()?,
        repository,
    })
}

fn repository_facts(repository: &Repository) -> Result<RepositoryFacts> {
    let setting = |key| Setting {
        key,
        value: repository.config().string(key).map(|it| it.to_string()),
    };
    let (path, git_dir) = (repository.index_path(), repository.git_dir());
    let index = Index::load(path, git_dir, repository.hash_kind())?;
    let index = index.map(|(index, _)| index);
    let objects = repository.objects();
    let packs = objects.directory().join("pack");
    let files = hedgerow_fs::list_directory(&packs)?.unwrap_or_default();
    let named = |end: &[u8]| files.iter().filter(|it| it.name.ends_with(end)).count();
    let info = objects.directory().join("info");
    // Objects are spread evenly over 256 directories.
    let loose = objects.own_loose_objects(0x17)?.len() * 256;
    Ok(RepositoryFacts {
        git_dir: repository.git_dir().to_owned(),
        is_bare: repository.is_bare(),
        work_tree: repository.work_tree().map(Path::to_owned),
        settings: SETTINGS.into_iter().map(setting).collect(),
        tracked: index.as_ref().map_or(0, |index| index.entries().len()),
        has_untracked_cache: index.is_some_and(|index| index.untracked_cache().is_some()),
        packs: named(b".pack"),
        has_multi_pack_index: named(b"multi-pack-index") > 0,
        has_bitmaps: named(b".bitmap") > 0,
        has_commit_graph: hedgerow_fs::is_there(&info.join("commit-graph"))?
            || hedgerow_fs::is_there(&info.join("commit-graphs"))?,
        loose_objects: loose,
    })
}

/// The version of the git that is found in `PATH`; `None` if there is none.
///
/// # Errors
/// It could not be started for another reason.
fn git_version() -> Result<Option<String>> {
    let git = Process {
        program: "git".into(),
        arguments: vec!["version".into()],
        ..Process::default()
    };
    let text = match git.output(VERSION_LIMIT_BYTES) {
        Ok((text, answer)) if answer.exit == Exit::Status(0) => text,
        Ok(_) => return Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let text = String::from_utf8_lossy(&text);
    let version = text.trim().strip_prefix("git version ");
    Ok(version.map(str::to_owned))
}
