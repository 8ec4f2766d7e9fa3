use super::error::{BlockError, Result};
use super::liblzma::{options, zeroed_options, Outcome, Stream};
use super::settings::LzmaSettings;
use super::Compressor::Lzma;
use liblzma_sys as ffi;
use std::ptr::{from_mut, null_mut};

/// Size of the header in bytes: one byte of properties, the dictionary size, and the length of the
/// content.
const HEADER_BYTES: usize = 13;

/// The length field of a stream that ends with an end marker instead.
const UNKNOWN_LENGTH: u64 = u64::MAX;

/// The LZMA1 filter of liblzma that takes the length of the content (`lzma/lzma12.h`, 5.4 and
/// later).
const LZMA1_OF_KNOWN_LENGTH: ffi::lzma_vli = 0x4000_0000_0000_0002;

/// Allows an end marker although the length is known.
const ALLOW_END_MARK: u32 = 1;

/// Compresses to LZMA1 streams with the header of `.lzma` files, which contains the length.
#[derive(Debug)]
pub(super) struct Encoder {
    settings: LzmaSettings,
    stream: Stream,
}

impl Encoder {
    pub(super) fn new(settings: &LzmaSettings) -> Self {
        Encoder {
            settings: settings.clone(),
            stream: Stream::new(Lzma),
        }
    }

    #[allow(unsafe_code)]
    pub(super) fn compress(&mut self, input: &[u8], output: &mut [u8]) -> Result<Option<usize>> {
        let mut options = options(&self.settings, input.len());
        let length = input.len() as u64;
        set_length(&mut options, length);
        let Some((header, output)) = output.split_at_mut_checked(HEADER_BYTES) else {
            return Ok(None);
        };
        let properties = (options.pb * 5 + options.lp) * 9 + options.lc;
        header[0] = properties as u8;
        header[1..5].copy_from_slice(&options.dict_size.to_le_bytes());
        header[5..].copy_from_slice(&length.to_le_bytes());
        let chain = chain(&mut options);
        self.stream.start(|raw| {
            // SAFETY: `raw` is a live stream; `chain` is as its function says, and the library
            // keeps copies.
            unsafe { ffi::lzma_raw_encoder(raw, chain.as_ptr()) }
        })?;
        Ok(match self.stream.run(input, output)? {
            Outcome::Finished { written, .. } => Some(HEADER_BYTES + written),
            Outcome::OutputFull | Outcome::InputEnded => None,
        })
    }
}

/// Decompresses LZMA1 streams with the header of `.lzma` files.
#[derive(Debug)]
pub(super) struct Decoder {
    stream: Stream,
}

impl Decoder {
    pub(super) fn new() -> Self {
        Decoder {
            stream: Stream::new(Lzma),
        }
    }

    #[allow(unsafe_code)]
    pub(super) fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize> {
        let corrupt = BlockError::Corrupt(Lzma);
        let (header, input) = input.split_first_chunk::<HEADER_BYTES>().ok_or(corrupt)?;
        let [properties, d0, d1, d2, d3, length @ ..] = *header;
        let length = u64::from_le_bytes(length);
        if length != UNKNOWN_LENGTH && length > output.len() as u64 {
            return Err(BlockError::TooLong(Lzma));
        }
        let mut options = zeroed_options();
        options.lc = u32::from(properties % 9);
        options.lp = u32::from(properties / 9 % 5);
        options.pb = u32::from(properties / 45);
        // A match cannot reach back farther than the length of the output.
        let enough = u32::try_from(output.len()).unwrap_or(u32::MAX);
        let dictionary = u32::from_le_bytes([d0, d1, d2, d3]);
        options.dict_size = dictionary.min(enough).max(ffi::LZMA_DICT_SIZE_MIN);
        options.ext_flags = ALLOW_END_MARK;
        set_length(&mut options, length);
        let chain = chain(&mut options);
        self.stream.start(|raw| {
            // SAFETY: `raw` is a live stream; `chain` is as its function says, and the library
            // keeps copies.
            unsafe { ffi::lzma_raw_decoder(raw, chain.as_ptr()) }
        })?;
        self.stream.decode(input, output)
    }
}

fn set_length(options: &mut ffi::lzma_options_lzma, length: u64) {
    options.ext_size_low = length as u32;
    options.ext_size_high = (length >> 32) as u32;
}

/// A chain of one filter and the terminator. The filter points to `options`, which have the type
/// that it expects.
fn chain(options: &mut ffi::lzma_options_lzma) -> [ffi::lzma_filter; 2] {
    [
        ffi::lzma_filter {
            id: LZMA1_OF_KNOWN_LENGTH,
            options: from_mut(options).cast(),
        },
        ffi::lzma_filter {
            id: ffi::LZMA_VLI_UNKNOWN,
            options: null_mut(),
        },
    ]
}
