//! How much of each file changed. Contents are read and compared by several workers.

use super::{names, Changed, Counts};
use crate::diff::{DiffAttributes, Driver, FileContents, FileWorker};
use crate::lines::{changed_lines, Algorithm};
use crate::merge::is_binary;
use crate::repository::Repository;
use crate::status::rename::{map_contents, Filepair, Side};
use crate::Result;
use hedgerow_engine::Options;

/// Counts changes.
pub(crate) struct Counter<'a> {
    contents: &'a FileContents<'a>,
    attributes: &'a [DiffAttributes],
    big_file_bytes: u64,
    high: bool,
    /// `None` leaves it to the attributes.
    algorithm: Option<Algorithm>,
}

impl<'a> Counter<'a> {
    /// For the files of pairs with these `attributes`.
    pub(crate) fn new(
        repository: &Repository,
        contents: &'a FileContents<'a>,
        attributes: &'a [DiffAttributes],
        algorithm: Option<Algorithm>,
    ) -> Self {
        Counter {
            contents,
            attributes,
            big_file_bytes: repository.settings().big_file_bytes,
            high: repository.settings().quote_path,
            algorithm,
        }
    }

    /// The files of all `pairs`, in their order, without those that were only touched.
    pub(crate) fn files(
        &self,
        pairs: &[Filepair],
        engine: &Options,
        compact: bool,
    ) -> Result<Vec<Changed>> {
        let count = |worker: &mut FileWorker<'a>, _: &mut (), at: usize| {
            self.count(worker, &pairs[at], &self.attributes[at])
        };
        let counts = map_contents(self.contents, engine, pairs.len(), || (), count)?;
        let files = pairs.iter().zip(counts).map(|(pair, counts)| Changed {
            name: names::shown(pair, self.high, compact),
            pair: pair.clone(),
            counts,
        });
        // Git counts nothing in a submodule whose commit is the same, and shows it.
        let is_shown = |file: &Changed| file.is_shown() || self.contents.is_dirty(&file.pair);
        Ok(files.filter(is_shown).collect())
    }

    fn count(
        &self,
        worker: &mut FileWorker<'a>,
        pair: &Filepair,
        attributes: &DiffAttributes,
    ) -> Result<Counts> {
        if pair.unmerged {
            return Ok(Counts::Unmerged);
        }
        let (old, new) = (pair.old.as_ref(), pair.new.as_ref());
        let id = |side: Option<&Side>| side.and_then(|side| side.id);
        let is_same = id(old).is_some() && id(old) == id(new);
        let before = self.contents.content(worker, old, false)?;
        let after = self.contents.content(worker, new, true)?;
        let is_binary = |driver: &Driver, content: &[u8]| {
            let is_large = content.len() as u64 > self.big_file_bytes;
            driver
                .is_binary
                .unwrap_or_else(|| is_large || is_binary(content))
        };
        let [old_driver, new_driver] = &attributes.sides;
        if is_binary(old_driver, &before) || is_binary(new_driver, &after) {
            let bytes = |content: &[u8]| if is_same { 0 } else { content.len() as u64 };
            return Ok(Counts::Bytes {
                added: bytes(&after),
                removed: bytes(&before),
            });
        }
        let algorithm = self.algorithm.or(attributes.algorithm());
        let (removed, added) = if is_same {
            (0, 0)
        } else {
            changed_lines(algorithm.unwrap_or(Algorithm::Myers), &before, &after)
        };
        Ok(Counts::Lines { added, removed })
    }
}
