//! Submodules in a switch: which differ when it is over, and which git would have moved along.

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
/// A larger `.gitmodules` is refused.
const MODULES_LIMIT_BYTES: u64 = 64 << 20;

/// Adds the submodules that are not as the new index has them to the changes that are listed. One
/// that cannot be looked at is a warning.
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

/// With `submodule.recurse`, git moves the submodules along. That is not done here: if any would
/// have to be moved, nothing is done at all.
pub(super) fn refuse_recursion(
    session: &Session<'_>,
    old: &Index,
    next: &Transition,
    force: bool,
) -> Result<()> {
    if !session.settings().recurse_submodules {
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

/// The same for a checkout of paths: `rows` of `index` were chosen.
pub(super) fn refuse_recursion_into(
    session: &Session<'_>,
    index: &Index,
    is_chosen: &dyn Fn(usize) -> bool,
) -> Result<()> {
    if !session.settings().recurse_submodules {
        return Ok(());
    }
    let affected = differing(session, index, is_chosen)?;
    refuse_active(session, [index, index], affected)
}

/// The submodules among the rows `is_chosen` that are there and not as `index` has them, or that
/// are not there.
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

/// Refuses if any of the submodules `affected` is one that git would touch: it is named in
/// `.gitmodules`, as it is or as it will be, and active.
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

/// Adds the names of the submodules that a `.gitmodules` names, by path.
fn read_names(content: &[u8], names: &mut BTreeMap<BString, Vec<BString>>) -> Result<()> {
    let modules = Config::of_file(content, Path::new(".gitmodules"))?;
    for name in modules.subsections("submodule") {
        if let Some(path) = modules.string_in("submodule", name.as_bstr(), "path") {
            names.entry(path).or_default().push(name);
        }
    }
    Ok(())
}

/// Whether the user has made the submodule his, as git-submodule(1) has it. Of `submodule.active`
/// the patterns are not looked at: where it is set, all are.
fn is_active(config: &Config, name: &BStr) -> Result<bool> {
    if let Some(word) = config.string_in("submodule", name, "active") {
        return Ok(crate::config::boolean(word.as_bstr()) != Some(false));
    }
    Ok(!config.strings("submodule.active").is_empty()
        || config.string_in("submodule", name, "url").is_some())
}
