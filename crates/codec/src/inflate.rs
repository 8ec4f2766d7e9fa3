use crate::{Error, Result};
use libdeflate_sys as ffi;
use std::ptr::NonNull;

/// Maximum number of bytes to which a byte of a deflate stream can expand: a match of 258 bytes
/// takes two bits.
const MAX_EXPANSION: u64 = 258 * 8 / 2;

/// Whether a zlib stream of at most `input_bytes` can inflate to `output_bytes`. Check this before
/// an allocation, so that a few hostile bytes cannot claim gigabytes.
pub fn can_expand_to(input_bytes: u64, output_bytes: u64) -> bool {
    output_bytes <= input_bytes.saturating_mul(MAX_EXPANSION)
}

/// Inflates zlib streams of known length. Use one per thread for all streams.
#[derive(Debug)]
pub struct Inflater {
    raw: NonNull<ffi::libdeflate_decompressor>,
}

impl Inflater {
    /// A new inflater. It allocates about 10 KiB once.
    #[allow(unsafe_code)]
    pub fn new() -> Self {
        // SAFETY: the function has no precondition.
        let raw = unsafe { ffi::libdeflate_alloc_decompressor() };
        Inflater {
            raw: NonNull::new(raw).expect("memory for an inflater"),
        }
    }

    /// Inflates the zlib stream at the start of `input`, whose content must fill `output` exactly.
    /// Returns the length of the stream in bytes, including its checksum; the bytes after it are
    /// not examined.
    pub fn zlib_into(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize> {
        match self.zlib_within(input, output)? {
            (consumed, written) if written == output.len() => Ok(consumed),
            _ => Err(Error::TooShort),
        }
    }

    /// Inflates the zlib stream at the start of `input`, whose content must fit into `output`.
    /// Returns the length of the stream, including its checksum, and that of the content, in bytes.
    #[allow(unsafe_code)]
    pub(crate) fn zlib_within(
        &mut self,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(usize, usize)> {
        let (mut consumed, mut written) = (0, 0);
        // SAFETY: `raw` is live and, behind `&mut self`, used by nobody else; both buffers are
        // passed with their own lengths, and the two results are valid to write to.
        let outcome = unsafe {
            ffi::libdeflate_zlib_decompress_ex(
                self.raw.as_ptr(),
                input.as_ptr().cast(),
                input.len(),
                output.as_mut_ptr().cast(),
                output.len(),
                &mut consumed,
                &mut written,
            )
        };
        match outcome {
            ffi::libdeflate_result_LIBDEFLATE_SUCCESS => Ok((consumed, written)),
            ffi::libdeflate_result_LIBDEFLATE_INSUFFICIENT_SPACE => Err(Error::TooLong),
            _ => Err(Error::Corrupt),
        }
    }
}

impl Default for Inflater {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Inflater {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: `raw` came from libdeflate_alloc_decompressor and is freed once, here.
        unsafe { ffi::libdeflate_free_decompressor(self.raw.as_ptr()) }
    }
}

#[allow(unsafe_code)]
// SAFETY: the decompressor is plain memory bound to no thread; it is changed only through `&mut`.
unsafe impl Send for Inflater {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;

    fn deflate(content: &[u8], level: u32) -> Vec<u8> {
        let mut encoder =
            flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::new(level));
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn the_length_must_be_exact_and_what_follows_is_left() {
        let content = b"hedge hedge hedge".as_slice();
        let mut stream = deflate(content, 6);
        let length = stream.len();
        stream.extend_from_slice(b"next entry");
        let mut inflater = Inflater::new();
        let mut output = vec![0; content.len()];
        assert_eq!(inflater.zlib_into(&stream, &mut output), Ok(length));
        assert_eq!(output, content);
        assert_eq!(
            inflater.zlib_into(&stream, &mut output[1..]),
            Err(Error::TooLong)
        );
        output.push(0);
        assert_eq!(
            inflater.zlib_into(&stream, &mut output),
            Err(Error::TooShort)
        );
    }

    #[test]
    fn nothing_is_inflated_to_nothing() {
        let stream = deflate(b"", 6);
        let mut inflater = Inflater::new();
        assert_eq!(inflater.zlib_into(&stream, &mut []), Ok(stream.len()));
        assert_eq!(inflater.zlib_into(&[], &mut []), Err(Error::Corrupt));
    }

    #[test]
    fn truncation_and_a_wrong_checksum_are_errors() {
        let stream = deflate(b"some content, some content", 9);
        let mut inflater = Inflater::new();
        let mut output = vec![0; 26];
        for end in 0..stream.len() {
            assert!(inflater.zlib_into(&stream[..end], &mut output).is_err());
        }
        let mut flipped = stream.clone();
        *flipped.last_mut().unwrap() ^= 1;
        assert_eq!(
            inflater.zlib_into(&flipped, &mut output),
            Err(Error::Corrupt)
        );
    }

    #[test]
    fn the_expansion_bound_holds_for_the_most_compressible_content() {
        for length in [0_usize, 1, 258, 70_000, 5_000_000] {
            let stream = deflate(&vec![0; length], 9);
            assert!(can_expand_to(stream.len() as u64, length as u64));
        }
        assert!(!can_expand_to(20, 4 << 30));
    }

    proptest! {
        #[test]
        fn random_input_is_refused_or_inflated_but_never_a_panic(
            input in prop::collection::vec(any::<u8>(), 0..200), length in 0_usize..300,
        ) {
            let mut output = vec![0; length];
            if let Ok(consumed) = Inflater::new().zlib_into(&input, &mut output) {
                prop_assert!(consumed <= input.len());
            }
        }

        #[test]
        fn any_content_comes_back(
            content in prop::collection::vec(any::<u8>(), 0..3000), level in 0_u32..10,
        ) {
            let stream = deflate(&content, level);
            let mut whole = vec![0; content.len()];
            Inflater::new().zlib_into(&stream, &mut whole).unwrap();
            prop_assert_eq!(&whole, &content);
        }
    }
}
