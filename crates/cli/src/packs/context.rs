//! The repository that a command about packs is in, if it is in one.

use crate::environment;
use crate::failure::Failure;
use crate::global::{Global, Workers};
use crate::output::Output;
use hedgerow::plumbing::git::config::Fsync;
use hedgerow::plumbing::git::Error;
use hedgerow::plumbing::pack::HashKind;
use hedgerow::Execution;
use hedgerow::Repository;
use std::num::NonZeroUsize;

/// Where a command works.
pub struct RepositoryContext {
    pub repository: Option<Repository>,
}

impl RepositoryContext {
    /// Finds the repository; none is no error.
    pub fn find(global: &Global) -> Result<Self, Failure> {
        let environment = environment::of_git(global)?;
        let repository = match Repository::discover(&environment) {
            Ok(repository) => Some(repository),
            Err(Error::NotARepository | Error::NotARepositoryUpTo { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        Ok(RepositoryContext { repository })
    }

    /// The hash function of the repository, or git's default.
    pub fn hash(&self) -> HashKind {
        let hash = self.repository.as_ref().map(Repository::hash_kind);
        hash.unwrap_or(HashKind::Sha1)
    }

    /// The boolean `key` of the configuration.
    pub fn boolean(&self, key: &str, otherwise: bool) -> Result<bool, Failure> {
        let found = match &self.repository {
            Some(repository) => repository.config().bool(key)?,
            None => None,
        };
        Ok(found.unwrap_or(otherwise))
    }

    /// What is to be waited for until it is on the disk.
    pub fn fsync(&self, output: &Output) -> Result<Fsync, Failure> {
        match &self.repository {
            Some(repository) => Ok(repository.fsync(&mut |warning| output.warn(warning))?),
            None => Ok(Fsync::default()),
        }
    }

    /// The number `key` of the configuration.
    pub fn integer(&self, key: &str) -> Result<Option<i64>, Failure> {
        match &self.repository {
            Some(repository) => Ok(repository.config().integer(key)?),
            None => Ok(None),
        }
    }

    /// How many threads to use: those asked for, over `pack.threads`, over one for each processor.
    pub fn threads(&self, asked: Option<usize>, global: &Global) -> Result<NonZeroUsize, Failure> {
        let jobs = match global.jobs {
            Some(Workers::Count(count)) => Some(count.get()),
            _ => None,
        };
        let configured = self.integer("pack.threads")?;
        let configured = configured.and_then(|threads| usize::try_from(threads).ok());
        let threads = asked.or(jobs).or(configured).and_then(NonZeroUsize::new);
        Ok(threads.unwrap_or_else(|| Execution::default().threads()))
    }
}
