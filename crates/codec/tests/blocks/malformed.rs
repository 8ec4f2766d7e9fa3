//! Blocks of hostile images: an error or some content, never a panic, and nothing past the room.

use crate::samples::*;
use hedgerow_codec::block::{BlockCompressor, BlockDecompressor, BlockError, Compressor};
use proptest::prelude::*;

/// Decompresses into the middle of a buffer and looks at what is around it.
fn attack(decompressor: &mut BlockDecompressor, block: &[u8], room: usize) -> Option<Vec<u8>> {
    let mut buffer = vec![0xa5; room + 128];
    let result = decompressor.decompress(block, &mut buffer[64..64 + room]);
    assert!(buffer[..64]
        .iter()
        .chain(&buffer[64 + room..])
        .all(|&byte| byte == 0xa5));
    let length = result.ok()?;
    Some(buffer[64..64 + length].to_vec())
}

/// A block of each kind, and its content.
fn blocks() -> Vec<(Compressor, Vec<u8>, Vec<u8>)> {
    let content = [text(1, 3000), vec![0; 500], machine_code(1, 2000)].concat();
    let block = |words: &&str| {
        let settings = parse(words, BLOCK);
        let mut compressor = BlockCompressor::new(&settings).unwrap();
        let block = compress(&mut compressor, &content).unwrap();
        (settings.compressor(), block, content.clone())
    };
    SETTINGS.iter().map(block).collect()
}

#[test]
fn a_truncated_block_is_an_error() {
    for (compressor, block, content) in blocks() {
        let mut decompressor = BlockDecompressor::new(compressor).unwrap();
        for end in 0..block.len() {
            let found = attack(&mut decompressor, &block[..end], content.len());
            // An LZ4 block says nowhere where it ends.
            match compressor {
                Compressor::Lz4 => assert!(found.is_none_or(|found| found.len() < content.len())),
                _ => assert_eq!(found, None, "{compressor} {end}"),
            }
        }
        assert_eq!(
            attack(&mut decompressor, &block, content.len()),
            Some(content)
        );
    }
}

#[test]
fn bytes_after_a_block_are_an_error() {
    for (compressor, mut block, content) in blocks() {
        let mut decompressor = BlockDecompressor::new(compressor).unwrap();
        block.extend_from_slice(&[0, 1, 2]);
        let mut output = vec![0; content.len()];
        let expected = match compressor {
            Compressor::Lz4 => BlockError::Corrupt(compressor),
            _ => BlockError::Trailing(compressor, 3),
        };
        assert_eq!(decompressor.decompress(&block, &mut output), Err(expected));
    }
}

#[test]
fn damage_never_goes_beyond_the_room_and_checksums_find_it() {
    for (compressor, block, content) in blocks() {
        let mut decompressor = BlockDecompressor::new(compressor).unwrap();
        for at in 0..block.len() {
            let mut damaged = block.clone();
            damaged[at] ^= 1 << (at % 8);
            for room in [content.len(), content.len() / 2] {
                let found = attack(&mut decompressor, &damaged, room);
                if compressor.has_checksum(&block) {
                    assert!(
                        found.is_none_or(|found| found == content),
                        "{compressor} {at}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_checksum_of_zstd_finds_damage() {
    let content = text(1, 5000);
    let mut undetected = [0, 0];
    for (case, words) in ["zstd", "zstd checksum=false"].into_iter().enumerate() {
        let mut compressor = BlockCompressor::new(&parse(words, BLOCK)).unwrap();
        let block = compress(&mut compressor, &content).unwrap();
        assert_eq!(Compressor::Zstd.has_checksum(&block), case == 0);
        let mut decompressor = BlockDecompressor::new(Compressor::Zstd).unwrap();
        for bit in 0..block.len() * 8 {
            let mut damaged = block.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let found = attack(&mut decompressor, &damaged, content.len());
            undetected[case] += usize::from(found.is_some_and(|found| found != content));
        }
    }
    assert!(undetected[0] == 0 && undetected[1] > 0, "{undetected:?}");
}

#[test]
fn bombs_stop_at_the_room() {
    let zeros = vec![0; 1 << 20];
    for words in SETTINGS {
        let settings = parse(words, 1 << 20);
        let mut compressor = BlockCompressor::new(&settings).unwrap();
        let Some(block) = compress(&mut compressor, &zeros) else {
            panic!("{words}");
        };
        let mut decompressor = BlockDecompressor::new(settings.compressor()).unwrap();
        for room in [0, 1, 8192] {
            assert_eq!(attack(&mut decompressor, &block, room), None, "{words}");
        }
    }
}

#[test]
fn an_lzma_header_cannot_ask_for_memory() {
    let mut compressor = BlockCompressor::new(&parse("lzma", BLOCK)).unwrap();
    let content = text(1, 5000);
    let mut block = compress(&mut compressor, &content).unwrap();
    block[1..5].fill(0xff);
    // The dictionary is bounded by the room, so that this is only a strange header.
    let mut decompressor = BlockDecompressor::new(Compressor::Lzma).unwrap();
    assert_eq!(attack(&mut decompressor, &block, 5000), Some(content));
    block[5..13].copy_from_slice(&(1_u64 << 40).to_le_bytes());
    let refused = decompressor.decompress(&block, &mut [0; 5000]);
    assert_eq!(refused, Err(BlockError::TooLong(Compressor::Lzma)));
}

#[test]
fn an_lzo_match_cannot_reach_before_the_start() {
    let mut decompressor = BlockDecompressor::new(Compressor::Lzo).unwrap();
    for block in [
        [18, b'a', 0x5c, 0, 17, 0, 0].as_slice(), // three bytes from eight back
        &[18, b'a', 33, 4, 0, 17, 0, 0],          // three bytes from two back
        &[18, b'a', 25, 4, 0, 17, 0, 0],          // three bytes from 32,769 back
        &[18, b'a', 0, 0, 17, 0, 0][..3],         // no end
        &[16, 0, 0],                              // an end of another length
        &[17, 0],
        &[0, 0, 0, 0],
        &[],
    ] {
        let refused = decompressor.decompress(block, &mut [0; 100]);
        assert_eq!(
            refused,
            Err(BlockError::Corrupt(Compressor::Lzo)),
            "{block:?}"
        );
    }
    assert_eq!(decompressor.decompress(&[17, 0, 0], &mut []), Ok(0));
}

proptest! {
    #[test]
    fn random_bytes_do_no_harm(
        block in prop::collection::vec(any::<u8>(), 0..300), room in 0_usize..2000,
    ) {
        for compressor in Compressor::ALL {
            attack(&mut BlockDecompressor::new(compressor).unwrap(), &block, room);
        }
    }

    #[test]
    fn random_damage_does_no_harm(
        places in prop::collection::vec((any::<usize>(), any::<u8>()), 1..8),
        choice in 0..SETTINGS.len(), cut in 0_usize..40,
    ) {
        let settings = parse(SETTINGS[choice], BLOCK);
        let mut compressor = BlockCompressor::new(&settings).unwrap();
        let mut block = compress(&mut compressor, &text(1, 4000)).unwrap();
        for (place, byte) in places {
            let place = place % block.len();
            block[place] = byte;
        }
        block.truncate(block.len() - cut);
        let mut decompressor = BlockDecompressor::new(settings.compressor()).unwrap();
        attack(&mut decompressor, &block, 4000);
        // The context is none the worse for it.
        let block = compress(&mut compressor, &text(2, 4000)).unwrap();
        prop_assert_eq!(attack(&mut decompressor, &block, 4000), Some(text(2, 4000)));
    }
}
