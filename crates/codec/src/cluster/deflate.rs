use super::Result;
use crate::block::{BlockError, Compressor::Gzip};
use flate2::{Decompress, FlushDecompress, Status};
use libdeflate_sys as ffi;
use std::ptr::NonNull;

/// Compresses without a header.
#[derive(Debug)]
pub(super) struct Encoder {
    raw: NonNull<ffi::libdeflate_compressor>,
}

impl Encoder {
    #[allow(unsafe_code)]
    pub(super) fn new(level: u32) -> Result<Self> {
        // SAFETY: the function takes any level, and returns null for a bad one or without memory.
        let raw = unsafe { ffi::libdeflate_alloc_compressor(level as i32) };
        let raw = NonNull::new(raw).ok_or(BlockError::OutOfMemory(Gzip))?;
        Ok(Encoder { raw })
    }

    #[allow(unsafe_code)]
    pub(super) fn compress(&mut self, input: &[u8], output: &mut [u8]) -> Result<Option<usize>> {
        // SAFETY: `raw` is live and, behind `&mut self`, used by nobody else; both buffers are
        // passed with their own lengths.
        let written = unsafe {
            ffi::libdeflate_deflate_compress(
                self.raw.as_ptr(),
                input.as_ptr().cast(),
                input.len(),
                output.as_mut_ptr().cast(),
                output.len(),
            )
        };
        // A stream that begins with a zero byte, a stored block, could not be told from padding.
        let is_clear = output.first().is_some_and(|first| *first != 0);
        Ok((written > 0 && is_clear).then_some(written))
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

/// Fills `output` with the start of the content, or exactly with the content.
pub(super) fn decode(
    raw: &mut Decompress,
    input: &[u8],
    output: &mut [u8],
    partial: bool,
) -> Result<()> {
    raw.reset(false);
    let corrupt = BlockError::Corrupt(Gzip);
    loop {
        let (before_in, before_out) = (raw.total_in(), raw.total_out());
        let rest = input.get(before_in as usize..).unwrap_or_default();
        let room = output.get_mut(before_out as usize..).unwrap_or_default();
        let is_full = room.is_empty();
        if is_full && partial {
            return Ok(());
        }
        let status = raw.decompress(rest, room, FlushDecompress::Finish);
        match status.map_err(|_| corrupt)? {
            Status::StreamEnd if raw.total_out() == output.len() as u64 => return Ok(()),
            Status::StreamEnd => return Err(corrupt),
            _ if (raw.total_in(), raw.total_out()) == (before_in, before_out) => {
                return Err(corrupt)
            }
            _ => {}
        }
    }
}
