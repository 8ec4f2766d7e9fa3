//! Checks extended attributes.

use super::findings::damage;
use super::inodes::Inodes;
use super::ranges::{flaws, Flaw};
use super::tables::Tables;
use super::Check;
use crate::{Damage, Part, Result};
use std::collections::{HashMap, HashSet};

/// Maximum length of a name with its prefix in bytes, as in Linux.
const NAME_BYTES: usize = 255;

impl Check<'_> {
    /// Reads all attributes, and checks that every set belongs to an inode.
    pub fn xattrs(&mut self, inodes: &Inodes, tables: &Tables) {
        let Some(table) = self.image.layout.xattr_ids else {
            return;
        };
        let mut owners: HashMap<u32, u32> = HashMap::new();
        for (_, record) in inodes.iter() {
            if let Some(index) = record.xattrs {
                owners.entry(index).or_insert(record.number);
            }
        }
        // Stored ranges of the sets and of values stored elsewhere.
        let mut ranges = Vec::new();
        // Hostile sets can share their bytes, and would be read again and again.
        let mut bytes_left = tables.xattrs.most_bytes();
        for index in 0..u32::try_from(table.count).unwrap_or(u32::MAX) {
            let found = self.xattr_set(index, tables, &mut ranges);
            let owner = owners.get(&index);
            let size = found.as_ref().map_or(0, |bytes| *bytes);
            bytes_left = match bytes_left.checked_sub(size) {
                Some(left) => left,
                None => {
                    let what = "sets of attributes share their bytes";
                    self.findings
                        .add(Damage::new(Part::XattrTable, table.array_start, what));
                    return;
                }
            };
            if let Err(error) = found {
                let damage = damage(Part::XattrTable, error);
                match owner {
                    Some(owner) => self.findings.add_of(*owner, damage),
                    None => self.findings.add(damage),
                }
                // Stop at the first unreadable entry of the id table: a hostile count can be in the
                // billions.
                if self.image.xattr_set(index).is_err() {
                    return;
                }
            }
            if owner.is_none() && inodes.complete {
                let what = format!("attributes {index} are of no inode");
                self.findings
                    .add(Damage::new(Part::XattrTable, table.array_start, what));
            }
        }
        if let Some(bytes) = tables.xattrs.bytes {
            self.sets_cover(ranges, bytes);
        }
    }

    /// Reads a set. Returns its size in bytes.
    fn xattr_set(
        &mut self,
        index: u32,
        tables: &Tables,
        ranges: &mut Vec<(u64, u64)>,
    ) -> Result<u64> {
        let region = self.image.layout.xattrs;
        let set = self.image.xattr_set(index)?;
        let position = region.start.saturating_add(set.reference.block());
        let wrong = |what: String| Damage::new(Part::XattrTable, position, what);
        let mut xattrs = self.image.xattrs(index)?;
        let mut names = HashSet::new();
        let (mut names_bytes, mut values_bytes) = (0, 0);
        while let Some(xattr) = xattrs.next() {
            let xattr = xattr?;
            if let Some(place) = xattrs.elsewhere {
                let position = region.start.saturating_add(place.block());
                if let Some(start) = tables.xattrs.before(position, place.offset()) {
                    ranges.push((start, start + 4 + xattr.value.len() as u64));
                }
            }
            let length = xattr.name.len();
            names_bytes += length + 1;
            values_bytes += xattr.value.len();
            if length > NAME_BYTES {
                return Err(wrong(format!("attributes {index}: a name is too long")).into());
            }
            if xattr.name.ends_with(b".") && xattr.name.iter().filter(|b| **b == b'.').count() == 1
                || xattr.name.contains(&0)
            {
                return Err(wrong(format!("attributes {index}: '{}'", xattr.name)).into());
            }
            if let Some(name) = names.replace(xattr.name) {
                return Err(wrong(format!("attributes {index}: a second '{name}'")).into());
            }
        }
        if let Some(start) = tables.xattrs.before(position, set.reference.offset()) {
            ranges.push((start, start + xattrs.bytes));
        }
        // Packers differ: mksquashfs counts whole names with a byte after each, and all values
        // wherever they are stored; others count the bytes stored in the set.
        let sizes = [xattrs.bytes, (names_bytes + values_bytes) as u64];
        if !sizes.contains(&set.size.into()) {
            let (bytes, size) = (xattrs.bytes, set.size);
            let what = format!("attributes {index} have {bytes} bytes, not {size}");
            return Err(wrong(what).into());
        }
        Ok(xattrs.bytes)
    }

    fn sets_cover(&mut self, ranges: Vec<(u64, u64)>, bytes: u64) {
        // A value that several sets share is stored within one of them or alone, so only gaps are
        // defects.
        for flaw in flaws(ranges, 0, bytes, true) {
            if let Flaw::Gap { start, bytes } = flaw {
                let what = format!("{bytes} bytes from {start} on are of no attribute");
                let position = self.image.layout.xattrs.start;
                self.findings
                    .add(Damage::new(Part::XattrTable, position, what));
            }
        }
    }
}
