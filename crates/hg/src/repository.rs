use crate::config::{self, Config};
use crate::dirstate::Dirstate;
use crate::environment::Environment;
use crate::requirements::Requirements;
use crate::{Error, Result};
use bstr::{BString, ByteSlice};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Maximum length of the path in `.hg/sharedpath`, in bytes.
const PATH_BYTES: u64 = 64 << 10;
/// Upper size limit of a list of subrepositories, in bytes; a larger one is refused.
const LIST_BYTES: u64 = 16 << 20;

/// A repository with a working copy. It is never written to.
#[derive(Clone, Debug)]
pub struct Repository {
    root: PathBuf,
    requirements: Requirements,
    config: Config,
    environment: Environment,
    /// Warnings about the configuration for the user.
    pub warnings: Vec<String>,
}

/// The nearest directory with a directory `.hg`: `directory` or one of its parents.
pub fn find_root(directory: &Path) -> Option<PathBuf> {
    let has_hg = |directory: &&Path| hedgerow_fs::is_directory(&directory.join(".hg"));
    directory.ancestors().find(has_hg).map(Path::to_owned)
}

impl Repository {
    /// Opens the repository whose working copy is at `root`, and reads its configuration.
    ///
    /// Fails if it has a requirement that hedgerow does not know.
    pub fn open(root: &Path, environment: &Environment) -> Result<Self> {
        let hg = root.join(".hg");
        let mut requirements = Requirements::default();
        requirements.read(&hg.join("requires"))?;
        let mut directories = Vec::new();
        let shared = shared_from(&hg, &requirements)?;
        if requirements.has("share-safe") {
            let source = shared.as_ref().unwrap_or(&hg);
            requirements.read(&source.join("store/requires"))?;
            directories.extend(shared);
        }
        directories.push(hg);
        let mut warnings = Vec::new();
        let config = config::load(environment, &directories, &mut warnings)?;
        Ok(Repository {
            root: root.to_owned(),
            requirements,
            config,
            environment: environment.clone(),
            warnings,
        })
    }

    /// The directory of the working copy.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The current directory relative to the root; empty if it is the root or not below it.
    pub fn current_directory(&self) -> &Path {
        let below = self.environment.cwd.strip_prefix(&self.root);
        below.unwrap_or(Path::new(""))
    }

    /// Reads the dirstate.
    pub fn dirstate(&self) -> Result<Dirstate> {
        Dirstate::read(&self.root.join(".hg"), self.requirements.has("dirstate-v2"))
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    pub(crate) fn requires(&self, name: &str) -> bool {
        self.requirements.has(name)
    }

    /// The ignore files: `.hgignore`, if it exists, and those of `ui.ignore`.
    pub(crate) fn ignore_files(&self) -> Result<Vec<PathBuf>> {
        let own = self.root.join(".hgignore");
        let own = hedgerow_fs::stat(&own)?.map(|_| own);
        let configured = self.config.section("ui").filter(|(name, value)| {
            (*name == "ignore" || name.starts_with(b"ignore.")) && !value.is_empty()
        });
        let configured =
            configured.map(|(_, value)| self.root.join(self.environment.expand(value)));
        Ok(own.into_iter().chain(configured).collect())
    }

    /// The paths of subrepositories, if `.hgsub` is tracked: they are not examined.
    pub(crate) fn subrepositories(&self, dirstate: &Dirstate) -> Result<Vec<BString>> {
        if !dirstate.find(b".hgsub").is_some_and(|entry| entry.tracked) {
            return Ok(Vec::new());
        }
        let path = self.root.join(".hgsub");
        let content = hedgerow_fs::read_file(&path, LIST_BYTES)?.unwrap_or_default();
        let config = config::parse_one(&content, &path)?;
        let paths = config.section("").map(|(path, _)| path.to_owned());
        Ok(paths.collect())
    }
}

/// The `.hg` of the repository that holds the store, if it is a different one.
fn shared_from(hg: &Path, requirements: &Requirements) -> Result<Option<PathBuf>> {
    let is_relative = requirements.has("relshared");
    if !is_relative && !requirements.has("shared") {
        return Ok(None);
    }
    let path = hg.join("sharedpath");
    let corrupt = |reason: &str| Error::Corrupt {
        path: path.clone(),
        reason: reason.to_owned(),
    };
    let content = hedgerow_fs::read_file(&path, PATH_BYTES)?;
    let content = content.ok_or_else(|| corrupt("it is missing, and 'requires' lists 'shared'"))?;
    let shared = content.trim_end_with(|byte| byte == '\n');
    let shared = hg.join(OsStr::from_bytes(shared));
    if hedgerow_fs::is_directory(&shared) {
        Ok(Some(shared))
    } else {
        Err(corrupt("it points to a directory that does not exist"))
    }
}
