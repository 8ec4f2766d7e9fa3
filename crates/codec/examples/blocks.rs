//! What each compressor costs and yields on the blocks of a file:
//!
//!     cargo run --release -p hedgerow-codec --example blocks -- FILE BLOCK_SIZE [SETTINGS...]
//!
//! SETTINGS are a compressor and its options in one word, as in `gzip,level=6,profile=zlib`.
//! Times are CPU seconds of this thread; a block that does not become smaller counts as it is.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a program for developers, which reads files and prints"
)]

use hedgerow_codec::block::{BlockCompressor, BlockDecompressor, Compressor, Settings};
use std::error::Error;
use std::fs;

const DEFAULT: [&str; 14] = [
    "gzip",
    "gzip,level=12",
    "gzip,profile=zlib",
    "zstd,level=3",
    "zstd",
    "zstd,checksum=false",
    "lz4",
    "lz4,hc",
    "lzo,algorithm=lzo1x_1",
    "lzo",
    "lzo,level=9",
    "lzma",
    "xz",
    "xz,filters=x86",
];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, block_size, given @ ..] = arguments.as_slice() else {
        return Err("usage: blocks FILE BLOCK_SIZE [SETTINGS...]".into());
    };
    let content = fs::read(file)?;
    let block_size: u32 = block_size.parse()?;
    let given: Vec<&str> = match given {
        [] => DEFAULT.to_vec(),
        given => given.iter().map(String::as_str).collect(),
    };
    println!("| settings | MB | CPU s | MB/s | MB/s back |\n|---|---|---|---|---|");
    for words in given {
        let mut words = words.split(',');
        let compressor = Compressor::from_name(words.next().unwrap_or_default())?;
        let settings = Settings::parse(compressor, block_size, None, words)?;
        measure(&content, block_size, &settings)?;
    }
    Ok(())
}

fn measure(content: &[u8], block_size: u32, settings: &Settings) -> Result<(), Box<dyn Error>> {
    let block_size = block_size as usize;
    let mut compressor = BlockCompressor::new(settings)?;
    let mut output = vec![0; block_size];
    let mut stored = Vec::new();
    let start = cpu_seconds()?;
    for block in content.chunks(block_size) {
        let length = compressor.compress(block, &mut output)?;
        stored.push(length.map(|length| output[..length].to_vec()));
    }
    let seconds = cpu_seconds()? - start;
    let mut decompressor = BlockDecompressor::new(settings.compressor())?;
    let start = cpu_seconds()?;
    let mut bytes = 0;
    for (block, stored) in content.chunks(block_size).zip(&stored) {
        let Some(stored) = stored else {
            bytes += block.len();
            continue;
        };
        bytes += stored.len();
        let length = decompressor.decompress(stored, &mut output)?;
        assert!(output[..length] == *block);
    }
    let back = cpu_seconds()? - start;
    let megabytes = content.len() as f64 / 1e6;
    println!(
        "| {settings} | {:.3} | {seconds:.2} | {:.1} | {:.0} |",
        bytes as f64 / 1e6,
        megabytes / seconds,
        megabytes / back,
    );
    Ok(())
}

fn cpu_seconds() -> Result<f64, Box<dyn Error>> {
    let statistics = fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds = statistics.split(' ').next().unwrap_or_default();
    Ok(nanoseconds.parse::<f64>()? / 1e9)
}
