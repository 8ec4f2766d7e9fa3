//! A superblock of any bytes before the tables of an image: opened and verified.
#![no_main]

use hedgerow_engine::{Jobs, Execution};
use hedgerow_squashfs::format::Superblock;
use hedgerow_squashfs::{verify, Image};
use libfuzzer_sys::fuzz_target;
use std::num::NonZeroUsize;

fuzz_target!(|input: ([u64; 12], &[u8])| {
    let (words, rest) = input;
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut superblock = Superblock::from_bytes(bytes.first_chunk().expect("96 bytes"));
    assert_eq!(superblock.to_bytes(), bytes[..]);
    // What is refused at once teaches nothing.
    superblock.magic = hedgerow_squashfs::format::MAGIC;
    (superblock.version_major, superblock.version_minor) = hedgerow_squashfs::format::VERSION;
    superblock.compressor = superblock.compressor % 6 + 1;
    superblock.block_log = superblock.block_log % 9 + 12;
    superblock.block_size = 1 << superblock.block_log;
    for start in [
        &mut superblock.bytes_used,
        &mut superblock.id_table_start,
        &mut superblock.xattr_id_table_start,
        &mut superblock.inode_table_start,
        &mut superblock.directory_table_start,
        &mut superblock.fragment_table_start,
        &mut superblock.export_table_start,
    ] {
        if *start != u64::MAX {
            *start %= rest.len() as u64 + 128;
        }
    }
    bytes = superblock.to_bytes().to_vec();
    bytes.extend_from_slice(rest);
    let _ = Image::new(Box::new(bytes.clone()), 0).map(|image| image.info());
    let options = Execution { jobs: Jobs::Fixed(NonZeroUsize::MIN), ..Execution::default() };
    let _ = verify(Box::new(bytes), 0, &options);
});
