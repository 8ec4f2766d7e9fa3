use super::Result;
use crate::block::{BlockError, Compressor::Lz4};
use std::ffi::{c_char, c_int, c_void};

// Functions of the library that `lz4_sys` builds but does not declare.
#[allow(unsafe_code)]
extern "C" {
    fn LZ4_compress_destSize(
        source: *const c_char,
        target: *mut c_char,
        source_bytes: *mut c_int,
        target_bytes: c_int,
    ) -> c_int;
    fn LZ4_sizeofStateHC() -> c_int;
    fn LZ4_compress_HC_destSize(
        state: *mut c_void,
        source: *const c_char,
        target: *mut c_char,
        source_bytes: *mut c_int,
        target_bytes: c_int,
        level: c_int,
    ) -> c_int;
    fn LZ4_decompress_safe_partial(
        source: *const c_char,
        target: *mut c_char,
        source_bytes: c_int,
        wanted_bytes: c_int,
        target_bytes: c_int,
    ) -> c_int;
}

/// Compresses with the fast or the high compression variant.
#[derive(Debug)]
pub(super) struct Encoder {
    high_level: Option<c_int>,
    /// The state of the high compression variant, which it initializes for every cluster.
    state: Vec<u64>,
}

impl Encoder {
    #[allow(unsafe_code)]
    pub(super) fn new(high_level: Option<u32>) -> Self {
        let state = high_level.map_or(0, |_| {
            // SAFETY: the function returns a constant.
            (unsafe { LZ4_sizeofStateHC() } as usize).div_ceil(size_of::<u64>())
        });
        Encoder {
            high_level: high_level.map(|level| level as c_int),
            state: vec![0; state],
        }
    }

    #[allow(unsafe_code)]
    pub(super) fn fill(&mut self, input: &[u8], output: &mut [u8]) -> Result<(usize, usize)> {
        let too_long = |_| BlockError::TooLong(Lz4);
        let mut consumed = c_int::try_from(input.len()).map_err(too_long)?;
        let room = c_int::try_from(output.len()).map_err(too_long)?;
        let (source, target) = (input.as_ptr().cast(), output.as_mut_ptr().cast());
        // SAFETY: both buffers are passed with their own lengths; `state` is as large as the
        // library asked for and aligned to 8 bytes.
        let written = unsafe {
            match self.high_level {
                Some(level) => LZ4_compress_HC_destSize(
                    self.state.as_mut_ptr().cast(),
                    source,
                    target,
                    &mut consumed,
                    room,
                    level,
                ),
                None => LZ4_compress_destSize(source, target, &mut consumed, room),
            }
        };
        match (usize::try_from(consumed), usize::try_from(written)) {
            (Ok(consumed), Ok(written)) if written > 0 => Ok((consumed, written)),
            _ => Ok((0, 0)),
        }
    }
}

/// Fills `output` with the start of the content, or exactly with the content.
#[allow(unsafe_code)]
pub(super) fn decode(input: &[u8], output: &mut [u8], partial: bool) -> Result<()> {
    let bytes = c_int::try_from(input.len()).map_err(|_| BlockError::Corrupt(Lz4))?;
    let room = c_int::try_from(output.len()).map_err(|_| BlockError::TooLong(Lz4))?;
    let (source, target) = (input.as_ptr().cast(), output.as_mut_ptr().cast());
    // SAFETY: both buffers are passed with their own lengths.
    let written = unsafe {
        if partial {
            LZ4_decompress_safe_partial(source, target, bytes, room, room)
        } else {
            lz4_sys::LZ4_decompress_safe(source, target, bytes, room)
        }
    };
    if written == room {
        Ok(())
    } else {
        Err(BlockError::Corrupt(Lz4))
    }
}
