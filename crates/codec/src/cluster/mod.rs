//! Compresses and decompresses clusters of EROFS images. A cluster has a given size, and what is
//! sought is how much of a content fits into it.
//!
//! A worker owns one [`ClusterEncoder`] or [`ClusterDecoder`]. What an encoder writes depends only on
//! its settings and its input.

mod decode;
mod deflate;
mod lz4;
mod microlzma;
mod search;
mod zstd;

pub use decode::ClusterDecoder;

use crate::block::BlockError;

/// The result of compressing or decompressing a cluster.
pub type Result<T> = std::result::Result<T, BlockError>;

/// The formats of clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Algorithm {
    /// An LZ4 block.
    Lz4,
    /// LZMA1 in the form called MicroLZMA.
    Lzma,
    /// Deflate without a header.
    Deflate,
    /// A Zstandard frame.
    Zstd,
}

impl Algorithm {
    /// All formats in the order of their numbers in images.
    pub const ALL: [Algorithm; 4] = [
        Algorithm::Lz4,
        Algorithm::Lzma,
        Algorithm::Deflate,
        Algorithm::Zstd,
    ];

    /// The number in images.
    pub fn id(self) -> u8 {
        match self {
            Algorithm::Lz4 => 0,
            Algorithm::Lzma => 1,
            Algorithm::Deflate => 2,
            Algorithm::Zstd => 3,
        }
    }

    /// The format with this number in images.
    pub fn from_id(id: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.id() == id)
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Lz4 => "lz4",
            Algorithm::Lzma => "lzma",
            Algorithm::Deflate => "deflate",
            Algorithm::Zstd => "zstd",
        }
    }
}

/// How clusters are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterSettings {
    /// The fast variant of LZ4.
    Lz4,
    /// The variant of LZ4 that compresses better, with a level from 1 to 12.
    Lz4Hc(u32),
    /// LZMA, with a level from 0 to 9; from 100 to 109, slower and better.
    Lzma(u32),
    /// Deflate, with a level from 1 to 12.
    Deflate(u32),
    /// Zstandard, with a level from 1 to 22.
    Zstd(u32),
}

impl ClusterSettings {
    /// The settings with the name and the level that a user gives; without a level, the usual one.
    ///
    /// # Errors
    /// The name is unknown, or the level is out of range; the message says which are valid.
    pub fn parse(name: &str, level: Option<&str>) -> std::result::Result<Self, String> {
        let ranges = match name {
            "lz4" => {
                return match level {
                    None => Ok(ClusterSettings::Lz4),
                    Some(_) => Err("lz4 has no level; lz4hc has".into()),
                }
            }
            "lz4hc" => (9, &[1..=12][..]),
            "lzma" => (6, &[0..=9, 100..=109][..]),
            "deflate" => (6, &[1..=12][..]),
            "zstd" => (3, &[1..=22][..]),
            _ => {
                return Err(format!(
                "unknown compressor '{name}' for EROFS: lz4, lz4hc, lzma, deflate, zstd or none"
            ))
            }
        };
        let level = match level {
            None => ranges.0,
            Some(word) => word
                .parse()
                .map_err(|_| format!("'{word}' is not a compression level"))?,
        };
        if !ranges.1.iter().any(|range| range.contains(&level)) {
            let valid: Vec<String> = ranges
                .1
                .iter()
                .map(|range| format!("{} to {}", range.start(), range.end()))
                .collect();
            let valid = valid.join(" or ");
            return Err(format!("{name} has no level {level}: it must be {valid}"));
        }
        Ok(match name {
            "lz4hc" => ClusterSettings::Lz4Hc(level),
            "lzma" => ClusterSettings::Lzma(level),
            "deflate" => ClusterSettings::Deflate(level),
            _ => ClusterSettings::Zstd(level),
        })
    }

    /// The format.
    pub fn algorithm(self) -> Algorithm {
        match self {
            ClusterSettings::Lz4 | ClusterSettings::Lz4Hc(_) => Algorithm::Lz4,
            ClusterSettings::Lzma(_) => Algorithm::Lzma,
            ClusterSettings::Deflate(_) => Algorithm::Deflate,
            ClusterSettings::Zstd(_) => Algorithm::Zstd,
        }
    }
}

/// Compresses clusters. Use one per worker.
#[derive(Debug)]
pub struct ClusterEncoder(Encoder);

#[derive(Debug)]
enum Encoder {
    Lz4(lz4::Encoder),
    Lzma(microlzma::Encoder),
    Deflate(deflate::Encoder),
    Zstd(zstd::Encoder),
}

impl ClusterEncoder {
    /// An encoder with these settings.
    ///
    /// # Errors
    /// A library has no memory.
    pub fn new(settings: ClusterSettings) -> Result<Self> {
        Ok(ClusterEncoder(match settings {
            ClusterSettings::Lz4 => Encoder::Lz4(lz4::Encoder::new(None)),
            ClusterSettings::Lz4Hc(level) => Encoder::Lz4(lz4::Encoder::new(Some(level))),
            ClusterSettings::Lzma(level) => Encoder::Lzma(microlzma::Encoder::new(level)),
            ClusterSettings::Deflate(level) => Encoder::Deflate(deflate::Encoder::new(level)?),
            ClusterSettings::Zstd(level) => Encoder::Zstd(zstd::Encoder::new(level)?),
        }))
    }

    /// Compresses as much of the start of `input` as fits into `output`. Returns the number of
    /// bytes consumed and written.
    ///
    /// # Errors
    /// A library fails, or has no memory.
    pub fn fill(&mut self, input: &[u8], output: &mut [u8]) -> Result<(usize, usize)> {
        if input.is_empty() || output.is_empty() {
            return Ok((0, 0));
        }
        match &mut self.0 {
            Encoder::Lz4(encoder) => encoder.fill(input, output),
            Encoder::Lzma(encoder) => encoder.fill(input, output),
            Encoder::Deflate(encoder) => search::fill(input, output, |input, output| {
                encoder.compress(input, output)
            }),
            Encoder::Zstd(encoder) => search::fill(input, output, |input, output| {
                encoder.compress(input, output)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [ClusterSettings; 6] = [
        ClusterSettings::Lz4,
        ClusterSettings::Lz4Hc(12),
        ClusterSettings::Lzma(6),
        ClusterSettings::Deflate(6),
        ClusterSettings::Zstd(3),
        ClusterSettings::Zstd(22),
    ];

    /// Words that repeat, more or less.
    fn content(bytes: usize) -> Vec<u8> {
        let mut state = 1u32;
        let word = |state: &mut u32| {
            *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            format!("word{} ", *state >> 22)
        };
        let mut content = Vec::new();
        while content.len() < bytes {
            content.extend_from_slice(word(&mut state).as_bytes());
        }
        content.truncate(bytes);
        content
    }

    #[test]
    fn what_fits_into_a_cluster_comes_back() {
        let content = content(200_000);
        let mut decoder = ClusterDecoder::default();
        for settings in ALL {
            let mut encoder = ClusterEncoder::new(settings).unwrap();
            for room in [4096, 16_384, 65_536, 400_000] {
                let mut output = vec![0; room];
                let (consumed, written) = encoder.fill(&content, &mut output).unwrap();
                let is_all = consumed == content.len();
                assert!(
                    written <= room && (is_all || written > room * 7 / 8),
                    "{settings:?}"
                );
                assert!(consumed > written, "{settings:?}");
                let cluster = &output[..written];
                let mut found = vec![0; consumed];
                let algorithm = settings.algorithm();
                decoder
                    .decode(algorithm, cluster, &mut found, false)
                    .unwrap();
                assert!(found == content[..consumed], "{settings:?}");
                // The start alone.
                let mut found = vec![0; consumed / 3];
                decoder
                    .decode(algorithm, cluster, &mut found, true)
                    .unwrap();
                assert!(found == content[..consumed / 3], "{settings:?}");
                // More than there is.
                let mut found = vec![0; consumed + 1];
                assert!(decoder
                    .decode(algorithm, cluster, &mut found, false)
                    .is_err());
            }
        }
    }

    #[test]
    fn bad_clusters_are_errors() {
        let mut decoder = ClusterDecoder::default();
        for algorithm in Algorithm::ALL {
            assert_eq!(Algorithm::from_id(algorithm.id()), Some(algorithm));
            for cluster in [&b""[..], b"\0", b"\xff\xff\xff\xff\xff\xff\xff", &[7; 100]] {
                for partial in [false, true] {
                    let mut output = vec![0; 1000];
                    let decoded = decoder.decode(algorithm, cluster, &mut output, partial);
                    assert!(decoded.is_err(), "{algorithm:?} {cluster:?}");
                }
            }
        }
    }

    #[test]
    fn levels_have_a_range() {
        assert_eq!(
            ClusterSettings::parse("lz4hc", None),
            Ok(ClusterSettings::Lz4Hc(9))
        );
        assert_eq!(
            ClusterSettings::parse("lzma", Some("109")),
            Ok(ClusterSettings::Lzma(109))
        );
        assert!(ClusterSettings::parse("zstd", Some("23")).is_err());
        assert!(ClusterSettings::parse("lz4", Some("1")).is_err());
        assert!(ClusterSettings::parse("xz", None).is_err());
    }
}
