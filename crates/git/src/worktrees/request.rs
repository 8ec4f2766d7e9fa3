//! What a new working tree is to have checked out, as git guesses it: git-worktree(1) under `add`.

use super::add::AddOptions;
use super::words::{guessed_name, GivenPath};
use crate::branches::RemoteMatch;
use crate::checkout::StartOptions;
use crate::refs::Head;
use crate::repository::Repository;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_object::ObjectKind;

/// What is told while a working tree is added, in git's order.
#[derive(Debug)]
pub enum Notice<'a> {
    /// `HEAD` leads nowhere, although there are branches.
    InvalidHead,
    /// There is no commit to check out: an unborn branch is created.
    InferringOrphan,
    /// There is no commit to check out; `--orphan` would create an unborn branch. The name of the
    /// branch, if one was given.
    OrphanHint(Option<&'a BStr>),
    /// The argument names this object, of this kind, and not a commit.
    NotACommit(ObjectId, ObjectKind),
    /// What the working tree will have.
    Preparing(&'a Preparing),
    /// The working tree cannot be mounted, for the reason in this sentence; so its files are written.
    NotMounted(&'a str),
    /// A warning, in git's words.
    Warning(&'a str),
    /// The new branch follows another one.
    Follows(&'a crate::checkout::BranchStart),
    /// The files are written, of the commit that is checked out if there is one; hooks run next. Whoever
    /// cancels now finds everything removed again.
    Filled(&'a crate::checkout::Done, Option<ObjectId>),
}

/// What a working tree will have checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Preparing {
    /// A branch that is created.
    NewBranch(BString),
    /// A branch that is moved away from this commit.
    Resetting(BString, ObjectId),
    /// A branch that exists.
    Branch(BString),
    /// A commit.
    Detached(ObjectId),
}

/// What was asked for, guesses included.
#[derive(Debug)]
pub(crate) struct Request {
    /// A branch or a commit: where the new branch starts, if there is one.
    pub source: BString,
    /// The branch to create or move.
    pub new_branch: Option<BString>,
    /// It is created unborn.
    pub orphan: bool,
}

struct Guessing<'a, 'n> {
    repository: &'a Repository,
    options: &'a AddOptions,
    place: &'a GivenPath,
    guess_remote: bool,
    notice: &'a mut (dyn FnMut(Notice<'_>) + 'n),
}

impl Request {
    /// Interprets `options`. Nothing is changed.
    ///
    /// # Errors
    /// [`Error::Setup`], in git's words.
    pub(crate) fn new(
        repository: &Repository,
        options: &AddOptions,
        place: &GivenPath,
        notice: &mut dyn FnMut(Notice<'_>),
    ) -> Result<Self> {
        let configured = repository.config().bool("worktree.guessRemote")?;
        let mut guessing = Guessing {
            repository,
            options,
            place,
            guess_remote: options.guess_remote.or(configured).unwrap_or(false),
            notice,
        };
        let request = guessing.request()?;
        guessing.check(&request)?;
        Ok(request)
    }

    /// What git says about it before it starts.
    pub(crate) fn preparing(
        &self,
        repository: &Repository,
        options: &AddOptions,
    ) -> Result<Preparing> {
        if let Some(name) = &self.new_branch {
            let is_forced = options.new_branch.as_ref().is_some_and(|new| new.force);
            let old = if is_forced {
                commit(repository, name.as_ref())?
            } else {
                None
            };
            return Ok(match old {
                Some(id) => Preparing::Resetting(name.clone(), id),
                None => Preparing::NewBranch(name.clone()),
            });
        }
        if !options.detach && branch(repository, self.source.as_ref())?.is_some() {
            return Ok(Preparing::Branch(self.source.clone()));
        }
        let id = commit(repository, self.source.as_ref())?;
        Ok(Preparing::Detached(id.unwrap_or(repository.null_id())))
    }
}

impl Guessing<'_, '_> {
    fn request(&mut self) -> Result<Request> {
        let options = self.options;
        let word = options
            .commitish
            .as_ref()
            .map_or("HEAD".into(), |word| word.as_bstr());
        let word: &BStr = if word == "-" { "@{-1}".into() } else { word };
        let mut request = Request {
            source: word.to_owned(),
            new_branch: options.new_branch.as_ref().map(|new| new.name.clone()),
            orphan: options.orphan,
        };
        if let Some(new) = options.new_branch.as_ref().filter(|new| new.force) {
            if options.force == 0 {
                if let Some(full) = branch(self.repository, new.name.as_ref())? {
                    refuse_used(self.repository, full.as_ref())?;
                }
            }
        }
        if options.orphan {
            let name = || guessed_name(self.place.shown.as_ref()).to_owned();
            request.new_branch.get_or_insert_with(name);
        } else if options.detach {
            self.check_head(&request)?;
        } else if options.commitish.is_none() && request.new_branch.is_some() {
            request.orphan = self.infers_orphan(false)?;
        } else if options.commitish.is_none() {
            let is_guessed = self.guess_from_path(&mut request)?;
            request.orphan = !is_guessed && self.infers_orphan(true)?;
        } else {
            if self.commit(word)?.is_none() {
                if let RemoteMatch::One(upstream) = self.repository.dwim_remote_branch(word)? {
                    request.new_branch = Some(word.to_owned());
                    request.source = upstream.tracking;
                }
            }
            self.check_head(&request)?;
        }
        Ok(request)
    }

    fn check(&mut self, request: &Request) -> Result<()> {
        if request.orphan || self.commit(request.source.as_ref())?.is_some() {
            return Ok(());
        }
        if self.options.commitish.is_none() {
            let name = self
                .options
                .new_branch
                .as_ref()
                .map(|new| new.name.as_bstr());
            (self.notice)(Notice::OrphanHint(name));
        }
        Err(invalid(request.source.as_ref()))
    }

    /// The commit that `word` names; if it names something else, that is told.
    fn commit(&mut self, word: &BStr) -> Result<Option<ObjectId>> {
        let found = commit(self.repository, word)?;
        if found.is_none() {
            if let Some((id, kind)) = object(self.repository, word)? {
                (self.notice)(Notice::NotACommit(id, kind));
            }
        }
        Ok(found)
    }

    fn check_head(&mut self, request: &Request) -> Result<()> {
        if request.source == "HEAD" {
            self.can_use_branches()?;
        }
        Ok(())
    }

    /// A branch with the name of the directory, here or at a remote. Returns whether there is one;
    /// if not, one is to be created.
    fn guess_from_path(&mut self, request: &mut Request) -> Result<bool> {
        let name = guessed_name(self.place.shown.as_ref());
        if branch(self.repository, name)?.is_some() {
            request.source = name.to_owned();
            return Ok(true);
        }
        request.new_branch = Some(name.to_owned());
        if !self.guess_remote {
            return Ok(false);
        }
        match self.repository.dwim_remote_branch(name)? {
            RemoteMatch::One(upstream) => {
                request.source = upstream.tracking;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Whether there is nothing to start at, so that the branch is created unborn.
    fn infers_orphan(&mut self, or_remote: bool) -> Result<bool> {
        if self.can_use_branches()? || or_remote && self.can_use_remote_branches()? {
            return Ok(false);
        }
        (self.notice)(Notice::InferringOrphan);
        let conflict = if self.options.track.is_some() {
            "--track"
        } else if !self.options.checkout {
            "--no-checkout"
        } else {
            return Ok(true);
        };
        Err(refused(format!(
            "options '--orphan' and '{conflict}' cannot be used together"
        )))
    }

    fn can_use_branches(&mut self) -> Result<bool> {
        let head = match self.repository.head() {
            Ok(head) => head.id(),
            Err(Error::Reference { .. }) => None,
            Err(error) => return Err(error),
        };
        if head.is_some() {
            return Ok(true);
        }
        if self
            .repository
            .references_below("refs/heads/".into())?
            .is_empty()
        {
            return Ok(false);
        }
        (self.notice)(Notice::InvalidHead);
        Ok(true)
    }

    fn can_use_remote_branches(&self) -> Result<bool> {
        if !self.guess_remote {
            return Ok(false);
        }
        if !self
            .repository
            .references_below("refs/remotes/".into())?
            .is_empty()
        {
            return Ok(true);
        }
        if self.options.force == 0 && self.has_remote()? {
            return Err(refused(
                "No local or remote refs exist despite at least one remote\npresent, stopping; use \
                 'add -f' to override or fetch a remote first"
                    .into(),
            ));
        }
        Ok(false)
    }

    /// Whether the remote that is used by default has an address.
    fn has_remote(&self) -> Result<bool> {
        let config = self.repository.config();
        let of_branch = match self.repository.head()? {
            Head::Branch { name, .. } => {
                let short = name.strip_prefix(b"refs/heads/").unwrap_or(&name).as_bstr();
                config.string_in("branch", short, "remote")
            }
            Head::Detached { .. } => None,
        };
        let mut remotes = self.repository.remotes();
        let name = match of_branch {
            Some(name) => name,
            None if remotes.len() == 1 => remotes.remove(0),
            None => "origin".into(),
        };
        Ok(config.string_in("remote", name.as_ref(), "url").is_some())
    }
}

/// The commit that `word` names; `None` if it names none.
pub(crate) fn commit(repository: &Repository, word: &BStr) -> Result<Option<ObjectId>> {
    match repository.resolve_commit(word) {
        Ok(id) => Ok(Some(id)),
        Err(Error::Revision { .. } | Error::Pack(hedgerow_pack::Error::Missing { .. })) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The object that `word` names, or the tag that it names leads to, and its kind.
fn object(repository: &Repository, word: &BStr) -> Result<Option<(ObjectId, ObjectKind)>> {
    let found = repository.resolve_committish(word);
    let found = found.and_then(|id| repository.peel(&id, None));
    match found {
        Ok(None) => Ok(None),
        Ok(Some(id)) => Ok(Some((id, repository.object_kind(&id)?))),
        Err(Error::Revision { .. } | Error::Pack(hedgerow_pack::Error::Missing { .. })) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The full name of the branch that `word` means, if there is one.
pub(crate) fn branch(repository: &Repository, word: &BStr) -> Result<Option<BString>> {
    let full = match repository.branch_named(word) {
        Ok(full) => full,
        Err(Error::BranchName { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let found = repository.reference(full.as_ref())?;
    Ok(found.and_then(|found| found.id).map(|_| full))
}

/// Refuses a branch that a working tree, this one included, has checked out, rebases or bisects.
pub(crate) fn refuse_used(repository: &Repository, branch: &BStr) -> Result<()> {
    let Some(path) = repository.branch_checked_out(branch)? else {
        return Ok(());
    };
    let short = branch
        .strip_prefix(b"refs/heads/")
        .unwrap_or(branch)
        .as_bstr();
    Err(refused(format!(
        "'{short}' is already used by worktree at '{}'",
        path.display()
    )))
}

/// Refuses the name of an unborn branch that exists or cannot be one.
pub(crate) fn unborn(repository: &Repository, name: &BStr) -> Result<BString> {
    let (full, _) = repository.startable_branch(name, &StartOptions::default())?;
    Ok(full)
}

pub(crate) fn invalid(word: &BStr) -> Error {
    refused(format!("invalid reference: {word}"))
}

fn refused(reason: String) -> Error {
    Error::Setup { reason }
}
