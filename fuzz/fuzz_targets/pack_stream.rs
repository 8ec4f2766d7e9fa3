//! A pack from any bytes, as a file and as a stream: both ways give the same objects, or none.
#![no_main]

use hedgerow_fs::ReadFile;
use hedgerow_pack::indexer::{
    index_pack_file, receive_pack, IndexOptions, Severities,
};
use hedgerow_pack::HashKind;
use libfuzzer_sys::fuzz_target;
use std::fs;

fuzz_target!(|input: (u8, &[u8])| {
    let (count, entries) = input;
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("a.pack");
    let mut pack = [b"PACK\0\0\0\x02\0\0\0".as_slice(), &[count], entries].concat();
    let mut hasher = gix_hash::hasher(HashKind::Sha1);
    hasher.update(&pack);
    let checksum = hasher.try_finalize().expect("no collision by chance");
    pack.extend_from_slice(checksum.as_slice());
    fs::write(&path, &pack).expect("a file");
    let options = IndexOptions {
        execution: hedgerow_engine::Execution::with_threads(std::num::NonZeroUsize::new(2).expect("two")),
        rules: Some(Severities::default()),
        ..IndexOptions::new(HashKind::Sha1)
    };
    let from_file = index_pack_file(&path, &options);
    let stream = ReadFile::open(&path).expect("the file");
    let streamed =
        receive_pack(&stream, &[], directory.path(), &options);
    let entries = from_file.as_ref().ok().map(|indexed| &indexed.entries);
    assert_eq!(entries, streamed.as_ref().ok().map(|indexed| &indexed.entries));
});
