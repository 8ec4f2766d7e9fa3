//! What the words of a command line request from a reset.

use super::super::paths::check_pathspecs;
use super::refused;
use crate::repository::Repository;
use crate::revision::{IndexPaths, Wanted};
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_pack::ObjectKind;

/// What is to be reset, and to what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResetRequest {
    /// The revision as it was named, for messages; `HEAD` if none was.
    pub revision: BString,
    /// What it means.
    pub target: ResetTarget,
}

/// What is to be reset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResetTarget {
    /// HEAD, to this commit.
    Commit(ObjectId),
    /// The index, to nothing: HEAD has no commit yet.
    Unborn,
    /// These paths of the index.
    Paths {
        /// The tree to take them from.
        tree: ObjectId,
        /// Pathspecs, relative to the user's current directory.
        pathspecs: Vec<BString>,
    },
}

impl ResetRequest {
    /// Interprets `words`, one of which may be `--`. `listed` are pathspecs from a file. `warn`
    /// receives git's warnings.
    ///
    /// # Errors
    /// [`Error::Setup`], in git's words, if they are invalid.
    pub fn parse(
        repository: &Repository,
        words: &[BString],
        listed: Option<Vec<BString>>,
        warn: &mut dyn FnMut(String),
    ) -> Result<Self> {
        let mut reader = Words { repository, warn };
        let (revision, pathspecs) = reader.split(words)?;
        let revision = match revision {
            Some(word) if word == "@" => "HEAD".into(),
            Some(word) => word.to_owned(),
            None => BString::from("HEAD"),
        };
        let pathspecs = match listed {
            Some(_) if !pathspecs.is_empty() => {
                let reason = "'--pathspec-from-file' and pathspec arguments cannot be used \
                              together";
                return Err(refused(reason.into()));
            }
            Some(listed) => listed,
            None => pathspecs.to_vec(),
        };
        if !pathspecs.is_empty() && repository.work_tree().is_some() {
            check_pathspecs(repository, &pathspecs)?;
        }
        let target = reader.target(revision.as_ref(), pathspecs)?;
        Ok(ResetRequest { revision, target })
    }

    /// The full name of the branch or tag that was named, which filters are told.
    pub(super) fn branch(&self, repository: &Repository) -> Result<Option<BString>> {
        let found = repository.find_reference(self.revision.as_ref())?;
        let name = found.map(|found| match found.reference.target {
            Some(target) if found.reference.name == "HEAD" => target,
            _ => found.reference.name,
        });
        Ok(name.filter(|name| name.starts_with(b"refs/")))
    }
}

struct Words<'a> {
    repository: &'a Repository,
    warn: &'a mut dyn FnMut(String),
}

impl Words<'_> {
    /// The revision, if one is named, and the paths.
    fn split<'w>(&mut self, words: &'w [BString]) -> Result<(Option<&'w BStr>, &'w [BString])> {
        let Some((first, rest)) = words.split_first() else {
            return Ok((None, words));
        };
        let first = first.as_bstr();
        if first == "--" {
            return Ok((None, rest));
        }
        if let Some((_, paths)) = rest.split_first().filter(|(word, _)| *word == "--") {
            return Ok((Some(first), paths));
        }
        let wanted = if rest.is_empty() {
            Wanted::Commit
        } else {
            Wanted::Tree
        };
        if self.object(first, wanted)?.is_some() {
            if !first.starts_with(b"-") && self.repository.names_file(first)? {
                return Err(ambiguous(first, "both revision and filename"));
            }
            return Ok((Some(first), rest));
        }
        if first.starts_with(b"-") {
            return Err(refused(format!(
                "option '{first}' must come before non-option arguments"
            )));
        }
        if self.repository.names_pathspec(first)? {
            return Ok((None, words));
        }
        let reason = "unknown revision or path not in the working tree.";
        Err(ambiguous(first, reason))
    }

    fn target(&mut self, revision: &BStr, pathspecs: Vec<BString>) -> Result<ResetTarget> {
        let unborn = revision == "HEAD" && self.repository.head()?.id().is_none();
        let is_whole = pathspecs.is_empty();
        if unborn && is_whole {
            return Ok(ResetTarget::Unborn);
        }
        if unborn {
            let tree = self.repository.hash_kind().empty_tree();
            return Ok(ResetTarget::Paths { tree, pathspecs });
        }
        let (wanted, kind, noun) = if is_whole {
            (Wanted::Commit, ObjectKind::Commit, "revision")
        } else {
            (Wanted::Tree, ObjectKind::Tree, "tree")
        };
        let id = self.object(revision, wanted)?;
        let id = id.ok_or_else(|| {
            let reason = format!("Failed to resolve '{revision}' as a valid {noun}.");
            refused(reason)
        })?;
        let peeled = match self.repository.peel(&id, Some(kind)) {
            Err(Error::Pack(_)) => None,
            peeled => peeled?,
        };
        let id = peeled.ok_or_else(|| self.not_of_kind(revision, &id, kind))?;
        Ok(match kind {
            ObjectKind::Commit => ResetTarget::Commit(id),
            _ => ResetTarget::Paths {
                tree: id,
                pathspecs,
            },
        })
    }

    /// The object that `revision` leads to is not one of the kind `wanted`.
    fn not_of_kind(&self, revision: &BStr, id: &ObjectId, wanted: ObjectKind) -> Error {
        let refusal = refused(format!("Could not parse object '{revision}'."));
        let Ok(Some(end)) = self.repository.peel(id, None) else {
            return refusal;
        };
        let Ok(found) = self.repository.object_kind(&end) else {
            return refusal;
        };
        let (found, wanted) = (found.name(), wanted.name());
        Error::AfterFailures {
            failures: vec![format!("object {end} is a {found}, not a {wanted}")],
            error: Box::new(refusal),
        }
    }

    fn object(&mut self, word: &BStr, wanted: Wanted) -> Result<Option<ObjectId>> {
        let paths = IndexPaths::new(self.repository);
        let index = |path: &BStr, stage| paths.find(path, stage);
        let found = self
            .repository
            .resolve_if_named(word, wanted, Some(&index))?;
        Ok(found.map(|found| {
            found.warnings.into_iter().for_each(&mut *self.warn);
            found.id
        }))
    }
}

fn ambiguous(word: &BStr, reason: &str) -> Error {
    refused(format!(
        "ambiguous argument '{word}': {reason}\n\
         Use '--' to separate paths from revisions, like this:\n\
         'git <command> [<revision>...] -- [<file>...]'"
    ))
}
