use super::Result;
use crate::block::{BlockError, Compressor::Lzma};
use liblzma_sys as ffi;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

/// The largest dictionary that an image may ask for, in bytes: eight of the largest clusters.
pub(super) const DICTIONARY_BYTES: u32 = 8 << 20;
/// An encoder needs at least this room for its last bytes.
const LEAST_ROOM: usize = 6;
/// Levels from here on are those from 0 with the slower search.
const EXTREME: u32 = 100;

/// A coder. Its memory is reused when it is set up for the next cluster.
#[derive(Debug)]
struct Stream(NonNull<ffi::lzma_stream>);

impl Stream {
    fn new() -> Self {
        // All zero is the state that LZMA_STREAM_INIT asks for.
        let memory = Box::new(MaybeUninit::<ffi::lzma_stream>::zeroed());
        Stream(NonNull::from(Box::leak(memory)).cast())
    }

    /// Runs the coder that was set up. Returns the result with the number of bytes consumed and
    /// written.
    #[allow(unsafe_code)]
    fn run(&mut self, input: &[u8], output: &mut [u8]) -> (ffi::lzma_ret, usize, usize) {
        let stream = self.0.as_ptr();
        // SAFETY: the stream is live and, behind `&mut self`, used by nobody else. Both buffers are
        // passed with their own lengths, and nothing of them is used after the last call.
        unsafe {
            (*stream).next_in = input.as_ptr();
            (*stream).avail_in = input.len();
            (*stream).next_out = output.as_mut_ptr();
            (*stream).avail_out = output.len();
            let code = loop {
                match ffi::lzma_code(stream, ffi::lzma_action_LZMA_FINISH) {
                    ffi::lzma_ret_LZMA_OK if (*stream).avail_out > 0 => {}
                    code => break code,
                }
            };
            (
                code,
                (*stream).total_in as usize,
                (*stream).total_out as usize,
            )
        }
    }
}

impl Drop for Stream {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: the pointer came from a leaked box of this layout and is freed once, here.
        // `lzma_end` frees the coder, if there is one.
        unsafe {
            ffi::lzma_end(self.0.as_ptr());
            drop(Box::from_raw(
                self.0.cast::<MaybeUninit<ffi::lzma_stream>>().as_ptr(),
            ));
        }
    }
}

#[allow(unsafe_code)]
// SAFETY: the stream is plain memory bound to no thread; it is changed only through `&mut`.
unsafe impl Send for Stream {}

/// Compresses, up to the end of the input or of the room.
#[derive(Debug)]
pub(super) struct Encoder {
    stream: Stream,
    level: u32,
}

impl Encoder {
    pub(super) fn new(level: u32) -> Self {
        Encoder {
            stream: Stream::new(),
            level,
        }
    }

    #[allow(unsafe_code)]
    pub(super) fn fill(&mut self, input: &[u8], output: &mut [u8]) -> Result<(usize, usize)> {
        if output.len() < LEAST_ROOM {
            return Ok((0, 0));
        }
        let preset = match self.level.checked_sub(EXTREME) {
            Some(level) => level | ffi::LZMA_PRESET_EXTREME,
            None => self.level,
        };
        // SAFETY: the structure is numbers and raw pointers, for which zero is a value.
        let mut options: ffi::lzma_options_lzma = unsafe { MaybeUninit::zeroed().assume_init() };
        // SAFETY: `options` is valid to write to.
        let unknown = unsafe { ffi::lzma_lzma_preset(&mut options, preset) };
        debug_assert_eq!(unknown, 0, "levels are 0 to 9");
        let enough = u32::try_from(input.len().next_power_of_two()).unwrap_or(u32::MAX);
        options.dict_size = enough.clamp(ffi::LZMA_DICT_SIZE_MIN, DICTIONARY_BYTES);
        // SAFETY: the stream is live, and the options outlive the call, which copies them.
        let code = unsafe { ffi::lzma_microlzma_encoder(self.stream.0.as_ptr(), &options) };
        if code != ffi::lzma_ret_LZMA_OK {
            return Err(error(code));
        }
        match self.stream.run(input, output) {
            (ffi::lzma_ret_LZMA_STREAM_END, consumed, written) => Ok((consumed, written)),
            (code, _, _) => Err(error(code)),
        }
    }
}

/// Decompresses.
#[derive(Debug)]
pub(super) struct Decoder(Stream);

impl Decoder {
    pub(super) fn new() -> Self {
        Decoder(Stream::new())
    }

    /// Fills `output` with the start of the content, or exactly with the content.
    #[allow(unsafe_code)]
    pub(super) fn decode(&mut self, input: &[u8], output: &mut [u8], partial: bool) -> Result<()> {
        // A larger dictionary than the content is never needed.
        let enough = u32::try_from(output.len().max(4096)).unwrap_or(u32::MAX);
        let dictionary = enough.min(DICTIONARY_BYTES);
        // SAFETY: the stream is live.
        let code = unsafe {
            ffi::lzma_microlzma_decoder(
                self.0 .0.as_ptr(),
                input.len() as u64,
                output.len() as u64,
                u8::from(!partial),
                dictionary,
            )
        };
        if code != ffi::lzma_ret_LZMA_OK {
            return Err(error(code));
        }
        let room = output.len();
        match self.0.run(input, output) {
            (ffi::lzma_ret_LZMA_STREAM_END, _, written) if written == room => Ok(()),
            (ffi::lzma_ret_LZMA_OK, _, written) if partial && written == room => Ok(()),
            (ffi::lzma_ret_LZMA_MEM_ERROR, _, _) => Err(BlockError::OutOfMemory(Lzma)),
            _ => Err(BlockError::Corrupt(Lzma)),
        }
    }
}

fn error(code: ffi::lzma_ret) -> BlockError {
    match code {
        ffi::lzma_ret_LZMA_MEM_ERROR => BlockError::OutOfMemory(Lzma),
        ffi::lzma_ret_LZMA_DATA_ERROR | ffi::lzma_ret_LZMA_OPTIONS_ERROR => {
            BlockError::Corrupt(Lzma)
        }
        code => BlockError::Library {
            compressor: Lzma,
            code: code.into(),
        },
    }
}
