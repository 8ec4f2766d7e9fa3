//! What the words of `checkout` ask for: git-checkout(1). A word that may be both a revision and a
//! path is refused, because to guess wrong overwrites files.

use crate::arguments::Checkout;
use crate::failure::Failure;
use crate::output::Output;
use bstr::{BStr, BString, ByteSlice};
use hedgerow_git::checkout::{check_pathspecs, Named, Target};
use hedgerow_git::reachability::Sources;
use hedgerow_git::repository::Repository;
use hedgerow_git::revision::{IndexPaths, Wanted};
use hedgerow_git::{Error, ObjectId};
use hedgerow_reach::merge_bases;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Characters that make a pathspec a pattern.
const WILD: &[u8] = b"*?[\\";

const SEVERAL_REMOTES: &str = "\
If you meant to check out a remote tracking branch on, e.g. 'origin',
you can do so by fully qualifying the name with the --track option:

    git checkout --track origin/<name>

If you'd like to always have checkouts of an ambiguous <name> prefer
one remote, e.g. the 'origin' remote, consider setting
checkout.defaultRemote=origin in your config.";

/// What is asked for.
pub enum Request {
    Switch(Target),
    Paths(Paths),
}

/// Paths to check out; HEAD stays.
pub struct Paths {
    /// The tree to take them from; the index if there is none.
    pub tree: Option<ObjectId>,
    pub pathspecs: Vec<BString>,
    /// Say how many were updated: git does where no `--` was given.
    pub count: bool,
}

/// One command line.
struct Reader<'a> {
    repository: &'a Repository,
    output: &'a Output,
    detach: bool,
    guess: bool,
    /// A `--` says what is a path.
    is_separated: bool,
    /// There is a word besides the first, or besides the first and `--`.
    is_alone: bool,
}

impl Request {
    /// Understands the words. Of those in `command`, one may be `--`.
    pub fn read(
        repository: &Repository,
        command: &Checkout,
        output: &Output,
    ) -> Result<Self, Failure> {
        let words: Vec<BString> = command
            .words
            .iter()
            .map(|word| word.as_bytes().into())
            .collect();
        let separator = words.iter().position(|word| word == "--");
        if separator.is_some_and(|at| at > 1) {
            let given = separator.unwrap_or_default();
            return Err(Failure::fatal(format_args!(
                "only one reference expected, {given} given."
            )));
        }
        let reader = Reader {
            repository,
            output,
            detach: command.detach,
            guess: command.guess || repository.settings().guess && !command.no_guess,
            is_separated: separator.is_some(),
            is_alone: words.len() == 1 + usize::from(separator.is_some()),
        };
        let (named, rest) = match words.split_first() {
            None => (None, &words[..]),
            Some((_, rest)) if separator == Some(0) => (None, rest),
            Some((first, rest)) => match reader.first_word(first.as_bstr(), !rest.is_empty())? {
                Word::Switch(target) => return Ok(Request::Switch(target)),
                Word::Named(named) => {
                    let after = usize::from(separator.is_some());
                    (Some((first, named)), rest.get(after..).unwrap_or_default())
                }
                Word::Path => (None, &words[..]),
            },
        };
        reader.finish(named, rest)
    }
}

/// What the first word is.
enum Word {
    /// A branch of a remote, to make one from.
    Switch(Target),
    Named(Named),
    Path,
}

impl Reader<'_> {
    fn first_word(&self, word: &BStr, has_more: bool) -> Result<Word, Failure> {
        let word = if word == "-" { "@{-1}".into() } else { word };
        if let Some(id) = self.resolve(word)? {
            let named = Target::named(self.repository, word, id, self.detach);
            let named = named.map_err(in_gits_words)?;
            if has_more && !self.is_separated && self.is_file(word)? {
                return Err(Failure::fatal(format_args!(
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
            Err(Failure::fatal(format_args!("invalid reference: {word}")))
        } else {
            Ok(Word::Path)
        }
    }

    /// The object that the word names. `A...B` is the one commit where their lines meet.
    fn resolve(&self, word: &BStr) -> Result<Option<ObjectId>, Failure> {
        let Some((left, right)) = word.split_once_str("...") else {
            return self.object(word, Wanted::Any);
        };
        let side = |text: &[u8]| match text {
            b"" => BString::from("HEAD"),
            text => text.into(),
        };
        let (left, right) = (side(left), side(right));
        let commit = |name: &BString| match self.object(name.as_ref(), Wanted::Commit)? {
            Some(id) => Ok::<_, Failure>(self.repository.peel_to_commit(&id)?),
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
        let bases = bases.map_err(Failure::fatal)?;
        Ok(match bases.as_slice() {
            [base] => Some(*base),
            _ => None,
        })
    }

    fn object(&self, word: &BStr, wanted: Wanted) -> Result<Option<ObjectId>, Failure> {
        let paths = IndexPaths::new(self.repository);
        let index = |path: &BStr, stage| paths.find(path, stage);
        let found = self
            .repository
            .resolve_if_named(word, wanted, Some(&index))
            .map_err(in_gits_words)?;
        Ok(found.map(|found| {
            found.warnings.iter().for_each(|it| self.output.warn(it));
            found.id
        }))
    }

    /// The branch of a remote that the word stands for, if it names nothing else.
    fn guessed(&self, word: &BStr) -> Result<Option<Target>, Failure> {
        let is_pattern = !self.is_separated && word.find_byteset(WILD).is_some();
        if !self.guess || !self.is_alone || is_pattern {
            return Ok(None);
        }
        let is_file = !self.is_separated && self.is_file(word)?;
        let target = Target::of_remote(self.repository, word).map_err(|error| {
            let advised = self.repository.advises("checkoutAmbiguousRemoteBranchName");
            if matches!(error, Error::AmbiguousRemoteBranch { .. }) && advised.unwrap_or(true) {
                let lines = SEVERAL_REMOTES.lines();
                lines.for_each(|line| self.output.error_line(format!("hint: {line}").trim_end()));
            }
            Failure::from(error)
        })?;
        match target {
            Some(_) if is_file => Err(Failure::fatal(format_args!(
                "'{word}' could be both a local file and a tracking branch.\n\
                 Please use -- (and optionally --no-guess) to disambiguate"
            ))),
            Some(_) if self.detach => Err(Failure::fatal(
                "'--detach' cannot be used with '-b/-B/--orphan'",
            )),
            target => Ok(target),
        }
    }

    /// Whether the word names something that is there, as git looks for it: without most of the
    /// magic of pathspecs.
    fn is_file(&self, word: &BStr) -> Result<bool, Failure> {
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
        Ok(hedgerow_fs::lstat(&path).map_err(Failure::fatal)?.is_some())
    }

    fn finish(
        &self,
        named: Option<(&BString, Named)>,
        pathspecs: &[BString],
    ) -> Result<Request, Failure> {
        if let Some(path) = pathspecs.first() {
            check_pathspecs(self.repository, pathspecs)?;
            if self.detach {
                return Err(Failure::fatal(format_args!(
                    "git checkout: --detach does not take a path argument '{path}'"
                )));
            }
            return Ok(Request::Paths(Paths {
                tree: named.map(|(_, named)| named.tree),
                pathspecs: pathspecs.to_vec(),
                count: !self.is_separated,
            }));
        }
        match named {
            None => Ok(Request::Switch(Target::head(self.repository, self.detach)?)),
            Some((word, named)) => match named.target {
                Some(target) => Ok(Request::Switch(target)),
                None => Err(Failure::fatal(format_args!(
                    "Cannot switch branch to a non-commit '{word}'"
                ))),
            },
        }
    }
}

/// Git does not say before the reason what it could not resolve.
fn in_gits_words(error: Error) -> Failure {
    match error {
        Error::Revision { reason, .. } => Failure::fatal(reason),
        error => error.into(),
    }
}
