//! Detects which added paths are renames or copies: gitdiffcore(7) under "diffcore-rename".
//!
//! Paths and scores are the same as git's, whatever the number of workers. Equal contents are
//! matched first, then unique equal names, then the most similar contents.

mod basename;
mod candidates;
mod contents;
mod exact;
mod matrix;
mod options;
mod search;
mod similarity;
mod sizes;
mod spans;
mod spread;
#[cfg(test)]
mod tests;

pub use contents::{Contents, ObjectContents};
pub use options::{Detection, RenameOptions};
pub use similarity::Score;
pub(crate) use spread::map as map_contents;

use super::ChangeKind;
use crate::index::Mode;
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_engine::Options;
use matrix::Budget;
use search::Search;

/// One side's entry at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// The path.
    pub path: BString,
    /// Its mode.
    pub mode: Mode,
    /// Its object id; `None` for a file of the working tree that was not hashed yet.
    pub id: Option<ObjectId>,
}

/// A path at which two sides differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filepair {
    /// The old side; `None` if the path is added. For a path found to be renamed or copied, its
    /// source.
    pub old: Option<Side>,
    /// The new side; `None` if the path is deleted.
    pub new: Option<Side>,
    /// The path is in conflict and stays so, but its `old` can be the source of copies, and its
    /// `new` can be the destination of a rename.
    pub unmerged: bool,
    /// The path, if it is in conflict and no side has it.
    pub conflict: Option<BString>,
    /// The source relation, if the path was found to be a rename or a copy.
    pub origin: Option<Origin>,
}

impl Filepair {
    /// The path of the new side, or of the old side if there is no new one.
    pub fn path(&self) -> Option<&BStr> {
        let side = self.new.as_ref().or(self.old.as_ref());
        let path = side.map(|side| side.path.as_bstr());
        path.or(self.conflict.as_ref().map(|path| path.as_bstr()))
    }

    /// The kind of difference; `None` if it is in conflict.
    pub fn kind(&self) -> Option<ChangeKind> {
        let mode = |side: &Option<Side>| side.as_ref().map(|side| side.mode);
        match self.origin {
            _ if self.unmerged => None,
            Some(origin) => Some(origin.kind),
            None => Some(ChangeKind::between(mode(&self.old), mode(&self.new))),
        }
    }
}

/// How a path derives from another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// [`ChangeKind::Renamed`] or [`ChangeKind::Copied`].
    pub kind: ChangeKind,
    /// The similarity of the two.
    pub score: Score,
}

/// Additional results of a detection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Detected {
    /// The limit that would have been needed to compare unequal contents; `None` if they were
    /// compared. Git does not report it in a status.
    pub needed_limit: Option<u64>,
    /// The added paths whose contents git reads a second time, in its order. It then repeats its
    /// messages about such a content.
    pub read_again: Vec<BString>,
}

/// Finds the renames, and the copies if requested, among `pairs`, which are ascending by path: an
/// added path gets its source and its [`Origin`]; deleted paths that were renamed are removed.
pub fn detect<C: Contents>(
    pairs: &mut Vec<Filepair>,
    options: &RenameOptions,
    contents: &C,
    engine: &Options,
) -> Result<Detected> {
    detect_relevant(pairs, options, contents, engine, &|_| true)
}

/// Says whether it matters where a path went.
pub(crate) type IsRelevant<'a> = &'a dyn Fn(&BStr) -> bool;

/// The same; a path that is not relevant is the source of an equal content alone.
pub(crate) fn detect_relevant<C: Contents>(
    pairs: &mut Vec<Filepair>,
    options: &RenameOptions,
    contents: &C,
    engine: &Options,
    is_relevant: IsRelevant<'_>,
) -> Result<Detected> {
    if options.detection == Detection::Off {
        return Ok(Detected::default());
    }
    let mut search = Search::new(pairs, options.detection, is_relevant);
    let mut detected = Detected::default();
    if !search.is_over() {
        exact::find(&mut search, contents, engine)?;
    }
    if options.minimum < Score::EQUAL && !search.is_over() {
        basename::find(&mut search, options, contents, engine)?;
        detected = matrix::find(&mut search, options, contents, engine, Budget::default())?;
    }
    let found = search.into_found();
    found.apply(pairs);
    Ok(detected)
}
