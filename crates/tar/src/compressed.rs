//! Reads archives that were compressed as a whole.

use liblzma::stream::Stream;
use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};

/// Memory limit of the xz decoder in bytes: four times what `xz -9` needs.
const XZ_MEMORY_BYTES: u64 = 256 << 20;

/// Limit of the zstd window as a binary logarithm; the zstd program has the same default.
const ZSTD_WINDOW_LOG: u32 = 27;

const BUFFER_BYTES: usize = 64 * 1024;

/// Number of bytes that identify the compression of an input.
pub(crate) const MAGIC_BYTES: usize = 6;

/// How an input is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Uncompressed, or compressed in an unknown format.
    None,
    /// RFC 1952; several members may follow one another.
    Gzip,
    /// The format of bzip2; several streams may follow one another.
    Bzip2,
    /// The `.xz` format; several streams may follow one another.
    Xz,
    /// RFC 8878; several frames may follow one another.
    Zstd,
}

impl Compression {
    /// Recognizes the compression by the first [`MAGIC_BYTES`] of an input.
    pub(crate) fn of(magic: &[u8]) -> Compression {
        match magic {
            [0x1f, 0x8b, ..] => Compression::Gzip,
            // The level is followed by the magic number of a block or of the end of the stream.
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41] => Compression::Bzip2,
            [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72] => Compression::Bzip2,
            [0xfd, b'7', b'z', b'X', b'Z', 0] => Compression::Xz,
            // A frame, or a skippable frame, with which parallel compressors begin.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Compression::Zstd,
            _ => Compression::None,
        }
    }
}

/// The input, preceded by the bytes that were read to recognize its compression.
type Source<R> = BufReader<Chain<Cursor<Vec<u8>>, R>>;

/// Reads an input compressed with gzip, bzip2, xz or zstd, or an uncompressed one.
///
/// A truncated stream ends with an error of the kind `UnexpectedEof`.
pub struct Decompressed<R: Read>(Decoder<R>);

enum Decoder<R: Read> {
    None(Source<R>),
    Gzip(Gzip<Source<R>>),
    Bzip2(bzip2::bufread::MultiBzDecoder<Source<R>>),
    Xz(liblzma::bufread::XzDecoder<Source<R>>),
    Zstd(zstd::stream::read::Decoder<'static, Source<R>>),
}

/// Recognizes the compression of an input by its first bytes and starts to decode it.
///
/// Fails if these bytes cannot be read, or if a decoder cannot be created.
///
/// ```
/// use hedgerow_tar::{decompress, Archive, ReadOptions};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let stdin = &[0u8; 1024][..];
/// let mut archive = Archive::new(decompress(stdin)?, ReadOptions::default());
/// while let Some(member) = archive.next_member()? {
///     let mut content = Vec::new();
///     std::io::Read::read_to_end(&mut archive, &mut content)?;
/// }
/// # Ok(())
/// # }
/// ```
pub fn decompress<R: Read>(mut reader: R) -> io::Result<Decompressed<R>> {
    let mut magic = Vec::new();
    reader
        .by_ref()
        .take(MAGIC_BYTES as u64)
        .read_to_end(&mut magic)?;
    let compression = Compression::of(&magic);
    let source = Cursor::new(magic).chain(reader);
    let source = BufReader::with_capacity(BUFFER_BYTES, source);
    let decoder = match compression {
        Compression::None => Decoder::None(source),
        Compression::Gzip => Decoder::Gzip(Gzip::new(source)),
        Compression::Bzip2 => Decoder::Bzip2(bzip2::bufread::MultiBzDecoder::new(source)),
        Compression::Xz => {
            let flags = liblzma::stream::CONCATENATED;
            let stream = Stream::new_stream_decoder(XZ_MEMORY_BYTES, flags)?;
            Decoder::Xz(liblzma::bufread::XzDecoder::new_stream(source, stream))
        }
        Compression::Zstd => {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(source)?;
            decoder.window_log_max(ZSTD_WINDOW_LOG)?;
            Decoder::Zstd(decoder)
        }
    };
    Ok(Decompressed(decoder))
}

impl<R: Read> Decompressed<R> {
    /// How the input is compressed.
    pub fn compression(&self) -> Compression {
        match self.0 {
            Decoder::None(_) => Compression::None,
            Decoder::Gzip(_) => Compression::Gzip,
            Decoder::Bzip2(_) => Compression::Bzip2,
            Decoder::Xz(_) => Compression::Xz,
            Decoder::Zstd(_) => Compression::Zstd,
        }
    }
}

impl<R: Read> Read for Decompressed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            Decoder::None(source) => source.read(buffer),
            Decoder::Gzip(decoder) => decoder.read(buffer),
            Decoder::Bzip2(decoder) => decoder.read(buffer),
            Decoder::Xz(decoder) => decoder.read(buffer),
            Decoder::Zstd(decoder) => decoder.read(buffer),
        }
    }
}

/// Reads gzip members that follow one another. Zeros after the last one, with which tapes are
/// padded, are ignored.
struct Gzip<B: BufRead> {
    /// `None` only while one member is replaced by the next.
    member: Option<flate2::bufread::GzDecoder<B>>,
}

impl<B: BufRead> Gzip<B> {
    fn new(source: B) -> Gzip<B> {
        Gzip {
            member: Some(flate2::bufread::GzDecoder::new(source)),
        }
    }
}

impl<B: BufRead> Read for Gzip<B> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let len = member.read(buffer)?;
            if len > 0 || buffer.is_empty() {
                return Ok(len);
            }
            let Some(member) = self.member.take() else {
                break;
            };
            let mut source = member.into_inner();
            if skip_zeros(&mut source)? {
                self.member = Some(flate2::bufread::GzDecoder::new(source));
            }
        }
        Ok(0)
    }
}

/// Skips zeros. Returns false if nothing else follows.
fn skip_zeros(source: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let bytes = match source.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            bytes => bytes?,
        };
        let len = bytes.len();
        match bytes.iter().position(|byte| *byte != 0) {
            Some(zeros) => {
                source.consume(zeros);
                return Ok(true);
            }
            None if len == 0 => return Ok(false),
            None => source.consume(len),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn gzip(content: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    fn bzip2(content: &[u8]) -> Vec<u8> {
        let level = bzip2::Compression::fast();
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), level);
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    fn xz(content: &[u8]) -> Vec<u8> {
        liblzma::encode_all(content, 1).unwrap()
    }

    fn zstd(content: &[u8]) -> Vec<u8> {
        let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
        encoder.include_checksum(true).unwrap();
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    /// Returns one byte at a time, like a slow pipe.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let len = buffer.len().min(1);
            self.0.read(&mut buffer[..len])
        }
    }

    type Encode = fn(&[u8]) -> Vec<u8>;
    const ALL: [(Compression, Encode); 4] = [
        (Compression::Gzip, gzip),
        (Compression::Bzip2, bzip2),
        (Compression::Xz, xz),
        (Compression::Zstd, zstd),
    ];

    fn content() -> Vec<u8> {
        (0..70_000u32)
            .flat_map(|n| n.wrapping_mul(n).to_le_bytes())
            .collect()
    }

    fn decoded(input: &[u8]) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        decompress(input)?.read_to_end(&mut content)?;
        Ok(content)
    }

    #[test]
    fn what_was_compressed_in_pieces_is_read_as_one() {
        let content = content();
        for (compression, encode) in ALL {
            let (a, b) = content.split_at(100_001);
            let input = [encode(a), encode(b""), encode(b)].concat();
            let mut decoder = decompress(Slow(&input)).unwrap();
            assert_eq!(decoder.compression(), compression);
            let mut read = Vec::new();
            decoder.read_to_end(&mut read).unwrap();
            assert!(read == content, "{compression:?}");
        }
        let skippable = b"\x50\x2a\x4d\x18\x03\0\0\0abc".to_vec();
        let input = [skippable, zstd(&content)].concat();
        assert!(decoded(&input).unwrap() == content);
    }

    #[test]
    fn what_is_not_compressed_is_left_as_it_is() {
        for content in [
            &b""[..],
            b"a",
            b"\x1f",
            b"\xfd7zXY\0abc",
            b"BZh9",
            &[0; 1024],
        ] {
            let decoder = decompress(content).unwrap();
            assert_eq!(decoder.compression(), Compression::None);
            assert_eq!(decoded(content).unwrap(), content);
        }
    }

    #[test]
    fn tapes_are_filled_with_zeros() {
        let content = content();
        let input = [gzip(&content), vec![0; 100_000]].concat();
        assert!(decoded(&input).unwrap() == content);
        let input = [xz(&content), vec![0; 512]].concat();
        assert!(decoded(&input).unwrap() == content);
    }

    #[test]
    fn a_cut_anywhere_is_noticed() {
        let content = content();
        for (compression, encode) in ALL {
            let input = encode(&content[..3000]);
            for cut in 6..input.len() {
                let error = decoded(&input[..cut]).unwrap_err();
                let kind = error.kind();
                assert_eq!(kind, io::ErrorKind::UnexpectedEof, "{compression:?} {cut}");
            }
        }
    }

    #[test]
    fn damage_is_an_error() {
        let content = content();
        for (compression, encode) in ALL {
            let mut input = encode(&content);
            let middle = input.len() / 2;
            input[middle] ^= 0x55;
            assert!(decoded(&input).is_err(), "{compression:?}");
            let garbage = [encode(&content), b"garbage".to_vec()].concat();
            assert!(decoded(&garbage).is_err(), "{compression:?}");
        }
    }

    #[test]
    fn a_decoder_may_not_take_all_memory() {
        let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(28).unwrap();
        encoder.write_all(&content()).unwrap();
        assert!(decoded(&encoder.finish().unwrap()).is_err());

        // The size of the dictionary is in the header of the block, which has a checksum.
        let with_dictionary = |size: u8| {
            let mut input = xz(b"content");
            input[16] = size;
            let mut checksum = flate2::Crc::new();
            checksum.update(&input[12..20]);
            input[20..24].copy_from_slice(&checksum.sum().to_le_bytes());
            decoded(&input)
        };
        const MIB_64: u8 = 28;
        const GIB_4: u8 = 40;
        assert_eq!(with_dictionary(MIB_64).unwrap(), b"content");
        let error = with_dictionary(GIB_4).unwrap_err();
        assert!(error.to_string().contains("memory"), "{error}");
    }
}
