use super::Result;
use crate::block::{BlockError, Compressor::Zstd};
use std::ptr::NonNull;
use zstd_sys as ffi;

/// The largest window that an image may ask for, as a power of two of bytes: the largest size of a
/// cluster.
const WINDOW_BITS: i32 = 20;

/// Compresses to frames that contain the length of their content, so that the window is not larger
/// than that.
#[derive(Debug)]
pub(super) struct Encoder {
    raw: NonNull<ffi::ZSTD_CCtx>,
}

impl Encoder {
    #[allow(unsafe_code)]
    pub(super) fn new(level: u32) -> Result<Self> {
        // SAFETY: the function has no precondition.
        let raw = unsafe { ffi::ZSTD_createCCtx() };
        let raw = NonNull::new(raw).ok_or(BlockError::OutOfMemory(Zstd))?;
        let encoder = Encoder { raw };
        for (parameter, value) in [
            (ffi::ZSTD_cParameter::ZSTD_c_compressionLevel, level as i32),
            (ffi::ZSTD_cParameter::ZSTD_c_checksumFlag, 0),
            (ffi::ZSTD_cParameter::ZSTD_c_contentSizeFlag, 1),
        ] {
            // SAFETY: the context is live and not compressing.
            let code = unsafe { ffi::ZSTD_CCtx_setParameter(raw.as_ptr(), parameter, value) };
            if is_error(code) {
                return Err(BlockError::OutOfMemory(Zstd));
            }
        }
        Ok(encoder)
    }

    #[allow(unsafe_code)]
    pub(super) fn compress(&mut self, input: &[u8], output: &mut [u8]) -> Result<Option<usize>> {
        // SAFETY: the context is live and, behind `&mut self`, used by nobody else; both buffers
        // are passed with their own lengths.
        let written = unsafe {
            ffi::ZSTD_compress2(
                self.raw.as_ptr(),
                output.as_mut_ptr().cast(),
                output.len(),
                input.as_ptr().cast(),
                input.len(),
            )
        };
        if !is_error(written) {
            return Ok(Some(written));
        }
        // SAFETY: the function computes from a plain number.
        match unsafe { ffi::ZSTD_getErrorCode(written) } {
            ffi::ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall => Ok(None),
            ffi::ZSTD_ErrorCode::ZSTD_error_memory_allocation => Err(BlockError::OutOfMemory(Zstd)),
            code => Err(BlockError::Library {
                compressor: Zstd,
                code: code as i64,
            }),
        }
    }
}

impl Drop for Encoder {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: `raw` came from ZSTD_createCCtx and is freed once, here.
        unsafe { ffi::ZSTD_freeCCtx(self.raw.as_ptr()) };
    }
}

#[allow(unsafe_code)]
// SAFETY: the context is plain memory bound to no thread; it is changed only through `&mut`.
unsafe impl Send for Encoder {}

/// Decompresses frames.
#[derive(Debug)]
pub(super) struct Decoder {
    raw: NonNull<ffi::ZSTD_DCtx>,
}

impl Decoder {
    #[allow(unsafe_code)]
    pub(super) fn new() -> Result<Self> {
        // SAFETY: the function has no precondition.
        let raw = unsafe { ffi::ZSTD_createDCtx() };
        let raw = NonNull::new(raw).ok_or(BlockError::OutOfMemory(Zstd))?;
        let decoder = Decoder { raw };
        let limit = ffi::ZSTD_dParameter::ZSTD_d_windowLogMax;
        // SAFETY: the context is live and not decompressing.
        let code = unsafe { ffi::ZSTD_DCtx_setParameter(raw.as_ptr(), limit, WINDOW_BITS) };
        if is_error(code) {
            return Err(BlockError::OutOfMemory(Zstd));
        }
        Ok(decoder)
    }

    /// Fills `output` with the start of the content, or exactly with the content.
    #[allow(unsafe_code)]
    pub(super) fn decode(&mut self, input: &[u8], output: &mut [u8], partial: bool) -> Result<()> {
        let reset = ffi::ZSTD_ResetDirective::ZSTD_reset_session_only;
        let mut from = ffi::ZSTD_inBuffer {
            src: input.as_ptr().cast(),
            size: input.len(),
            pos: 0,
        };
        let mut to = ffi::ZSTD_outBuffer {
            dst: output.as_mut_ptr().cast(),
            size: output.len(),
            pos: 0,
        };
        // SAFETY: the context is live.
        unsafe { ffi::ZSTD_DCtx_reset(self.raw.as_ptr(), reset) };
        loop {
            let before = (from.pos, to.pos);
            // SAFETY: the context is live and, behind `&mut self`, used by nobody else; both
            // buffers are passed with their own lengths and outlive the call.
            let left = unsafe { ffi::ZSTD_decompressStream(self.raw.as_ptr(), &mut to, &mut from) };
            if is_error(left) {
                return Err(BlockError::Corrupt(Zstd));
            }
            let is_full = to.pos == to.size;
            if is_full && (partial || left == 0) {
                return Ok(());
            }
            // The end of the frame, no more input, or more content than there is room for.
            if left == 0 || (from.pos, to.pos) == before {
                return Err(BlockError::Corrupt(Zstd));
            }
        }
    }
}

impl Drop for Decoder {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: `raw` came from ZSTD_createDCtx and is freed once, here.
        unsafe { ffi::ZSTD_freeDCtx(self.raw.as_ptr()) };
    }
}

#[allow(unsafe_code)]
// SAFETY: the context is plain memory bound to no thread; it is changed only through `&mut`.
unsafe impl Send for Decoder {}

#[allow(unsafe_code)]
fn is_error(code: usize) -> bool {
    // SAFETY: the function computes from a plain number.
    unsafe { ffi::ZSTD_isError(code) != 0 }
}
