use super::stat::{EntryStat, StatRules};
use gix_hash::ObjectId;
use hedgerow_tree::EntryKind;
use std::ops::Range;

/// One row of the index: a path at a stage, its object id, and the lstat data of its file. Its path
/// is returned by [`Index::path`](super::Index::path): all paths share one buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The id of the blob, of the tree (of a sparse directory) or of the submodule's commit.
    pub id: ObjectId,
    /// Its mode.
    pub mode: Mode,
    /// The stat data of its file when the file was last known to hold this object.
    pub stat: EntryStat,
    /// Its flags, the stage among them.
    pub flags: Flags,
    pub(super) path: PathRange,
}

/// The position of a path in the index's path buffer. 32 bits suffice because reader and builder
/// refuse more than 4 GiB of paths; they keep the size of an entry at 80 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PathRange {
    pub(super) start: u32,
    pub(super) len: u32,
}

impl PathRange {
    /// The range of `len` bytes at `start`, if both fit.
    pub(super) fn new(start: usize, len: usize) -> Option<Self> {
        let end = start.checked_add(len)?;
        u32::try_from(end).ok()?;
        Some(PathRange {
            start: start as u32,
            len: len as u32,
        })
    }

    pub(super) fn as_range(self) -> Range<usize> {
        self.start as usize..self.start as usize + self.len as usize
    }
}

impl Entry {
    /// Whether the stat data `now` show that the file is still the recorded one:
    /// [`EntryStat::matches`], and the size is not the zero that marks an entry to be read again
    /// (only the empty blob really has the size zero). An intent-to-add entry matches nothing. The
    /// caller must compare the file's kind and executable bit.
    pub fn matches(&self, now: &EntryStat, rules: &StatRules) -> bool {
        let must_read = self.stat.size == 0 && !self.id.is_empty_blob() && self.mode.is_file();
        !must_read && !self.flags.intent_to_add && self.stat.matches(now, rules)
    }
}

/// The mode of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// A regular file, 100644.
    File,
    /// A regular file that its owner may execute, 100755.
    Executable,
    /// A symbolic link, 120000.
    Symlink,
    /// The commit of a submodule, 160000.
    Gitlink,
    /// A directory outside the sparse checkout that stands for everything below it, 040000.
    SparseDirectory,
}

impl Mode {
    /// The mode as an `st_mode` number, as written in the index and in trees.
    pub fn to_u32(self) -> u32 {
        match self {
            Mode::File => 0o100644,
            Mode::Executable => 0o100755,
            Mode::Symlink => 0o120000,
            Mode::Gitlink => 0o160000,
            Mode::SparseDirectory => 0o040000,
        }
    }

    /// The mode for the number `mode`, if any: of a regular file's permissions only the owner's
    /// execute bit counts; bits above the lower 16 are not allowed.
    pub fn from_u32(mode: u32) -> Option<Self> {
        match mode & !0o7777 {
            0o100000 if mode & 0o100 != 0 => Some(Mode::Executable),
            0o100000 => Some(Mode::File),
            0o120000 => Some(Mode::Symlink),
            0o160000 => Some(Mode::Gitlink),
            0o040000 => Some(Mode::SparseDirectory),
            _ => None,
        }
    }

    /// Whether it is a regular file or a symbolic link, which have content of their own.
    pub fn is_file(self) -> bool {
        matches!(self, Mode::File | Mode::Executable | Mode::Symlink)
    }
}

impl From<EntryKind> for Mode {
    /// The mode of a tree entry's kind.
    fn from(kind: EntryKind) -> Self {
        match kind {
            EntryKind::File => Mode::File,
            EntryKind::Executable => Mode::Executable,
            EntryKind::Symlink => Mode::Symlink,
            EntryKind::Gitlink => Mode::Gitlink,
            EntryKind::Directory => Mode::SparseDirectory,
        }
    }
}

/// The side of a merge that an entry belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// 0: there is no conflict.
    #[default]
    Merged,
    /// 1: the common ancestor.
    Base,
    /// 2: our side.
    Ours,
    /// 3: their side.
    Theirs,
}

impl Stage {
    /// The stage as a number.
    pub fn number(self) -> u8 {
        match self {
            Stage::Merged => 0,
            Stage::Base => 1,
            Stage::Ours => 2,
            Stage::Theirs => 3,
        }
    }

    /// The stage of a number from 0 to 3.
    pub fn from_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(Stage::Merged),
            1 => Some(Stage::Base),
            2 => Some(Stage::Ours),
            3 => Some(Stage::Theirs),
            _ => None,
        }
    }
}

/// The flags of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// The side of a merge that it belongs to.
    pub stage: Stage,
    /// The user promised not to change the file: `git update-index --assume-unchanged`.
    pub assume_valid: bool,
    /// The file is outside the sparse checkout. Needs version 3 or 4.
    pub skip_worktree: bool,
    /// The path is to be added, but its content was not added yet: `git add -N`. Needs version 3 or
    /// 4.
    pub intent_to_add: bool,
    /// The file system monitor vouches for the file; kept in the `FSMN` extension.
    pub fsmonitor_valid: bool,
}

const ASSUME_VALID: u16 = 1 << 15;
const EXTENDED: u16 = 1 << 14;
const SKIP_WORKTREE: u16 = 1 << 14;
const INTENT_TO_ADD: u16 = 1 << 13;

/// The bits of the first flag word that hold the length of the path.
pub(super) const NAME_LENGTH: u16 = 0xfff;

impl Flags {
    /// Whether the second flag word is needed, and with it version 3 or 4.
    pub fn are_extended(&self) -> bool {
        self.skip_worktree || self.intent_to_add
    }

    /// Whether `word`, the first flag word, announces a second one.
    pub(super) fn second_word_follows(word: u16) -> bool {
        word & EXTENDED != 0
    }

    /// The flags from the two words of an entry; the second is 0 if there is none. Fails if an
    /// unknown bit of the second word is set.
    pub(super) fn from_words(word: u16, extended: u16) -> Option<Self> {
        if extended & !(SKIP_WORKTREE | INTENT_TO_ADD) != 0 {
            return None;
        }
        Some(Flags {
            stage: Stage::from_number((word >> 12) as u8 & 3)?,
            assume_valid: word & ASSUME_VALID != 0,
            skip_worktree: extended & SKIP_WORKTREE != 0,
            intent_to_add: extended & INTENT_TO_ADD != 0,
            fsmonitor_valid: false,
        })
    }

    /// The first flag word for a path of `path_len` bytes, and the second one if needed.
    pub(super) fn to_words(self, path_len: usize) -> (u16, Option<u16>) {
        let mut word = path_len.min(NAME_LENGTH as usize) as u16;
        word |= u16::from(self.stage.number()) << 12;
        if self.assume_valid {
            word |= ASSUME_VALID;
        }
        if !self.are_extended() {
            return (word, None);
        }
        let mut extended = 0;
        if self.skip_worktree {
            extended |= SKIP_WORKTREE;
        }
        if self.intent_to_add {
            extended |= INTENT_TO_ADD;
        }
        (word | EXTENDED, Some(extended))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_stays_small() {
        assert_eq!(std::mem::size_of::<Entry>(), 84);
    }

    #[test]
    fn modes_are_normalised() {
        for (raw, expected) in [
            (0o100644, Some(Mode::File)),
            (0o100600, Some(Mode::File)),
            (0o100666, Some(Mode::File)),
            (0o100755, Some(Mode::Executable)),
            (0o100700, Some(Mode::Executable)),
            (0o120000, Some(Mode::Symlink)),
            (0o120777, Some(Mode::Symlink)),
            (0o160000, Some(Mode::Gitlink)),
            (0o040000, Some(Mode::SparseDirectory)),
            (0o010644, None),
            (0o060000, None),
            (0o140000, None),
            (0, None),
            (0o100644 | 1 << 16, None),
            (u32::MAX, None),
        ] {
            assert_eq!(Mode::from_u32(raw), expected, "{raw:o}");
            if let Some(mode) = expected {
                assert_eq!(Mode::from_u32(mode.to_u32()), expected);
            }
        }
    }

    #[test]
    fn flags_survive_their_words() {
        for number in 0..32u8 {
            let flags = Flags {
                stage: Stage::from_number(number & 3).unwrap(),
                assume_valid: number & 4 != 0,
                skip_worktree: number & 8 != 0,
                intent_to_add: number & 16 != 0,
                fsmonitor_valid: false,
            };
            let (word, extended) = flags.to_words(5000);
            assert_eq!(word & NAME_LENGTH, NAME_LENGTH);
            assert_eq!(extended.is_some(), Flags::second_word_follows(word));
            let read = Flags::from_words(word, extended.unwrap_or(0));
            assert_eq!(read, Some(flags));
        }
        for unknown in [1, 1 << 12, 1 << 15] {
            assert_eq!(Flags::from_words(0, unknown), None);
        }
        assert_eq!(Stage::from_number(4), None);
    }

    #[test]
    fn a_size_of_zero_means_read_it_unless_it_is_the_empty_blob() {
        let kind = gix_hash::Kind::Sha1;
        let mut entry = Entry {
            id: kind.empty_blob(),
            mode: Mode::File,
            stat: EntryStat::default(),
            flags: Flags::default(),
            path: PathRange::default(),
        };
        let now = EntryStat::default();
        assert!(entry.matches(&now, &StatRules::default()));
        entry.id = kind.empty_tree();
        assert!(!entry.matches(&now, &StatRules::default()));
    }
}
