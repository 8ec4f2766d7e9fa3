//! Contents and settings that the tests share.

use hedgerow_codec::block::{BlockCompressor, BlockDecompressor, Compressor, Settings};

pub const BLOCK: u32 = 128 << 10;

/// Every option of every compressor at least once, in the words of a command line.
pub const SETTINGS: [&str; 37] = [
    "gzip",
    "gzip level=1",
    "gzip level=8",
    "gzip level=12",
    "gzip profile=zlib",
    "gzip profile=zlib level=3",
    "gzip window=9",
    "gzip strategies=filtered,fixed",
    "gzip default filtered huffman rle fixed window=11",
    "lzma",
    "lzma level=0 lc=2 lp=2 pb=0",
    "lzma level=9 extreme dictsize=8K",
    "lzo",
    "lzo level=1",
    "lzo level=9",
    "lzo algorithm=lzo1x_1",
    "lzo algorithm=lzo1x_1_11",
    "lzo algorithm=lzo1x_1_12",
    "lzo algorithm=lzo1x_1_15",
    "xz",
    "xz level=1 dictsize=37.5%",
    "xz level=9 extreme lc=4 lp=0 pb=4",
    "xz filters=x86",
    "xz powerpc ia64 arm armthumb",
    "xz filters=sparc,arm64,riscv",
    "lz4",
    "lz4 hc",
    "lz4 hc level=3",
    "lz4 hc level=9",
    "lz4 hc level=12",
    "zstd",
    "zstd level=1 checksum=false",
    "zstd level=3",
    "zstd level=5",
    "zstd level=8",
    "zstd level=12",
    "zstd level=22",
];

pub fn parse(words: &str, block_size: u32) -> Settings {
    let (name, options) = words.split_once(' ').unwrap_or((words, ""));
    let compressor = Compressor::from_name(name).unwrap();
    Settings::parse(compressor, block_size, None, options.split_whitespace()).unwrap()
}

pub fn compress(compressor: &mut BlockCompressor, content: &[u8]) -> Option<Vec<u8>> {
    let mut output = vec![0; content.len()];
    let length = compressor.compress(content, &mut output).unwrap()?;
    assert!(length < content.len());
    output.truncate(length);
    Some(output)
}

/// Decompresses into exactly as much room as it takes.
pub fn decompress(compressor: Compressor, block: &[u8], length: usize) -> Vec<u8> {
    let mut output = vec![0; length];
    let mut decompressor = BlockDecompressor::new(compressor).unwrap();
    assert_eq!(decompressor.decompress(block, &mut output), Ok(length));
    output
}

/// Numbers that are the same in every run.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }
}

/// Words of a small vocabulary, so that there are matches of many lengths and distances.
pub fn text(seed: u64, length: usize) -> Vec<u8> {
    let mut numbers = Numbers(seed | 1);
    let words: Vec<Vec<u8>> = (0..900)
        .map(|_| {
            (0..2 + numbers.below(9))
                .map(|_| b'a' + numbers.below(26) as u8)
                .collect()
        })
        .collect();
    let mut text = Vec::new();
    while text.len() < length {
        // Squared, the first words are frequent.
        let index = numbers.below(30) * numbers.below(30);
        text.extend_from_slice(&words[index]);
        text.push(b" \n\t,;"[numbers.below(5)]);
        if numbers.below(40) == 0 {
            let start = numbers.below(text.len());
            let end = text.len().min(start + numbers.below(400));
            text.extend_from_within(start..end);
        }
    }
    text.truncate(length);
    text
}

/// Made-up machine code: calls of a few functions by relative addresses.
pub fn machine_code(seed: u64, length: usize) -> Vec<u8> {
    let mut numbers = Numbers(seed | 1);
    let mut code = Vec::new();
    while code.len() < length {
        let target = 0x1000 * (1 + numbers.below(20)) as i64;
        let relative = (target - code.len() as i64 - 5) as i32;
        code.push(0xe8);
        code.extend_from_slice(&relative.to_le_bytes());
        for _ in 0..numbers.below(12) {
            code.push([0x48, 0x89, 0xc7, 0x8b, 0x45, 0xf8, 0x90][numbers.below(7)]);
        }
    }
    code.truncate(length);
    code
}

pub fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut numbers = Numbers(seed | 1);
    (0..length).map(|_| numbers.below(256) as u8).collect()
}

/// Blocks of several kinds and lengths.
pub fn contents() -> Vec<Vec<u8>> {
    let whole = BLOCK as usize;
    let mut far = noise(5, 60_000);
    far.extend_from_within(8_000..20_000);
    far.extend_from_within(40_000..41_000);
    vec![
        text(1, whole),
        text(2, 8192),
        text(3, 3000),
        text(4, 100),
        machine_code(1, whole),
        vec![0; whole],
        vec![7; 5000],
        vec![1; 17],
        b"abcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabc".to_vec(),
        far,
        [noise(6, 239), vec![9; 300], noise(7, 238), text(8, 700)].concat(),
    ]
}
