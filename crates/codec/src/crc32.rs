use libdeflate_sys as ffi;

/// Updates a CRC-32 as in zlib and gzip: `before` is that of the preceding bytes, 0 for none; the
/// result also covers `bytes`.
#[allow(unsafe_code)]
pub fn crc32(before: u32, bytes: &[u8]) -> u32 {
    // SAFETY: the buffer is passed with its own length and only read.
    unsafe { ffi::libdeflate_crc32(before, bytes.as_ptr().cast(), bytes.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_one_of_zlib_and_goes_on_where_it_was() {
        assert_eq!(crc32(0, b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(crc32(0, b"1234"), b"56789"), 0xcbf4_3926);
        assert_eq!(crc32(7, b""), 7);
    }
}
