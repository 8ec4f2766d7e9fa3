use flate2::{Compress, Compression, FlushCompress, Status};
use libdeflate_sys as ffi;
use std::ptr::NonNull;

/// zlib's default level.
const USUAL_LEVEL: u32 = 6;

/// Compresses content in memory to zlib streams. Use one per thread for all streams.
#[derive(Debug)]
pub struct Deflater {
    raw: NonNull<ffi::libdeflate_compressor>,
}

impl Deflater {
    /// A deflater with a level from 0 (stored) to 9; any other number means the default. These are
    /// levels of libdeflate, whose streams are about as long as zlib's of the same level.
    #[allow(unsafe_code)]
    pub fn new(level: i32) -> Self {
        // SAFETY: the function takes any level, and returns null for a bad one or without memory.
        let raw = unsafe { ffi::libdeflate_alloc_compressor(usual(level) as i32) };
        Deflater {
            raw: NonNull::new(raw).expect("memory for a deflater"),
        }
    }

    /// The zlib stream of `content`.
    #[allow(unsafe_code)]
    pub fn zlib(&mut self, content: &[u8]) -> Vec<u8> {
        // SAFETY: `raw` is live; the function only computes.
        let bound =
            unsafe { ffi::libdeflate_zlib_compress_bound(self.raw.as_ptr(), content.len()) };
        let mut output = vec![0; bound];
        // SAFETY: `raw` is live and, behind `&mut self`, used by nobody else; both buffers are
        // passed with their own lengths.
        let written = unsafe {
            ffi::libdeflate_zlib_compress(
                self.raw.as_ptr(),
                content.as_ptr().cast(),
                content.len(),
                output.as_mut_ptr().cast(),
                output.len(),
            )
        };
        assert!(written > 0, "the bound is enough for any content");
        output.truncate(written);
        output
    }
}

impl Drop for Deflater {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: `raw` came from libdeflate_alloc_compressor and is freed once, here.
        unsafe { ffi::libdeflate_free_compressor(self.raw.as_ptr()) }
    }
}

#[allow(unsafe_code)]
// SAFETY: the compressor is plain memory bound to no thread; it is changed only through `&mut`.
unsafe impl Send for Deflater {}

/// Compresses a zlib stream in pieces, in constant memory.
#[derive(Debug)]
pub struct StreamDeflater {
    raw: Compress,
}

impl StreamDeflater {
    /// A deflater at the start of a stream. The level is that of [`Deflater::new`].
    pub fn new(level: i32) -> Self {
        StreamDeflater {
            raw: Compress::new(Compression::new(usual(level)), true),
        }
    }

    /// Compresses `piece` and passes the output to `sink`; if `last`, including the end of the
    /// stream.
    pub fn piece<E>(
        &mut self,
        mut piece: &[u8],
        last: bool,
        mut sink: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let flush = if last {
            FlushCompress::Finish
        } else {
            FlushCompress::None
        };
        let mut output = [0; 16 << 10];
        loop {
            let (before_in, before_out) = (self.raw.total_in(), self.raw.total_out());
            let status = self.raw.compress(piece, &mut output, flush);
            let consumed = (self.raw.total_in() - before_in) as usize;
            let written = (self.raw.total_out() - before_out) as usize;
            piece = piece.get(consumed..).unwrap_or_default();
            sink(output.get(..written).unwrap_or_default())?;
            let is_over = match status {
                Ok(Status::StreamEnd) => true,
                Ok(_) => !last && piece.is_empty() && written < output.len(),
                Err(_) => unreachable!("a stream that began well takes any content"),
            };
            if is_over {
                return Ok(());
            }
        }
    }
}

fn usual(level: i32) -> u32 {
    match u32::try_from(level) {
        Ok(level) if level <= 9 => level,
        _ => USUAL_LEVEL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Inflater;
    use proptest::prelude::*;

    #[test]
    fn a_higher_level_is_no_longer() {
        let content: Vec<u8> = (0..40_000_u32)
            .map(|n| (n * n / 7 % 251) as u8 & 15)
            .collect();
        let length = |level| Deflater::new(level).zlib(&content).len();
        assert!(length(0) > content.len());
        assert!(length(1) >= length(6) && length(6) >= length(9));
        assert_eq!(length(-1), length(6));
    }

    proptest! {
        #[test]
        fn any_content_comes_back(
            content in prop::collection::vec(0_u8..20, 0..40_000), level in -1..10,
            size in 1_usize..9000,
        ) {
            let mut streamed = Vec::new();
            let mut stream = StreamDeflater::new(level);
            let mut sink = |bytes: &[u8]| -> Result<(), ()> {
                streamed.extend_from_slice(bytes);
                Ok(())
            };
            for piece in content.chunks(size) {
                stream.piece(piece, false, &mut sink).unwrap();
            }
            stream.piece(&[], true, &mut sink).unwrap();
            let mut deflater = Deflater::new(level);
            for stream in [deflater.zlib(&content), deflater.zlib(&content), streamed] {
                let mut back = vec![0; content.len()];
                prop_assert_eq!(Inflater::new().zlib_into(&stream, &mut back), Ok(stream.len()));
                prop_assert_eq!(&back, &content);
            }
        }
    }
}
