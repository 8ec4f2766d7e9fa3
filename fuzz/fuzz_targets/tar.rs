//! An archive from any bytes: no path that comes out leaves the tree, and what is read can be
//! written and read again.
#![no_main]

use hedgerow_tar::{
    decompress, device_parts, Archive, Builder, Error, Member, ReadOptions, WriteOptions,
};
use libfuzzer_sys::fuzz_target;
use std::io::Read;

const BLOCK: usize = 512;

fuzz_target!(|input: &[u8]| {
    let mut sink = Vec::new();
    if let Ok(decoder) = decompress(input) {
        let _ = decoder.take(1 << 20).read_to_end(&mut sink);
    }
    let repaired = repaired(input);
    for input in [input, &repaired[..]] {
        let options = ReadOptions { skip_unusable: true, ..ReadOptions::default() };
        let (members, _) = read(input, options);
        for (member, content) in &members {
            check(member, content);
        }
        write_and_read(&members);
    }
});

type Members = Vec<(Member, Vec<u8>)>;

/// Makes the checksums right of all blocks that look like headers: else few inputs get further.
fn repaired(input: &[u8]) -> Vec<u8> {
    let mut repaired = input.to_vec();
    for block in repaired.chunks_exact_mut(BLOCK) {
        if block.starts_with(&[0]) {
            continue;
        }
        block[148..156].fill(b' ');
        let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
        block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    }
    repaired
}

/// Everything up to the end or an error, holes left out.
fn read(input: &[u8], options: ReadOptions) -> (Members, Option<Error>) {
    let mut archive = Archive::new(input, options);
    let mut members = Vec::new();
    let mut buffer = [0; 1000];
    loop {
        let member = match archive.next_member() {
            Ok(Some(member)) => member,
            Ok(None) => return (members, None),
            Err(error) => return (members, Some(error)),
        };
        let mut content = Vec::new();
        loop {
            match archive.read_data(&mut buffer) {
                Ok(Some((_, len))) => content.extend_from_slice(&buffer[..len]),
                Ok(None) => break,
                Err(error) => return (members, Some(error)),
            }
        }
        members.push((member, content));
    }
}

fn check(member: &Member, content: &[u8]) {
    let mut components = member.path.split(|byte| *byte == b'/');
    let is_plain = |name: &[u8]| !matches!(name, b"" | b"." | b"..") && !name.contains(&0);
    assert!(member.path.is_empty() || components.all(is_plain));
    let stored = match &member.sparse {
        Some(map) => {
            assert_eq!(map.size_bytes(), member.metadata.size_bytes);
            map.stored_bytes()
        }
        None if member.is_file() => member.metadata.size_bytes,
        None => 0,
    };
    assert_eq!(content.len() as u64, stored);
}

fn write_and_read(members: &[(Member, Vec<u8>)]) {
    let mut builder = Builder::new(Vec::new(), WriteOptions::default());
    let mut expected = Vec::new();
    for (member, content) in members {
        let (major, minor) = device_parts(member.metadata.rdev);
        if builder.append(member, &mut &content[..]).is_err() {
            assert!(major.max(minor) > 0o7777777, "what was read can be written");
            continue;
        }
        let mut member = member.clone();
        member.sparse = member.sparse.filter(|map| map.stored_bytes() < map.size_bytes());
        expected.push((member, content.clone()));
    }
    let bytes = builder.finish().expect("all content was there");
    let (again, error) = read(&bytes, ReadOptions::default());
    assert!(error.is_none(), "{error:?}");
    assert_eq!(again, expected);
}
