use crate::block::Stream;

/// The window of a zlib stream as large as it can be, in bits.
const WINDOW_BITS: i32 = 15;
/// What zlib stands for where no level is asked for.
const DEFAULT_LEVEL: i32 = -1;
/// No special strategy.
const DEFAULT_STRATEGY: i32 = 0;

/// Writes the zlib streams that git writes, byte for byte: with stock zlib. [`crate::Deflater`] is
/// faster. One for each thread, reused for every stream.
#[derive(Debug)]
pub struct StockDeflater {
    stream: Stream,
}

impl StockDeflater {
    /// A deflater of one of zlib's levels: 0 stores, 1 is fast, 9 small; others stand for its
    /// default.
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

/// `content` as a zlib stream of `level`, as [`StockDeflater`] writes it.
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
