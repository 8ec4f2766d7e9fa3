//! Hash trees of dm-verity: as veritysetup makes them, and what is told about damaged ones.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests make files and look at them"
)]

mod damage;
mod oracle;

use hedgerow_engine::Execution;
use hedgerow_fs::OutputFile;
use hedgerow_image::verity::{append, check, Checked, Digest, Verity, VerityOptions};
use hedgerow_testkit::image_trees::Random;
use std::num::NonZeroUsize;
use std::path::Path;

const BLOCK: usize = 4096;

fn workers(count: usize) -> Execution {
    Execution::with_threads(NonZeroUsize::new(count).unwrap())
}

/// So many blocks, no two of which are equal.
fn data(blocks: usize) -> Vec<u8> {
    let mut bytes = Random::new(blocks as u64).bytes(blocks * BLOCK, true);
    for (number, block) in bytes.chunks_mut(BLOCK).enumerate() {
        block[..8].copy_from_slice(&number.to_le_bytes());
    }
    bytes
}

/// A file with so many bytes of zeros, data, and their tree.
fn write(
    target: &Path,
    (zeros, data): (usize, &[u8]),
    salt: &[u8],
    workers: usize,
) -> (u64, Verity) {
    let file = OutputFile::create(target).unwrap();
    file.write_at(data, zeros as u64).unwrap();
    let image = zeros as u64..(zeros + data.len()) as u64;
    let options = VerityOptions {
        salt: salt.to_vec(),
    };
    let appended = append(&file, image, &options, &self::workers(workers)).unwrap();
    file.commit(true).unwrap();
    appended
}

/// The same in memory.
fn image(data: &[u8], salt: &[u8]) -> (Vec<u8>, Verity) {
    let own = tempfile::tempdir().unwrap();
    let target = own.path().join("image");
    let (end, verity) = write(&target, (0, data), salt, 2);
    let bytes = std::fs::read(target).unwrap();
    assert_eq!(end, bytes.len() as u64);
    assert_eq!(verity.hash_offset, data.len() as u64);
    (bytes, verity)
}

/// The tree behind an image of so many bytes, checked.
fn checked(bytes: &[u8], image_bytes: u64, root: Option<&Digest>) -> Option<Checked> {
    let bytes = bytes.to_vec();
    let first = check(&bytes, 0, Some(image_bytes), root, &workers(1)).unwrap();
    let again = check(&bytes, 0, Some(image_bytes), root, &workers(3)).unwrap();
    assert_eq!(first, again);
    first
}
