use super::{deflate, lz4, microlzma, zstd, Algorithm, Result};
use flate2::Decompress;

/// Decompresses clusters of any origin. Use one per worker.
#[derive(Debug, Default)]
pub struct ClusterDecoder {
    lzma: Option<microlzma::Decoder>,
    deflate: Option<Decompress>,
    zstd: Option<zstd::Decoder>,
}

impl ClusterDecoder {
    /// Decompresses the cluster that is all of `input` into all of `output`. If `partial`, only the
    /// start of the content is wanted.
    ///
    /// # Errors
    /// The cluster is damaged, or its content has another length.
    pub fn decode(
        &mut self,
        algorithm: Algorithm,
        input: &[u8],
        output: &mut [u8],
        partial: bool,
    ) -> Result<()> {
        match algorithm {
            Algorithm::Lz4 => lz4::decode(input, output, partial),
            Algorithm::Lzma => {
                let decoder = self.lzma.get_or_insert_with(microlzma::Decoder::new);
                decoder.decode(input, output, partial)
            }
            Algorithm::Deflate => {
                let raw = self.deflate.get_or_insert_with(|| Decompress::new(false));
                deflate::decode(raw, input, output, partial)
            }
            Algorithm::Zstd => {
                let decoder = match &mut self.zstd {
                    Some(decoder) => decoder,
                    none => none.insert(zstd::Decoder::new()?),
                };
                decoder.decode(input, output, partial)
            }
        }
    }
}
