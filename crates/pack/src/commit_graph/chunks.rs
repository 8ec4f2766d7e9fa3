//! The table of chunks that a commit-graph and a multi-pack-index begin with.

use crate::format::big_endian::u64_at;
use std::ops::Range;

const ROW_BYTES: usize = 12;

/// Looks through the table of `count` chunks at `table` for `name`. The chunk ends where the next
/// one starts, and no later than `end`.
pub(super) fn find(
    data: &[u8],
    table: usize,
    count: usize,
    end: usize,
    name: &[u8; 4],
) -> Result<Option<Range<usize>>, String> {
    let position = |row: usize| {
        let offset = u64_at(data, table + row * ROW_BYTES + 4)?;
        usize::try_from(offset).ok()
    };
    for row in 0..count {
        let start = table + row * ROW_BYTES;
        if data.get(start..start + 4) == Some(name) {
            return match (position(row), position(row + 1)) {
                (Some(from), Some(to)) if from <= to && to <= end => Ok(Some(from..to)),
                _ => Err("a chunk is outside the file".into()),
            };
        }
    }
    Ok(None)
}
