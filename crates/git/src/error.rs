use crate::convert::shell_quoted;
use crate::refs::ReferenceProblem;
use crate::revision::RevisionProblem;
use bstr::{BStr, BString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The result of working with a repository.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong with a repository, worded as git words it where git has words for it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A system call failed.
    #[error(transparent)]
    Fs(#[from] hedgerow_fs::Error),
    /// An image or a mount could not be had.
    #[error(transparent)]
    Mounts(hedgerow_mounts::Error),
    /// An object could not be found or read.
    #[error(transparent)]
    Pack(#[from] hedgerow_pack::Error),
    /// A blob that had to be read is not there.
    #[error("unable to read {id}")]
    MissingBlob {
        /// The object.
        id: gix_hash::ObjectId,
    },
    /// A remote has promised an object and does not give it.
    #[error("could not fetch {id} from promisor remote")]
    NotFetched {
        /// The object.
        id: gix_hash::ObjectId,
    },
    /// Objects that files were to be made of are not there.
    #[error("cannot check out '{path}': object {} is missing{}", ids[0], and_others(ids.len() - 1))]
    MissingContent {
        /// The first of the files.
        path: BString,
        /// The objects, that of this file first; there is at least one.
        ids: Vec<gix_hash::ObjectId>,
    },
    /// Files could not be written or removed, and then something failed that ends the command.
    #[error("{error}")]
    AfterFailures {
        /// Why each could not be, as a sentence that names its path.
        failures: Vec<String>,
        /// What ended the command.
        error: Box<Error>,
    },
    /// A symbolic link whose target is longer than a system takes.
    #[error("cannot check out '{path}': a link of {size_bytes} bytes is longer than 4095")]
    LongLink {
        /// The link.
        path: BString,
        /// The length of its target.
        size_bytes: u64,
    },
    /// There is no repository where one was looked for.
    #[error("not a git repository (or any of the parent directories): .git")]
    NotARepository,
    /// There is none up to where another file system begins.
    #[error(
        "not a git repository (or any parent up to mount point {})\nStopping at filesystem \
         boundary (GIT_DISCOVERY_ACROSS_FILESYSTEM not set).",
        outside.display()
    )]
    NotARepositoryUpTo {
        /// The first directory on the other one: the one that git names.
        outside: PathBuf,
    },
    /// A working tree that is mounted by this program, and at the moment is not.
    #[error(
        "the working tree '{}' is not mounted; 'hedgerow worktree mount' brings it back with all its \
         changes",
        top.display()
    )]
    NotMounted {
        /// Its top.
        top: PathBuf,
        /// Its administrative directory.
        admin: PathBuf,
    },
    /// The repository belongs to another user and is not listed in `safe.directory`.
    #[error(
        "detected dubious ownership in repository at '{}'\nTo add an exception for this directory, \
         call:\n\n\tgit config --global --add safe.directory {}",
        path.display(),
        shell_word(path)
    )]
    DubiousOwnership {
        /// The directory in question.
        path: PathBuf,
    },
    /// A repository that cannot be used, or not for what was asked, in git's words.
    #[error("{reason}")]
    Setup {
        /// Git's words.
        reason: String,
    },
    /// The index is sparse, and the settings ask for a split one.
    #[error("cannot use split index with a sparse index")]
    SparseAndSplitIndex,
    /// A command that needs a working tree met a repository without one.
    #[error("this operation must be run in a work tree")]
    NoWorkTree,
    /// The repository uses something that hedgerow does not read.
    #[error("unsupported: {what}")]
    Unsupported {
        /// What it is.
        what: String,
    },
    /// Arguments that git understands and hedgerow does not.
    #[error("{reason}")]
    NotBuilt {
        /// What is not there.
        reason: String,
    },
    /// Arguments that make no sense.
    #[error("{reason}")]
    Usage {
        /// Why.
        reason: String,
    },
    /// Pathspecs match nothing, each in a sentence of git's.
    #[error("{}", reasons.join("\n"))]
    Unmatched {
        /// The sentences; there is at least one.
        reasons: Vec<String>,
    },
    /// What is reachable could not be found out.
    #[error(transparent)]
    Reach(#[from] hedgerow_reach::Error),
    /// A configuration file or value that cannot be used.
    #[error("{reason}")]
    Config {
        /// Which one, and why.
        reason: String,
    },
    /// A reference that cannot be read or written.
    #[error("cannot use reference '{name}': {reason}")]
    Reference {
        /// Its full name.
        name: BString,
        /// Why.
        reason: ReferenceProblem,
    },
    /// Words that name no object.
    #[error("cannot resolve '{spec}': {reason}")]
    Revision {
        /// The words.
        spec: BString,
        /// Why.
        reason: RevisionProblem,
    },
    /// A name that branches of several remotes have, of which none is preferred.
    #[error("'{name}' matched multiple ({remotes}) remote tracking branches")]
    AmbiguousRemoteBranch {
        /// The name.
        name: BString,
        /// How many remotes have such a branch.
        remotes: usize,
    },
    /// A name that no branch can have.
    #[error("'{name}' is not a valid branch name")]
    BranchName {
        /// The name, as it was given.
        name: BString,
    },
    /// `switch` takes a branch only, unless it is told to detach HEAD.
    #[error("{reason}")]
    NoBranch {
        /// What was expected, and what was named.
        reason: String,
    },
    /// A branch was to follow one that does not exist.
    #[error("the requested upstream branch '{name}' does not exist")]
    MissingUpstream {
        /// The name, as it was given.
        name: BString,
    },
    /// Several remotes put something where a branch is that another one was to follow.
    #[error("not tracking: ambiguous information for ref '{tracking}'")]
    AmbiguousTracking {
        /// The full name of the reference in question.
        tracking: BString,
        /// The remotes.
        remotes: Vec<BString>,
    },
    /// A pathspec that cannot be read, or that leads out of the working tree.
    #[error("{spec}: {reason}")]
    Pathspec {
        /// As it was given.
        spec: BString,
        /// What is wrong with it.
        reason: String,
    },
    /// A format or a command of an object query that makes no sense, in git's words.
    #[error("{reason}")]
    Query {
        /// What is wrong with it.
        reason: String,
    },
    /// A pack that cannot be used: a listing of all objects lacks what it has.
    #[error("{reason}")]
    DamagedPack {
        /// Which pack, and why.
        reason: String,
    },
    /// An index file that is not what the format says.
    #[error("corrupt index '{}': {reason}", path.display())]
    CorruptIndex {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        reason: String,
    },
    /// An entry that an index cannot take.
    #[error("cannot add '{path}' to the index: {reason}")]
    IndexEntry {
        /// The entry's path.
        path: BString,
        /// Why.
        reason: &'static str,
    },
    /// An object whose content is not what its type says.
    #[error("corrupt {kind} {id}: {reason}")]
    CorruptObject {
        /// commit, tree, blob or tag.
        kind: &'static str,
        /// Which object.
        id: gix_hash::ObjectId,
        /// What is wrong.
        reason: String,
    },
    /// A directory of a tree that cannot be listed.
    #[error("cannot list '/{path}' of the tree: {reason}")]
    Tree {
        /// Its path in the tree; empty for the top.
        path: BString,
        /// Why.
        reason: String,
    },
    /// A file or link of a tree whose content cannot be had.
    #[error("cannot read '{path}': {reason}")]
    Content {
        /// Its path in the tree.
        path: BString,
        /// Which object, and why.
        reason: String,
    },
    /// Who acts cannot be written into a commit, or not at all, in git's words.
    #[error("{reason}")]
    Identity {
        /// As what nobody was named, if that is why.
        unknown: Option<crate::repository::Role>,
        /// Why.
        reason: String,
    },
    /// A conversion or filter that failed on a file.
    #[error("cannot convert '{path}': {reason}")]
    Convert {
        /// The file's path in the tree.
        path: BString,
        /// Why.
        reason: String,
    },
    /// A required filter that failed, in git's words.
    #[error("{path}: {reason}{}", because(said))]
    Filter {
        /// The file's path in the tree.
        path: BString,
        /// Which filter.
        reason: String,
        /// What failed before, a sentence each.
        said: Vec<String>,
    },
    /// The caller's token was cancelled.
    #[error("interrupted")]
    Interrupted,
    /// A defect of this program.
    #[error("internal error: {reason}")]
    Internal {
        /// What happened.
        reason: String,
    },
}

fn and_others(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => ", and that of another file".into(),
        _ => format!(", and those of {count} other files"),
    }
}

impl From<hedgerow_mounts::Error> for Error {
    fn from(error: hedgerow_mounts::Error) -> Self {
        match error {
            hedgerow_mounts::Error::Fs(error) => Error::Fs(error),
            hedgerow_mounts::Error::Interrupted => Error::Interrupted,
            error => Error::Mounts(error),
        }
    }
}

impl From<hedgerow_engine::Failure<Error>> for Error {
    fn from(failure: hedgerow_engine::Failure<Error>) -> Self {
        match failure {
            hedgerow_engine::Failure::Cancelled => Error::Interrupted,
            hedgerow_engine::Failure::Failed(error) => error,
            hedgerow_engine::Failure::Panicked(reason) => Error::Internal { reason },
        }
    }
}

/// The first of the sentences, after a colon.
fn because(said: &[String]) -> String {
    said.first()
        .map(|first| format!(": {first}"))
        .unwrap_or_default()
}

impl Error {
    /// What failed before this error, a sentence each, and the error alone.
    pub fn apart(self) -> (Vec<String>, Error) {
        match self {
            Error::AfterFailures {
                mut failures,
                error,
            } => {
                let (more, error) = error.apart();
                failures.extend(more);
                (failures, error)
            }
            Error::Filter { path, reason, said } => {
                let alone = Error::Filter {
                    path,
                    reason,
                    said: Vec::new(),
                };
                (said, alone)
            }
            Error::Unmatched { mut reasons } => {
                let last = reasons.pop().into_iter().collect();
                (reasons, Error::Unmatched { reasons: last })
            }
            error => (Vec::new(), error),
        }
    }
}

/// The path as a shell takes it, in quotes only if it needs them.
fn shell_word(path: &Path) -> BString {
    let word = BStr::new(path.as_os_str().as_bytes());
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"+,-./:=@_^".contains(byte);
    if !word.is_empty() && word.iter().all(is_plain) {
        word.to_owned()
    } else {
        shell_quoted(word)
    }
}

const STALE: &str = ".\n\nAnother git process seems to be running in this repository, or the lock \
                     file may be stale";

/// Git's words if what failed is making a lock file. Programs look for them.
pub fn locked(error: &hedgerow_fs::Error) -> Option<String> {
    let is_lock = error.path.extension().is_some_and(|end| end == "lock");
    let (path, reason) = (error.path.display(), error.reason());
    let because = match error.kind() {
        std::io::ErrorKind::AlreadyExists => STALE,
        _ => "",
    };
    (is_lock && error.operation == "create")
        .then(|| format!("Unable to create '{path}': {reason}{because}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;

    #[test]
    fn a_lock_that_cannot_be_made_is_told_in_the_words_of_git() {
        let words = |operation, path: &str, kind: ErrorKind| {
            locked(&hedgerow_fs::Error::new(operation, path, kind))
        };
        let said = words("create", "a/index.lock", ErrorKind::ReadOnlyFilesystem).unwrap();
        assert!(
            said.starts_with("Unable to create 'a/index.lock': "),
            "{said}"
        );
        assert!(!said.contains("Another git process"), "{said}");
        let said = words("create", "a/index.lock", ErrorKind::AlreadyExists).unwrap();
        assert!(said.contains(".\n\nAnother git process"), "{said}");
        assert_eq!(words("create", "a/index", ErrorKind::AlreadyExists), None);
        assert_eq!(words("write", "a/index.lock", ErrorKind::StorageFull), None);
    }
}
