//! Any bytes as a compressed block with any room: within it, the same twice, and no harm to the next.
#![no_main]

use hedgerow_codec::block::{BlockDecompressor, Compressor};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u16, &[u8], &[u8])| {
    let (compressor, room, first, second) = input;
    let compressor = Compressor::ALL[usize::from(compressor) % Compressor::ALL.len()];
    let mut output = vec![0; usize::from(room)];
    let mut reused = BlockDecompressor::new(compressor).unwrap();
    if let Ok(length) = reused.decompress(first, &mut output) {
        assert!(length <= output.len());
    }
    let mut other = output.clone();
    let found = reused.decompress(second, &mut output);
    let mut fresh = BlockDecompressor::new(compressor).unwrap();
    assert_eq!(found, fresh.decompress(second, &mut other));
    if let Ok(length) = found {
        assert_eq!(output[..length], other[..length]);
    }
});
