//! `REUC`: the sides of resolved conflicts, so that `git update-index --unresolve` and
//! `git checkout -m` can restore the conflicts.

use super::super::cursor::Cursor;
use super::super::entry::{Entry, Stage};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::{Kind, ObjectId};
use std::collections::BTreeMap;

/// Mode and object id of each side that exists, for the stages 1 to 3.
pub(crate) type Sides = [Option<(u32, ObjectId)>; 3];

/// The extension, by path.
#[derive(Debug, Default)]
pub(in super::super) struct ResolveUndo(BTreeMap<BString, Sides>);

impl ResolveUndo {
    /// Parses the extension `data`; a broken one counts as absent.
    pub(in super::super) fn parse(data: &[u8], hash: Kind) -> Self {
        let mut cursor = Cursor::new(data);
        let mut records = BTreeMap::new();
        while !cursor.is_empty() {
            match record(&mut cursor, hash) {
                Some((path, sides)) => records.insert(path, sides),
                None => return ResolveUndo::default(),
            };
        }
        ResolveUndo(records)
    }

    /// Adds the side given by the conflicting `entry` of `path`.
    pub(in super::super) fn add(&mut self, path: BString, entry: &Entry) {
        let side = match entry.flags.stage {
            Stage::Merged => return,
            Stage::Base => 0,
            Stage::Ours => 1,
            Stage::Theirs => 2,
        };
        let sides = self.0.entry(path).or_default();
        sides[side] = Some((entry.mode.to_u32(), entry.id));
    }

    /// Removes the records of the paths that `is_meant`, and returns them.
    pub(in super::super) fn take(
        &mut self,
        is_meant: impl Fn(&BStr) -> bool,
    ) -> BTreeMap<BString, Sides> {
        let records = std::mem::take(&mut self.0).into_iter();
        let (taken, left) = records.partition(|(path, _)| is_meant(path.as_bstr()));
        self.0 = left;
        taken
    }

    /// The records, by path.
    pub(in super::super) fn iter(&self) -> impl Iterator<Item = (&BStr, Sides)> {
        self.0.iter().map(|(path, sides)| (path.as_bstr(), *sides))
    }

    /// Its bytes; `None` if it has no record.
    pub(in super::super) fn serialize(&self) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        for (path, sides) in &self.0 {
            out.extend_from_slice(path);
            out.push(0);
            for side in sides {
                let mode = side.map_or(0, |(mode, _)| mode);
                out.extend_from_slice(format!("{mode:o}\0").as_bytes());
            }
            for (_, id) in sides.iter().flatten() {
                out.extend_from_slice(id.as_slice());
            }
        }
        (!out.is_empty()).then_some(out)
    }
}

fn record(cursor: &mut Cursor<'_>, hash: Kind) -> Option<(BString, Sides)> {
    let path = BString::from(cursor.until(0)?);
    let mut modes = [0; 3];
    for mode in &mut modes {
        *mode = u32::from_str_radix(cursor.until(0)?.to_str().ok()?, 8).ok()?;
    }
    let mut sides = Sides::default();
    for (side, mode) in sides.iter_mut().zip(modes) {
        if mode != 0 {
            let id = cursor.take(hash.len_in_bytes())?;
            *side = Some((mode, ObjectId::try_from(id).ok()?));
        }
    }
    Some((path, sides))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_survive_and_broken_ones_are_none() {
        let mut data = b"a\x00100644\x000\x00120000\x00".to_vec();
        data.extend([1; 20]);
        data.extend([2; 20]);
        data.extend_from_slice(b"b\x000\x00100755\x000\x00");
        data.extend([3; 20]);
        let read = ResolveUndo::parse(&data, Kind::Sha1);
        assert_eq!(read.0.len(), 2);
        assert_eq!(read.serialize(), Some(data.clone()));
        for len in 1..data.len() {
            let cut = ResolveUndo::parse(&data[..len], Kind::Sha1);
            assert!(cut.0.len() < 2, "{len}");
        }
        assert_eq!(ResolveUndo::default().serialize(), None);
    }
}
