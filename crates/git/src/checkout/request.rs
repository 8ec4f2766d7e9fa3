//! What the words of a command line request from a checkout: git-checkout(1) and git-switch(1). A
//! word that may be either a revision or a path is refused, because a wrong guess overwrites files.

use super::paths::{check_pathspecs, MergeSide};
use super::start::{StartOptions, Track};
use super::target::{Named, Start, Target, TargetTree};
use crate::merge::check_conflict_style;
use crate::reachability::Sources;
use crate::repository::Repository;
use crate::revision::{IndexPaths, Wanted};
use crate::status::operation;
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
    Switch(Box<Target>),
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

/// The command whose words are interpreted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// `checkout`: takes paths, too, and detaches HEAD at what is no branch.
    #[default]
    Checkout,
    /// `switch`: takes branches, and refuses in the middle of a merge and the like.
    Switch,
}

/// How a branch is to be created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartKind {
    /// It must not exist: `-b`.
    Create,
    /// It may exist, and is moved: `-B`.
    Reset,
    /// Its first commit will have no parent: `--orphan`.
    Orphan,
}

/// How words are interpreted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestOptions {
    /// The command.
    pub form: Form,
    /// HEAD does not follow a branch.
    pub detach: bool,
    /// Whether a word that names nothing may stand for a remote's branch; `None` means as
    /// `checkout.guess` says.
    pub guess: Option<bool>,
    /// The branch to create, by its short name, and how.
    pub branch: Option<(StartKind, BString)>,
    /// What the branch that is created follows; `None` means as `branch.autoSetupMerge` says.
    pub track: Option<Track>,
    /// The branch that is created gets a log in any case.
    pub log: bool,
    /// A branch may be checked out elsewhere, too.
    pub ignore_other_worktrees: bool,
    /// Local changes are overwritten.
    pub force: bool,
    /// Local changes are overwritten, but no untracked files.
    pub discard_changes: bool,
    /// Local changes are merged with the branch; conflicts of unmerged paths are made again.
    pub merge: bool,
    /// The side of a merge that unmerged paths are to get.
    pub side: Option<MergeSide>,
    /// Whether paths that the tree does not have stay; `None` if nothing was said.
    pub overlay: Option<bool>,
    /// Pathspecs from a file.
    pub pathspecs: Option<Vec<BString>>,
    /// Working tree and index are not looked at where no revision is named.
    pub only_branch: bool,
}

/// The words of one command line.
struct Words<'a> {
    repository: &'a Repository,
    options: &'a RequestOptions,
    warn: RefCell<&'a mut dyn FnMut(String)>,
    /// The branch to create.
    branch: Option<(StartKind, BString)>,
    /// A remote's branch may be meant.
    guess: bool,
    /// A `--` separates the paths, or there are none.
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
        options: &RequestOptions,
        warn: &mut dyn FnMut(String),
    ) -> Result<Self> {
        check_conflict_style(repository)?;
        let is_switch = options.form == Form::Switch;
        let branch = branch_to_create(words, options)?;
        if is_switch && words.len() > 1 {
            return Err(refused("only one reference expected".into()));
        }
        let separator = words.iter().position(|word| word == "--" && !is_switch);
        if let Some(given) = separator.filter(|at| *at > 1) {
            return Err(refused(format!(
                "only one reference expected, {given} given."
            )));
        }
        let guess = options.guess.unwrap_or(repository.settings().guess);
        let mut reader = Words {
            repository,
            options,
            warn: RefCell::new(warn),
            guess: guess && options.track.is_none() && branch.is_none(),
            branch,
            is_separated: separator.is_some() || is_switch,
            is_alone: words.len() == 1 + usize::from(separator.is_some()),
        };
        let (named, rest) = match words.split_first() {
            None => (None, words),
            Some((_, rest)) if separator == Some(0) => (None, rest),
            Some((first, rest)) => {
                let after = rest.get(usize::from(separator.is_some())..);
                let after = after.unwrap_or_default();
                match reader.first_word(first.as_bstr(), !rest.is_empty())? {
                    Word::Remote { tracking } => {
                        reader.branch = Some((StartKind::Create, first.clone()));
                        let named = reader.tracked(tracking.as_bstr())?;
                        (Some((tracking, named)), after)
                    }
                    Word::Named(named) => (Some((first.clone(), *named)), after),
                    Word::Path => (None, words),
                }
            }
        };
        reader.finish(named, rest)
    }

    /// The tree that `word` names as the source of paths, as `git restore --source` reads it.
    ///
    /// # Errors
    /// [`Error::Setup`], in git's words, if it names none.
    pub fn source_tree(
        repository: &Repository,
        word: &BStr,
        warn: &mut dyn FnMut(String),
    ) -> Result<ObjectId> {
        let options = RequestOptions::default();
        let reader = Words {
            repository,
            options: &options,
            warn: RefCell::new(warn),
            branch: None,
            guess: false,
            is_separated: true,
            is_alone: true,
        };
        let id = reader.resolve(word)?;
        let id = id.ok_or_else(|| refused(format!("could not resolve '{word}'")))?;
        let named = Target::named(repository, word, id, false).map_err(in_gits_words)?;
        Ok(named.tree)
    }
}

/// The branch that is asked for: by name, or by `--track` and the name of a remote's branch.
fn branch_to_create(
    words: &[BString],
    options: &RequestOptions,
) -> Result<Option<(StartKind, BString)>> {
    if options.branch.is_some() || options.track.is_none() {
        return Ok(options.branch.clone());
    }
    let Some(word) = words.first().filter(|word| *word != "--") else {
        return Err(refused("--track needs a branch name".into()));
    };
    let word = word.strip_prefix(b"refs/").unwrap_or(word);
    let word = word.strip_prefix(b"remotes/").unwrap_or(word);
    match word.split_once_str("/") {
        Some((_, name)) if !name.is_empty() => Ok(Some((StartKind::Create, name.into()))),
        _ => {
            let letter = if options.form == Form::Switch {
                'c'
            } else {
                'b'
            };
            Err(refused(format!("missing branch name; try -{letter}")))
        }
    }
}

/// Meaning of the first word.
enum Word {
    /// It stands for a remote's branch, which this reference tracks.
    Remote {
        tracking: BString,
    },
    Named(Box<Named>),
    Path,
}

impl Words<'_> {
    fn first_word(&self, word: &BStr, has_more: bool) -> Result<Word> {
        let word = if word == "-" { "@{-1}".into() } else { word };
        if let Some(id) = self.resolve(word)? {
            let named = Target::named(self.repository, word, id, self.options.detach);
            let named = named.map_err(in_gits_words)?;
            if has_more && !self.is_separated && self.is_file(word)? {
                return Err(refused(format!(
                    "ambiguous argument '{word}': both revision and filename\n\
                     Use '--' to separate paths from revisions, like this:\n\
                     'git <command> [<revision>...] -- [<file>...]'"
                )));
            }
            return Ok(Word::Named(Box::new(named)));
        }
        if let Some(tracking) = self.guessed(word)? {
            return Ok(Word::Remote { tracking });
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

    /// The reference that tracks the remote's branch which the word stands for, if it names nothing
    /// else.
    fn guessed(&self, word: &BStr) -> Result<Option<BString>> {
        let is_pattern = !self.is_separated && word.find_byteset(WILD).is_some();
        if !self.guess || !self.is_alone || is_pattern {
            return Ok(None);
        }
        let is_file = !self.is_separated && self.is_file(word)?;
        match Target::tracking(self.repository, word)? {
            Some(_) if is_file => Err(refused(format!(
                "'{word}' could be both a local file and a tracking branch.\n\
                 Please use -- (and optionally --no-guess) to disambiguate"
            ))),
            tracking => Ok(tracking),
        }
    }

    /// What the tracking reference leads to.
    fn tracked(&self, tracking: &BStr) -> Result<Named> {
        let id = self.resolve(tracking)?;
        let id = id.ok_or_else(|| refused(format!("invalid reference: {tracking}")))?;
        Target::named(self.repository, tracking, id, false).map_err(in_gits_words)
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

    /// What is requested, once it is known what the first word names.
    fn finish(&self, named: Option<(BString, Named)>, pathspecs: &[BString]) -> Result<Request> {
        let options = self.options;
        let commit = named.as_ref().and_then(|(_, named)| named.target.as_ref());
        if let Some(path) = pathspecs.first() {
            check_pathspecs(self.repository, pathspecs)?;
            match &self.branch {
                Some((_, branch)) if pathspecs.len() == 1 && commit.is_none() => {
                    return Err(refused(format!(
                        "'{path}' is not a commit and a branch '{branch}' cannot be created from it"
                    )));
                }
                _ => {}
            }
            if options.detach {
                return Err(refused(format!(
                    "git checkout: --detach does not take a path argument '{path}'"
                )));
            }
        }
        let pathspecs = match &options.pathspecs {
            None => pathspecs,
            Some(_) if !pathspecs.is_empty() => {
                return Err(refused(
                    "'--pathspec-from-file' and pathspec arguments cannot be used together".into(),
                ));
            }
            Some(_) if options.detach => {
                return Err(refused(
                    "options '--pathspec-from-file' and '--detach' cannot be used together".into(),
                ));
            }
            Some(given) => {
                check_pathspecs(self.repository, given)?;
                given.as_slice()
            }
        };
        let ways = [options.side.is_some(), options.force, options.merge];
        let ways = ways.into_iter().filter(|is_chosen| *is_chosen).count();
        if !pathspecs.is_empty() && ways > 1 {
            return Err(refused(
                "git checkout: --ours/--theirs, --force and --merge are incompatible when\n\
                 checking out of the index."
                    .into(),
            ));
        }
        if let Some((kind, name)) = &self.branch {
            let start = self.start_options(*kind);
            self.repository.startable_branch(name.as_ref(), &start)?;
        }
        if pathspecs.is_empty() {
            self.switch(named).map(Box::new).map(Request::Switch)
        } else {
            self.paths(named, pathspecs).map(Request::Paths)
        }
    }

    fn paths(&self, named: Option<(BString, Named)>, given: &[BString]) -> Result<RequestedPaths> {
        let options = self.options;
        let unfit =
            |option: &str| refused(format!("'{option}' cannot be used with updating paths"));
        if options.track.is_some() {
            return Err(unfit("--track"));
        }
        if options.log {
            return Err(unfit("-l"));
        }
        if let Some((_, branch)) = &self.branch {
            return Err(refused(format!(
                "Cannot update paths and switch to branch '{branch}' at the same time."
            )));
        }
        if (options.side.is_some() || options.merge) && named.is_some() {
            return Err(refused(
                "'--merge', '--ours', or '--theirs' cannot be used when checking out of a tree"
                    .into(),
            ));
        }
        Ok(RequestedPaths {
            tree: named.map(|(_, named)| named.tree),
            pathspecs: given.to_vec(),
            without_separator: !self.is_separated,
        })
    }

    fn start_options(&self, kind: StartKind) -> StartOptions {
        StartOptions {
            force: kind == StartKind::Reset,
            // Whether it may is decided when HEAD is switched to it.
            may_be_checked_out: true,
            track: self.options.track,
            log: self.options.log,
        }
    }

    fn switch(&self, named: Option<(BString, Named)>) -> Result<Target> {
        let options = self.options;
        let is_switch = options.form == Form::Switch;
        let does_nothing = named.is_none() && self.branch.is_none() && !options.detach;
        if options.overlay.is_some() {
            return Err(refused(
                "'--[no]-overlay' cannot be used with switching branches".into(),
            ));
        }
        if options.side.is_some() {
            let words = if does_nothing {
                "needs the paths to check out"
            } else {
                "cannot be used with switching branches"
            };
            return Err(refused(format!("'--ours/--theirs' {words}")));
        }
        let both =
            |one: &str, other: &str| Err(refused(format!("'{one}' cannot be used with '{other}'")));
        if options.merge && options.force {
            return both("-f", "-m");
        }
        if options.merge && options.discard_changes {
            return both("--discard-changes", "--merge");
        }
        let kind = self.branch.as_ref().map(|(kind, _)| *kind);
        match kind {
            Some(_) if options.detach => return both("--detach", "-b/-B/--orphan"),
            Some(StartKind::Orphan) if options.track.is_some() => return both("--orphan", "-t"),
            Some(StartKind::Orphan) if is_switch && named.is_some() => {
                return Err(refused("'--orphan' cannot take <start-point>".into()));
            }
            None if options.detach && options.track.is_some() => return both("--detach", "-t"),
            _ => {}
        }
        if let Some((word, Named { target: None, .. })) = &named {
            return Err(refused(format!(
                "Cannot switch branch to a non-commit '{word}'"
            )));
        }
        if is_switch && does_nothing {
            return Err(refused("missing branch or commit argument".into()));
        }
        let target = named.and_then(|(word, named)| Some((word, named.target?)));
        if let Some((_, target)) = &target {
            if is_switch && kind.is_none() && !options.detach && target.branch.is_none() {
                return Err(self.no_branch(&target.name)?);
            }
        }
        if is_switch {
            self.refuse_in_the_middle()?;
        }
        let mut target = match (&self.branch, target) {
            (Some((kind, name)), target) => self.new_branch(*kind, name, target)?,
            (None, Some((_, target))) => target,
            (None, None) => Target {
                tree: if options.only_branch {
                    TargetTree::Stays
                } else {
                    TargetTree::Commit
                },
                ..Target::head(self.repository, options.detach)?
            },
        };
        target.may_be_shared = options.ignore_other_worktrees;
        Ok(target)
    }

    /// The branch to create, at what was named or at HEAD.
    fn new_branch(
        &self,
        kind: StartKind,
        name: &BString,
        named: Option<(BString, Target)>,
    ) -> Result<Target> {
        let options = self.options;
        let is_empty = kind == StartKind::Orphan && options.form == Form::Switch;
        let commit = match &named {
            Some((_, target)) => target.commit,
            None => match self.repository.head()? {
                // A HEAD of only zeros is no branch that is yet to be born.
                head if head.branch().is_none() && !is_empty => {
                    Target::head(self.repository, false)?.commit
                }
                head => head.commit(),
            },
        };
        let full = self.repository.branch_named(name.as_ref())?;
        let start = match commit {
            Some(_) if kind != StartKind::Orphan => {
                let point = named
                    .as_ref()
                    .map_or(BStr::new("HEAD"), |(_, it)| it.name.as_bstr());
                let start = self.start_options(kind);
                let start = self.repository.branch_start(name.as_ref(), point, &start)?;
                Start::At(start)
            }
            // Without a commit, HEAD only follows another name.
            _ => Start::Unborn {
                log: options.log && commit.is_some(),
            },
        };
        let tree = match commit {
            None => TargetTree::Stays,
            Some(_) if is_empty => TargetTree::Empty,
            Some(_) if named.is_none() && options.only_branch => TargetTree::Stays,
            Some(_) => TargetTree::Commit,
        };
        Ok(Target {
            name: self.repository.local_branch_name(name.as_ref())?,
            commit_name: match &named {
                _ if is_empty => "(empty)".into(),
                Some((_, target)) => target.name.clone(),
                None => "HEAD".into(),
            },
            branch: Some(full),
            start: Some(start),
            commit: commit.filter(|_| !is_empty),
            tree,
            head_stays: false,
            may_be_shared: false,
        })
    }

    /// The refusal of `switch` to detach HEAD unasked.
    fn no_branch(&self, word: &BString) -> Result<Error> {
        let found = self.repository.find_reference(word.as_ref())?;
        let name = found
            .filter(|found| !found.is_ambiguous)
            .map(|found| found.reference.target.unwrap_or(found.reference.name));
        let reason = match &name {
            None => format!("a branch is expected, got commit '{word}'"),
            Some(name) => match (
                name.strip_prefix(b"refs/tags/"),
                name.strip_prefix(b"refs/remotes/"),
            ) {
                (Some(tag), _) => format!("a branch is expected, got tag '{}'", tag.as_bstr()),
                (_, Some(remote)) => {
                    let remote = remote.as_bstr();
                    format!("a branch is expected, got remote branch '{remote}'")
                }
                _ => format!("a branch is expected, got '{name}'"),
            },
        };
        Ok(Error::NoBranch { reason })
    }

    /// Refuses to leave a merge, a rebase or the like.
    fn refuse_in_the_middle(&self) -> Result<()> {
        let under_way = operation(self.repository)?;
        let (doing, quit) = if under_way.merge {
            ("while merging", "merge")
        } else if under_way.am.is_some() {
            ("in the middle of an am session", "am")
        } else if under_way.rebase.is_some() {
            ("while rebasing", "rebase")
        } else if under_way.cherry_pick.is_some() {
            ("while cherry-picking", "cherry-pick")
        } else if under_way.revert.is_some() {
            ("while reverting", "revert")
        } else {
            if under_way.bisect.is_some() {
                (self.warn.borrow_mut())("you are switching branch while bisecting".into());
            }
            return Ok(());
        };
        Err(refused(format!(
            "cannot switch branch {doing}\n\
             Consider \"git {quit} --quit\" or \"git worktree add\"."
        )))
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
        match Request::parse(repository, &words, &RequestOptions::default(), &mut |_| {})? {
            Request::Switch(target) => Ok(*target),
            Request::Paths(_) => Err(refused(format!("invalid reference: {revision}"))),
        }
    }
}
