//! Finds the tree behind an image.

use super::format::{Shape, Superblock, BLOCK_BYTES, SUPERBLOCK_BYTES};
use crate::{ReadAt, Result};

/// The position of the superblock of the tree behind the image at byte `offset`, in bytes from the
/// start of the image. It may stand farther back, if the tree ends at the end of the source; of an image
/// that is damaged, so that its size is not known or not there, this is the only sign. What looks like
/// a tree within the image is content.
pub(super) fn find(
    source: &dyn ReadAt,
    offset: u64,
    image_bytes: Option<u64>,
) -> Result<Option<(u64, [u8; SUPERBLOCK_BYTES])>> {
    let length = source.length()?.saturating_sub(offset);
    let image_bytes = image_bytes.filter(|bytes| *bytes <= length);
    let behind = image_bytes.and_then(|bytes| bytes.checked_next_multiple_of(BLOCK_BYTES));
    let at_end = from_end(length).filter(|position| behind.is_none_or(|end| *position >= end));
    for position in behind.into_iter().chain(at_end) {
        let Some(end) = position.checked_add(SUPERBLOCK_BYTES as u64) else {
            continue;
        };
        let mut bytes = [0; SUPERBLOCK_BYTES];
        if end <= length
            && source.read_at(&mut bytes, offset.saturating_add(position))? == bytes.len()
            && Superblock::is_meant_by(&bytes)
        {
            return Ok(Some((position, bytes)));
        }
    }
    Ok(None)
}

/// Where the superblock is if image and tree have this length together: there is one number of
/// blocks at most, because more blocks never have a smaller tree.
fn from_end(length: u64) -> Option<u64> {
    if !length.is_multiple_of(BLOCK_BYTES) {
        return None;
    }
    let blocks = length / BLOCK_BYTES;
    let (mut low, mut high) = (1, blocks);
    while low < high {
        let middle = low + (high - low) / 2;
        if middle + 1 + Shape::of(middle).blocks() < blocks {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    (low + 1 + Shape::of(low).blocks() == blocks).then_some(low * BLOCK_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_of_both_tells_the_length_of_the_image() {
        for blocks in (1..1000)
            .chain(16_000..17_000)
            .chain([2_097_151, 2_097_152, 2_097_153])
        {
            let length = (blocks + 1 + Shape::of(blocks).blocks()) * BLOCK_BYTES;
            assert_eq!(from_end(length), Some(blocks * BLOCK_BYTES));
        }
        for length in [0, 1, 4096, 4097, u64::MAX] {
            assert_eq!(from_end(length), None);
        }
    }
}
