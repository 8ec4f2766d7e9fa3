//! What the words of a command line request from a checkout: git-checkout(1). A word that may be
//! either a revision or a path is refused, because a wrong guess overwrites files.

use super::paths::check_pathspecs;
use super::target::{Named, Target};
use crate::reachability::Sources;
use crate::repository::Repository;
use crate::revision::{IndexPaths, Wanted};
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_reach::merge_bases;
use std::cell::RefCell;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Characters that make a pathspec a glob pattern.
const WILD: &[u8] = b"*?[\\";

/// What is requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Move HEAD and the working tree ([`super::switch`]).
    Switch(Target),
    /// Restore paths; HEAD stays ([`super::checkout_paths`]).
    Paths(RequestedPaths),
}

/// Paths to check out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestedPaths {
    /// The tree to take them from; the index if `None`.
    pub tree: Option<ObjectId>,
    /// Pathspecs, relative to the user's current directory.
    pub pathspecs: Vec<BString>,
    /// No `--` was given: git then reports how many paths were updated.
    pub without_separator: bool,
}

/// How words are interpreted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestOptions {
    /// HEAD does not follow a branch.
    pub detach: bool,
    /// Whether a word that names nothing may stand for a remote's branch; `None` means as
    /// `checkout.guess` says.
    pub guess: Option<bool>,
}

/// The words of one command line.
struct Words<'a> {
    repository: &'a Repository,
    warn: RefCell<&'a mut dyn FnMut(String)>,
    detach: bool,
    guess: bool,
    /// A `--` separates the paths.
    is_separated: bool,
    /// The first word is the only one, apart from `--`.
    is_alone: bool,
}

impl Request {
    /// Interprets `words`, one of which may be `--`. `warn` receives git's warnings.
    ///
    /// # Errors
    /// [`Error::Setup`], in git's words, if they are invalid; [`Error::AmbiguousRemoteBranch`].
    pub fn parse(
        repository: &Repository,
        words: &[BString],
        options: RequestOptions,
        warn: &mut dyn FnMut(String),
    ) -> Result<Self> {
        let separator = words.iter().position(|word| word == "--");
        if let Some(given) = separator.filter(|at| *at > 1) {
            return Err(refused(format!(
                "only one reference expected, {given} given."
            )));
        }
        let reader = Words {
            repository,
            warn: RefCell::new(warn),
            detach: options.detach,
            guess: options.guess.unwrap_or(repository.settings().guess),
            is_separated: separator.is_some(),
            is_alone: words.len() == 1 + usize::from(separator.is_some()),
        };
        let (named, rest) = match words.split_first() {
            None => (None, words),
            Some((_, rest)) if separator == Some(0) => (None, rest),
            Some((first, rest)) => match reader.first_word(first.as_bstr(), !rest.is_empty())? {
                Word::Switch(target) => return Ok(Request::Switch(target)),
                Word::Named(named) => {
                    let after = usize::from(separator.is_some());
                    (Some((first, named)), rest.get(after..).unwrap_or_default())
                }
                Word::Path => (None, words),
            },
        };
        reader.finish(named, rest)
    }
}

/// Meaning of the first word.
enum Word {
    /// A remote's branch, to create a branch from.
    Switch(Target),
    Named(Named),
    Path,
}

impl Words<'_> {
    fn first_word(&self, word: &BStr, has_more: bool) -> Result<Word> {
        let word = if word == "-" { "@{-1}".into() } else { word };
        if let Some(id) = self.resolve(word)? {
            let named = Target::named(self.repository, word, id, self.detach);
            let named = named.map_err(in_gits_words)?;
            if has_more && !self.is_separated && self.is_file(word)? {
                return Err(refused(format!(
                    "ambiguous argument '{word}': both revision and filename\n\
                     Use '--' to separate paths from revisions, like this:\n\
                     'git <command> [<revision>...] -- [<file>...]'"
                )));
            }
            return Ok(Word::Named(named));
        }
        if let Some(target) = self.guessed(word)? {
            return Ok(Word::Switch(target));
        }
        if self.is_separated {
            Err(refused(format!("invalid reference: {word}")))
        } else {
            Ok(Word::Path)
        }
    }

    /// The object that the word names. `A...B` names their only merge base.
    fn resolve(&self, word: &BStr) -> Result<Option<ObjectId>> {
        let Some((left, right)) = word.split_once_str("...") else {
            return self.object(word, Wanted::Any);
        };
        let side = |text: &[u8]| match text {
            b"" => BString::from("HEAD"),
            text => text.into(),
        };
        let (left, right) = (side(left), side(right));
        let commit = |name: &BString| match self.object(name.as_ref(), Wanted::Commit)? {
            Some(id) => Ok::<_, Error>(self.repository.peel_to_commit(&id)?),
            None => Ok(None),
        };
        let Some(left) = commit(&left)? else {
            return Ok(None);
        };
        let Some(right) = commit(&right)? else {
            return Ok(None);
        };
        let sources = Sources::read(self.repository)?;
        let bases = merge_bases(sources.of(self.repository), &left, &right);
        let bases = bases?;
        Ok(match bases.as_slice() {
            [base] => Some(*base),
            _ => None,
        })
    }

    fn object(&self, word: &BStr, wanted: Wanted) -> Result<Option<ObjectId>> {
        let paths = IndexPaths::new(self.repository);
        let index = |path: &BStr, stage| paths.find(path, stage);
        let found = self
            .repository
            .resolve_if_named(word, wanted, Some(&index))
            .map_err(in_gits_words)?;
        Ok(found.map(|found| {
            found
                .warnings
                .into_iter()
                .for_each(|it| (self.warn.borrow_mut())(it));
            found.id
        }))
    }

    /// The remote's branch that the word stands for, if it names nothing else.
    fn guessed(&self, word: &BStr) -> Result<Option<Target>> {
        let is_pattern = !self.is_separated && word.find_byteset(WILD).is_some();
        if !self.guess || !self.is_alone || is_pattern {
            return Ok(None);
        }
        let is_file = !self.is_separated && self.is_file(word)?;
        let target = Target::of_remote(self.repository, word)?;
        match target {
            Some(_) if is_file => Err(refused(format!(
                "'{word}' could be both a local file and a tracking branch.\n\
                 Please use -- (and optionally --no-guess) to disambiguate"
            ))),
            Some(_) if self.detach => Err(refused(
                "'--detach' cannot be used with '-b/-B/--orphan'".into(),
            )),
            target => Ok(target),
        }
    }

    /// Whether the word names something that exists, checked as git does: without most of the
    /// pathspec magic.
    fn is_file(&self, word: &BStr) -> Result<bool> {
        let top = self.repository.require_work_tree()?;
        let (prefix, rest) = match word.as_bytes() {
            [b':', b'/', rest @ ..] => (BStr::new(""), rest),
            [b':', b'!' | b'^', rest @ ..] => (self.repository.prefix(), rest),
            _ => (self.repository.prefix(), word.as_bytes()),
        };
        if rest.is_empty() {
            return Ok(!word.is_empty());
        }
        let path = top
            .join(OsStr::from_bytes(prefix))
            .join(OsStr::from_bytes(rest));
        Ok(hedgerow_fs::lstat(&path)?.is_some())
    }

    fn finish(&self, named: Option<(&BString, Named)>, pathspecs: &[BString]) -> Result<Request> {
        if let Some(path) = pathspecs.first() {
            check_pathspecs(self.repository, pathspecs)?;
            if self.detach {
                return Err(refused(format!(
                    "git checkout: --detach does not take a path argument '{path}'"
                )));
            }
            return Ok(Request::Paths(RequestedPaths {
                tree: named.map(|(_, named)| named.tree),
                pathspecs: pathspecs.to_vec(),
                without_separator: !self.is_separated,
            }));
        }
        match named {
            None => Ok(Request::Switch(Target::head(self.repository, self.detach)?)),
            Some((word, named)) => match named.target {
                Some(target) => Ok(Request::Switch(target)),
                None => Err(refused(format!(
                    "Cannot switch branch to a non-commit '{word}'"
                ))),
            },
        }
    }
}

/// Drops the name of the revision from the error: git gives only the reason.
fn in_gits_words(error: Error) -> Error {
    match error {
        Error::Revision { reason, .. } => refused(reason.to_string()),
        error => error,
    }
}

fn refused(reason: String) -> Error {
    Error::Setup { reason }
}

impl Target {
    /// The branch or commit that `revision` names, as `git checkout` interprets it.
    ///
    /// # Errors
    /// [`Error::Setup`] if it names neither.
    pub fn of_revision(repository: &Repository, revision: &BStr) -> Result<Target> {
        let words = [revision.to_owned(), "--".into()];
        match Request::parse(repository, &words, RequestOptions::default(), &mut |_| {})? {
            Request::Switch(target) => Ok(target),
            Request::Paths(_) => Err(refused(format!("invalid reference: {revision}"))),
        }
    }
}
