//! Which added paths are renamed or copied ones: gitdiffcore(7) under "diffcore-rename".
//!
//! The result is git's own, paths and scores, whatever the number of workers. First come contents
//! that are equal, then equal names that nothing else has, then whatever is alike most.

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

use super::ChangeKind;
use crate::index::Mode;
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_engine::Options;
use matrix::Budget;
use search::Search;

/// What one side of a comparison has at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// The path.
    pub path: BString,
    /// What it is.
    pub mode: Mode,
    /// Its object; `None` if it is a file of the working tree that was not hashed yet.
    pub id: Option<ObjectId>,
}

/// A path at which two sides differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filepair {
    /// What the old side has: nothing if the path is added. Of a path that turns out to be renamed
    /// or copied, what it was made from.
    pub old: Option<Side>,
    /// What the new side has: nothing if the path is deleted.
    pub new: Option<Side>,
    /// The path is in conflict: it stays in conflict, but copies can be made from its `old`, or its
    /// `new` can turn out to be where another path went.
    pub unmerged: bool,
    /// Whether the path was found to be made from another one, and how alike they are.
    pub origin: Option<Origin>,
}

impl Filepair {
    /// The path; that of the new side if there is one.
    pub fn path(&self) -> Option<&BStr> {
        let side = self.new.as_ref().or(self.old.as_ref());
        side.map(|side| side.path.as_bstr())
    }

    /// How it differs; `None` if it is in conflict.
    pub fn kind(&self) -> Option<ChangeKind> {
        let mode = |side: &Option<Side>| side.as_ref().map(|side| side.mode);
        match self.origin {
            _ if self.unmerged => None,
            Some(origin) => Some(origin.kind),
            None => Some(ChangeKind::between(mode(&self.old), mode(&self.new))),
        }
    }
}

/// How a path was made from another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// [`ChangeKind::Renamed`] or [`ChangeKind::Copied`].
    pub kind: ChangeKind,
    /// How alike they are.
    pub score: Score,
}

/// What a detection has to say beside its result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Detected {
    /// The limit that would have been needed to look for contents that are not equal; `None` if
    /// they were looked for. Git says nothing of it in a status.
    pub needed_limit: Option<u64>,
    /// The added paths whose contents git reads a second time, in its order. What it has to say of
    /// such a content, it says again.
    pub read_again: Vec<BString>,
}

/// Finds the renames, and the copies if they are asked for, among `pairs`, which are ascending by
/// path: an added path gets what it was made from and its [`Origin`], deleted paths that were
/// renamed are taken out.
pub fn detect<C: Contents>(
    pairs: &mut Vec<Filepair>,
    options: &RenameOptions,
    contents: &C,
    engine: &Options,
) -> Result<Detected> {
    if options.detection == Detection::Off {
        return Ok(Detected::default());
    }
    let mut search = Search::new(pairs, options.detection);
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
