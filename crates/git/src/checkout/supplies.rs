//! Everything that writing needs, prepared before anything is touched: conversions, objects,
//! filters. Errors that can be foreseen are reported here.

use super::contents::{large_rows, locate, Located};
use super::lanes::Lanes;
use super::session::Session;
use super::transition::Transition;
use crate::convert::Converter;
use crate::index::{Entry, Mode};
use crate::worktree::attribute_files::{directories_above, Direction};
use crate::{Error, Result};
use bstr::BStr;
use hedgerow_pack::{Reader, SharedBases};

/// Memory limit of the cache of shared delta bases, in bytes.
const BASE_BUDGET_BYTES: usize = 8 << 20;
/// Longest target of a symbolic link that any system accepts, in bytes: Linux's `PATH_MAX` without
/// its NUL.
const LINK_LIMIT_BYTES: u64 = 4095;

/// What is needed to write the files of a [`Transition`].
pub(crate) struct Supplies {
    pub converter: Converter,
    /// The object id of each file after replacement, and the object's location.
    pub located: Vec<Located>,
    pub bases: SharedBases,
    pub lanes: Lanes,
    /// Warnings about attribute files.
    pub warnings: Vec<String>,
}

/// Prepares what the writes of `next` need.
///
/// # Errors
/// A missing object, a link target that no system accepts, a conversion that cannot be done, or a
/// failure to check for these.
pub(crate) fn supplies(
    session: &Session<'_>,
    next: &Transition,
    direction: &Direction<'_>,
) -> Result<Supplies> {
    let (index, writes) = (&next.index, next.writes.as_slice());
    let entries = || {
        writes
            .iter()
            .map(|write| &index.entries()[write.row as usize])
    };
    let objects = session.repository.shared_objects();
    let (located, bases) = locate(objects, index, writes, BASE_BUDGET_BYTES)?;
    let path = |entry: &Entry| index.path(entry);
    // Before files of attributes are read, so that a partial clone fetches them with everything else.
    refuse_missing(
        entries()
            .map(|entry| (path(entry), entry.mode))
            .zip(&located),
    )?;
    // Only regular files are converted, so only the attribute files above them matter.
    let files = entries().filter(|entry| matches!(entry.mode, Mode::File | Mode::Executable));
    let directories = directories_above(files.clone().map(|entry| index.path(entry)));
    let (converter, warnings) = session.converter(index, &directories, direction)?;
    if !converter.is_plain() {
        for entry in files {
            let path = index.path(entry);
            converter.check_to_worktree(converter.conversion(path), path)?;
        }
    }
    if session.settings().symlinks {
        let mut reader = Reader::new(objects.store);
        for (entry, (id, location)) in entries().zip(&located) {
            if let (Mode::Symlink, Some(location)) = (entry.mode, location) {
                let size_bytes = reader.header(id, *location)?.size;
                if size_bytes > LINK_LIMIT_BYTES {
                    return Err(Error::LongLink {
                        path: path(entry).into(),
                        size_bytes,
                    });
                }
            }
        }
    }
    let mut lanes = Lanes::new(index, writes, &converter, session.filter_context());
    // Filters that were started to compare files are reused for writing.
    lanes.reuse(session.take_filters());
    lanes.add_large_files(large_rows(objects, &located));
    let mut warnings: Vec<String> = warnings.into_values().flatten().collect();
    warnings.extend(converter.attributes().messages().iter().cloned());
    Ok(Supplies {
        converter,
        located,
        bases,
        lanes,
        warnings,
    })
}

/// Fails if any object is missing. A submodule's commit is in another repository and is not
/// checked.
fn refuse_missing<'a>(files: impl Iterator<Item = ((&'a BStr, Mode), &'a Located)>) -> Result<()> {
    let missing = |((_, mode), (_, location)): &((&BStr, Mode), &Located)| {
        *mode != Mode::Gitlink && location.is_none()
    };
    let mut missing = files.filter(missing).peekable();
    let Some(((path, _), _)) = missing.peek() else {
        return Ok(());
    };
    let path = (*path).into();
    let ids = missing.map(|(_, (id, _))| *id).collect();
    Err(Error::MissingContent { path, ids })
}
