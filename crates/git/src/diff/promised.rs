//! Contents that a partial clone does not have, because a remote has promised them.

use super::DiffOptions;
use crate::index::Mode;
use crate::repository::Repository;
use crate::status::rename::{Detection, Filepair};
use crate::{Error, Result};
use bstr::BString;
use gix_hash::ObjectId;

/// Fetches in one request what a partial clone lacks of the contents that are read to show `pairs`.
///
/// # Errors
/// [`Error::MissingBlob`] if no remote gives them.
pub fn supply_contents(
    repository: &Repository,
    pairs: &[Filepair],
    options: &DiffOptions,
) -> Result<()> {
    let finds_renames = options.renames.detection != Detection::Off;
    // A copy may be of any file that changed.
    let finds_copies = options.renames.detection == Detection::Copies
        && pairs.iter().any(|pair| pair.old.is_none());
    let is_read = |pair: &Filepair| {
        let is_one_sided = pair.old.is_none() || pair.new.is_none();
        options.formats.reads_contents() || finds_renames && (is_one_sided || finds_copies)
    };
    supply_read_contents(repository, pairs, &is_read)
}

/// The same for those of `pairs` that `is_read`.
///
/// # Errors
/// [`Error::MissingBlob`] if no remote gives them.
pub(crate) fn supply_read_contents(
    repository: &Repository,
    pairs: &[Filepair],
    is_read: &dyn Fn(&Filepair) -> bool,
) -> Result<()> {
    repository.supply(&|| {
        let missing = missing(repository, pairs, is_read)?;
        let Some((path, _)) = missing.first() else {
            return Ok(());
        };
        let path = path.clone();
        let ids = missing.into_iter().map(|(_, id)| id).collect();
        Err(Error::MissingContent { path, ids })
    })
}

/// The objects that are read and are not here, each with a path.
fn missing(
    repository: &Repository,
    pairs: &[Filepair],
    is_read: &dyn Fn(&Filepair) -> bool,
) -> Result<Vec<(BString, ObjectId)>> {
    let sides = pairs.iter().filter(|pair| is_read(pair));
    let sides = sides.flat_map(|pair| pair.old.iter().chain(&pair.new));
    let objects = repository.shared_objects();
    let mut missing = Vec::new();
    for side in sides.filter(|side| side.mode != Mode::Gitlink) {
        let Some(id) = side.id else { continue };
        let replacement = objects.replacement(&id)?;
        if objects.store.locate(&replacement)?.is_none() {
            missing.push((side.path.clone(), replacement));
        }
    }
    Ok(missing)
}
