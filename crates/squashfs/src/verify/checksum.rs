use hedgerow_codec::block::Compressor;

/// Whether a compressed block carries a checksum of its content.
///
/// A zlib stream always does. In `.xz`, the second byte of the stream flags tells the type of
/// check; in zstd, bit 2 of the frame header descriptor tells whether there is a checksum (RFC
/// 8878).
pub fn has_checksum(compressor: Compressor, stored: &[u8]) -> bool {
    match compressor {
        Compressor::Gzip => true,
        Compressor::Xz => stored.get(7).is_some_and(|flags| flags & 0x0f != 0),
        Compressor::Zstd => stored.get(4).is_some_and(|descriptor| descriptor & 4 != 0),
        Compressor::Lzma | Compressor::Lzo | Compressor::Lz4 => false,
    }
}
