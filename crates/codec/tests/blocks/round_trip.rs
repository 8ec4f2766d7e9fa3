use crate::samples::*;
use hedgerow_codec::block::{BlockCompressor, BlockDecompressor, BlockError, Compressor};
use proptest::prelude::*;

#[test]
fn every_content_comes_back_with_every_option() {
    for words in SETTINGS {
        let settings = parse(words, BLOCK);
        let mut compressor = BlockCompressor::new(&settings).unwrap();
        let mut smaller = 0;
        for content in contents() {
            if let Some(block) = compress(&mut compressor, &content) {
                assert!(decompress(settings.compressor(), &block, content.len()) == content);
                smaller += 1;
            }
        }
        assert!(smaller >= 6, "{words}: {smaller}");
    }
}

#[test]
fn blocks_of_the_largest_size_come_back() {
    let content = [text(1, 500_000), noise(1, 48_576), text(1, 500_000)].concat();
    for words in [
        "gzip",
        "gzip profile=zlib",
        "lzo",
        "lzo algorithm=lzo1x_1",
        "lz4",
        "zstd",
        "xz",
    ] {
        let settings = parse(words, 1 << 20);
        let mut compressor = BlockCompressor::new(&settings).unwrap();
        let block = compress(&mut compressor, &content).unwrap();
        assert!(
            decompress(settings.compressor(), &block, content.len()) == content,
            "{words}"
        );
    }
}

#[test]
fn what_would_not_become_smaller_is_left_alone() {
    for words in SETTINGS {
        let mut compressor = BlockCompressor::new(&parse(words, BLOCK)).unwrap();
        for length in [0, 1, 2, 3, 4, 5, 12, 13, 14, 64, 5000, BLOCK as usize] {
            assert_eq!(
                compress(&mut compressor, &noise(3, length)),
                None,
                "{words} {length}"
            );
        }
        // It still works after that.
        assert!(
            compress(&mut compressor, &text(1, 5000)).is_some(),
            "{words}"
        );
    }
}

#[test]
fn a_smaller_buffer_than_the_block_is_refused() {
    let mut compressor = BlockCompressor::new(&parse("lz4", BLOCK)).unwrap();
    assert_eq!(
        compressor.compress(&[0; 100], &mut [0; 50]),
        Err(BlockError::OutputBuffer {
            input: 100,
            output: 50
        })
    );
}

#[test]
fn more_room_than_the_content_takes_is_no_error() {
    for words in SETTINGS {
        let settings = parse(words, BLOCK);
        let mut compressor = BlockCompressor::new(&settings).unwrap();
        let content = text(1, 5000);
        let block = compress(&mut compressor, &content).unwrap();
        let mut decompressor = BlockDecompressor::new(settings.compressor()).unwrap();
        let mut output = vec![0; BLOCK as usize];
        assert_eq!(
            decompressor.decompress(&block, &mut output),
            Ok(5000),
            "{words}"
        );
        assert!(output[..5000] == content);
        let refused = decompressor.decompress(&block, &mut output[..4999]);
        let expected = match settings.compressor() {
            Compressor::Lz4 => BlockError::Corrupt(Compressor::Lz4),
            other => BlockError::TooLong(other),
        };
        assert_eq!(refused, Err(expected), "{words}");
    }
}

#[test]
fn harder_work_gives_smaller_blocks() {
    let length = |words| {
        let mut compressor = BlockCompressor::new(&parse(words, BLOCK)).unwrap();
        compress(&mut compressor, &text(1, BLOCK as usize))
            .unwrap()
            .len()
    };
    for (easy, hard) in [
        ("gzip level=1", "gzip"),
        ("gzip", "gzip level=10"),
        ("gzip level=10", "gzip level=11"),
        ("gzip level=11", "gzip level=12"),
        ("gzip profile=zlib level=3", "gzip"),
        ("lzo algorithm=lzo1x_1", "lzo"),
        ("lzo level=1", "lzo level=8"),
        ("lz4", "lz4 hc level=3"),
        ("lz4 hc level=3", "lz4 hc"),
        ("lz4 hc", "lz4 hc level=12"),
        ("zstd level=1", "zstd"),
        ("xz level=0", "xz"),
        ("xz dictsize=8K", "xz"),
        ("lzma level=0", "lzma"),
    ] {
        assert!(length(easy) > length(hard), "{easy}, {hard}");
    }
}

#[test]
fn of_several_strategies_or_filters_the_smallest_outcome_is_kept() {
    let lengths = |words: &[&str], content: &[u8]| -> Vec<usize> {
        let length = |words: &&str| {
            let mut compressor = BlockCompressor::new(&parse(words, BLOCK)).unwrap();
            compress(&mut compressor, content).unwrap().len()
        };
        words.iter().map(length).collect()
    };
    let code = machine_code(1, 60_000);
    let alone = [
        "gzip default",
        "gzip filtered",
        "gzip huffman",
        "gzip rle",
        "gzip fixed",
    ];
    let together = lengths(&["gzip default filtered huffman rle fixed"], &code);
    assert_eq!(lengths(&alone, &code).iter().min(), together.first());

    let [plain, x86, all] = lengths(&["xz", "xz x86", "xz arm x86 sparc"], &code)[..] else {
        panic!("three lengths");
    };
    assert!(x86 < plain && all == x86, "{plain} {x86} {all}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn any_content_comes_back(
        pieces in prop::collection::vec((any::<u64>(), 0_usize..3000, 0..5), 1..8),
        choice in 0..SETTINGS.len(),
    ) {
        let mut content = Vec::new();
        for (seed, length, kind) in pieces {
            let start = content.len().saturating_sub(length + 7);
            match kind {
                0 => content.extend(text(seed, length)),
                1 => content.extend(noise(seed, length)),
                2 => content.extend(machine_code(seed, length)),
                3 => content.extend(vec![seed as u8; length]),
                _ => content.extend_from_within(start..),
            }
        }
        let settings = parse(SETTINGS[choice], BLOCK);
        let mut compressor = BlockCompressor::new(&settings).unwrap();
        if let Some(block) = compress(&mut compressor, &content) {
            prop_assert!(decompress(settings.compressor(), &block, content.len()) == content);
        }
    }
}
