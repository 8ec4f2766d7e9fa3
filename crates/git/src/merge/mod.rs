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
    let configured = configured_style(repository)?;
    Ok(wanted.or(configured).unwrap_or_default())
}

/// Checks `merge.conflictStyle`, as git does for checkout, switch and restore whatever they are to do.
///
/// # Errors
/// [`Error::Config`], in git's words, if one of its values is no style.
pub fn check_conflict_style(repository: &Repository) -> Result<()> {
    configured_style(repository).map(drop)
}

/// `merge.conflictStyle`, of which each value must be a style, also one that another overrides.
fn configured_style(repository: &Repository) -> Result<Option<ConflictStyle>> {
    const KEY: &str = "merge.conflictStyle";
    let config = repository.config();
    config.text(KEY)?;
    let mut style = None;
    for name in config.strings(KEY) {
        let known = ConflictStyle::from_name(name.as_bstr());
        style = Some(known.ok_or_else(|| Error::Config {
            reason: format!("unknown style '{name}' given for 'merge.conflictstyle'"),
        })?);
    }
    Ok(style)
}

/// The mode of an index entry as a kind of tree entry.
pub(crate) fn kind(mode: Mode) -> EntryKind {
    crate::checkout::kind(mode)
}
