//! The result of a status, before it is formatted.

use crate::index::Mode;
use bstr::BString;
use gix_hash::ObjectId;
use std::time::Duration;

/// The differences between working tree, index and HEAD.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// Tracked paths that differ anywhere or are in conflict, ascending by path bytes.
    pub changes: Vec<Change>,
    /// Untracked paths, ascending; a directory that stands for all its content ends in `/`.
    pub untracked: Vec<BString>,
    /// Ignored paths, ascending, if requested; directories as above.
    pub ignored: Vec<BString>,
    /// Messages about files that were read, in git's order; they precede the warnings.
    pub remarks: Vec<Remark>,
    /// Unreadable directories and other warnings for the user.
    pub warnings: Vec<String>,
    /// Errors of system calls; the paths concerned are missing from the lists.
    pub failures: Vec<String>,
    /// The share of the tree that is present, in a sparse checkout with tracked files.
    pub sparse: Option<Sparse>,
    /// Whether the index has submodules, changed or not.
    pub has_submodules: bool,
    /// How long the working tree was searched, for tracked and untracked files together.
    pub search_time: Duration,
}

/// A message about a file that does not end the command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark {
    /// It could not be converted.
    Error(String),
    /// A checkout would change its line ends.
    Warning(String),
}

/// How much of a sparse checkout is present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sparse {
    /// The percentage of tracked files.
    Percent(u32),
    /// Unknown: the index has directories in place of their files.
    Index,
}

/// A tracked path at which HEAD, index and working tree are not all equal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The path in the index, or in HEAD if the index no longer has it. For a rename, the new path.
    pub path: BString,
    /// HEAD against the index.
    pub staged: Option<ChangeKind>,
    /// The index against the working tree.
    pub unstaged: Option<ChangeKind>,
    /// Its stages in the index, if it is in conflict; then `staged` and `unstaged` are `None`.
    pub conflict: Option<Conflict>,
    /// HEAD's entry at the path (for a staged rename, at the source).
    pub head: Option<Version>,
    /// The index's entry; in a conflict, our side's, if the file was compared with it.
    pub index: Option<Version>,
    /// The working tree's file: an `st_mode` as git would record it, `None` if it does not exist.
    pub worktree: Option<Mode>,
    /// Where the content came from, if `staged` or `unstaged` is a rename or a copy.
    pub rename: Option<Rename>,
    /// If the index has a submodule there: the differences inside it.
    pub submodule: Option<SubmoduleState>,
}

impl Change {
    /// The letters for HEAD against the index and for the index against the working tree; a space
    /// means no difference.
    pub fn letters(&self) -> (char, char) {
        if let Some(conflict) = &self.conflict {
            return conflict.kind().letters();
        }
        let letter = |kind: Option<ChangeKind>| kind.map_or(' ', ChangeKind::letter);
        (letter(self.staged), letter(self.unstaged))
    }

    /// The same, but changes inside a submodule have letters of their own, as in the short format.
    pub fn letters_of_short(&self) -> (char, char) {
        let (staged, unstaged) = self.letters();
        match &self.submodule {
            Some(state) if self.conflict.is_none() && self.unstaged.is_some() => {
                let inside = match (state.new_commits, state.modified, state.untracked) {
                    (true, ..) => 'M',
                    (_, true, _) => 'm',
                    (.., true) => '?',
                    _ => unstaged,
                };
                (staged, inside)
            }
            _ => (staged, unstaged),
        }
    }
}

/// A mode and an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// Its mode.
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
    /// Its content or its executable bit differs: `M`.
    Modified,
    /// It is of another type: `T`.
    TypeChanged,
    /// It was renamed: `R`.
    Renamed,
    /// It was copied from another path, which still exists: `C`.
    Copied,
}

impl ChangeKind {
    /// The kind of difference between two unequal sides, judged by their modes; `None` means no
    /// file.
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

/// What the sides of a conflict did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConflictKind {
    /// Both sides removed it: `DD`.
    BothDeleted,
    /// Only our side has it: `AU`.
    AddedByUs,
    /// Their side removed it: `UD`.
    DeletedByThem,
    /// Only their side has it: `UA`.
    AddedByThem,
    /// Our side removed it: `DU`.
    DeletedByUs,
    /// Both sides added it: `AA`.
    BothAdded,
    /// Both sides changed it: `UU`.
    BothModified,
}

impl Conflict {
    /// What the sides did, judged by which of them are there.
    pub fn kind(&self) -> ConflictKind {
        let (base, ours) = (self.base.is_some(), self.ours.is_some());
        match (base, ours, self.theirs.is_some()) {
            (true, false, false) => ConflictKind::BothDeleted,
            (false, true, false) => ConflictKind::AddedByUs,
            (true, true, false) => ConflictKind::DeletedByThem,
            (false, false, true) => ConflictKind::AddedByThem,
            (true, false, true) => ConflictKind::DeletedByUs,
            (false, true, true) => ConflictKind::BothAdded,
            _ => ConflictKind::BothModified,
        }
    }
}

impl ConflictKind {
    /// The letters of our side and of theirs.
    pub fn letters(self) -> (char, char) {
        match self {
            ConflictKind::BothDeleted => ('D', 'D'),
            ConflictKind::AddedByUs => ('A', 'U'),
            ConflictKind::DeletedByThem => ('U', 'D'),
            ConflictKind::AddedByThem => ('U', 'A'),
            ConflictKind::DeletedByUs => ('D', 'U'),
            ConflictKind::BothAdded => ('A', 'A'),
            ConflictKind::BothModified => ('U', 'U'),
        }
    }
}

/// Where a renamed or copied path came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rename {
    /// The old path.
    pub source: BString,
    /// Similarity of the contents, in percent.
    pub similarity: u8,
}

/// The differences in a submodule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SubmoduleState {
    /// The checked-out commit differs from the one in the index.
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
    /// All changes.
    All,
    /// Changed and untracked files.
    Dirty,
    /// Untracked files.
    Untracked,
    /// No changes.
    None,
}
