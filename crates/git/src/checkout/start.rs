//! Starting a branch at a commit, for all commands that can: git-branch(1) under `--force` and
//! `--track`, git-config(1) under `branch.autoSetupMerge` and `branch.autoSetupRebase`.
//!
//! [`Repository::branch_start`] decides and refuses, and changes nothing. [`BranchStart::prepare`]
//! takes the locks. [`PreparedStart::commit`] makes the branch and sets up what it follows.

use crate::branches::{is_branch_name, NewBranch, Upstream};
use crate::config::ConfigChange;
use crate::reachability::Sources;
use crate::refs::{Head, IsCancelled, Signature};
use crate::repository::{RefUpdate, Repository};
use crate::revision::Wanted;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_pack::ObjectKind;
use hedgerow_reach::merge_bases;

/// Whether a new branch follows the one that it starts at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Track {
    /// Never: `--no-track`.
    Never,
    /// If that is a remote's branch of the same name.
    Simple,
    /// If that is a remote's branch.
    #[default]
    Remote,
    /// Whatever branch that is.
    Always,
    /// Whatever branch that is, and it must be one: `--track`.
    Explicit,
    /// It follows what that one follows: `--track=inherit`.
    Inherit,
}

/// How a branch is started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StartOptions {
    /// A branch that exists is moved; else that is an error.
    pub force: bool,
    /// With `force`, a branch that is checked out is moved as well: the caller checks that, because
    /// it is about to check the branch out.
    pub may_be_checked_out: bool,
    /// `None`: as `branch.autoSetupMerge` says.
    pub track: Option<Track>,
    /// The branch has a log, whatever `core.logAllRefUpdates` says.
    pub log: bool,
}

/// A branch that may be started, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchStart {
    /// Its full name.
    pub name: BString,
    /// Its commit from now on.
    pub id: ObjectId,
    /// It exists and is moved.
    pub exists: bool,
    /// It would be moved if it existed: [`StartOptions::force`].
    pub forced: bool,
    /// What it is to follow.
    pub follows: Option<Followed>,
    /// Git's warnings about what it does not follow.
    pub warnings: Vec<String>,
    message: BString,
    log: bool,
}

/// What a branch is to follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    /// The name of the remote; `.` for this repository.
    pub remote: BString,
    /// The full names of the branches there; one, unless they are inherited.
    pub merges: Vec<BString>,
    /// The branch is to be rebased onto them.
    pub rebase: bool,
}

impl Followed {
    /// The short names of what is followed, as git shows them.
    pub fn shown(&self) -> Vec<BString> {
        let shown = |merge: &BString| {
            let short = merge.strip_prefix(b"refs/heads/").unwrap_or(merge);
            if self.remote == "." {
                short.into()
            } else {
                [&self.remote[..], b"/", short].concat().into()
            }
        };
        self.merges.iter().map(shown).collect()
    }
}

impl Repository {
    /// What starting the branch `name` at `start` means: the words as users write them, `A...B` for
    /// the only merge base included. Nothing is changed.
    ///
    /// # Errors
    /// [`Error::BranchName`]; [`Error::MissingUpstream`]; [`Error::AmbiguousTracking`];
    /// [`Error::Setup`], in git's words, if the branch may not be created or moved, or `start` is no
    /// commit.
    pub fn branch_start(
        &self,
        name: &BStr,
        start: &BStr,
        options: &StartOptions,
    ) -> Result<BranchStart> {
        let (full, exists) = self.startable_branch(name, options)?;
        let track = match options.track {
            Some(track) => track,
            None => self.configured_track()?,
        };
        let (id, source) = self.start_point(start, track)?;
        let verb = if exists { "Reset to" } else { "Created from" };
        let mut branch = BranchStart {
            name: full,
            id,
            exists,
            forced: options.force,
            follows: None,
            warnings: Vec::new(),
            message: [b"branch: ", verb.as_bytes(), b" ", start].concat().into(),
            log: options.log,
        };
        if let Some(source) = source.filter(|_| track != Track::Never) {
            branch.follows = self.followed(&mut branch, source.as_ref(), track)?;
        }
        Ok(branch)
    }

    /// The full name of the branch `name`, and whether it exists. It may be created, or moved.
    ///
    /// # Errors
    /// As [`Repository::branch_start`].
    pub fn startable_branch(&self, name: &BStr, options: &StartOptions) -> Result<(BString, bool)> {
        let full = self.branch_named(name)?;
        let short = full.strip_prefix(b"refs/heads/").unwrap_or(&full).as_bstr();
        let exists = self
            .reference(full.as_ref())?
            .is_some_and(|it| it.id.is_some());
        if !exists {
            return Ok((full, false));
        }
        if !options.force {
            return Err(refused(format!("a branch named '{short}' already exists")));
        }
        if !options.may_be_checked_out {
            if let Some(path) = self.branch_checked_out(full.as_ref())? {
                let path = path.display();
                return Err(refused(format!(
                    "cannot force update the branch '{short}' used by worktree at '{path}'"
                )));
            }
        }
        Ok((full, true))
    }

    /// The full name of the branch that `name` means, which need not exist.
    ///
    /// # Errors
    /// [`Error::BranchName`] if no branch can have it.
    pub fn branch_named(&self, name: &BStr) -> Result<BString> {
        let local = self.local_branch_name(name)?;
        let full = BString::from([b"refs/heads/", &local[..]].concat());
        if is_branch_name(full.as_ref()) {
            Ok(full)
        } else {
            Err(Error::BranchName { name: name.into() })
        }
    }

    /// `branch.autoSetupMerge`.
    fn configured_track(&self) -> Result<Track> {
        let key = "branch.autoSetupMerge";
        let text = self.config().string(key).unwrap_or_default();
        Ok(match text.as_slice() {
            b"always" => Track::Always,
            b"inherit" => Track::Inherit,
            b"simple" => Track::Simple,
            _ => match self.config().bool(key)? {
                Some(false) => Track::Never,
                _ => Track::Remote,
            },
        })
    }

    /// The commit that `start` names, and the full name of the branch it is the name of.
    fn start_point(&self, start: &BStr, track: Track) -> Result<(ObjectId, Option<BString>)> {
        let is_explicit = track == Track::Explicit;
        let Some(id) = self.object_or_merge_base(start)? else {
            return Err(if is_explicit {
                Error::MissingUpstream { name: start.into() }
            } else {
                refused(format!("not a valid object name: '{start}'"))
            });
        };
        let name = self.expand_branch_name(start)?;
        let found = self.find_reference(name.as_ref())?;
        let warns = self
            .config()
            .bool("core.warnAmbiguousRefs")?
            .unwrap_or(true);
        if warns && found.as_ref().is_some_and(|found| found.is_ambiguous) {
            return Err(refused(format!("ambiguous object name: '{start}'")));
        }
        let source = found.map(|found| found.reference.target.unwrap_or(found.reference.name));
        let is_branch =
            |name: &BString| name.starts_with(b"refs/heads/") || self.is_tracking(name.as_ref());
        let source = source.filter(is_branch);
        if is_explicit && source.is_none() {
            return Err(refused(format!(
                "cannot set up tracking information; starting point '{start}' is not a branch"
            )));
        }
        let commit = self.peel(&id, Some(ObjectKind::Commit))?;
        let commit =
            commit.ok_or_else(|| refused(format!("not a valid branch point: '{start}'")))?;
        Ok((commit, source))
    }

    /// The object that `spec` names; `A...B` names the only merge base.
    fn object_or_merge_base(&self, spec: &BStr) -> Result<Option<ObjectId>> {
        let object = |spec: &BStr, wanted| match self.resolve_if_named(spec, wanted, None) {
            Ok(found) => Ok(found.map(|found| found.id)),
            Err(Error::Revision { .. }) => Ok(None),
            Err(error) => Err(error),
        };
        let Some((left, right)) = spec.split_once_str("...") else {
            return object(spec, Wanted::Any);
        };
        let mut sides = Vec::new();
        for side in [left, right] {
            let side = if side.is_empty() {
                b"HEAD".as_slice()
            } else {
                side
            };
            match object(side.as_bstr(), Wanted::Commit)? {
                Some(id) => sides.extend(self.peel(&id, Some(ObjectKind::Commit))?),
                None => return Ok(None),
            }
        }
        let [left, right] = sides.as_slice() else {
            return Ok(None);
        };
        let sources = Sources::read(self)?;
        let bases = merge_bases(sources.of(self), left, right)?;
        Ok(match bases.as_slice() {
            [base] => Some(*base),
            _ => None,
        })
    }

    /// Whether the fetch rules of a remote put something at `name`.
    fn is_tracking(&self, name: &BStr) -> bool {
        !self.tracked_by(name).is_empty()
    }

    /// What `branch` follows if it starts at the branch with the full name `source`.
    fn followed(
        &self,
        branch: &mut BranchStart,
        source: &BStr,
        track: Track,
    ) -> Result<Option<Followed>> {
        let short = branch.short().to_owned();
        let (remote, merges) = if track == Track::Inherit {
            match self.inherited(source) {
                Ok(inherited) => inherited,
                Err(warning) => {
                    branch.warnings.push(warning);
                    return Ok(None);
                }
            }
        } else {
            let mut tracked = self.tracked_by(source);
            if tracked.len() > 1 {
                return Err(Error::AmbiguousTracking {
                    tracking: source.into(),
                    remotes: tracked.into_iter().map(|found| found.remote).collect(),
                });
            }
            match tracked.pop() {
                Some(found) => (found.remote, vec![found.merge]),
                None if matches!(track, Track::Always | Track::Explicit) => {
                    (".".into(), vec![source.into()])
                }
                None => return Ok(None),
            }
        };
        let same_name = |merge: &BString| merge.strip_prefix(b"refs/heads/") == Some(&short[..]);
        if track == Track::Simple && !merges.iter().any(same_name) {
            return Ok(None);
        }
        let rebase = self.sets_up_rebase(remote.as_ref());
        if rebase && merges.len() > 1 {
            return Err(refused(
                "cannot inherit upstream tracking configuration of multiple refs when rebasing is \
                 requested"
                    .into(),
            ));
        }
        if remote == "." && merges.iter().any(same_name) {
            let warning = format!("not setting branch '{short}' as its own upstream");
            branch.warnings.push(warning);
            return Ok(None);
        }
        Ok(Some(Followed {
            remote,
            merges,
            rebase,
        }))
    }

    /// What the branch with the full name `source` follows, or git's warning if nothing.
    fn inherited(&self, source: &BStr) -> Result<(BString, Vec<BString>), String> {
        let short = source
            .strip_prefix(b"refs/heads/")
            .unwrap_or(source)
            .as_bstr();
        let setting = |name| self.config().string_in("branch", short, name);
        let remote = setting("remote").ok_or_else(|| {
            format!("asked to inherit tracking from '{short}', but no remote is set")
        })?;
        let merges = self.config().strings_in("branch", short, "merge");
        if merges.is_empty() {
            return Err(format!(
                "asked to inherit tracking from '{short}', but no merge configuration is set"
            ));
        }
        Ok((remote, merges))
    }

    /// All remotes whose fetch rules put something at `tracking`.
    fn tracked_by(&self, tracking: &BStr) -> Vec<Upstream> {
        let remotes = self.remotes();
        let found = remotes
            .into_iter()
            .filter_map(|remote| self.tracked_of(remote, tracking));
        found.collect()
    }
}

impl BranchStart {
    /// Its short name.
    pub fn short(&self) -> &BStr {
        let name = self.name.as_bstr();
        name.strip_prefix(b"refs/heads/")
            .map_or(name, |short| short.as_bstr())
    }

    /// Locks the branch, and sees that the configuration can be changed.
    ///
    /// # Errors
    /// As [`Repository::prepare_branch`].
    pub fn prepare<'r>(
        &self,
        repository: &'r Repository,
        is_cancelled: IsCancelled<'_>,
    ) -> Result<PreparedStart<'r>> {
        let new = NewBranch {
            name: self.name.clone(),
            id: self.id,
            may_exist: self.exists,
            message: self.message.clone(),
        };
        let update = repository.prepare_branch_logged(&new, self.log, is_cancelled)?;
        // Checks only that the configuration can be changed, and releases its lock: hooks may need
        // it meanwhile.
        drop(self.prepare_config(repository)?);
        let followed = match repository.head()? {
            Head::Branch { name, id } if name == self.name => Some(id),
            _ => None,
        };
        Ok(PreparedStart {
            repository,
            start: self.clone(),
            update,
            followed,
        })
    }

    fn prepare_config(&self, repository: &Repository) -> Result<Option<hedgerow_fs::LockFile>> {
        let Some(followed) = &self.follows else {
            return Ok(None);
        };
        let change = |name, values| ConfigChange {
            section: "branch",
            subsection: Some(self.short()),
            name,
            values,
        };
        let mut changes = vec![
            change("remote", vec![followed.remote.clone()]),
            change("merge", followed.merges.clone()),
        ];
        if followed.rebase {
            changes.push(change("rebase", vec!["true".into()]));
        }
        let path = repository.config_path();
        repository.prepare_config_file(&path, &changes).map(Some)
    }
}

/// A branch that is locked and about to start. Dropped without [`PreparedStart::commit`], nothing
/// has changed.
#[derive(Debug)]
pub struct PreparedStart<'r> {
    repository: &'r Repository,
    start: BranchStart,
    update: RefUpdate<'r>,
    /// HEAD follows the branch, which was this.
    followed: Option<Option<ObjectId>>,
}

impl PreparedStart<'_> {
    /// Creates or moves the branch, logs that, and sets up what it follows.
    ///
    /// # Errors
    /// The branch cannot be written, or the configuration; in the latter case the branch was.
    pub fn commit(self, committer: &Signature) -> Result<()> {
        let (start, message) = (&self.start, self.start.message.as_bstr());
        if let Some(old) = self.followed {
            self.repository
                .log_head_following((old, start.id), message, committer)?;
        }
        self.update.commit(message, committer)?;
        if let Some(lock) = self.start.prepare_config(self.repository)? {
            lock.commit()?;
        }
        Ok(())
    }
}

fn refused(reason: String) -> Error {
    Error::Setup { reason }
}
