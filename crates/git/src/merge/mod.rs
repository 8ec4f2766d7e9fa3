//! Three-way merges: of contents ([`merge_contents`]), of what trees have at a path (`entries`), and
//! of trees (`tree`); and what they leave in the index (`result`).

mod content;
mod directories;
mod entries;
mod moves;
mod program;
mod renames;
mod result;
mod tree;

pub use content::{
    is_binary, merge_contents, misfit_of_patch, Algorithm, ConflictStyle, ContentOptions, Favor,
    MergedContent, MARKER_SIZE,
};
pub(crate) use entries::{EntryMerger, Labels, Sides};
pub(crate) use result::{with_conflicts, STAGES};
pub(crate) use tree::{edited, MergedTree, TreeMerge};

use crate::index::Mode;
use crate::repository::Repository;
use crate::{Error, Result};
use bstr::ByteSlice;
use hedgerow_tree::EntryKind;

/// The style that is wanted, or else `merge.conflictStyle`.
pub(crate) fn style(
    repository: &Repository,
    wanted: Option<ConflictStyle>,
) -> Result<ConflictStyle> {
    if let Some(wanted) = wanted {
        return Ok(wanted);
    }
    let Some(name) = repository.config().text("merge.conflictStyle")? else {
        return Ok(ConflictStyle::default());
    };
    ConflictStyle::from_name(name.as_bstr()).ok_or_else(|| Error::Config {
        reason: format!("unknown style '{name}' given for 'merge.conflictstyle'"),
    })
}

/// The mode of an index entry as a kind of tree entry.
pub(crate) fn kind(mode: Mode) -> EntryKind {
    crate::checkout::kind(mode)
}
