use super::error::{BlockError, Result};
use super::settings::Lz4Settings;
use super::Compressor::Lz4;
use lz4_sys::LZ4_decompress_safe;
use std::ffi::{c_char, c_int, c_void, CStr};

// Functions of the library that `lz4_sys` builds but does not declare.
#[allow(unsafe_code)]
extern "C" {
    fn LZ4_versionString() -> *const c_char;
    fn LZ4_sizeofState() -> c_int;
    fn LZ4_compress_fast_extState(
        state: *mut c_void,
        source: *const c_char,
        target: *mut c_char,
        source_bytes: c_int,
        target_bytes: c_int,
        acceleration: c_int,
    ) -> c_int;
    fn LZ4_sizeofStateHC() -> c_int;
    fn LZ4_compress_HC_extStateHC(
        state: *mut c_void,
        source: *const c_char,
        target: *mut c_char,
        source_bytes: c_int,
        target_bytes: c_int,
        level: c_int,
    ) -> c_int;
}

/// Compresses LZ4 blocks with the fast or the high compression variant.
#[derive(Debug)]
pub(super) struct Encoder {
    high_level: Option<c_int>,
    /// The library's state, which it initializes for every block.
    state: Vec<u64>,
}

impl Encoder {
    #[allow(unsafe_code)]
    pub(super) fn new(settings: &Lz4Settings) -> Self {
        let high_level = settings.high_level().map(|level| level as c_int);
        // SAFETY: both functions return a constant.
        let bytes = unsafe {
            match high_level {
                Some(_) => LZ4_sizeofStateHC(),
                None => LZ4_sizeofState(),
            }
        };
        Encoder {
            high_level,
            state: vec![0; (bytes as usize).div_ceil(size_of::<u64>())],
        }
    }

    #[allow(unsafe_code)]
    pub(super) fn compress(&mut self, input: &[u8], output: &mut [u8]) -> Result<Option<usize>> {
        let too_long = |_| BlockError::TooLong(Lz4);
        let bytes = c_int::try_from(input.len()).map_err(too_long)?;
        let room = c_int::try_from(output.len()).map_err(too_long)?;
        let state = self.state.as_mut_ptr().cast();
        let (source, target) = (input.as_ptr().cast(), output.as_mut_ptr().cast());
        // SAFETY: `state` is as large as the library asked for this variant and aligned to 8
        // bytes; both buffers are passed with their own lengths.
        let written = unsafe {
            match self.high_level {
                Some(level) => {
                    LZ4_compress_HC_extStateHC(state, source, target, bytes, room, level)
                }
                None => LZ4_compress_fast_extState(state, source, target, bytes, room, 1),
            }
        };
        Ok(usize::try_from(written).ok().filter(|&written| written > 0))
    }
}

/// Decompresses an LZ4 block. The library does not distinguish a block that is too long from a
/// damaged one.
#[allow(unsafe_code)]
pub(super) fn decompress(input: &[u8], output: &mut [u8]) -> Result<usize> {
    let bytes = c_int::try_from(input.len()).map_err(|_| BlockError::Corrupt(Lz4))?;
    let room = c_int::try_from(output.len()).unwrap_or(c_int::MAX);
    // SAFETY: neither length is more than that of its buffer.
    let written = unsafe {
        LZ4_decompress_safe(
            input.as_ptr().cast(),
            output.as_mut_ptr().cast(),
            bytes,
            room,
        )
    };
    usize::try_from(written).map_err(|_| BlockError::Corrupt(Lz4))
}

/// The library's version.
#[allow(unsafe_code)]
pub(super) fn version() -> &'static CStr {
    // SAFETY: the function returns a string constant.
    unsafe { CStr::from_ptr(LZ4_versionString()) }
}
