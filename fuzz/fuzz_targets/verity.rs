//! Images with any bytes behind them: found, inspected and checked. A tree that is made is found
//! again; what a check believes matches the root hash that it tells.
#![no_main]

use hedgerow_engine::{Execution, Jobs};
use hedgerow_fs::OutputFile;
use hedgerow_image::verity::{append, check, inspect, VerityOptions};
use libfuzzer_sys::fuzz_target;
use std::num::NonZeroUsize;

fuzz_target!(|input: (u8, bool, &[u8], Vec<(u32, u8)>, Option<u64>)| {
    let (blocks, is_made, salt, changes, image_bytes) = input;
    let options = Execution { jobs: Jobs::Fixed(NonZeroUsize::MIN), ..Execution::default() };
    let mut bytes = vec![blocks; (1 + usize::from(blocks)) * 4096];
    let size = bytes.len() as u64;
    if is_made {
        let own = tempfile::tempdir().expect("a directory");
        let target = own.path().join("image");
        let file = OutputFile::create(&target).expect("a file");
        file.write_at(&bytes, 0).expect("room");
        let salt = salt[..salt.len().min(256)].to_vec();
        let made = append(&file, 0..size, &VerityOptions { salt }, &options).expect("a tree");
        file.commit(false).expect("a name");
        bytes = std::fs::read(target).expect("the file");
        let found = check(&bytes, 0, Some(size), Some(&made.1.root_hash), &options);
        let found = found.expect("it can be read").expect("it is there");
        assert!(found.findings.is_empty() && found.verity == Some(made.1));
    } else {
        // A superblock, as nearly as it takes to be looked at.
        bytes.extend_from_slice(b"verity\0\0\x01\0\0\0\x01\0\0\0");
        bytes.extend_from_slice(salt);
        bytes.resize(bytes.len().next_multiple_of(4096), 0);
    }
    for (at, value) in changes {
        // Behind the image, where every byte counts.
        let behind = bytes.len() - size as usize;
        bytes[size as usize + at as usize % behind] ^= value;
    }
    for size in [Some(size), image_bytes, None] {
        let seen = inspect(&bytes, 0, size).expect("it can be read");
        let found = check(&bytes, 0, size, None, &options).expect("it can be read");
        assert_eq!(seen.is_some(), found.is_some());
        let (Some(Ok(seen)), Some(found)) = (seen, found) else { continue };
        assert_eq!(found.verity.as_ref(), Some(&seen));
        let again = check(&bytes, 0, size, Some(&seen.root_hash), &options);
        let again = again.expect("it can be read").expect("it is there");
        assert_eq!(again.findings, found.findings);
        let other = check(&bytes, 0, size, Some(&[0; 32]), &options);
        assert!(!other.expect("it can be read").expect("it is there").findings.is_empty());
    }
});
