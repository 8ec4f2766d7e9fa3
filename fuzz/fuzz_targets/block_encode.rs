//! Any content through the LZO1X encoders, which are written here: it comes back.
#![no_main]

use hedgerow_codec::block::{BlockCompressor, BlockDecompressor, Compressor, Settings};
use libfuzzer_sys::fuzz_target;

const OPTIONS: [&str; 4] = ["algorithm=lzo1x_1", "level=1", "level=8", "level=9"];

fuzz_target!(|input: (u8, u8, &[u8])| {
    let (choice, repeats, content) = input;
    let content = content.repeat(1 + usize::from(repeats));
    let option = OPTIONS[usize::from(choice) % OPTIONS.len()];
    let settings = Settings::parse(Compressor::Lzo, 1 << 20, None, [option]).unwrap();
    let mut output = vec![0; content.len()];
    let mut compressor = BlockCompressor::new(&settings).unwrap();
    let Some(length) = compressor.compress(&content, &mut output).unwrap() else {
        return;
    };
    let mut back = vec![0; content.len()];
    let mut decompressor = BlockDecompressor::new(Compressor::Lzo).unwrap();
    let found = decompressor.decompress(&output[..length], &mut back);
    assert_eq!(found, Ok(content.len()));
    assert_eq!(back, content);
});
