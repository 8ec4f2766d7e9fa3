use super::error::{BlockError, Result};
use super::settings::ZstdSettings;
use super::Compressor::Zstd;
use std::ffi::CStr;
use std::ptr::NonNull;
use zstd_sys as ffi;

/// Compresses to Zstandard frames that contain the length of their content. As the length is known,
/// the window is not larger than the block, which the kernel requires.
#[derive(Debug)]
pub(super) struct Encoder {
    raw: NonNull<ffi::ZSTD_CCtx>,
}

impl Encoder {
    #[allow(unsafe_code)]
    pub(super) fn new(settings: &ZstdSettings) -> Result<Self> {
        // SAFETY: the function has no precondition.
        let raw = unsafe { ffi::ZSTD_createCCtx() };
        let raw = NonNull::new(raw).ok_or(BlockError::OutOfMemory(Zstd))?;
        let encoder = Encoder { raw };
        for (parameter, value) in [
            (
                ffi::ZSTD_cParameter::ZSTD_c_compressionLevel,
                settings.level as i32,
            ),
            (
                ffi::ZSTD_cParameter::ZSTD_c_checksumFlag,
                settings.checksum.into(),
            ),
            (ffi::ZSTD_cParameter::ZSTD_c_contentSizeFlag, 1),
        ] {
            // SAFETY: the context is live and not compressing.
            check(unsafe { ffi::ZSTD_CCtx_setParameter(raw.as_ptr(), parameter, value) })?;
        }
        Ok(encoder)
    }

    #[allow(unsafe_code)]
    pub(super) fn compress(&mut self, input: &[u8], output: &mut [u8]) -> Result<Option<usize>> {
        // Begins a new frame with the parameters of the context; nothing else is kept.
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
        match code(written) {
            None => Ok(Some(written)),
            Some(ffi::ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall) => Ok(None),
            Some(_) => check(written).map(|()| None),
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

/// The byte of a frame that describes its header, and the checksum flag in it: RFC 8878, 3.1.1.1.1.
const DESCRIPTOR: usize = 4;
const CHECKSUM_FLAG: u8 = 4;

pub(super) fn has_checksum(block: &[u8]) -> bool {
    let descriptor = block.get(DESCRIPTOR);
    descriptor.is_some_and(|descriptor| descriptor & CHECKSUM_FLAG != 0)
}

/// Decompresses Zstandard frames.
#[derive(Debug)]
pub(super) struct Decoder {
    raw: NonNull<ffi::ZSTD_DCtx>,
}

impl Decoder {
    #[allow(unsafe_code)]
    pub(super) fn new() -> Result<Self> {
        // SAFETY: the function has no precondition.
        let raw = NonNull::new(unsafe { ffi::ZSTD_createDCtx() });
        Ok(Decoder {
            raw: raw.ok_or(BlockError::OutOfMemory(Zstd))?,
        })
    }

    #[allow(unsafe_code)]
    pub(super) fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize> {
        // SAFETY: the input is passed with its own length.
        let frame =
            unsafe { ffi::ZSTD_findFrameCompressedSize(input.as_ptr().cast(), input.len()) };
        match code(frame) {
            Some(_) => return Err(BlockError::Corrupt(Zstd)),
            None if frame < input.len() => {
                return Err(BlockError::Trailing(Zstd, input.len() - frame))
            }
            None => {}
        }
        // SAFETY: the context is live and, behind `&mut self`, used by nobody else; both buffers
        // are passed with their own lengths.
        let written = unsafe {
            ffi::ZSTD_decompressDCtx(
                self.raw.as_ptr(),
                output.as_mut_ptr().cast(),
                output.len(),
                input.as_ptr().cast(),
                input.len(),
            )
        };
        match code(written) {
            None => Ok(written),
            Some(ffi::ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall) => {
                Err(BlockError::TooLong(Zstd))
            }
            Some(ffi::ZSTD_ErrorCode::ZSTD_error_memory_allocation) => {
                Err(BlockError::OutOfMemory(Zstd))
            }
            Some(_) => Err(BlockError::Corrupt(Zstd)),
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

/// The error code of a library result, if it is an error.
#[allow(unsafe_code)]
fn code(result: usize) -> Option<ffi::ZSTD_ErrorCode> {
    // SAFETY: both functions compute from a plain number.
    unsafe { (ffi::ZSTD_isError(result) != 0).then(|| ffi::ZSTD_getErrorCode(result)) }
}

fn check(result: usize) -> Result<()> {
    match code(result) {
        None => Ok(()),
        Some(ffi::ZSTD_ErrorCode::ZSTD_error_memory_allocation) => {
            Err(BlockError::OutOfMemory(Zstd))
        }
        Some(code) => Err(BlockError::Library {
            compressor: Zstd,
            code: code as i64,
        }),
    }
}

/// The library's version.
#[allow(unsafe_code)]
pub(super) fn version() -> &'static CStr {
    // SAFETY: the function returns a string constant.
    unsafe { CStr::from_ptr(ffi::ZSTD_versionString()) }
}

/// The frame without its checksum: without the flag in its header and its last four bytes.
pub(super) fn without_checksum(block: &[u8]) -> Option<Vec<u8>> {
    let mut block = block.get(..block.len().checked_sub(4)?)?.to_vec();
    *block.get_mut(DESCRIPTOR)? &= !CHECKSUM_FLAG;
    Some(block)
}
