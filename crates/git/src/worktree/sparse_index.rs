//! A sparse index has one entry for a whole directory outside the cone. Checkout works on files, so
//! it replaces such an entry by the directory's files when it reads the index, and collapses the
//! directories again when it writes it. The format: git's technical documentation, sparse-index.

use crate::index::{Builder, CacheTree, EntryStat, Flags, Index, Mode, Stage};
use crate::objects::{write_tree, ObjectWriter, TreeRow};
use crate::repository::Repository;
use crate::sparse::Cone;
use crate::tree::Difference;
use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_engine::Options;
use hedgerow_tree::NameRules;
use std::collections::HashMap;

/// The form in which an index is written.
#[derive(Clone, Debug, Default)]
pub(crate) enum IndexForm {
    /// As the settings of the repository ask for it.
    #[default]
    Configured,
    /// An entry for each file.
    Full,
    /// One entry for each directory outside the cone.
    Collapsed(Cone),
}

/// A directory that a sparse index has in place of its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SparseDirectory {
    /// Its path, without a slash at its end.
    pub path: BString,
    /// Its tree.
    pub tree: ObjectId,
}

/// The same index with each directory entry replaced by its files; and these directories.
pub(crate) fn expand(
    repository: &Repository,
    index: Index,
    names: NameRules,
) -> Result<(Index, Vec<SparseDirectory>)> {
    let is_directory = |(_, entry): &(_, &crate::index::Entry)| entry.mode == Mode::SparseDirectory;
    let directory = |(path, entry): (&BStr, &crate::index::Entry)| SparseDirectory {
        path: path.strip_suffix(b"/").unwrap_or(path).into(),
        tree: entry.id,
    };
    let directories = index.iter().filter(is_directory).map(directory);
    let directories: Vec<SparseDirectory> = directories.collect();
    if directories.is_empty() {
        return Ok((index, directories));
    }
    let mut builder = Builder::new(index.hash(), index.version());
    for (path, entry) in index.iter() {
        if entry.mode != Mode::SparseDirectory {
            builder.push(path, entry.id, entry.mode, entry.stat, entry.flags)?;
            continue;
        }
        let options = Options::default();
        let files = Difference::between(repository, None, Some(entry.id), names, &options)?;
        for file in files.changes() {
            let Some(side) = file.new else { continue };
            let mut whole = BString::from(path);
            whole.extend_from_slice(files.path(file));
            let flags = Flags {
                skip_worktree: true,
                ..Flags::default()
            };
            let mode = Mode::from(side.kind);
            builder.push(whole.as_ref(), side.id, mode, EntryStat::default(), flags)?;
        }
    }
    let mut whole = builder.finish();
    whole.keep_all_resolve_undo(&index);
    Ok((whole, directories))
}

/// The same index with one entry for each outermost directory that is outside `cone` with all its
/// files; `None` if that would change nothing. As in git, an index in conflict stays as it is. Trees
/// of these directories that are not there yet are written.
pub(crate) fn collapse(
    repository: &Repository,
    index: &Index,
    cone: &Cone,
    options: &Options,
) -> Result<Option<Index>> {
    if index.is_unmerged() {
        return Ok(None);
    }
    let directories = outside(index, cone);
    if directories.is_empty() {
        return Ok(None);
    }
    let known = index.cache_tree().filter(|tree| tree.fits(index));
    let trees = known.map(ids).unwrap_or_default();
    let writer = ObjectWriter::new(repository)?;
    let mut builder = Builder::replacing(index);
    let mut next = 0;
    for directory in directories {
        let rows = index.range_under(directory);
        push_all(&mut builder, index, next..rows.start)?;
        next = rows.end;
        let id = match trees.get(directory.as_bytes()) {
            Some(id) => *id,
            None => {
                let below = rows.map(|row| &index.entries()[row]);
                let rows = below.map(|entry| TreeRow {
                    path: index.path(entry)[directory.len() + 1..].as_bstr(),
                    mode: entry.mode,
                    id: entry.id,
                });
                write_tree(repository, &writer, rows, options)?
            }
        };
        let path = BString::from([directory.as_bytes(), b"/"].concat());
        let flags = Flags {
            skip_worktree: true,
            ..Flags::default()
        };
        let stat = EntryStat::default();
        builder.push(path.as_ref(), id, Mode::SparseDirectory, stat, flags)?;
    }
    push_all(&mut builder, index, next..index.entries().len())?;
    let mut collapsed = builder.finish_replacing(index);
    collapsed.keep_all_resolve_undo(index);
    // Its flags belong to files that are not listed any more.
    collapsed.set_fsmonitor_token(None);
    let tree = if trees.contains_key(&b""[..]) {
        Some(CacheTree::from_known(&collapsed, |path| {
            trees.get(path.as_bytes()).copied()
        }))
    } else {
        write_trees(repository, &writer, &collapsed, options)?;
        CacheTree::build(&collapsed, |id| repository.has_tree(id))
    };
    collapsed.set_cache_tree(tree);
    Ok(Some(collapsed))
}

/// Writes the trees of the whole index. Git needs them when it expands the index, and writes them then
/// if they are not there; but its fsck misses them.
fn write_trees(
    repository: &Repository,
    writer: &ObjectWriter<'_>,
    index: &Index,
    options: &Options,
) -> Result<()> {
    let is_in_tree = |(_, entry): &(&BStr, &crate::index::Entry)| !entry.flags.intent_to_add;
    let rows = index
        .iter()
        .filter(is_in_tree)
        .map(|(path, entry)| TreeRow {
            path: path.strip_suffix(b"/").unwrap_or(path).as_bstr(),
            mode: entry.mode,
            id: entry.id,
        });
    write_tree(repository, writer, rows, options).map(drop)
}

/// The outermost directories outside `cone` in which each entry is a file that is left out.
fn outside<'i>(index: &'i Index, cone: &Cone) -> Vec<&'i BStr> {
    let stays = |row: usize| {
        let entry = &index.entries()[row];
        let is_left_out = entry.flags.skip_worktree && !entry.flags.intent_to_add;
        !is_left_out || entry.flags.stage != Stage::Merged || entry.mode == Mode::Gitlink
    };
    let mut found = Vec::new();
    // The directories known to have an entry that stays, from the top to that of the last path.
    let mut kept: Vec<&BStr> = Vec::new();
    let mut row = 0;
    while let Some(entry) = index.entries().get(row) {
        let path = index.path(entry);
        kept.retain(|above| path.get(above.len()) == Some(&b'/') && path.starts_with(above));
        let from = kept.last().map_or(0, |above| above.len() + 1);
        row += 1;
        for end in path[from..].find_iter("/").map(|end| from + end) {
            let directory = path[..end].as_bstr();
            let mut rows = index.range_under(directory);
            let end = rows.end;
            if !cone.has_directory(directory) && !rows.any(stays) {
                found.push(directory);
                row = end;
                break;
            }
            kept.push(directory);
        }
    }
    found
}

fn push_all(builder: &mut Builder, index: &Index, rows: std::ops::Range<usize>) -> Result<()> {
    for entry in &index.entries()[rows] {
        let path = index.path(entry);
        builder.push(path, entry.id, entry.mode, entry.stat, entry.flags)?;
    }
    Ok(())
}

/// The trees of all directories that `tree` knows, by their paths.
fn ids(tree: &CacheTree) -> HashMap<Vec<u8>, ObjectId> {
    let mut ids = HashMap::new();
    let mut waiting = vec![(Vec::new(), tree.root())];
    while let Some((path, directory)) = waiting.pop() {
        for child in directory.children() {
            let separator: &[u8] = if path.is_empty() { b"" } else { b"/" };
            let below = [&path, separator, child.name().as_bytes()].concat();
            waiting.push((below, child));
        }
        if let Some(id) = directory.id() {
            ids.insert(path, *id);
        }
    }
    ids
}
