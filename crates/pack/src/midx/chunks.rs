//! The table of contents of a file made of chunks.

use super::refusal::Refusal;
use crate::format::big_endian::{u32_at, u64_at};
use std::ops::Range;

/// Length of a row of the table: a name of four bytes, and the offset of the chunk.
pub(crate) const CHUNK_ROW_BYTES: usize = 12;
/// The alignment of chunks, in bytes.
const ALIGNMENT: usize = 4;

/// The positions of the chunks, by name.
#[derive(Debug)]
pub(crate) struct Chunks {
    found: Vec<([u8; 4], Range<usize>)>,
}

impl Chunks {
    /// Reads the table of `count` chunks at `start` of `data`. All chunks must end before `end`.
    pub fn read(data: &[u8], start: usize, count: u8, end: usize) -> Result<Self, Refusal> {
        let mut found: Vec<([u8; 4], Range<usize>)> = Vec::with_capacity(usize::from(count));
        let row = |number: usize| {
            let row = start + number * CHUNK_ROW_BYTES;
            let name = u32_at(data, row)?;
            Some((name, u64_at(data, row + 4)?))
        };
        let truncated = || Refusal::error("truncated table of contents");
        for number in 0..usize::from(count) {
            let (name, from) = row(number).ok_or_else(truncated)?;
            let (_, to) = row(number + 1).ok_or_else(truncated)?;
            if name == 0 {
                let reason = "terminating chunk id appears earlier than expected";
                return Err(Refusal::error(reason));
            }
            if from % ALIGNMENT as u64 != 0 {
                let reason = format!("chunk id {name:x} not {ALIGNMENT}-byte aligned");
                return Err(Refusal::error(reason));
            }
            if to < from || to > end as u64 {
                let reason = format!("improper chunk offset(s) {from:x} and {to:x}");
                return Err(Refusal::error(reason));
            }
            if found.iter().any(|(other, _)| *other == name.to_be_bytes()) {
                let reason = format!("duplicate chunk ID {name:x} found");
                return Err(Refusal::error(reason));
            }
            found.push((name.to_be_bytes(), from as usize..to as usize));
        }
        match row(usize::from(count)).ok_or_else(truncated)? {
            (0, _) => Ok(Chunks { found }),
            (name, _) => Err(Refusal::error(format!(
                "final chunk has non-zero id {name:x}"
            ))),
        }
    }

    /// The position of the chunk `name`.
    pub fn get(&self, name: &[u8; 4]) -> Option<Range<usize>> {
        let (_, range) = self.found.iter().find(|(other, _)| other == name)?;
        Some(range.clone())
    }
}
