//! What a block becomes depends on the settings and the block alone.

use crate::samples::*;
use hedgerow_codec::block::{BlockCompressor, BlockDecompressor};

/// Enough blocks, alike and unlike, that what a context remembers would show.
fn blocks() -> Vec<Vec<u8>> {
    let mut blocks = contents();
    for seed in 10..12 {
        blocks.push(text(seed, BLOCK as usize));
        blocks.push(machine_code(seed, BLOCK as usize - seed as usize * 1000));
        blocks.push([text(seed, 40_000), noise(seed, 5_000), text(seed, 50_000)].concat());
        blocks.push(text(seed, 100 * seed as usize));
    }
    blocks
}

#[test]
fn the_order_of_blocks_does_not_matter() {
    let blocks = blocks();
    for words in SETTINGS {
        let settings = parse(words, BLOCK);
        let fresh =
            |block: &Vec<u8>| compress(&mut BlockCompressor::new(&settings).unwrap(), block);
        let expected: Vec<_> = blocks.iter().map(fresh).collect();
        let mut reused = BlockCompressor::new(&settings).unwrap();
        let mut numbers = Numbers(77);
        let random: Vec<_> = (0..8).map(|_| numbers.below(blocks.len())).collect();
        for index in (0..blocks.len()).rev().chain(random) {
            let found = compress(&mut reused, &blocks[index]);
            assert!(found == expected[index], "{words}: block {index}");
        }
    }
}

#[test]
fn contexts_can_be_handed_to_workers() {
    fn sendable<T: Send>() {}
    sendable::<BlockCompressor>();
    sendable::<BlockDecompressor>();
}

#[test]
fn the_length_of_the_buffer_does_not_matter() {
    let content = text(1, 20_000);
    for words in SETTINGS {
        let mut compressor = BlockCompressor::new(&parse(words, BLOCK)).unwrap();
        let expected = compress(&mut compressor, &content).unwrap();
        let mut output = vec![0; 100_000];
        let length = compressor.compress(&content, &mut output).unwrap().unwrap();
        assert!(output[..length] == expected, "{words}");
    }
}

/// Our own encoders have no library whose version would tell of a change.
#[test]
fn lzo_writes_what_its_version_says() {
    let sum = |words| {
        let mut compressor = BlockCompressor::new(&parse(words, BLOCK)).unwrap();
        let block = compress(&mut compressor, &text(1, 60_000)).unwrap();
        let mix = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        (block.len(), block.iter().fold(0xcbf2_9ce4_8422_2325, mix))
    };
    // Another sum wants another `VERSION` in `block/lzo/mod.rs`.
    let found = ["lzo", "lzo level=1", "lzo algorithm=lzo1x_1"].map(sum);
    assert_eq!(
        found,
        [
            (14635, 4178182917064121825),
            (15477, 6071217363372594499),
            (17734, 4643204937991824927),
        ]
    );
}
