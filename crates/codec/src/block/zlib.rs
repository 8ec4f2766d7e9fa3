use super::candidates::smallest;
use super::error::{BlockError, Result};
use super::settings::GzipSettings;
use super::Compressor::Gzip;
use libz_sys as ffi;
use std::ffi::CStr;
use std::mem::{size_of, MaybeUninit};
use std::ptr::NonNull;

/// The memory level that zlib's `deflateInit` uses, and other packers too.
const MEMORY_LEVEL: i32 = 8;

/// Compresses to zlib streams with stock zlib: the same bytes as mksquashfs and squashfs-tools-ng.
#[derive(Debug)]
pub(super) struct Encoder {
    /// One stream for each strategy, in the order in which they are tried.
    streams: Vec<Stream>,
    scratch: Vec<u8>,
}

impl Encoder {
    pub(super) fn new(settings: &GzipSettings) -> Result<Self> {
        let streams = settings
            .zlib_strategies()
            .map(|strategy| Stream::new(settings.level as i32, settings.window as i32, strategy));
        Ok(Encoder {
            streams: streams.collect::<Result<_>>()?,
            scratch: Vec::new(),
        })
    }

    pub(super) fn compress(&mut self, input: &[u8], output: &mut [u8]) -> Result<Option<usize>> {
        smallest(
            &mut self.streams,
            &mut self.scratch,
            output,
            |stream, output| stream.compress(input, output),
        )
    }
}

/// A deflate stream. It is allocated separately, because zlib's state points back to it.
#[derive(Debug)]
pub(crate) struct Stream {
    raw: NonNull<ffi::z_stream>,
}

/// Sizes of the input and output pieces of [`Stream::deflate`] in bytes. They are those of git,
/// because they affect the bytes of stored streams.
const INPUT_BYTES: usize = 1 << 30;
const OUTPUT_BYTES: usize = 4096;

impl Stream {
    #[allow(unsafe_code)]
    pub(crate) fn new(level: i32, window: i32, strategy: i32) -> Result<Self> {
        let memory = Box::new(MaybeUninit::<ffi::z_stream>::zeroed());
        let raw = NonNull::from(Box::leak(memory)).cast::<ffi::z_stream>();
        // SAFETY: `raw` is valid to write to and all zero, which makes zlib fill in its own
        // allocator; until then nothing reads the function pointers, which may not be null.
        let code = unsafe {
            ffi::deflateInit2_(
                raw.as_ptr(),
                level,
                ffi::Z_DEFLATED,
                window,
                MEMORY_LEVEL,
                strategy,
                ffi::zlibVersion(),
                size_of::<ffi::z_stream>() as i32,
            )
        };
        // Built before the check: a stream that failed is freed by `drop` too.
        let stream = Stream { raw };
        check(code).map(|()| stream)
    }

    /// Compresses `content` of any length to a complete stream.
    #[allow(unsafe_code)]
    pub(crate) fn deflate(&mut self, content: &[u8]) -> Result<Vec<u8>> {
        // SAFETY: `raw` was initialized, and nobody else uses it behind `&mut self`.
        check(unsafe { ffi::deflateReset(self.raw.as_ptr()) })?;
        let mut output = Vec::new();
        let mut piece = [0_u8; OUTPUT_BYTES];
        let mut rest = content;
        loop {
            let given = rest.get(..INPUT_BYTES).unwrap_or(rest);
            let flush = if given.len() == rest.len() {
                ffi::Z_FINISH
            } else {
                ffi::Z_NO_FLUSH
            };
            // SAFETY: as above. Input and output are passed with their own lengths; zlib does not
            // write to the input, and nothing of them is used after the call.
            let (code, left, room) = unsafe {
                let stream = self.raw.as_ptr();
                (*stream).next_in = given.as_ptr().cast_mut();
                (*stream).avail_in = given.len() as u32;
                (*stream).next_out = piece.as_mut_ptr();
                (*stream).avail_out = OUTPUT_BYTES as u32;
                let code = ffi::deflate(stream, flush);
                (code, (*stream).avail_in, (*stream).avail_out)
            };
            rest = rest.get(given.len() - left as usize..).unwrap_or_default();
            output.extend_from_slice(&piece[..OUTPUT_BYTES - room as usize]);
            match code {
                ffi::Z_STREAM_END => return Ok(output),
                code => check(code)?,
            }
        }
    }

    #[allow(unsafe_code)]
    fn compress(&mut self, input: &[u8], output: &mut [u8]) -> Result<Option<usize>> {
        let too_long = |_| BlockError::TooLong(Gzip);
        let available = u32::try_from(input.len()).map_err(too_long)?;
        let room = u32::try_from(output.len()).map_err(too_long)?;
        // SAFETY: `raw` was initialized, and nobody else uses it behind `&mut self`. Input and
        // output are passed with their own lengths; zlib does not write to the input, and nothing
        // of them is used after the call.
        let (code, written) = unsafe {
            check(ffi::deflateReset(self.raw.as_ptr()))?;
            let stream = self.raw.as_ptr();
            (*stream).next_in = input.as_ptr().cast_mut();
            (*stream).avail_in = available;
            (*stream).next_out = output.as_mut_ptr();
            (*stream).avail_out = room;
            let code = ffi::deflate(stream, ffi::Z_FINISH);
            (code, output.len() - (*stream).avail_out as usize)
        };
        match code {
            ffi::Z_STREAM_END => Ok(Some(written)),
            // The output is full.
            ffi::Z_OK | ffi::Z_BUF_ERROR => Ok(None),
            code => check(code).map(|()| None),
        }
    }
}

fn check(code: i32) -> Result<()> {
    match code {
        ffi::Z_OK => Ok(()),
        ffi::Z_MEM_ERROR => Err(BlockError::OutOfMemory(Gzip)),
        code => Err(BlockError::Library {
            compressor: Gzip,
            code: code.into(),
        }),
    }
}

impl Drop for Stream {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: `raw` came from a leaked box of this layout and is freed once, here.
        // `deflateEnd` frees zlib's state, and does nothing where there is none.
        unsafe {
            ffi::deflateEnd(self.raw.as_ptr());
            drop(Box::from_raw(
                self.raw.cast::<MaybeUninit<ffi::z_stream>>().as_ptr(),
            ));
        }
    }
}

#[allow(unsafe_code)]
// SAFETY: the stream is plain memory bound to no thread; it is changed only through `&mut`.
unsafe impl Send for Stream {}

/// The library's version.
#[allow(unsafe_code)]
pub(super) fn version() -> &'static CStr {
    // SAFETY: the function returns a string constant.
    unsafe { CStr::from_ptr(ffi::zlibVersion()) }
}
