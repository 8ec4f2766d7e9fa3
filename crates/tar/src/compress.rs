//! Compresses whole archives.

use crate::Compression;
use std::io::{self, Write};

const BZIP2_LEVEL: u32 = 9;
const GZIP_LEVEL: u32 = 6;
/// The operating system in the header of a gzip file: RFC 1952.
const UNIX: u8 = 3;
const XZ_LEVEL: u32 = 6;
const ZSTD_LEVEL: i32 = 3;

/// Compresses everything written to it, at the default level of the format's own program. The
/// output depends only on the input.
pub struct Compressor<W: Write>(Encoder<W>);

enum Encoder<W: Write> {
    None(W),
    Gzip(flate2::write::GzEncoder<W>),
    Bzip2(bzip2::write::BzEncoder<W>),
    Xz(liblzma::write::XzEncoder<W>),
    Zstd(zstd::stream::write::Encoder<'static, W>),
}

impl<W: Write> Compressor<W> {
    /// Starts compression. Fails if an encoder cannot be created.
    pub fn new(writer: W, compression: Compression) -> io::Result<Compressor<W>> {
        Ok(Compressor(match compression {
            Compression::None => Encoder::None(writer),
            Compression::Gzip => {
                let level = flate2::Compression::new(GZIP_LEVEL);
                Encoder::Gzip(flate2::write::GzEncoder::new(writer, level))
            }
            Compression::Bzip2 => {
                let level = bzip2::Compression::new(BZIP2_LEVEL);
                Encoder::Bzip2(bzip2::write::BzEncoder::new(writer, level))
            }
            Compression::Xz => Encoder::Xz(liblzma::write::XzEncoder::new(writer, XZ_LEVEL)),
            Compression::Zstd => {
                let mut encoder = zstd::stream::write::Encoder::new(writer, ZSTD_LEVEL)?;
                encoder.include_checksum(true)?;
                Encoder::Zstd(encoder)
            }
        }))
    }

    /// Starts gzip as for a file of Unix without a name and a time, at `level`, 0 to 9.
    pub fn gzip_of_unix(writer: W, level: Option<u32>) -> Compressor<W> {
        let level = flate2::Compression::new(level.unwrap_or(GZIP_LEVEL));
        let header = flate2::GzBuilder::new().operating_system(UNIX);
        Compressor(Encoder::Gzip(header.write(writer, level)))
    }

    /// Writes the rest and returns the writer, without flushing it.
    pub fn finish(self) -> io::Result<W> {
        match self.0 {
            Encoder::None(writer) => Ok(writer),
            Encoder::Gzip(encoder) => encoder.finish(),
            Encoder::Bzip2(encoder) => encoder.finish(),
            Encoder::Xz(encoder) => encoder.finish(),
            Encoder::Zstd(encoder) => encoder.finish(),
        }
    }
}

impl<W: Write> Write for Compressor<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Encoder::None(writer) => writer.write(bytes),
            Encoder::Gzip(encoder) => encoder.write(bytes),
            Encoder::Bzip2(encoder) => encoder.write(bytes),
            Encoder::Xz(encoder) => encoder.write(bytes),
            Encoder::Zstd(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Encoder::None(writer) => writer.flush(),
            Encoder::Gzip(encoder) => encoder.flush(),
            Encoder::Bzip2(encoder) => encoder.flush(),
            Encoder::Xz(encoder) => encoder.flush(),
            Encoder::Zstd(encoder) => encoder.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn what_was_compressed_comes_out_again() {
        let content: Vec<u8> = (0..100_000u32).flat_map(u32::to_le_bytes).collect();
        for compression in [
            Compression::None,
            Compression::Gzip,
            Compression::Bzip2,
            Compression::Xz,
            Compression::Zstd,
        ] {
            let mut compressor = Compressor::new(Vec::new(), compression).unwrap();
            compressor.write_all(&content).unwrap();
            let bytes = compressor.finish().unwrap();
            let mut decoder = crate::decompress(&bytes[..]).unwrap();
            assert_eq!(decoder.compression(), compression);
            let mut read = Vec::new();
            decoder.read_to_end(&mut read).unwrap();
            assert!(read == content, "{compression:?}");
        }
    }
}
