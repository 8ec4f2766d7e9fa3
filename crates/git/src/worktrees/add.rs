//! Adding a working tree.

use super::candidate::{check_place, give_up};
use super::copied_settings::copy_settings;
use super::half_made::HalfMade;
use super::links::{failed, write_line};
use super::mounted::{fill, mount_wish, put_on_image, release_image, required};
use super::mounted::{lock_admin, lock_place, Checkout, ImageMaker, OnImage, Wish};
use super::mounted::{INITIALIZING, LAYERS, LOCK_REASON};
use super::populate::{not_reset, populate};
use super::request::{branch, commit, invalid, refuse_used, unborn, Notice, Request};
use super::tree_removal::remove_tree;
use super::words::{as_reference_part, real_as_far_as_it_goes, GivenPath};
use crate::checkout::Done;
use crate::checkout::{BranchStart, StartOptions, Track};
use crate::refs::{Expected, Logged, RefChange, RefEdit, RefValue, Signature};
use crate::repository::Repository;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_engine::Execution;
use hedgerow_fs::Exit;
use hedgerow_mounts::TreeLock;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A working tree to add.
#[derive(Clone, Debug, Default)]
pub struct AddOptions {
    /// Where, relative to the user's current directory.
    pub path: BString,
    /// What is checked out there; by default `HEAD`, or a branch named like the directory.
    pub commitish: Option<BString>,
    /// The branch to create there.
    pub new_branch: Option<NewBranchName>,
    /// `HEAD` follows no branch there.
    pub detach: bool,
    /// The new branch is unborn.
    pub orphan: bool,
    /// The files are written.
    pub checkout: bool,
    /// 1: although the branch is in use, or over a missing working tree; 2: also a locked one.
    pub force: u8,
    /// The working tree is locked from the start, for this reason.
    pub lock: Option<BString>,
    /// Whether the new branch follows its start; `None`: as `branch.autoSetupMerge` says.
    pub track: Option<Track>,
    /// A directory's name may be that of a remote's branch; `None`: as `worktree.guessRemote`
    /// says.
    pub guess_remote: Option<bool>,
    /// The files that link the working tree hold relative paths; `None`: as
    /// `worktree.useRelativePaths` says.
    pub relative_paths: Option<bool>,
    /// The working tree is mounted over an image of its commit, where that is possible; `None`: as
    /// `hedgerow.worktreeMount` says.
    pub mount: Option<bool>,
    /// This program, which git asks what changed in a mounted working tree (`hedgerow worktree monitor`),
    /// as far as `hedgerow.worktreeMonitor` says so; `None`: git looks at every file.
    pub monitor: Option<PathBuf>,
    /// With fewer files than this to write, a single worker writes them.
    pub threshold: Option<u64>,
    /// How to run; [`Stage::Files`](hedgerow_engine::Stage::Files) counts the files written.
    pub execution: Execution,
}

/// The name of a branch to create.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewBranchName {
    /// Its short name.
    pub name: BString,
    /// One that exists is moved.
    pub force: bool,
}

/// A working tree that was added.
#[derive(Debug)]
pub struct Added {
    /// Its top.
    pub path: PathBuf,
    /// The commit that is checked out there; `None` if it has none, or no files were written.
    pub head: Option<ObjectId>,
    /// What was written.
    pub done: Done,
    /// It is mounted over an image.
    pub is_mounted: bool,
    /// How the post-checkout hook ended, if it failed.
    pub hook_failure: Option<Exit>,
}

/// Which step could not be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddStage {
    /// The working tree may not be made like this; nothing has changed.
    Request,
    /// The new branch may not be made; nothing has changed.
    Branch,
    /// Making it. A new branch stays; everything else was removed.
    Making,
}

/// Why a working tree was not added.
#[derive(Debug)]
pub struct AddFailure {
    /// Which step could not be done.
    pub stage: AddStage,
    /// Why.
    pub error: Box<Error>,
    /// What the files that were written before had to tell.
    pub done: Box<Done>,
}

impl AddFailure {
    fn of(stage: AddStage) -> impl Fn(Error) -> AddFailure {
        move |error| AddFailure {
            stage,
            error: Box::new(error),
            done: Box::default(),
        }
    }
}

/// Everything that is known before anything is made.
struct Plan<'a> {
    repository: &'a Repository,
    options: &'a AddOptions,
    place: GivenPath,
    start: Option<BranchStart>,
    /// The full name of the branch that `HEAD` follows.
    branch: Option<BString>,
    orphan: bool,
    /// The commit of `HEAD`.
    head: Option<ObjectId>,
    /// The commit that the hook is told.
    named: Option<ObjectId>,
    /// The administrative directory of a missing working tree that was there.
    stale: Option<BString>,
    is_relative: bool,
    committer: Signature,
}

/// Adds a working tree. `notice` is told what git tells, when it tells it.
///
/// # Errors
/// In git's words. All that can be refused is refused before anything is made. If making it fails
/// or is cancelled, what was made is removed, apart from a new branch.
pub fn add(
    repository: &Repository,
    options: &AddOptions,
    notice: &mut dyn FnMut(Notice<'_>),
) -> Result<Added, AddFailure> {
    add_with_images(repository, options, None, notice)
}

/// The same; if there is somebody who makes images, the working tree may be mounted over one.
///
/// # Errors
/// As of [`add`].
pub fn add_with_images(
    repository: &Repository,
    options: &AddOptions,
    images: Option<&dyn ImageMaker>,
    notice: &mut dyn FnMut(Notice<'_>),
) -> Result<Added, AddFailure> {
    let place = GivenPath::new(repository, options.path.as_ref());
    let request = Request::new(repository, options, &place, notice)
        .map_err(AddFailure::of(AddStage::Request))?;
    let preparing = request
        .preparing(repository, options)
        .map_err(AddFailure::of(AddStage::Request))?;
    notice(Notice::Preparing(&preparing));
    let start = start(repository, options, &request).map_err(AddFailure::of(AddStage::Branch))?;
    let plan = Plan::new(repository, options, place, &request, start)
        .map_err(AddFailure::of(AddStage::Request))?;
    let wish = mount_wish(repository, options, images);
    let wish = wish.map_err(AddFailure::of(AddStage::Request))?;
    plan.start_branch(notice)?;
    plan.make(wish, notice)
}

/// The branch to create, if there is one.
fn start(
    repository: &Repository,
    options: &AddOptions,
    request: &Request,
) -> Result<Option<BranchStart>> {
    let Some(name) = request.new_branch.as_ref().filter(|_| !request.orphan) else {
        return Ok(None);
    };
    let start = StartOptions {
        force: options.new_branch.as_ref().is_some_and(|new| new.force),
        track: options.track,
        ..StartOptions::default()
    };
    let start = repository.branch_start(name.as_ref(), request.source.as_ref(), &start)?;
    Ok(Some(start))
}

impl<'a> Plan<'a> {
    fn new(
        repository: &'a Repository,
        options: &'a AddOptions,
        place: GivenPath,
        request: &Request,
        start: Option<BranchStart>,
    ) -> Result<Self> {
        if options.track.is_some() && request.new_branch.is_none() {
            return Err(Error::Setup {
                reason: "--[no-]track can only be used if a new branch is created".into(),
            });
        }
        let is_relative = repository.uses_relative_paths(options.relative_paths)?;
        let stale = check_place(
            repository,
            &place,
            &repository.worktrees()?,
            options.force,
            "add",
        )?;
        let mut plan = Plan {
            repository,
            options,
            place,
            branch: None,
            orphan: request.orphan,
            head: None,
            named: None,
            stale,
            is_relative,
            committer: repository.committer()?,
            start,
        };
        if let (Some(name), true) = (&request.new_branch, request.orphan) {
            plan.branch = Some(unborn(repository, name.as_ref())?);
            return Ok(plan);
        }
        if let Some(start) = &plan.start {
            (plan.head, plan.named) = (Some(start.id), Some(start.id));
            plan.branch = Some(start.name.clone());
        } else {
            let source = request.source.as_bstr();
            plan.named = commit(repository, source)?;
            let full = if options.detach {
                None
            } else {
                branch(repository, source)?
            };
            plan.head = match &full {
                Some(full) => commit(repository, full.as_ref())?,
                None => plan.named,
            };
            if plan.named.is_none() {
                return Err(invalid(source));
            }
            plan.branch = full;
        }
        if let Some(full) = plan.branch.as_ref().filter(|_| options.force == 0) {
            refuse_used(repository, full.as_ref())?;
        }
        Ok(plan)
    }

    fn start_branch(&self, notice: &mut dyn FnMut(Notice<'_>)) -> Result<(), AddFailure> {
        let Some(start) = &self.start else {
            return Ok(());
        };
        let cancel = &self.options.execution.cancel;
        let started = start
            .prepare(self.repository, &|| cancel.is_cancelled())
            .and_then(|prepared| prepared.commit(&self.committer));
        started.map_err(AddFailure::of(AddStage::Branch))?;
        let warnings = start.warnings.iter();
        warnings.for_each(|warning| notice(Notice::Warning(warning)));
        if start.follows.is_some() {
            notice(Notice::Follows(start));
        }
        Ok(())
    }

    fn make(
        &self,
        wish: Wish<'_>,
        notice: &mut dyn FnMut(Notice<'_>),
    ) -> Result<Added, AddFailure> {
        let mut image = None;
        let made = self.make_on(wish, &mut image, notice);
        if let (Err(_), Some(image)) = (&made, image) {
            release_image(self.repository, &image);
        }
        made
    }

    /// The same; if it fails, the image may stay mounted whose name `mounted` is.
    fn make_on(
        &self,
        wish: Wish<'_>,
        mounted: &mut Option<String>,
        notice: &mut dyn FnMut(Notice<'_>),
    ) -> Result<Added, AddFailure> {
        let made = AddFailure::of(AddStage::Making);
        let is_layered = matches!(wish, Wish::Mount(_));
        // Locks that end with the process come first: they tell others whether somebody is at work.
        let place_lock = self.lock_place(is_layered).map_err(&made)?;
        let (admin, admin_lock, mut half_made) = self.make_admin(is_layered).map_err(&made)?;
        self.make_top(&admin, &mut half_made).map_err(&made)?;
        self.make_head(&admin).map_err(&made)?;
        copy_settings(self.repository, &admin).map_err(&made)?;
        let on_image = self.mount(wish, &admin, notice).map_err(&made)?;
        *mounted = on_image.as_ref().map(OnImage::image);
        let is_mounted = on_image.is_some();
        if is_mounted {
            half_made.is_mounted();
        }
        if !is_mounted {
            remove_tree(&admin.join(LAYERS)).map_err(&made)?;
            self.repository
                .link_worktree(&self.place.path, &admin, self.is_relative)
                .map_err(&made)?;
        }
        let done = self.fill(on_image).map_err(&made)?;
        if !done.failures.is_empty() {
            return Err(AddFailure {
                stage: AddStage::Making,
                error: Box::new(not_reset()),
                done: Box::new(done),
            });
        }
        notice(Notice::Filled(
            &done,
            self.head.filter(|_| self.is_filled()),
        ));
        if self.options.execution.cancel.is_cancelled() {
            return Err(made(Error::Interrupted));
        }
        half_made.finish();
        self.lock_ended(&admin, is_layered, is_mounted)
            .map_err(&made)?;
        drop((admin_lock, place_lock));
        self.end(done, is_mounted).map_err(made)
    }

    /// Keeps others from mounting a working tree at the same place.
    fn lock_place(&self, is_layered: bool) -> Result<Option<TreeLock>> {
        if !is_layered {
            return Ok(None);
        }
        let top = real_as_far_as_it_goes(&self.place.path);
        let lock = lock_place(self.repository, &top)?;
        if hedgerow_fs::list_directory(&top)?.is_some_and(|entries| !entries.is_empty()) {
            return Err(Error::Setup {
                reason: format!("'{}' already exists", self.place.shown),
            });
        }
        Ok(Some(lock))
    }

    /// Makes the administrative directory, locked for as long as the rest is missing. One that
    /// `is_layered` says from the start that it can be pruned when its maker is killed.
    fn make_admin(&self, is_layered: bool) -> Result<(PathBuf, Option<TreeLock>, HalfMade)> {
        if let Some(id) = &self.stale {
            give_up(self.repository, &self.place, id)?;
        }
        let sharing = self.repository.settings().sharing;
        let above = self.repository.common_dir().join("worktrees");
        sharing.create_directories(&above)?;
        let name = as_reference_part(self.place.base_name());
        let mut counter = 0_u32;
        let admin = loop {
            let mut name = name.clone();
            if counter > 0 {
                name.extend_from_slice(counter.to_string().as_bytes());
            }
            let admin = above.join(OsStr::from_bytes(&name));
            match hedgerow_fs::create_directory(&admin) {
                Ok(()) => break admin,
                Err(error) if error.kind() == ErrorKind::AlreadyExists => counter += 1,
                Err(error) => {
                    let words = "could not create directory of";
                    return Err(failed(words, admin.display(), &error));
                }
            }
        };
        let half_made = HalfMade::new(&admin);
        let mut lock = None;
        if let Some(id) = admin.file_name().filter(|_| is_layered) {
            lock = Some(lock_admin(self.repository, id.as_bytes().as_bstr())?);
            sharing.create_directories(&admin.join(LAYERS))?;
        }
        let reason = self.options.lock.as_ref().filter(|_| !is_layered);
        let reason = reason.map_or(INITIALIZING.into(), |it| it.as_bstr());
        write_line(&admin.join("locked"), reason)?;
        Ok((admin, lock, half_made))
    }

    fn make_top(&self, admin: &Path, half_made: &mut HalfMade) -> Result<()> {
        let top = &self.place.path;
        let sharing = self.repository.settings().sharing;
        sharing
            .create_directories(top)
            .map_err(|error| match error {
                Error::Fs(error) => {
                    let shown = [&self.place.shown[..], b"/.git"].concat();
                    let words = "could not create leading directories of";
                    failed(words, shown.as_bstr(), &error)
                }
                error => error,
            })?;
        half_made.has_top(top);
        write_line(&admin.join("commondir"), b"../..")
    }

    fn make_head(&self, admin: &Path) -> Result<()> {
        let repository = self.repository;
        let sharing = repository.settings().sharing;
        repository.refs().create_worktree_refs(admin, sharing)?;
        let value = match (&self.branch, self.head) {
            (Some(branch), _) => RefValue::Symbolic(branch.clone()),
            (None, Some(id)) => RefValue::Direct(id),
            (None, None) => return Err(invalid("HEAD".into())),
        };
        let name: &BStr = "HEAD".into();
        let edit = RefEdit {
            name,
            change: RefChange::Set(value),
            expected: Expected::Anything,
            log: self.head.map(|new| Logged {
                old: None,
                new,
                create: repository.settings().log_ref_updates.covers(name),
            }),
            message: None,
        };
        let refs = repository.refs().worktree_refs(admin);
        let cancel = &self.options.execution.cancel;
        let prepared = repository.prepare_reference_in(&*refs, edit, &|| cancel.is_cancelled())?;
        prepared.commit("".into(), &self.committer)
    }

    /// Mounts the working tree, if that is wished and possible.
    fn mount(
        &self,
        wish: Wish<'_>,
        admin: &Path,
        notice: &mut dyn FnMut(Notice<'_>),
    ) -> Result<Option<OnImage>> {
        let (wish, commit) = match (wish, self.head) {
            (Wish::Mount(wish), Some(commit)) => (wish, commit),
            (Wish::Hindered(reason), _) => {
                let text = if self.options.orphan {
                    format!("the working tree is not mounted: {reason}")
                } else {
                    written(&reason)
                };
                notice(Notice::NotMounted(&text));
                return Ok(None);
            }
            _ => return Ok(None),
        };
        let top = hedgerow_fs::real_path(&self.place.path)?;
        let linked = self.repository.open_admin(admin, &top)?;
        let checkout = Checkout {
            linked: &linked,
            commit,
            branch: self.branch.clone(),
            top: &top,
            is_relative: self.is_relative,
            monitor: self.options.monitor.as_deref(),
            threshold: self.options.threshold,
        };
        match put_on_image(&checkout, wish.maker, &self.options.execution) {
            Ok(on_image) => Ok(Some(on_image)),
            Err(Error::Interrupted) => Err(Error::Interrupted),
            Err(error) if wish.is_required => Err(required(&error.to_string())),
            Err(error) => {
                notice(Notice::NotMounted(&written(&error.to_string())));
                Ok(None)
            }
        }
    }

    fn fill(&self, on_image: Option<OnImage>) -> Result<Done> {
        if !self.options.checkout {
            return Ok(Done::default());
        }
        let top = hedgerow_fs::real_path(&self.place.path)?;
        let linked = self.repository.open_linked(&top)?;
        let execution = &self.options.execution;
        let threshold = self.options.threshold;
        let done = match on_image {
            Some(on_image) => fill(&linked, on_image, threshold, execution)?,
            None => populate(&linked, threshold, execution)?,
        };
        if execution.cancel.is_cancelled() {
            return Err(Error::Interrupted);
        }
        Ok(done)
    }

    /// Locks the finished working tree as it is to be locked.
    fn lock_ended(&self, admin: &Path, is_layered: bool, is_mounted: bool) -> Result<()> {
        let locked = admin.join("locked");
        match &self.options.lock {
            Some(reason) if is_layered => write_line(&locked, reason)?,
            Some(_) => {}
            None if is_mounted => write_line(&locked, LOCK_REASON.as_bytes())?,
            None => {
                hedgerow_fs::remove_file(&locked)?;
            }
        }
        Ok(())
    }

    /// Whether files are written.
    fn is_filled(&self) -> bool {
        self.options.checkout && !self.orphan
    }

    fn end(&self, done: Done, is_mounted: bool) -> Result<Added> {
        let path = hedgerow_fs::real_path(&self.place.path)?;
        let hook = match self.named.filter(|_| self.is_filled()) {
            Some(commit) => self.repository.run_post_checkout_of_added(&path, &commit)?,
            None => None,
        };
        Ok(Added {
            head: self.head.filter(|_| self.is_filled()),
            path,
            done,
            is_mounted,
            hook_failure: hook.filter(|exit| *exit != Exit::Status(0)),
        })
    }
}

fn written(reason: &str) -> String {
    format!("the working tree is not mounted, its files are written: {reason}")
}
