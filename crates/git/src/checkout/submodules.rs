//! Submodules in a switch: which ones differ afterwards, and which ones git would have moved along.

use super::outcome::{Done, LocalChange};
use super::session::Session;
use super::transition::Transition;
use crate::config::Config;
use crate::index::{Entry, Index, Mode, Stage};
use crate::status::{Options, Submodules};
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use std::collections::BTreeMap;
use std::path::Path;

const MODULES: &[u8] = b".gitmodules";
/// Upper size limit of `.gitmodules`, in bytes; a larger one is refused.
const MODULES_LIMIT_BYTES: u64 = 64 << 20;

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

/// Refuses a switch that would have to move submodules. With `submodule.recurse`, git moves them
/// along, which is not supported here; so nothing is done at all.
pub(super) fn refuse_recursion(
    session: &Session<'_>,
    old: &Index,
    next: &Transition,
    force: bool,
) -> Result<()> {
    if !session.recurse_submodules {
        return Ok(());
    }
    let of_index = |index: &Index, row: u32| {
        let entry = index.entries()[row as usize];
        is_submodule(&entry).then(|| index.path(&entry).to_owned())
    };
    let written = next.writes.iter();
    let written = written.filter_map(|write| of_index(&next.index, write.row));
    let removed = next.removals.iter();
    let removed = removed.filter_map(|removal| of_index(old, removal.row));
    let replaced = next.writes.iter().filter_map(|write| {
        let path = next.index.path(&next.index.entries()[write.row as usize]);
        let row = old.find(path, Stage::Merged).ok()?;
        of_index(old, row as u32)
    });
    let mut affected: Vec<BString> = written.chain(removed).chain(replaced).collect();
    if force {
        affected.extend(differing(session, &next.index, &|_| true)?);
    }
    refuse_active(session, [old, &next.index], affected)
}

/// The same for a checkout of paths: `is_chosen` selects rows of `index`.
pub(super) fn refuse_recursion_into(
    session: &Session<'_>,
    index: &Index,
    is_chosen: &dyn Fn(usize) -> bool,
) -> Result<()> {
    if !session.recurse_submodules {
        return Ok(());
    }
    let affected = differing(session, index, is_chosen)?;
    refuse_active(session, [index, index], affected)
}

/// The submodules among the rows `is_chosen` that differ from `index` or are absent.
fn differing(
    session: &Session<'_>,
    index: &Index,
    is_chosen: &dyn Fn(usize) -> bool,
) -> Result<Vec<BString>> {
    let options = Options::default();
    let submodules = Submodules::of_worktree(session, index, &options)?;
    let rows = index.entries().iter().enumerate();
    let mut paths = Vec::new();
    for (_, entry) in rows.filter(|(row, entry)| is_submodule(entry) && is_chosen(*row)) {
        let path = index.path(entry);
        let is_there = submodules.is_populated(path);
        if !is_there || submodules.state(path, &entry.id)?.is_some() {
            paths.push(path.to_owned());
        }
    }
    Ok(paths)
}

fn is_submodule(entry: &Entry) -> bool {
    entry.mode == Mode::Gitlink && entry.flags.stage == Stage::Merged
}

/// Refuses if git would touch any of the submodules `affected`: if it is active and named in the
/// `.gitmodules` of the working tree or of one of `indexes`.
fn refuse_active(
    session: &Session<'_>,
    indexes: [&Index; 2],
    affected: Vec<BString>,
) -> Result<()> {
    if affected.is_empty() {
        return Ok(());
    }
    let mut names = BTreeMap::new();
    let mut content = Vec::new();
    if let Ok(file) = session.root.open_file(MODULES) {
        file.read_to_end(&mut content, MODULES_LIMIT_BYTES)?;
        read_names(&content, &mut names)?;
    }
    for index in indexes {
        if let Ok(row) = index.find(MODULES.as_bstr(), Stage::Merged) {
            let id = index.entries()[row].id;
            read_names(&session.repository.read_object(&id)?.1, &mut names)?;
        }
    }
    for path in &affected {
        for name in names.get(path).into_iter().flatten() {
            if is_active(session.repository.config(), name.as_bstr())? {
                return Err(Error::Unsupported {
                    what: format!(
                        "submodule.recurse is on and git would update the submodule '{path}'; \
                         use git checkout, or turn it off with git -c submodule.recurse=false \
                         and run git submodule update afterwards"
                    ),
                });
            }
        }
    }
    Ok(())
}

/// Adds the submodule names of a `.gitmodules`, by path.
fn read_names(content: &[u8], names: &mut BTreeMap<BString, Vec<BString>>) -> Result<()> {
    let modules = Config::of_file(content, Path::new(".gitmodules"))?;
    for name in modules.subsections("submodule") {
        if let Some(path) = modules.string_in("submodule", name.as_bstr(), "path") {
            names.entry(path).or_default().push(name);
        }
    }
    Ok(())
}

/// Whether the submodule is active, as defined in git-submodule(1). The patterns of
/// `submodule.active` are not evaluated: if it is set, all submodules are active.
fn is_active(config: &Config, name: &BStr) -> Result<bool> {
    if let Some(word) = config.string_in("submodule", name, "active") {
        return Ok(crate::config::boolean(word.as_bstr()) != Some(false));
    }
    Ok(!config.strings("submodule.active").is_empty()
        || config.string_in("submodule", name, "url").is_some())
}
