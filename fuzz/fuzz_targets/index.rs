//! An index from any bytes; what is read can be written and read again.
#![no_main]

use hedgerow_git::index::{Index, WriteOptions};
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|content: &[u8]| {
    for hash in [gix_hash::Kind::Sha1, gix_hash::Kind::Sha256] {
        let mut shared = |_: &gix_hash::ObjectId| Ok(Vec::new());
        let Ok(index) = Index::read(content, hash, Path::new("index"), &mut shared) else {
            continue;
        };
        let mut written = Vec::new();
        index.write(&mut written, &WriteOptions::default());
        let again = Index::read(&written, hash, Path::new("again"), &mut shared);
        let again = again.expect("what was written can be read");
        assert_eq!(again.entries().len(), index.entries().len());
    }
});
