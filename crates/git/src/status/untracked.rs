//! Untracked directories, which git shows as one line where possible.

use super::is_tracked;
use super::model::{IgnoredFiles, UntrackedFiles};
use crate::index::{Entry, Index, ALL_FILES, FOLDED};
use bstr::{BStr, BString, ByteSlice};
use std::sync::atomic::{AtomicU32, AtomicU8, Ordering};
use std::sync::Arc;

/// The content found in an untracked directory, the strongest kind last.
const NOTHING: u8 = 0;
const IGNORED: u8 = 1;
const UNTRACKED: u8 = 2;
/// As [`UNTRACKED`], and some of it is in a directory below.
const BELOW: u8 = 3;

/// So many directories in an untracked directory are searched one after the other, in git's order;
/// mostly, one of them has a file, and nothing more needs to be known. The others are searched in
/// parallel.
const TURNS: u32 = 64;

/// A directory that holds nothing tracked and may be shown as one line.
#[derive(Debug)]
pub(super) struct Folder {
    path: BString,
    /// Whether a pattern ignores it, and with it all its content.
    excluded: bool,
    above: Option<Arc<Folder>>,
    holds: AtomicU8,
    /// The number of directories searched in it, kept where no untracked directory is above.
    searched: AtomicU32,
}

impl Folder {
    /// The directory `path`, without a slash at its end.
    pub(super) fn new(path: BString, excluded: bool, above: Option<Arc<Folder>>) -> Self {
        Folder {
            path,
            excluded,
            above,
            holds: AtomicU8::new(NOTHING),
            searched: AtomicU32::new(0),
        }
    }

    /// Records that it holds an ignored or untracked path.
    pub(super) fn note(&self, ignored: bool) {
        let mut kind = if ignored { IGNORED } else { UNTRACKED };
        let mut at = Some(self);
        while let Some(folder) = at {
            if folder.excluded {
                kind = IGNORED;
            }
            // If it already had this value, so have the directories above.
            if folder.holds.fetch_max(kind, Ordering::Relaxed) >= kind {
                return;
            }
            if kind == UNTRACKED {
                kind = BELOW;
            }
            at = folder.above.as_deref();
        }
    }

    /// Whether its turn to be searched comes after the directories before it, rather than at any time.
    pub(super) fn in_turn(&self) -> bool {
        self.above.is_some() && self.has_turns()
    }

    /// Whether its directories are still searched one after the other.
    fn has_turns(&self) -> bool {
        self.top().searched.load(Ordering::Relaxed) < TURNS
    }

    /// Whether git would search it: nothing was found where git looks before. Where directories have no
    /// turns, nothing must have been found at all.
    pub(super) fn is_needed(&self) -> bool {
        let is_needed = match self.above.as_deref() {
            _ if self.is_settled() => false,
            Some(above) if self.in_turn() => above.holds() != BELOW,
            _ => !self.is_in_settled(),
        };
        if is_needed {
            self.top().searched.fetch_add(1, Ordering::Relaxed);
        }
        is_needed
    }

    /// Whether it may have been left before it was searched to its end, because enough was found
    /// elsewhere.
    pub(super) fn is_cut_short(&self) -> bool {
        !self.has_turns() && !self.is_settled() && self.is_in_settled()
    }

    /// Whether a directory above is known to hold something untracked.
    fn is_in_settled(&self) -> bool {
        let mut above = std::iter::successors(self.above(), |folder| folder.above());
        above.any(|folder| folder.is_settled())
    }

    /// The outermost untracked directory that contains it.
    fn top(&self) -> &Folder {
        let mut top = self;
        while let Some(above) = top.above.as_deref() {
            top = above;
        }
        top
    }

    /// Whether it is known to hold something untracked: then it is shown, whatever else it holds.
    pub(super) fn is_settled(&self) -> bool {
        self.holds() >= UNTRACKED
    }

    /// Its path, if it is known to hold something untracked.
    pub(super) fn shown(&self) -> Option<&BStr> {
        self.is_settled().then(|| self.path.as_bstr())
    }

    /// The untracked directory that contains it.
    pub(super) fn above(&self) -> Option<&Arc<Folder>> {
        self.above.as_ref()
    }

    fn holds(&self) -> u8 {
        self.holds.load(Ordering::Relaxed)
    }

    /// Whether its content is shown instead of only the directory.
    fn is_open(&self) -> bool {
        let mut at = Some(self);
        while let Some(folder) = at {
            if !folder.is_settled() {
                return false;
            }
            at = folder.above.as_deref();
        }
        true
    }
}

/// An untracked or ignored path that was found.
#[derive(Debug)]
pub(super) struct UntrackedPath {
    /// The path; a nested repository has a slash at its end.
    pub path: BString,
    pub ignored: bool,
    /// The untracked directory that contains it, if such directories are shown as one line.
    pub folder: Option<Arc<Folder>>,
}

/// Which untracked and ignored paths are wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish {
    pub untracked: UntrackedFiles,
    pub ignored: IgnoredFiles,
}

impl Wish {
    /// Whether anything besides tracked files is listed.
    pub(super) fn any(self) -> bool {
        self.untracked != UntrackedFiles::No
    }

    /// The flags of the untracked cache for this search; `None` if no cache can be used for it.
    pub(super) fn flags(self) -> Option<u32> {
        match self.untracked {
            _ if self.ignored() => None,
            UntrackedFiles::All => Some(ALL_FILES),
            UntrackedFiles::Normal => Some(FOLDED),
            UntrackedFiles::No => None,
        }
    }

    /// Whether ignored paths are listed.
    pub(super) fn ignored(self) -> bool {
        self.any() && self.ignored != IgnoredFiles::No
    }

    /// Whether an ignored directory is shown without looking into it.
    pub(super) fn shows_directory_unseen(self) -> bool {
        self.ignored == IgnoredFiles::Matching
    }

    /// Whether untracked directories are shown as one line.
    pub(super) fn folds(self) -> bool {
        self.untracked == UntrackedFiles::Normal
    }
}

/// The lines of a status: untracked and ignored paths, each ascending, without paths that are
/// tracked as something else.
///
/// A directory that holds only ignored files is one line, unless only paths that match a pattern
/// themselves are listed.
pub(super) fn lines(
    found: Vec<UntrackedPath>,
    folders: &[Arc<Folder>],
    wish: Wish,
    index: &Index,
) -> (Vec<BString>, Vec<BString>) {
    let matching = wish.ignored == IgnoredFiles::Matching;
    let (mut untracked, mut ignored) = (Vec::new(), Vec::new());
    for item in found {
        match (item.ignored, &item.folder) {
            (true, None) => ignored.push(item.path),
            (false, None) => untracked.push(item.path),
            (true, Some(_)) if matching => ignored.push(item.path),
            (true, Some(folder)) if folder.is_open() => ignored.push(item.path),
            _ => {}
        }
    }
    for folder in folders {
        let above_is_open = folder.above.as_deref().is_none_or(Folder::is_open);
        let mut path = folder.path.clone();
        path.push(b'/');
        match folder.holds() {
            UNTRACKED | BELOW if folder.above.is_none() => untracked.push(path),
            IGNORED if above_is_open && !matching => ignored.push(path),
            _ => {}
        }
    }
    for lines in [&mut untracked, &mut ignored] {
        // Mostly in order: directory by directory.
        lines.sort();
        lines.dedup();
        drop_tracked(lines, index);
    }
    (untracked, ignored)
}

/// Removes the paths that the index has at any stage, whatever it has there, from `lines`, which
/// ascend.
fn drop_tracked(lines: &mut Vec<BString>, index: &Index) {
    let entries = index.entries();
    let mut row = 0;
    lines.retain(|line| match line.strip_suffix(b"/") {
        // Without its slash, a directory may come before the last line.
        Some(path) => !is_tracked(index, path),
        None => {
            let is_before = |entry: &Entry| index.path(entry) < line.as_bstr();
            while entries.get(row).is_some_and(is_before) {
                row += 1;
            }
            entries
                .get(row)
                .is_none_or(|entry| index.path(entry) != line)
        }
    });
}
