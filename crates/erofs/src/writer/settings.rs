//! The settings of the compressor, as they follow the superblock.

use super::Compression;
use hedgerow_codec::cluster::Algorithm;

/// The window of LZ4 in bytes.
const LZ4_WINDOW: u16 = u16::MAX;
/// The window of deflate, as a power of two of bytes.
const DEFLATE_BITS: u8 = 15;
/// Windows of Zstandard are counted from this power of two on.
const ZSTD_BITS: u32 = 10;

/// A length of two bytes, and the settings.
pub(super) fn block(compression: Compression, block_bytes: u32) -> Vec<u8> {
    let window = compression.segment_bytes.next_power_of_two();
    let (length, start) = match compression.settings.algorithm() {
        Algorithm::Lz4 => {
            let blocks = (compression.cluster_bytes / block_bytes) as u16;
            let settings = [LZ4_WINDOW.to_le_bytes(), blocks.to_le_bytes()];
            (14, settings.concat())
        }
        Algorithm::Lzma => (14, window.to_le_bytes().to_vec()),
        Algorithm::Deflate => (6, vec![DEFLATE_BITS]),
        Algorithm::Zstd => (6, vec![0, (window.ilog2() - ZSTD_BITS) as u8]),
    };
    let mut block = (length as u16).to_le_bytes().to_vec();
    block.extend_from_slice(&start);
    block.resize(2 + length, 0);
    block
}
