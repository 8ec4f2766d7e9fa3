//! The pseudo-merge section of a bitmap file: gitformat-bitmap(5), "Pseudo-merge bitmaps".

use super::words::Words;
use crate::error::Result;
use crate::format::hashed_file::HashedFile;
use hedgerow_object::ewah::encode;
use std::collections::BTreeMap;

/// Length of a row of the table of commits: a bit, and the offset of its pseudo-merge.
const ROW_BYTES: u64 = 12;
/// Flag in such a row: the offset is that of a list of several pseudo-merges.
const SEVERAL: u64 = 1 << 63;
/// Length of the numbers at the end.
const TAIL_BYTES: u64 = 24;

/// What some commits reach together, compressed.
#[derive(Clone, Debug)]
pub struct PseudoMerge {
    /// The bits of the commits.
    commits: Words,
    /// What is reachable from them, themselves included, compressed.
    set: Vec<u8>,
}

impl PseudoMerge {
    /// What is `reached` from the commits with the bits `commits`.
    pub fn new(commits: Words, reached: &Words) -> Self {
        PseudoMerge {
            commits,
            set: encode(reached.as_slice()),
        }
    }
}

/// Writes the section for `merges`, of which there are some.
pub(super) fn write(file: &mut HashedFile, merges: &[PseudoMerge]) -> Result<()> {
    let start = file.position();
    let mut offsets = Vec::with_capacity(merges.len());
    // Sorted by the bits of the commits, because readers use binary search.
    let mut rows: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for merge in merges {
        let offset = file.position();
        offsets.push(offset);
        for bit in merge.commits.iter() {
            rows.entry(bit).or_default().push(offset);
        }
        file.write(&encode(merge.commits.as_slice()))?;
        file.write(&merge.set)?;
    }
    let table = file.position();
    let mut list = table + rows.len() as u64 * ROW_BYTES;
    for (bit, merges) in &rows {
        let place = match merges.as_slice() {
            [one] => *one,
            several => {
                let place = list | SEVERAL;
                list += 4 + several.len() as u64 * 8;
                place
            }
        };
        file.write(&bit.to_be_bytes())?;
        file.write(&place.to_be_bytes())?;
    }
    for merges in rows.values().filter(|merges| merges.len() > 1) {
        file.write(&(merges.len() as u32).to_be_bytes())?;
        write_offsets(file, merges)?;
    }
    write_offsets(file, &offsets)?;
    let size = file.position() - start + TAIL_BYTES;
    file.write(&(merges.len() as u32).to_be_bytes())?;
    file.write(&(rows.len() as u32).to_be_bytes())?;
    file.write(&(table - start).to_be_bytes())?;
    file.write(&size.to_be_bytes())?;
    Ok(())
}

fn write_offsets(file: &mut HashedFile, offsets: &[u64]) -> Result<()> {
    for offset in offsets {
        file.write(&offset.to_be_bytes())?;
    }
    Ok(())
}
