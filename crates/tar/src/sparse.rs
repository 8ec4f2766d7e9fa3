//! Sparse maps: where a file has data.
//!
//! The encodings of GNU tar (its manual, "Storing Sparse Files"): the old one stores the map in the
//! header and in blocks after it; 0.0 and 0.1 store it in records of the extended header; 1.0
//! stores it before the content.

use crate::error::Malformed;
use crate::header::{Block, Header, BLOCK, SIZE};
use crate::numbers;
use std::sync::Arc;

/// A part of a file that has data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Offset in the file in bytes.
    pub offset: u64,
    /// Length in bytes.
    pub len: u64,
}

impl Segment {
    /// The offset after its last byte.
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.len)
    }
}

/// Where a file has data: nonempty segments in ascending order with a hole between any two. The
/// rest of the file is holes, which read as zeros.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SparseMap {
    segments: Arc<[Segment]>,
    size_bytes: u64,
}

impl SparseMap {
    /// The map of a file of `size_bytes`; `None` if segments overlap, are out of order or exceed
    /// the file. Empty segments are dropped and adjacent ones joined.
    pub fn new(segments: &[Segment], size_bytes: u64) -> Option<SparseMap> {
        let mut kept: Vec<Segment> = Vec::new();
        let mut end = 0;
        for segment in segments {
            let segment_end = segment.offset.checked_add(segment.len)?;
            if segment.offset < end || segment_end > size_bytes {
                return None;
            }
            end = segment_end;
            match kept.last_mut() {
                _ if segment.len == 0 => {}
                Some(last) if last.end() == segment.offset => last.len += segment.len,
                _ => kept.push(*segment),
            }
        }
        Some(SparseMap {
            segments: kept.into(),
            size_bytes,
        })
    }

    /// The map of a file without holes.
    pub(crate) fn solid(size_bytes: u64) -> SparseMap {
        let whole = Segment {
            offset: 0,
            len: size_bytes,
        };
        SparseMap {
            segments: [whole].into_iter().filter(|whole| whole.len > 0).collect(),
            size_bytes,
        }
    }

    /// The parts with data.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The size of the file including holes, in bytes.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// The total length of all segments in bytes.
    pub fn stored_bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.len).sum()
    }
}

/// Collects the segments of a map, up to a limit.
pub(crate) struct MapBuilder {
    segments: Vec<Segment>,
    limit: usize,
}

impl MapBuilder {
    pub(crate) fn new(limit: usize) -> MapBuilder {
        MapBuilder {
            segments: Vec::new(),
            limit,
        }
    }

    pub(crate) fn push(&mut self, offset: u64, len: u64) -> Result<(), Malformed> {
        if self.segments.len() >= self.limit {
            return Err(Malformed::SparseMapTooLong(self.limit));
        }
        self.segments.push(Segment { offset, len });
        Ok(())
    }

    pub(crate) fn finish(self, size_bytes: u64) -> Result<SparseMap, Malformed> {
        SparseMap::new(&self.segments, size_bytes).ok_or(Malformed::SparseMap)
    }
}

/// Offset of the map in a header of the old encoding, and the number of segments there.
const OLD_MAP: usize = 386;
const OLD_SEGMENTS: usize = 4;
const OLD_EXTENDED: usize = 482;
const OLD_REAL_SIZE: std::ops::Range<usize> = 483..495;
/// The same for a block that continues the map.
const EXTENSION_SEGMENTS: usize = 21;
const EXTENSION_EXTENDED: usize = 504;
/// Size of a segment in bytes: two fields of 12 bytes.
const OLD_SEGMENT: usize = 24;

/// Reads the part of an old map in the header. Returns the size of the file and whether the map
/// continues in the next block.
pub(crate) fn old_header(header: &Header, map: &mut MapBuilder) -> Result<(u64, bool), Malformed> {
    let block = header.field(0..BLOCK);
    let size = numbers::parse_unsigned(&block[OLD_REAL_SIZE]).ok_or(Malformed::SparseMap)?;
    let end = OLD_MAP + OLD_SEGMENTS * OLD_SEGMENT;
    old_segments(&block[OLD_MAP..end], map)?;
    Ok((size, block[OLD_EXTENDED] != 0))
}

/// Reads a block that continues an old map. Returns whether another block follows.
pub(crate) fn old_extension(block: &Block, map: &mut MapBuilder) -> Result<bool, Malformed> {
    old_segments(&block[..EXTENSION_SEGMENTS * OLD_SEGMENT], map)?;
    Ok(block[EXTENSION_EXTENDED] != 0)
}

fn old_segments(fields: &[u8], map: &mut MapBuilder) -> Result<(), Malformed> {
    let number = |field| numbers::parse_unsigned(field).ok_or(Malformed::SparseMap);
    for segment in fields.chunks_exact(OLD_SEGMENT) {
        let (offset, len) = segment.split_at(SIZE.len());
        // GNU tar ends the list with an empty field.
        if len[0] == 0 {
            break;
        }
        map.push(number(offset)?, number(len)?)?;
    }
    Ok(())
}

/// Parses a map of encoding 1.0: decimal numbers, one per line, in blocks before the content. The
/// first number is that of the segments.
pub(crate) struct MapLines {
    digits: Vec<u8>,
    offset: Option<u64>,
    left: Option<u64>,
}

impl MapLines {
    pub(crate) fn new() -> MapLines {
        MapLines {
            digits: Vec::new(),
            offset: None,
            left: None,
        }
    }

    /// Parses the next block. Returns whether the map is complete.
    pub(crate) fn feed(&mut self, block: &Block, map: &mut MapBuilder) -> Result<bool, Malformed> {
        for byte in block {
            if self.left == Some(0) {
                break;
            }
            if *byte != b'\n' {
                self.digits.push(*byte);
                // A longer number does not fit into 64 bits, so this is not a map.
                if self.digits.len() > 20 {
                    return Err(Malformed::SparseMap);
                }
                continue;
            }
            let number = numbers::parse_decimal(&self.digits).ok_or(Malformed::SparseMap)?;
            self.digits.clear();
            match (self.left, self.offset.take()) {
                (None, _) if number > map.limit as u64 => {
                    return Err(Malformed::SparseMapTooLong(map.limit));
                }
                (None, _) => self.left = Some(number),
                (Some(_), None) => self.offset = Some(number),
                (Some(left), Some(offset)) => {
                    map.push(offset, number)?;
                    self.left = Some(left - 1);
                }
            }
        }
        Ok(self.left == Some(0))
    }
}

/// Encodes a map in encoding 1.0, with padding.
pub(crate) fn map_lines(map: &SparseMap) -> Vec<u8> {
    // GNU tar ends every map with an empty segment at the end of the file. Without it, readers that
    // take the end of the last segment for the end of the file would truncate files that end with a
    // hole.
    let last = Segment {
        offset: map.size_bytes,
        len: 0,
    };
    let segments = map.segments.iter().chain([&last]);
    let mut lines = format!("{}\n", map.segments.len() + 1);
    for segment in segments {
        lines.push_str(&format!("{}\n{}\n", segment.offset, segment.len));
    }
    let mut lines = lines.into_bytes();
    lines.resize(lines.len().next_multiple_of(BLOCK), 0);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(segments: &[(u64, u64)], size: u64) -> Option<SparseMap> {
        let segments: Vec<Segment> = segments
            .iter()
            .map(|(offset, len)| Segment {
                offset: *offset,
                len: *len,
            })
            .collect();
        SparseMap::new(&segments, size)
    }

    #[test]
    fn maps_are_in_order_and_within_the_file() {
        assert!(map(&[], 0).is_some());
        assert!(map(&[(0, 10), (10, 0), (20, 5)], 25).is_some());
        for (segments, size) in [
            (&[(0, 10)][..], 9),
            (&[(5, 5), (0, 5)], 10),
            (&[(0, 5), (4, 5)], 10),
            (&[(u64::MAX, 2)], u64::MAX),
            (&[(11, 0)], 10),
        ] {
            assert_eq!(map(segments, size), None, "{segments:?}");
        }
    }

    #[test]
    fn segments_are_joined_and_empty_ones_dropped() {
        let joined = map(&[(0, 0), (1, 2), (3, 4), (9, 1), (12, 0)], 12).unwrap();
        assert_eq!(joined, map(&[(1, 6), (9, 1)], 12).unwrap());
        assert_eq!(joined.stored_bytes(), 7);
        assert_eq!(SparseMap::solid(0).segments(), []);
        assert_eq!(SparseMap::solid(7), map(&[(0, 7)], 7).unwrap());
    }

    #[test]
    fn lines_can_be_read_back_over_any_number_of_blocks() {
        for count in [0u64, 1, 30, 300] {
            let segments: Vec<_> = (0..count).map(|n| (n * 100_000 + 7, 1 + n % 512)).collect();
            let map = map(&segments, 1 << 40).unwrap();
            let lines = map_lines(&map);
            let (mut read, mut builder) = (MapLines::new(), MapBuilder::new(1000));
            let mut blocks = lines.chunks_exact(BLOCK).peekable();
            while let Some(block) = blocks.next() {
                let last = read.feed(block.try_into().unwrap(), &mut builder).unwrap();
                assert_eq!(last, blocks.peek().is_none());
            }
            assert_eq!(builder.finish(map.size_bytes()).unwrap(), map);
        }
    }

    #[test]
    fn lines_that_make_no_sense_are_refused() {
        for text in ["x\n", "-1\n", "\n", "1\n\n", "111111111111111111111"] {
            let mut block = [b'0'; BLOCK];
            block[..text.len()].copy_from_slice(text.as_bytes());
            let fed = MapLines::new().feed(&block, &mut MapBuilder::new(10));
            assert_eq!(fed.unwrap_err(), Malformed::SparseMap, "{text:?}");
        }
        let mut block = [b'0'; BLOCK];
        block[..3].copy_from_slice(b"11\n");
        let fed = MapLines::new().feed(&block, &mut MapBuilder::new(10));
        assert_eq!(fed.unwrap_err(), Malformed::SparseMapTooLong(10));
    }
}
