//! A repository: where its parts are, its configuration, references, objects and the words that
//! name them.
//!
//! [`Repository::discover`] finds it the way git does and reads the configuration once; nothing
//! is written but by the functions that say so. The environment arrives as [`Environment`].

mod commit;
mod grafts;
mod hooks;
mod identity;
mod in_place_of;
mod index;
mod local_server;
mod objects;
mod peel;
mod promised;
mod ref_update;
mod references;
mod roots;
mod surroundings;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::Scratch;
mod worktrees;

pub(crate) use commit::kind_name;
pub use commit::Commit;
pub use grafts::Grafts;
pub use hooks::Hook;
pub use identity::{Fallback, Role};
pub use objects::Objects;
pub use peel::Peeler;
pub use ref_update::RefUpdate;
pub use surroundings::GitPrograms;

pub use crate::config::Environment;

use crate::config::{self, CheckoutSettings, Config, ConfigChange, Fsync};
use crate::discover::{self, Layout, OtherRepositories};
use crate::refs::{self, RefStorage, RefStore, RefValue};
use crate::worktrees::unmounted_top;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use hedgerow_fs::LockFile;
use hedgerow_pack::{ObjectId, ObjectStore, StoreOptions};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// A repository that was found and may be used.
#[derive(Debug)]
pub struct Repository {
    environment: Environment,
    git_dir: PathBuf,
    common_dir: PathBuf,
    work_tree: Option<PathBuf>,
    prefix: BString,
    index_path: PathBuf,
    hash: gix_hash::Kind,
    partial_clone: Option<BString>,
    worktree_config: bool,
    relative_worktrees: bool,
    submodule_paths: bool,
    bare: bool,
    contradicts_itself: bool,
    lost_work_tree: bool,
    /// The top of the working tree, which is mounted by this program and is not mounted now.
    unmounted: Option<PathBuf>,
    config: Config,
    settings: CheckoutSettings,
    objects: Arc<ObjectStore>,
    refs: Arc<dyn RefStore>,
    /// What references are kept in.
    ref_storage: RefStorage,
    replacements: HashMap<ObjectId, ObjectId>,
    grafts: OnceLock<Grafts>,
    git_programs: Arc<GitPrograms>,
    /// It was cloned just now, and what is run there is told so.
    is_new_clone: bool,
    /// The objects that were asked for by their whole ids and that no remote gives.
    ungiven: Mutex<BTreeSet<ObjectId>>,
}

impl Repository {
    /// Finds and opens the repository that git would use in `environment`: the one `GIT_DIR`
    /// names, or the one whose working tree or Git directory the current directory is in.
    ///
    /// Fails with [`Error::NotARepository`] or [`Error::NotARepositoryUpTo`] if there is none, with
    /// [`Error::DubiousOwnership`] if
    /// it is somebody else's, with [`Error::Setup`], [`Error::Config`] or [`Error::Unsupported`]
    /// if it cannot be used.
    pub fn discover(environment: &Environment) -> Result<Self> {
        let mut repository = Self::find(environment)?;
        if repository.work_tree.is_some() && repository.git_dir != repository.common_dir {
            repository.unmounted = unmounted_top(&repository.git_dir)?;
        }
        // What it reads there would be taken for deleted, and what it writes would be in the way.
        if repository.unmounted.is_some() {
            repository.work_tree = None;
            repository.lost_work_tree = true;
        }
        Ok(repository)
    }

    /// The same, whether its working tree is mounted or not.
    fn find(environment: &Environment) -> Result<Self> {
        let layout = discover::discover(environment)?;
        let repository = Self::open(environment, layout)?;
        if let Some(call) = &environment.in_place_of {
            call.check(&repository)?;
        }
        Ok(repository)
    }

    /// Finds the repository also from the place of a working tree that is not mounted; returns the
    /// top of the working tree, too, if there is one.
    ///
    /// # Errors
    /// As of [`Repository::discover`].
    pub fn discover_unmounted(environment: &Environment) -> Result<(Self, Option<PathBuf>)> {
        match Self::discover(environment) {
            Err(Error::NotMounted { top, admin }) => {
                // One that is named is used whoever owns it, so it is looked for first.
                Self::open_at(&admin, environment)?;
                let repository = Self::find(&Environment {
                    git_dir: Some(admin),
                    work_tree: Some(top.clone()),
                    ..environment.clone()
                })?;
                Ok((repository, Some(top)))
            }
            found => {
                let repository = found?;
                let unmounted = repository.unmounted.as_deref();
                let top = unmounted.or(repository.work_tree()).map(PathBuf::from);
                Ok((repository, top))
            }
        }
    }

    /// Opens the repository of the directory `path` as [`Repository::discover`] does from there,
    /// whatever repository the environment names.
    pub fn open_at(path: &Path, environment: &Environment) -> Result<Self> {
        Self::discover(&Environment {
            cwd: environment.cwd.join(path),
            git_dir: None,
            work_tree: None,
            index_file: None,
            common_dir: None,
            object_directory: None,
            reference_backend: None,
            shallow_file: None,
            graft_file: None,
            in_place_of: None,
            ..environment.clone()
        })
    }

    /// Opens the new clone at `path`. Filters and hooks are told there what git's clone tells them.
    pub fn open_clone(path: &Path, environment: &Environment) -> Result<Self> {
        let mut repository = Self::open_at(path, environment)?;
        repository.is_new_clone = true;
        Ok(repository)
    }

    /// Where git's own programs are.
    pub(crate) fn git_programs(&self) -> Arc<GitPrograms> {
        self.git_programs.clone()
    }

    /// Opens the linked working tree at `path`, which is trusted as this repository is. Submodules
    /// are not entered there.
    pub(crate) fn open_linked(&self, path: &Path) -> Result<Self> {
        self.open_admin(&path.join(".git"), path)
    }

    /// The same by its administrative directory, whatever is at its top, `path`.
    pub(crate) fn open_admin(&self, git_dir: &Path, path: &Path) -> Result<Self> {
        let mut config_overrides = self.environment.config_overrides.clone();
        config_overrides.push(("submodule.recurse".into(), Some("false".into())));
        Self::find(&Environment {
            config_overrides,
            cwd: if hedgerow_fs::is_directory(path) {
                path
            } else {
                git_dir
            }
            .to_owned(),
            git_dir: Some(git_dir.to_owned()),
            work_tree: Some(path.to_owned()),
            index_file: None,
            common_dir: None,
            shallow_file: None,
            graft_file: None,
            in_place_of: None,
            ..self.environment.clone()
        })
    }

    /// Opens the repository whose working tree is the directory `path` of another one, as git does
    /// for a submodule: whoever trusts the outer repository is not asked whose the inner one is.
    pub(crate) fn open_submodule(path: &Path, environment: &Environment) -> Result<Self> {
        Self::discover(&Self::environment_of_submodule(path, environment))
    }

    fn environment_of_submodule(path: &Path, environment: &Environment) -> Environment {
        Environment {
            cwd: environment.cwd.join(path),
            git_dir: Some(".git".into()),
            work_tree: None,
            index_file: None,
            common_dir: None,
            object_directory: None,
            reference_backend: None,
            shallow_file: None,
            graft_file: None,
            in_place_of: None,
            ..environment.clone()
        }
    }

    /// The same for a caller that only asks which commit the submodule is at: where the submodule
    /// says that its working tree is does not matter, and may not exist.
    pub(crate) fn open_submodule_for_head(path: &Path, environment: &Environment) -> Result<Self> {
        Self::discover(&Environment {
            work_tree: Some(".".into()),
            ..Self::environment_of_submodule(path, environment)
        })
    }

    fn open(environment: &Environment, layout: Layout) -> Result<Self> {
        let hash = layout.format.hash;
        let storage = layout.format.ref_storage;
        let refs = refs::open(storage, &layout.git_dir, &layout.common_dir, hash);
        let branch = match references::head_value(&*refs)? {
            Some(RefValue::Symbolic(branch)) => Some(branch),
            _ => None,
        };
        let branch = branch
            .as_ref()
            .and_then(|name| <&gix_ref::FullNameRef>::try_from(name.as_bstr()).ok());
        let scope = config::Scope {
            git_dir: &layout.git_dir,
            common_dir: &layout.common_dir,
            worktree_config: layout.format.worktree_config,
            branch,
        };
        let config = Config::load_with(environment, Some(&scope), layout.config)?;
        let bare = layout.work_tree.is_none() && layout.format.bare != Some(false);
        let settings = CheckoutSettings::resolve(&config, environment, bare, hash)?;
        let options = StoreOptions {
            hash,
            read_reverse_index: settings.read_reverse_index,
            read_multi_pack_index: settings.multi_pack_index,
            unaided: environment.unaided,
            note_verified: !environment.no_optional_locks,
            alternates: environment
                .alternate_object_directories
                .iter()
                .map(|path| environment.cwd.join(path))
                .collect(),
            ..StoreOptions::default()
        };
        let objects = ObjectStore::open(&layout.objects_dir, options)?;
        let mut repository = Repository {
            environment: environment.clone(),
            git_dir: layout.git_dir,
            common_dir: layout.common_dir,
            work_tree: layout.work_tree,
            prefix: layout.prefix,
            index_path: layout.index_path,
            hash,
            partial_clone: layout.format.partial_clone,
            worktree_config: layout.format.worktree_config,
            relative_worktrees: layout.format.relative_worktrees,
            submodule_paths: layout.format.submodule_paths,
            bare,
            contradicts_itself: layout.contradicts_itself,
            lost_work_tree: layout.lost_work_tree,
            unmounted: None,
            config,
            settings,
            objects: Arc::new(objects),
            refs,
            ref_storage: storage,
            replacements: HashMap::new(),
            grafts: OnceLock::new(),
            git_programs: Arc::new(GitPrograms::new(environment.path.clone())),
            is_new_clone: false,
            ungiven: Mutex::default(),
        };
        repository.replacements = repository.load_replacements()?;
        Ok(repository)
    }

    /// The Git directory of this working tree.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The directory shared by all working trees of the repository; often the Git directory.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// The top of the working tree, if there is one.
    pub fn work_tree(&self) -> Option<&Path> {
        self.work_tree.as_deref()
    }

    /// The top of the working tree, for what cannot do without.
    ///
    /// # Errors
    /// [`Error::NoWorkTree`]; [`Error::NotMounted`] if it is not mounted now; [`Error::Setup`] if the
    /// configuration contradicts itself.
    pub fn require_work_tree(&self) -> Result<&Path> {
        self.work_tree.as_deref().ok_or_else(|| {
            if let Some(top) = &self.unmounted {
                return Error::NotMounted {
                    top: top.clone(),
                    admin: self.git_dir.clone(),
                };
            }
            if !self.contradicts_itself {
                return Error::NoWorkTree;
            }
            Error::Setup {
                reason: "unable to set up work tree using invalid config".into(),
            }
        })
    }

    /// Whether the environment or `core.worktree` names a working tree that is no directory, or one that
    /// is not mounted now.
    pub(crate) fn lost_work_tree(&self) -> bool {
        self.lost_work_tree
    }

    /// Whether both `core.bare` and `core.worktree` are set. There is no working tree then, and git
    /// warns.
    pub fn contradicts_itself(&self) -> bool {
        self.contradicts_itself
    }

    /// The way from the top of the working tree to the current directory: empty, or ending in `/`.
    pub fn prefix(&self) -> &BStr {
        self.prefix.as_ref()
    }

    /// The index file, which need not exist.
    pub fn index_path(&self) -> &Path {
        &self.index_path
    }

    /// Whether the repository has no working tree and is meant to have none.
    pub fn is_bare(&self) -> bool {
        self.bare
    }

    /// The hash function of object ids.
    pub fn hash_kind(&self) -> gix_hash::Kind {
        self.hash
    }

    /// The remote that has the objects missing here, in a partial clone.
    pub fn partial_clone_remote(&self) -> Option<&BStr> {
        self.partial_clone.as_ref().map(|name| name.as_ref())
    }

    /// Whether each working tree has settings of its own: `extensions.worktreeConfig`.
    pub fn has_worktree_config(&self) -> bool {
        self.worktree_config
    }

    /// Whether working trees may name each other by relative paths:
    /// `extensions.relativeWorktrees`.
    pub fn has_relative_worktrees(&self) -> bool {
        self.relative_worktrees
    }

    /// Whether `submodule.<name>.gitdir` says where the Git directory of a submodule is, and not its name
    /// (`extensions.submodulePathConfig`).
    pub(crate) fn has_submodule_paths(&self) -> bool {
        self.submodule_paths
    }

    /// The merged configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The settings of a checkout.
    pub fn settings(&self) -> &CheckoutSettings {
        &self.settings
    }

    /// The environment it was found in.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// What is to be waited for here: `core.fsync`, and `core.fsyncObjectFiles` of older
    /// configurations. `warn` is told of words that mean nothing.
    ///
    /// # Errors
    /// A setting that has no value or is no boolean.
    pub fn fsync(&self, warn: &mut dyn FnMut(String)) -> Result<Fsync> {
        Fsync::resolve(&self.config, &self.environment, warn)
    }

    /// What tells the working trees of other repositories.
    pub(crate) fn other_repositories(&self) -> OtherRepositories<'_> {
        OtherRepositories::new(&self.environment, &self.git_dir)
    }

    /// The repository's own configuration file, which all its working trees share.
    pub fn config_path(&self) -> PathBuf {
        self.common_dir.join("config")
    }

    /// Sets `section.NAME` for each of `settings` in [`Repository::config_path`], under its lock;
    /// every other byte of the file stays. A setting that is there is replaced. What has
    /// been read already, [`Repository::config`], does not change.
    ///
    /// # Errors
    /// Somebody else holds the lock, the file cannot be read or written, or it is none that
    /// git would read.
    pub fn set_config(&self, section: &str, settings: &[(&'static str, BString)]) -> Result<()> {
        self.prepare_config((section, None), settings)?.commit()?;
        Ok(())
    }

    /// As [`Repository::set_config`] for `(SECTION, SUBSECTION)`, up to the lock that holds the new
    /// configuration.
    pub(crate) fn prepare_config(
        &self,
        section: (&str, Option<&BStr>),
        settings: &[(&'static str, BString)],
    ) -> Result<LockFile> {
        let path = self.config_path();
        let lock = self.lock_config(&path)?;
        config::prepare_edit(&path, lock, section, settings)
    }

    /// Makes `changes` in the configuration file `path`, up to the lock that holds the new one.
    pub(crate) fn prepare_config_file(
        &self,
        path: &Path,
        changes: &[ConfigChange<'_>],
    ) -> Result<LockFile> {
        let lock = self.lock_config(path)?;
        self.settings.sharing.open_lock(&lock)?;
        config::prepare_changes(path, lock, changes)
    }

    fn lock_config(&self, path: &Path) -> Result<LockFile> {
        let path = hedgerow_fs::behind_links(path);
        let lock = LockFile::acquire_within(&path, self.lock_timeout(), &|| false)?;
        Ok(lock)
    }

    /// How long a lock is waited for: `core.filesRefLockTimeout`. Without a limit if that is below 0.
    fn lock_timeout(&self) -> Option<Duration> {
        let limit = u64::try_from(self.settings.ref_lock_timeout_ms).ok();
        limit.map(Duration::from_millis)
    }

    /// The same for `packed-refs`: `core.packedRefsTimeout`.
    fn packed_lock_timeout(&self) -> Option<Duration> {
        let limit = u64::try_from(self.settings.packed_lock_timeout_ms).ok();
        limit.map(Duration::from_millis)
    }

    /// Keeps its references in another store.
    #[cfg(test)]
    pub(crate) fn replace_refs(&mut self, refs: Arc<dyn RefStore>) {
        self.refs = refs;
    }

    /// The store of the references, as this working tree sees them.
    pub(crate) fn refs(&self) -> &dyn RefStore {
        &*self.refs
    }

    /// Whether the hint `advice.NAME` is to be shown.
    pub fn advises(&self, name: &str) -> Result<bool> {
        if self.environment.no_advice {
            return Ok(false);
        }
        Ok(self.config.bool(&format!("advice.{name}"))?.unwrap_or(true))
    }
}
