//! A superblock of any bytes before an image: opened and verified.
#![no_main]

use hedgerow_engine::{Execution, Jobs};
use hedgerow_erofs::format::{Superblock, MAGIC, SUPERBLOCK_BYTES, SUPERBLOCK_OFFSET};
use hedgerow_erofs::{verify, Image};
use libfuzzer_sys::fuzz_target;
use std::num::NonZeroUsize;

fuzz_target!(|input: ([u64; 16], &[u8])| {
    let (words, rest) = input;
    let mut start: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    // What is refused at once teaches nothing.
    start[..4].copy_from_slice(&MAGIC.to_le_bytes());
    start[8] &= !1;
    start[12] = start[12] % 8 + 9;
    let head: &[u8; SUPERBLOCK_BYTES] = start.first_chunk().expect("128 bytes");
    assert!(Superblock::from_bytes(head).is_some());
    let mut bytes = vec![0; SUPERBLOCK_OFFSET as usize];
    bytes.extend_from_slice(&start);
    bytes.extend_from_slice(rest);
    let _ = Image::new(Box::new(bytes.clone()), 0).map(|image| image.info());
    let options = Execution { jobs: Jobs::Fixed(NonZeroUsize::MIN), ..Execution::default() };
    let _ = verify(Box::new(bytes), 0, &options);
});
