//! A sparse index has one entry for a whole directory outside the cone. Checkout works on files, so
//! it replaces such an entry by the directory's files; git reads either form.

use crate::index::{Builder, EntryStat, Flags, Index, Mode};
use crate::repository::Repository;
use crate::tree::Difference;
use crate::Result;
use bstr::{BStr, BString};
use hedgerow_engine::Options;
use hedgerow_tree::NameRules;

/// The same index with each directory entry replaced by its files; and these directories, without
/// trailing slashes.
pub(crate) fn expand(
    repository: &Repository,
    index: Index,
    names: NameRules,
) -> Result<(Index, Vec<BString>)> {
    let is_directory = |(_, entry): &(_, &crate::index::Entry)| entry.mode == Mode::SparseDirectory;
    let name = |(path, _): (&BStr, _)| path.strip_suffix(b"/").unwrap_or(path).into();
    let directories: Vec<BString> = index.iter().filter(is_directory).map(name).collect();
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
    Ok((builder.finish(), directories))
}
