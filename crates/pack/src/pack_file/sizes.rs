//! How many bytes the entries of a pack take.

use super::pack::Pack;

/// An object as a pack holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedEntry {
    /// Its position among the ids of the pack's index.
    pub position: u32,
    /// Where its entry starts, in bytes from the start of the pack.
    pub offset: u64,
    /// Bytes of the entry.
    pub size_bytes: u64,
}

impl Pack {
    /// Its entries in order of offsets; none if it cannot be used.
    pub fn entries(&self) -> Vec<PackedEntry> {
        let (Ok(index), Ok(data)) = (self.index(), self.data()) else {
            return Vec::new();
        };
        let entry = |position| {
            let offset = index.offset(position)?;
            Some((offset, position))
        };
        let reversed = self.reverse().and_then(|reverse| {
            let order = 0..index.count();
            let found: Option<Vec<_>> =
                order.map(|order| entry(reverse.position(order)?)).collect();
            found.filter(|found| found.is_sorted_by(|a, b| a.0 < b.0))
        });
        let sorted = reversed.unwrap_or_else(|| {
            let mut found: Vec<_> = (0..index.count()).filter_map(entry).collect();
            found.sort_unstable();
            found
        });
        let ends = sorted.iter().skip(1).map(|(offset, _)| *offset);
        let ends = ends.chain([data.len() as u64]);
        let size = |((offset, position), end): (&(u64, u32), u64)| PackedEntry {
            position: *position,
            offset: *offset,
            size_bytes: end.saturating_sub(*offset),
        };
        sorted.iter().zip(ends).map(size).collect()
    }

    /// Bytes of the entry at `offset`; `None` if there is no such entry.
    pub fn entry_size(&self, offset: u64) -> Option<u64> {
        let index = self.index().ok()?;
        let end = self.data().ok()?.len() as u64;
        let next = self.next_offset(index, offset)?.unwrap_or(end);
        next.min(end).checked_sub(offset)
    }
}
