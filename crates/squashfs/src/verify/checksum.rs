use hedgerow_codec::block::Compressor;

/// Whether a compressed block carries a checksum of its content.
///
/// A zlib stream always does. The second byte of the stream flags of `.xz` says which check there
/// is; bit 2 of the frame header descriptor of zstd says whether there is one (RFC 8878).
pub fn has_checksum(compressor: Compressor, stored: &[u8]) -> bool {
    match compressor {
        Compressor::Gzip => true,
        Compressor::Xz => stored.get(7).is_some_and(|flags| flags & 0x0f != 0),
        Compressor::Zstd => stored.get(4).is_some_and(|descriptor| descriptor & 4 != 0),
        Compressor::Lzma | Compressor::Lzo | Compressor::Lz4 => false,
    }
}
