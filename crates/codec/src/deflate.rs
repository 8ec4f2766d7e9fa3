use crate::block::Stream;

/// Maximum window size of a zlib stream, as a binary logarithm.
const WINDOW_BITS: i32 = 15;
/// zlib's number for its default level.
const DEFAULT_LEVEL: i32 = -1;
/// zlib's number for its default strategy.
const DEFAULT_STRATEGY: i32 = 0;

/// Writes the same zlib streams as git, byte for byte, with stock zlib. [`crate::Deflater`] is
/// faster. Use one per thread for all streams.
#[derive(Debug)]
pub struct StockDeflater {
    stream: Stream,
}

impl StockDeflater {
    /// A deflater with a level of zlib: 0 stores, 1 is the fastest, 9 gives the smallest output;
    /// any other number means zlib's default.
    pub fn new(level: i32) -> Self {
        let level = match level {
            0..=9 => level,
            _ => DEFAULT_LEVEL,
        };
        let stream = Stream::new(level, WINDOW_BITS, DEFAULT_STRATEGY);
        StockDeflater {
            stream: stream.expect("memory for a deflater"),
        }
    }

    /// The zlib stream of `content`.
    pub fn zlib(&mut self, content: &[u8]) -> Vec<u8> {
        let stream = self.stream.deflate(content);
        stream.expect("a stream that began well takes any content")
    }
}

/// Compresses `content` to a zlib stream of `level`, like [`StockDeflater`].
pub fn deflate(content: &[u8], level: i32) -> Vec<u8> {
    StockDeflater::new(level).zlib(content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Inflater;

    #[test]
    fn every_level_comes_back() {
        let content: Vec<u8> = (0..50_000_u32).map(|n| (n / 7 * n) as u8).collect();
        for level in -1..=10 {
            let mut deflater = StockDeflater::new(level);
            for content in [&content[..], &[], &content] {
                let stream = deflater.zlib(content);
                let mut back = vec![0; content.len()];
                assert_eq!(
                    Inflater::new().zlib_into(&stream, &mut back),
                    Ok(stream.len())
                );
                assert_eq!(back, content);
            }
        }
    }
}
