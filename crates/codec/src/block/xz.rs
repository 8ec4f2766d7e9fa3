use super::candidates::smallest;
use super::error::Result;
use super::liblzma::{options, Outcome, Stream};
use super::settings::{LzmaSettings, XzSettings};
use super::Compressor::Xz;
use liblzma_sys as ffi;
use std::ptr::{from_ref, null_mut};

/// Stands for no filter.
const PLAIN: ffi::lzma_vli = u64::MAX;

/// liblzma's filters for machine code in the order of their bits in an image.
const FILTERS: [ffi::lzma_vli; 8] = [
    ffi::LZMA_FILTER_X86,
    ffi::LZMA_FILTER_POWERPC,
    ffi::LZMA_FILTER_IA64,
    ffi::LZMA_FILTER_ARM,
    ffi::LZMA_FILTER_ARMTHUMB,
    ffi::LZMA_FILTER_SPARC,
    ffi::LZMA_FILTER_ARM64,
    ffi::LZMA_FILTER_RISCV,
];

/// Memory limit of the decoder in bytes: a dictionary of 8 MiB, the default of the xz program, and
/// some overhead. Dictionaries in images are not larger than a block.
const DECODER_BYTES: u64 = 9 << 20;

/// Compresses to `.xz` files of one block with CRC32, the only check that the kernel knows.
#[derive(Debug)]
pub(super) struct Encoder {
    settings: LzmaSettings,
    /// The filters to try, starting with none.
    filters: Vec<ffi::lzma_vli>,
    stream: Stream,
    scratch: Vec<u8>,
}

impl Encoder {
    pub(super) fn new(settings: &XzSettings) -> Self {
        let chosen = settings.filter_bits().map(|bit| FILTERS[bit]);
        Encoder {
            settings: settings.lzma.clone(),
            filters: [PLAIN].into_iter().chain(chosen).collect(),
            stream: Stream::new(Xz),
            scratch: Vec::new(),
        }
    }

    pub(super) fn compress(&mut self, input: &[u8], output: &mut [u8]) -> Result<Option<usize>> {
        let options = options(&self.settings, input.len());
        let stream = &mut self.stream;
        smallest(
            &mut self.filters,
            &mut self.scratch,
            output,
            |filter, output| {
                start(stream, *filter, &options)?;
                Ok(match stream.run(input, output)? {
                    Outcome::Finished { written, .. } => Some(written),
                    Outcome::OutputFull | Outcome::InputEnded => None,
                })
            },
        )
    }
}

#[allow(unsafe_code)]
fn start(
    stream: &mut Stream,
    filter: ffi::lzma_vli,
    options: &ffi::lzma_options_lzma,
) -> Result<()> {
    let link = |id, options| ffi::lzma_filter { id, options };
    let lzma2 = link(ffi::LZMA_FILTER_LZMA2, from_ref(options).cast_mut().cast());
    let end = || link(ffi::LZMA_VLI_UNKNOWN, null_mut());
    let chain = match filter {
        PLAIN => [lzma2, end(), end()],
        filter => [link(filter, null_mut()), lzma2, end()],
    };
    stream.start(|raw| {
        // SAFETY: `raw` is a live stream; the chain ends in the mark that ends one, its options
        // are what LZMA2 takes and only read, and the library keeps copies.
        unsafe { ffi::lzma_stream_encoder(raw, chain.as_ptr(), ffi::lzma_check_LZMA_CHECK_CRC32) }
    })
}

/// Whether the stream flags specify a check (xz file format, 2.1.1.2).
pub(super) fn has_checksum(block: &[u8]) -> bool {
    block.get(7).is_some_and(|flags| flags & 15 != 0)
}

/// Decompresses `.xz` files with any filters and checks.
#[derive(Debug)]
pub(super) struct Decoder {
    stream: Stream,
}

impl Decoder {
    pub(super) fn new() -> Self {
        Decoder {
            stream: Stream::new(Xz),
        }
    }

    #[allow(unsafe_code)]
    pub(super) fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize> {
        self.stream.start(|raw| {
            // SAFETY: `raw` is a live stream.
            unsafe { ffi::lzma_stream_decoder(raw, DECODER_BYTES, 0) }
        })?;
        self.stream.decode(input, output)
    }
}
