//! Common code for xz and lzma: a liblzma stream that is reused for all blocks.

use super::error::{BlockError, Result};
use super::settings::LzmaSettings;
use super::Compressor;
use liblzma_sys as ffi;
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

/// A coder. Its memory is reused when it is set up for the next block.
#[derive(Debug)]
pub(super) struct Stream {
    raw: NonNull<ffi::lzma_stream>,
    compressor: Compressor,
}

/// How a run of a coder ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The stream has ended.
    Finished {
        /// Number of input bytes consumed.
        consumed: usize,
        /// Number of output bytes written.
        written: usize,
    },
    /// The output is full.
    OutputFull,
    /// The input has ended before the stream.
    InputEnded,
}

impl Stream {
    pub(super) fn new(compressor: Compressor) -> Self {
        // All zero is the state that LZMA_STREAM_INIT asks for.
        let memory = Box::new(MaybeUninit::<ffi::lzma_stream>::zeroed());
        Stream {
            raw: NonNull::from(Box::leak(memory)).cast(),
            compressor,
        }
    }

    /// Sets up the coder with `start`, which returns the library's result.
    pub(super) fn start(
        &mut self,
        start: impl FnOnce(*mut ffi::lzma_stream) -> ffi::lzma_ret,
    ) -> Result<()> {
        match start(self.raw.as_ptr()) {
            ffi::lzma_ret_LZMA_OK => Ok(()),
            code => Err(self.error(code)),
        }
    }

    /// Runs the coder until the end of the stream, the input or the output.
    #[allow(unsafe_code)]
    pub(super) fn run(&mut self, input: &[u8], output: &mut [u8]) -> Result<Outcome> {
        let stream = self.raw.as_ptr();
        // SAFETY: the stream is live and, behind `&mut self`, used by nobody else. Both buffers are
        // passed with their own lengths, and nothing of them is used after the last call.
        let (code, consumed, written) = unsafe {
            (*stream).next_in = input.as_ptr();
            (*stream).avail_in = input.len();
            (*stream).next_out = output.as_mut_ptr();
            (*stream).avail_out = output.len();
            // The library reports a full output or missing input only when it is called again
            // without progress.
            let code = loop {
                match ffi::lzma_code(stream, ffi::lzma_action_LZMA_FINISH) {
                    ffi::lzma_ret_LZMA_OK => {}
                    code => break code,
                }
            };
            let consumed = input.len() - (*stream).avail_in;
            (code, consumed, output.len() - (*stream).avail_out)
        };
        match code {
            ffi::lzma_ret_LZMA_STREAM_END => Ok(Outcome::Finished { consumed, written }),
            ffi::lzma_ret_LZMA_BUF_ERROR if written == output.len() => Ok(Outcome::OutputFull),
            ffi::lzma_ret_LZMA_BUF_ERROR => Ok(Outcome::InputEnded),
            code => Err(self.error(code)),
        }
    }

    /// Decompresses the stream that is all of `input`.
    pub(super) fn decode(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize> {
        match self.run(input, output)? {
            Outcome::Finished { consumed, written } if consumed == input.len() => Ok(written),
            Outcome::Finished { consumed, .. } => Err(BlockError::Trailing(
                self.compressor,
                input.len() - consumed,
            )),
            Outcome::OutputFull => Err(BlockError::TooLong(self.compressor)),
            Outcome::InputEnded => Err(BlockError::Corrupt(self.compressor)),
        }
    }

    fn error(&self, code: ffi::lzma_ret) -> BlockError {
        match code {
            ffi::lzma_ret_LZMA_MEM_ERROR => BlockError::OutOfMemory(self.compressor),
            ffi::lzma_ret_LZMA_MEMLIMIT_ERROR => BlockError::TooMuchMemory(self.compressor),
            ffi::lzma_ret_LZMA_FORMAT_ERROR
            | ffi::lzma_ret_LZMA_OPTIONS_ERROR
            | ffi::lzma_ret_LZMA_DATA_ERROR => BlockError::Corrupt(self.compressor),
            code => BlockError::Library {
                compressor: self.compressor,
                code: code.into(),
            },
        }
    }
}

impl Drop for Stream {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: `raw` came from a leaked box of this layout and is freed once, here. `lzma_end`
        // frees the coder, if there is one.
        unsafe {
            ffi::lzma_end(self.raw.as_ptr());
            drop(Box::from_raw(
                self.raw.cast::<MaybeUninit<ffi::lzma_stream>>().as_ptr(),
            ));
        }
    }
}

#[allow(unsafe_code)]
// SAFETY: the stream is plain memory bound to no thread; it is changed only through `&mut`.
unsafe impl Send for Stream {}

/// The library's options for a block of this size. A dictionary larger than the block would only
/// cost memory and the time to clear it.
pub(super) fn options(settings: &LzmaSettings, block_bytes: usize) -> ffi::lzma_options_lzma {
    let mut options = preset(settings);
    let enough = u32::try_from(block_bytes.next_power_of_two()).unwrap_or(u32::MAX);
    options.dict_size = settings.dictionary.min(enough).max(ffi::LZMA_DICT_SIZE_MIN);
    options.lc = settings.literal_context.unwrap_or(options.lc);
    options.lp = settings.literal_position.unwrap_or(options.lp);
    options.pb = settings.position.unwrap_or(options.pb);
    options
}

#[allow(unsafe_code)]
fn preset(settings: &LzmaSettings) -> ffi::lzma_options_lzma {
    let extreme = if settings.extreme {
        ffi::LZMA_PRESET_EXTREME
    } else {
        0
    };
    let mut options = zeroed_options();
    // SAFETY: `options` is valid to write to.
    let unknown = unsafe { ffi::lzma_lzma_preset(&mut options, settings.level | extreme) };
    debug_assert_eq!(unknown, 0, "levels are 0 to 9");
    options
}

#[allow(unsafe_code)]
pub(super) fn zeroed_options() -> ffi::lzma_options_lzma {
    // SAFETY: the structure is numbers and raw pointers, for which zero is a value.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

/// The library's version.
#[allow(unsafe_code)]
pub(super) fn version() -> &'static CStr {
    // SAFETY: the function returns a string constant.
    unsafe { CStr::from_ptr(ffi::lzma_version_string()) }
}
