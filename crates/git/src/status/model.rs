//! What a status is, before it becomes words.

use crate::index::Mode;
use bstr::BString;
use gix_hash::ObjectId;

/// How a working tree and its index stand to one another and to HEAD.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// Tracked paths that differ anywhere or are in conflict, ascending by path bytes.
    pub changes: Vec<Change>,
    /// Untracked paths, ascending; a directory that stands for all in it ends in `/`.
    pub untracked: Vec<BString>,
    /// Ignored paths, ascending, if they were asked for; directories as above.
    pub ignored: Vec<BString>,
    /// What there is to say of files that were read, in git's order, before the warnings.
    pub remarks: Vec<Remark>,
    /// Directories that may not be read, and other things the user must know.
    pub warnings: Vec<String>,
    /// What the system did not tell, and why: the lists say nothing of it.
    pub failures: Vec<String>,
    /// How much of the tree is there, in a sparse checkout with tracked files.
    pub sparse: Option<Sparse>,
}

/// Something to say of a file that does not end the command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark {
    /// It could not be converted.
    Error(String),
    /// A checkout would give other line ends than it has.
    Warning(String),
}

/// How much of a sparse checkout is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sparse {
    /// So many of a hundred tracked files.
    Percent(u32),
    /// Nobody counts: the index has directories in place of their files.
    Index,
}

/// A tracked path at which HEAD, index and working tree are not all equal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The path in the index, or, where it is gone from there, in HEAD. A renamed path is the
    /// new one.
    pub path: BString,
    /// HEAD against the index.
    pub staged: Option<ChangeKind>,
    /// The index against the working tree.
    pub unstaged: Option<ChangeKind>,
    /// The stages it has in the index, if it is in conflict; then `staged` and `unstaged` are
    /// `None`.
    pub conflict: Option<Conflict>,
    /// What HEAD has at the path (at the source of a staged rename).
    pub head: Option<Version>,
    /// What the index has; in conflict our side, where the file was compared with it.
    pub index: Option<Version>,
    /// What the working tree has: an `st_mode` as git would record it, `None` if nothing.
    pub worktree: Option<Mode>,
    /// Where the content came from, if `staged` or `unstaged` is a rename or a copy.
    pub rename: Option<Rename>,
    /// If the index has a submodule there: what is different in it.
    pub submodule: Option<SubmoduleState>,
}

/// A mode and an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// What it is.
    pub mode: Mode,
    /// Its object.
    pub id: ObjectId,
}

/// How a path differs between two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// Only the new side has it: `A`.
    Added,
    /// Only the old side has it: `D`.
    Deleted,
    /// Its content or its right to be executed differs: `M`.
    Modified,
    /// It is of another type: `T`.
    TypeChanged,
    /// It was called otherwise: `R`.
    Renamed,
    /// It was made from another path, which still is there: `C`.
    Copied,
}

impl ChangeKind {
    /// How two sides that are not equal differ, by what they are; no side is no file.
    pub fn between(old: Option<Mode>, new: Option<Mode>) -> Self {
        let file_type = |mode: Mode| mode.to_u32() & 0o170000;
        match (old.map(file_type), new.map(file_type)) {
            (None, _) => ChangeKind::Added,
            (_, None) => ChangeKind::Deleted,
            (old, new) if old != new => ChangeKind::TypeChanged,
            _ => ChangeKind::Modified,
        }
    }

    /// The letter that git's short formats show.
    pub fn letter(self) -> char {
        match self {
            ChangeKind::Added => 'A',
            ChangeKind::Deleted => 'D',
            ChangeKind::Modified => 'M',
            ChangeKind::TypeChanged => 'T',
            ChangeKind::Renamed => 'R',
            ChangeKind::Copied => 'C',
        }
    }
}

/// The sides of a conflict; a missing side is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conflict {
    /// Stage 1: the common ancestor.
    pub base: Option<Version>,
    /// Stage 2: our side.
    pub ours: Option<Version>,
    /// Stage 3: their side.
    pub theirs: Option<Version>,
}

/// Where a renamed or copied path came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rename {
    /// The old path.
    pub source: BString,
    /// How alike the contents are, in percent.
    pub similarity: u8,
}

/// What is different in a submodule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SubmoduleState {
    /// Another commit is checked out than the index has.
    pub new_commits: bool,
    /// Tracked files in it are changed.
    pub modified: bool,
    /// It has untracked files.
    pub untracked: bool,
}

/// Which untracked files are listed: `-u`, `status.showUntrackedFiles`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UntrackedFiles {
    /// None.
    No,
    /// Files, and directories that hold nothing tracked.
    #[default]
    Normal,
    /// Every file.
    All,
}

/// Which ignored files are listed: `--ignored`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IgnoredFiles {
    /// None.
    #[default]
    No,
    /// Files, and directories that hold nothing else, or every file with
    /// [`UntrackedFiles::All`].
    Traditional,
    /// Files and directories that match a pattern themselves.
    Matching,
}

/// Which changes of a submodule to ignore: `--ignore-submodules`, `submodule.<name>.ignore`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IgnoreSubmodules {
    /// All of it.
    All,
    /// Changed and untracked files.
    Dirty,
    /// Untracked files.
    Untracked,
    /// Nothing.
    None,
}
