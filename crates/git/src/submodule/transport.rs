//! Cloning submodules, and fetching in them: git-submodule(1) under `update`. Git receives; what it
//! says is told in its own words.

use super::update::{Task, UpdateEvent};
use super::{opened, url};
use crate::config::{Environment, Sharing};
use crate::repository::Repository;
use crate::status::variables_of_submodule;
use crate::{Error, Result};
use bstr::{BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_engine::{Execution, Jobs};
use hedgerow_fs::{Exit, Process};
use std::ffi::{OsStr, OsString};
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The default number of submodules that are received at a time. They mostly wait for the network; sshd(8)
/// accepts no more than ten sessions that are not logged in yet.
const AT_A_TIME: NonZeroUsize = NonZeroUsize::new(8).expect("it is not zero");
/// Git prints nothing on its standard output here. If it does, no more than this is read.
const OUTPUT_LIMIT_BYTES: u64 = 64 << 10;

/// How submodules and commits that are missing are cloned and fetched.
#[derive(Clone, Debug, Default)]
pub struct Transport {
    /// Git.
    pub git: PathBuf,
    /// Variables for it, in addition to those of this process; `None` removes one.
    pub variables: Vec<(OsString, Option<OsString>)>,
    /// Further words for each `git clone`, such as `--filter=blob:none`.
    pub clone_words: Vec<OsString>,
    /// History ends behind so many commits.
    pub depth: Option<NonZeroUsize>,
    /// Whether `.gitmodules` may ask for a history of one commit.
    pub recommend_shallow: bool,
    /// The number of submodules that are received at a time; `submodule.fetchJobs` if `None`.
    pub jobs: Option<NonZeroUsize>,
    /// Git says nothing of its progress.
    pub quiet: bool,
}

impl Transport {
    /// How to run as many of it at a time as are wanted.
    pub(super) fn execution(
        &self,
        repository: &Repository,
        execution: &Execution,
    ) -> Result<Execution> {
        let configured = || match repository.config().integer("submodule.fetchJobs")? {
            None => Ok(AT_A_TIME),
            Some(0) => Ok(execution.threads()),
            Some(count) => usize::try_from(count)
                .ok()
                .and_then(NonZeroUsize::new)
                .ok_or_else(|| Error::Setup {
                    reason: "negative values not allowed for submodule.fetchJobs".into(),
                }),
        };
        let jobs = self.jobs.map_or_else(configured, Ok)?;
        Ok(execution.with_jobs(Jobs::Fixed(jobs)))
    }

    /// Clones the submodule of `task` into `git_dir`, without a checkout. Returns whether that worked,
    /// and what git said.
    pub(super) fn make_clone(
        &self,
        task: &Task,
        source: &Source,
        git_dir: &Path,
    ) -> Result<(bool, Vec<UpdateEvent>)> {
        if let Some(around) = git_dir.parent() {
            source.sharing.create_directories(around)?;
        }
        let mut words: Vec<OsString> = vec!["clone".into(), "--no-checkout".into()];
        words.extend(self.quiet.then(|| "--quiet".into()));
        let depth = source.is_shallow.then_some(NonZeroUsize::MIN);
        words.extend(depth.or(self.depth).map(depth_word));
        words.extend(self.clone_words.iter().cloned());
        words.push("--separate-git-dir".into());
        words.push(git_dir.into());
        words.push("--".into());
        words.push(OsStr::from_bytes(&source.url).into());
        words.push(task.directory.clone().into());
        let (is_done, mut said) = self.run(words, &source.top)?;
        if !is_done {
            let line = format!(
                "fatal: clone of '{}' into submodule path '{}' failed",
                source.url.as_bstr(),
                task.directory.display()
            );
            said.push(UpdateEvent::Said(line));
        }
        Ok((is_done, said))
    }

    /// Fetches until a reference of the submodule of `task` reaches its commit, or the commit alone,
    /// if that is needed. `told` is told what git says.
    ///
    /// # Errors
    /// It cannot be had.
    pub(super) fn fetch(
        &self,
        environment: &Environment,
        task: &Task,
        told: &mut Vec<UpdateEvent>,
    ) -> Result<()> {
        let (id, shown) = (&task.listed.id, &task.shown);
        let mut words: Vec<OsString> = vec!["fetch".into()];
        words.extend(self.quiet.then(|| "--quiet".into()));
        words.extend(self.depth.map(depth_word));
        let (is_done, said) = self.run(words.clone(), &task.directory)?;
        told.extend(said);
        if !is_done && !self.quiet {
            let line = format!(
                "Unable to fetch in submodule path '{shown}'; trying to directly fetch {id}:"
            );
            told.push(UpdateEvent::Said(line));
        }
        let submodule = opened(environment, &task.directory, None)?;
        if is_reached(&submodule, id)? {
            return Ok(());
        }
        let remote = url::default_remote(&submodule);
        words.push(OsStr::from_bytes(&remote).into());
        words.push(id.to_string().into());
        let (is_done, said) = self.run(words, &task.directory)?;
        told.extend(said);
        if is_done {
            return Ok(());
        }
        Err(Error::Setup {
            reason: format!(
                "Fetched in submodule path '{shown}', but it did not contain {id}. Direct fetching of \
                 that commit failed."
            ),
        })
    }

    /// Runs git in `directory`; whether it succeeded, and what it said.
    fn run(&self, words: Vec<OsString>, directory: &Path) -> Result<(bool, Vec<UpdateEvent>)> {
        let mut variables = variables_of_submodule();
        // The address comes from the repository, not from the user: git allows fewer protocols for it.
        variables.push(("GIT_PROTOCOL_FROM_USER".into(), Some("0".into())));
        variables.extend(self.variables.iter().cloned());
        let git = Process {
            program: self.git.clone(),
            arguments: words,
            directory: Some(directory.to_owned()),
            variables,
            ends_with_us: true,
            ..Process::default()
        };
        let (_, answer) = git.output(OUTPUT_LIMIT_BYTES)?;
        let text = answer.messages.trim_end_with(|it| it == '\n').as_bstr();
        let said = (!text.is_empty()).then(|| UpdateEvent::Said(text.to_string()));
        Ok((answer.exit == Exit::Status(0), said.into_iter().collect()))
    }
}

fn depth_word(depth: NonZeroUsize) -> OsString {
    format!("--depth={depth}").into()
}

/// Where a submodule is cloned from.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub url: BString,
    /// The top of the working tree that it is for: where paths begin.
    pub top: PathBuf,
    pub sharing: Sharing,
    /// `.gitmodules` asks for a history of one commit.
    pub is_shallow: bool,
}

/// Whether a reference of `submodule` reaches the commit, as git wants it.
pub(super) fn is_reached(submodule: &Repository, id: &ObjectId) -> Result<bool> {
    if !submodule.has_object(id)? {
        return Ok(false);
    }
    let head = submodule.head()?.id();
    Ok(head == Some(*id) || submodule.orphaned_commits(id, head.as_deref())?.count == 0)
}
