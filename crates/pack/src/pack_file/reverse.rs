use super::index::{rises, PackIndex};
use crate::format::big_endian::u32_at;
use crate::format::hashed_file::is_whole;
use gix_hash::Kind;
use hedgerow_fs::MappedFile;
use std::path::Path;

const HEADER_BYTES: usize = 12;

/// The reverse index of one pack (`.rev`): the positions of its index in order of offsets. Before
/// it was a chunk, the pseudo-pack order of a multi-pack-index was such a file, too.
#[derive(Debug)]
pub(crate) struct ReverseIndex {
    map: MappedFile,
    count: u32,
}

impl ReverseIndex {
    /// Maps the reverse index at `path`, which belongs to the pack of `index`. An error is a
    /// reason.
    pub fn open(path: &Path, index: &PackIndex, hash: Kind) -> Result<Self, String> {
        Self::open_for(path, index.count(), index.pack_checksum(), hash)
    }

    /// As [`ReverseIndex::open`], for the pack or multi-pack-index of `count` objects that ends
    /// with `checksum`.
    pub fn open_for(path: &Path, count: u32, checksum: &[u8], hash: Kind) -> Result<Self, String> {
        let map = MappedFile::open(path).map_err(|error| error.to_string())?;
        check(&map, count, checksum, hash)
            .map_err(|reason| format!("bad reverse index: {reason}"))?;
        Ok(ReverseIndex { map, count })
    }

    /// Whether it has all entries of the pack of `index`, which end at `end`, in order.
    pub fn is_order_of(&self, index: &PackIndex, end: u64) -> bool {
        let offset = |order| index.offset(self.position(order)?);
        rises((0..self.count).map(offset), end)
    }

    /// The file.
    pub fn map(&self) -> &MappedFile {
        &self.map
    }

    /// Whether its checksum is right.
    pub fn is_whole(&self, hash: Kind) -> bool {
        is_whole(&self.map, hash)
    }

    /// The position in `index` of the entry at `offset`, and the offset of the entry after it.
    /// `None` if there is no such entry, or the reverse index does not agree with the index.
    pub fn find(&self, index: &PackIndex, offset: u64) -> Option<(u32, Option<u64>)> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            let position = self.position(middle)?;
            match index.offset(position)?.cmp(&offset) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => {
                    let next =
                        (middle + 1 < self.count).then(|| index.offset(self.position(middle + 1)?));
                    return Some((position, next.flatten()));
                }
            }
        }
        None
    }

    /// The position in the index of the entry that is number `order` in order of offsets.
    pub fn position(&self, order: u32) -> Option<u32> {
        u32_at(&self.map, HEADER_BYTES + order as usize * 4).filter(|found| *found < self.count)
    }
}

fn check(data: &[u8], count: u32, checksum: &[u8], hash: Kind) -> Result<(), &'static str> {
    let hash_id = match hash {
        Kind::Sha256 => 2,
        _ => 1,
    };
    if data.get(..4) != Some(b"RIDX") {
        return Err("no signature");
    }
    if u32_at(data, 4) != Some(1) {
        return Err("unknown version");
    }
    if u32_at(data, 8) != Some(hash_id) {
        return Err("other hash function");
    }
    let trailer = HEADER_BYTES + count as usize * 4;
    if data.len() != trailer + 2 * hash.len_in_bytes() {
        return Err("wrong size");
    }
    if data.get(trailer..trailer + hash.len_in_bytes()) != Some(checksum) {
        return Err("made for another pack");
    }
    Ok(())
}
