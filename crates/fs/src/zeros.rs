//! Zeros, which files may have as holes.

/// Fewer zeros than this, in bytes, are not worth a hole.
pub const HOLE_BYTES: usize = 64 << 10;

/// Whether all bytes are zero.
pub fn is_zero(bytes: &[u8]) -> bool {
    let (words, rest) = bytes.as_chunks::<16>();
    words.iter().all(|word| *word == [0; 16]) && rest.iter().all(|byte| *byte == 0)
}
