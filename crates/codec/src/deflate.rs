use flate2::write::ZlibEncoder;
use flate2::Compression;
use std::io::Write;

/// `content` as a zlib stream. `level` is one of zlib's: 0 stores, 1 is fast, 9 small; others
/// stand for its default.
pub fn deflate(content: &[u8], level: i32) -> Vec<u8> {
    let level = match u32::try_from(level) {
        Ok(level @ 0..=9) => Compression::new(level),
        _ => Compression::default(),
    };
    let mut encoder = ZlibEncoder::new(Vec::new(), level);
    encoder
        .write_all(content)
        .and_then(|()| encoder.finish())
        .expect("memory takes what is written to it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Inflater;

    #[test]
    fn every_level_comes_back() {
        let content: Vec<u8> = (0..50_000_u32).map(|n| (n / 7 * n) as u8).collect();
        for level in -1..=10 {
            let stream = deflate(&content, level);
            let mut back = vec![0; content.len()];
            assert_eq!(
                Inflater::new().zlib_into(&stream, &mut back),
                Ok(stream.len())
            );
            assert_eq!(back, content);
        }
    }
}
