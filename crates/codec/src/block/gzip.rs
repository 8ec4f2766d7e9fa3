use super::error::{BlockError, Result};
use super::settings::GzipSettings;
use super::Compressor::Gzip;
use crate::{Error, Inflater};
use libdeflate_sys as ffi;
use std::ptr::NonNull;

/// Writes zlib streams with libdeflate.
#[derive(Debug)]
pub(super) struct Encoder {
    raw: NonNull<ffi::libdeflate_compressor>,
}

impl Encoder {
    #[allow(unsafe_code)]
    pub(super) fn new(settings: &GzipSettings) -> Result<Self> {
        // SAFETY: the function takes any level, and returns null for a bad one.
        let raw = unsafe { ffi::libdeflate_alloc_compressor(libdeflate_level(settings.level)) };
        let raw = NonNull::new(raw).ok_or(BlockError::OutOfMemory(Gzip))?;
        Ok(Encoder { raw })
    }

    #[allow(unsafe_code)]
    pub(super) fn compress(&mut self, input: &[u8], output: &mut [u8]) -> Option<usize> {
        // SAFETY: `raw` is live and, behind `&mut self`, used by nobody else; both buffers are
        // passed with their own lengths.
        let written = unsafe {
            ffi::libdeflate_zlib_compress(
                self.raw.as_ptr(),
                input.as_ptr().cast(),
                input.len(),
                output.as_mut_ptr().cast(),
                output.len(),
            )
        };
        (written > 0).then_some(written)
    }
}

/// The level of libdeflate for a level of gzip. On kernel source, libdeflate's 7 spends three tenths
/// of the time of zlib's 9 on blocks of the same size. What lies above zlib's levels are 0.6 %, 4 %
/// and 5 % smaller blocks, for 0.5, 2 and 4 times the time of zlib's 9.
fn libdeflate_level(level: u32) -> i32 {
    match level {
        8 | 9 => 7,
        10 => 8,
        11 => 10,
        level => level as i32,
    }
}

impl Drop for Encoder {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: `raw` came from libdeflate_alloc_compressor and is freed once, here.
        unsafe { ffi::libdeflate_free_compressor(self.raw.as_ptr()) }
    }
}

#[allow(unsafe_code)]
// SAFETY: the compressor is plain memory bound to no thread; it is changed only through `&mut`.
unsafe impl Send for Encoder {}

/// Reads zlib streams, of whatever encoder.
#[derive(Debug)]
pub(super) struct Decoder {
    inflater: Inflater,
}

impl Decoder {
    pub(super) fn new() -> Self {
        Decoder {
            inflater: Inflater::new(),
        }
    }

    pub(super) fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize> {
        match self.inflater.zlib_within(input, output) {
            Ok((consumed, written)) if consumed == input.len() => Ok(written),
            Ok((consumed, _)) => Err(BlockError::Trailing(Gzip, input.len() - consumed)),
            Err(Error::TooLong) => Err(BlockError::TooLong(Gzip)),
            Err(_) => Err(BlockError::Corrupt(Gzip)),
        }
    }
}
