//! Submodules that differ after a switch.

use super::outcome::{Done, LocalChange};
use super::session::Session;
use crate::index::{Entry, Index, Mode, Stage};
use crate::status::{Options, Submodules};
use crate::Result;
use bstr::ByteSlice;

/// Adds the submodules that differ from the new index to the listed changes. A submodule that
/// cannot be examined is reported as a warning.
pub(super) fn list_differing(session: &Session<'_>, index: &Index, done: &mut Done) {
    if let Err(error) = try_list_differing(session, index, done) {
        done.warnings.push(error.to_string());
    }
}

fn try_list_differing(session: &Session<'_>, index: &Index, done: &mut Done) -> Result<()> {
    let rows = index.entries().iter().filter(|entry| {
        let flags = entry.flags;
        is_submodule(entry) && !flags.assume_valid && !flags.skip_worktree
    });
    let rows: Vec<&Entry> = rows.collect();
    if rows.is_empty() {
        return Ok(());
    }
    let options = Options::default();
    let submodules = Submodules::of_worktree(session, index, &options)?;
    for entry in rows {
        let path = index.path(entry);
        let known = &mut done.local_changes;
        if let Err(at) = known.binary_search_by(|change| change.path.as_bstr().cmp(path)) {
            if submodules.state(path, &entry.id)?.is_some() {
                let path = path.to_owned();
                known.insert(at, LocalChange { status: 'M', path });
            }
        }
    }
    Ok(())
}

fn is_submodule(entry: &Entry) -> bool {
    entry.mode == Mode::Gitlink && entry.flags.stage == Stage::Merged
}
