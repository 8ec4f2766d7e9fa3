use crate::samples::*;
use hedgerow_codec::block::{Compressor, OptionBlockError, Settings};
use proptest::prelude::*;

#[test]
fn the_option_block_has_the_bytes_of_the_format() {
    for (words, expected) in [
        ("gzip", None),
        ("gzip profile=zlib", None),
        ("gzip level=12", None),
        ("gzip level=5", Some([5, 0, 0, 0, 15, 0, 0, 0].as_slice())),
        (
            "gzip window=10 rle fixed",
            Some(&[9, 0, 0, 0, 10, 0, 24, 0]),
        ),
        ("lzma", None),
        ("lzma level=9", None),
        ("lzo", None),
        ("lzo level=9", Some(&[4, 0, 0, 0, 9, 0, 0, 0])),
        ("lzo algorithm=lzo1x_1_15", Some(&[3, 0, 0, 0, 0, 0, 0, 0])),
        ("xz level=9", None),
        ("xz x86 riscv", Some(&[0, 0, 2, 0, 129, 0, 0, 0])),
        ("xz dictsize=12K", Some(&[0, 0x30, 0, 0, 0, 0, 0, 0])),
        ("lz4", Some(&[1, 0, 0, 0, 0, 0, 0, 0])),
        ("lz4 hc level=3", Some(&[1, 0, 0, 0, 1, 0, 0, 0])),
        ("zstd checksum=false", None),
        ("zstd level=22", Some(&[22, 0, 0, 0])),
    ] {
        assert_eq!(
            parse(words, BLOCK).option_block(BLOCK).as_deref(),
            expected,
            "{words}"
        );
    }
}

#[test]
fn what_was_written_is_read_again() {
    for words in SETTINGS {
        let settings = parse(words, BLOCK);
        let block = settings.option_block(BLOCK);
        let read =
            Settings::from_option_block(settings.compressor(), BLOCK, block.as_deref()).unwrap();
        assert_eq!(read.option_block(BLOCK), block, "{words}");
    }
}

#[test]
fn an_option_block_that_no_packer_writes_is_refused() {
    let refused = |compressor, block: Option<&[u8]>| {
        Settings::from_option_block(compressor, BLOCK, block).expect_err("refused")
    };
    assert_eq!(
        refused(Compressor::Lz4, None),
        OptionBlockError::Missing(Compressor::Lz4)
    );
    let unexpected = OptionBlockError::Unexpected(Compressor::Lzma);
    assert_eq!(refused(Compressor::Lzma, Some(&[])), unexpected);
    let lengths = OptionBlockError::Length {
        compressor: Compressor::Zstd,
        found: 5,
        expected: 4,
    };
    assert_eq!(refused(Compressor::Zstd, Some(&[3, 0, 0, 0, 0])), lengths);
    for (compressor, words) in [
        (Compressor::Gzip, [0, 15]),
        (Compressor::Gzip, [10, 15]),
        (Compressor::Gzip, [9, 7]),
        (Compressor::Gzip, [9, 15 | 32 << 16]),
        (Compressor::Lzo, [5, 0]),
        (Compressor::Lzo, [4, 0]),
        (Compressor::Lzo, [0, 1]),
        (Compressor::Xz, [10_000, 0]),
        (Compressor::Xz, [0, 0]),
        (Compressor::Xz, [1 << 20, 0]),
        (Compressor::Xz, [8192, 256]),
        (Compressor::Lz4, [2, 0]),
        (Compressor::Lz4, [1, 2]),
    ] {
        let block: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        let expected = OptionBlockError::Value(compressor);
        assert_eq!(refused(compressor, Some(&block)), expected, "{words:?}");
    }
}

proptest! {
    #[test]
    fn any_option_block_is_refused_or_understood(
        id in 1_u16..7, block in prop::collection::vec(0_u8..40, 0..10),
        log in 12_u32..21,
    ) {
        let compressor = Compressor::from_id(id).unwrap();
        let block_size = 1 << log;
        if let Ok(read) = Settings::from_option_block(compressor, block_size, Some(&block)) {
            let written = read.option_block(block_size);
            prop_assert!(written.is_none_or(|written| written == block));
        }
    }
}
