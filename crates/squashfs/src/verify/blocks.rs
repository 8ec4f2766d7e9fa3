//! Checks that the metadata blocks of a table are adjacent and can be decompressed.

use super::checksum::has_checksum;
use super::findings::damage;
use super::{ended, Check, VerifyError};
use crate::format::{METADATA_BYTES, METADATA_HEADER_BYTES, METADATA_RAW};
use crate::reader::{Image, Region};
use crate::Damage;
use hedgerow_engine::{run_ordered, Window};

/// Limit of the batches in progress, in decompressed bytes of full blocks.
const WINDOW: Window = Window { bytes: 4 << 20 };
/// Number of metadata blocks in a batch.
const BATCH: usize = 32;

/// The metadata blocks of a table.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    /// Their positions in ascending order.
    pub positions: Vec<u64>,
    /// Their decompressed size in bytes; `None` if a block cannot be read.
    pub bytes: Option<u64>,
}

impl Blocks {
    /// Their decompressed size in bytes if all are full.
    pub fn most_bytes(&self) -> u64 {
        self.positions.len() as u64 * METADATA_BYTES as u64
    }

    /// The number of decompressed bytes before `offset` in the block at `position`.
    pub fn before(&self, position: u64, offset: u16) -> Option<u64> {
        let index = self.positions.binary_search(&position).ok()?;
        Some(index as u64 * METADATA_BYTES as u64 + u64::from(offset))
    }
}

/// The result for a block.
struct Seen {
    length: usize,
    stored_bytes: u64,
    checksummed: bool,
}

impl Check<'_> {
    /// The positions of the adjacent blocks from the start of a region.
    pub fn chain(&mut self, region: Region) -> Vec<u64> {
        let mut positions = Vec::new();
        let mut position = region.start;
        while position < region.end {
            let header = match self.image.bytes.read_array(region.part, position) {
                Ok(header) => u16::from_le_bytes(header),
                Err(error) => {
                    self.findings.add_error(region.part, error);
                    return positions;
                }
            };
            let length = header & !METADATA_RAW;
            let next = position + METADATA_HEADER_BYTES + u64::from(length);
            if length == 0 || usize::from(length) > METADATA_BYTES || next > region.end {
                let what = format!("a metadata block of {length} bytes: what follows is lost");
                self.findings.add(Damage::new(region.part, position, what));
                return positions;
            }
            positions.push(position);
            position = next;
        }
        positions
    }

    /// Decompresses blocks. All but the last must be full; the last must have `last` bytes if that
    /// is given.
    pub fn blocks(
        &mut self,
        region: Region,
        positions: Vec<u64>,
        last: Option<u64>,
    ) -> Result<Blocks, VerifyError> {
        let image = self.image;
        let batches = positions.chunks(BATCH).map(|batch| {
            let bytes = batch.len() * METADATA_BYTES;
            Ok((batch, bytes as u64))
        });
        let mut lengths = Vec::new();
        let (mut checksummed, mut unchecked) = (0, 0);
        let findings = &mut self.findings;
        run_ordered(
            self.options,
            WINDOW,
            batches,
            |_| (),
            |(), batch: &[u64]| {
                let seen = batch.iter().map(|position| see(image, region, *position));
                Ok::<Vec<_>, VerifyError>(seen.collect())
            },
            |_, batch| {
                for seen in batch {
                    match seen {
                        Ok(seen) => {
                            lengths.push(Some(seen.length as u64));
                            if seen.checksummed {
                                checksummed += seen.stored_bytes
                            } else {
                                unchecked += seen.stored_bytes
                            }
                        }
                        Err(damage) => {
                            findings.add(damage);
                            lengths.push(None);
                        }
                    }
                }
                Ok(())
            },
        )
        .map_err(ended)?;
        // The header has no checksum.
        let headers = positions.len() as u64 * METADATA_HEADER_BYTES;
        self.cover(region.part, checksummed, unchecked + headers);
        let count = positions.len();
        for (index, (position, length)) in positions.iter().zip(&lengths).enumerate() {
            let expected = if index + 1 == count {
                last
            } else {
                Some(METADATA_BYTES as u64)
            };
            if let (Some(length), Some(expected)) = (length, expected) {
                if *length != expected {
                    let what = format!("a metadata block of {length} bytes, not {expected}");
                    self.findings.add(Damage::new(region.part, *position, what));
                }
            }
        }
        let known = lengths
            .iter()
            .try_fold(0, |sum, length| Some(sum + (*length)?));
        Ok(Blocks {
            positions,
            bytes: known,
        })
    }
}

fn see(image: &Image, region: Region, position: u64) -> Result<Seen, Damage> {
    let mut buffer = [0; METADATA_BYTES];
    let mut seen = || {
        let (stored, raw) = image.stored_metadata_block(region, position, &mut buffer)?;
        let length = if raw {
            stored.len()
        } else {
            let mut output = [0; METADATA_BYTES];
            image.decompress(region.part, position, stored, &mut output)?
        };
        Ok(Seen {
            length,
            stored_bytes: stored.len() as u64,
            checksummed: !raw && has_checksum(image.compressor, stored),
        })
    };
    seen().map_err(|error| damage(region.part, error))
}
