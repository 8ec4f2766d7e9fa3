//! Lists of the paths that differ.

use super::filter::letter;
use super::{DiffOptions, Listing};
use crate::display::quoted;
use crate::repository::Repository;
use crate::status::rename::{Filepair, Side};
use crate::Result;
use bstr::{BStr, ByteSlice};

/// Adds the line of a pair.
pub(super) fn line(
    repository: &Repository,
    pair: &Filepair,
    listing: Listing,
    options: &DiffOptions,
    text: &mut Vec<u8>,
) -> Result<()> {
    if listing == Listing::Raw {
        let mode = |side: &Option<Side>| side.as_ref().map_or(0, |side| side.mode.to_u32());
        let id = |side: &Option<Side>| {
            let id = side.as_ref().and_then(|side| side.id);
            // Zeros if there is none, or if it is not known.
            options
                .digits
                .show_in_list(repository, &id.unwrap_or(repository.null_id()))
        };
        let (old, new) = (mode(&pair.old), mode(&pair.new));
        let ids = [id(&pair.old)?, id(&pair.new)?];
        text.extend_from_slice(format!(":{old:06o} {new:06o} {} {} ", ids[0], ids[1]).as_bytes());
    }
    let between = if options.null { b'\0' } else { b'\t' };
    if listing != Listing::Names {
        text.push(letter(pair));
        if let Some(origin) = pair.origin {
            text.extend_from_slice(format!("{:03}", origin.score.percent()).as_bytes());
        }
        text.push(between);
    }
    let high = repository.settings().quote_path;
    let mut name = |path: &BStr, end: u8| {
        if options.null {
            text.extend_from_slice(path);
        } else {
            text.extend(quoted(path, high));
        }
        text.push(end);
    };
    if let (Some(_), Some(old), true) = (pair.origin, &pair.old, listing != Listing::Names) {
        name(old.path.as_bstr(), between);
    }
    let end = if options.null { b'\0' } else { b'\n' };
    name(pair.path().unwrap_or_default(), end);
    Ok(())
}
