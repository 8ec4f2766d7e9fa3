//! Tables that no writer makes.

use super::{all_logs, all_refs, open};
use crate::header::{Header, Positions};
use crate::RefTarget;
use gix_hash::Kind;

/// A table with `blocks` behind its header, and sections at `positions`.
fn table(block_size: u32, blocks: &[u8], positions: Positions) -> Vec<u8> {
    let header = Header::new(block_size, (1, 1), Kind::Sha1);
    let mut bytes = Vec::new();
    header.write(&mut bytes);
    bytes.extend_from_slice(blocks);
    positions.write(&header, &mut bytes);
    bytes
}

/// A block of `records` at `position`.
fn block(letter: u8, position: usize, records: &[u8]) -> Vec<u8> {
    let before = if position == 0 { 24 } else { 0 };
    let length = (before + 4 + records.len() + 3 + 2) as u32;
    let mut block = (u32::from(letter) << 24 | length).to_be_bytes().to_vec();
    block.extend_from_slice(records);
    block.extend_from_slice(&[0, 0, before as u8 + 4, 0, 1]);
    block
}

/// The record of a deleted reference with a name of one letter.
fn deleted(letter: u8) -> Vec<u8> {
    vec![0, 1 << 3, letter, 0]
}

/// The record of an index that leads to `position`, which is small.
fn leads(letter: u8, position: u8) -> Vec<u8> {
    vec![0, 1 << 3, letter, position]
}

fn names(bytes: &[u8]) -> Result<String, String> {
    let table = open(bytes, Kind::Sha1).map_err(|error| error.to_string())?;
    let all = all_refs(&table, "").map_err(|error| error.to_string())?;
    assert!(all.iter().all(|record| record.target == RefTarget::Deleted));
    Ok(all.iter().map(|record| record.name.to_string()).collect())
}

#[test]
fn blocks_need_not_be_aligned() {
    let mut blocks = block(b'r', 0, &deleted(b'a'));
    blocks.extend(block(b'r', 1, &deleted(b'b')));
    let ref_index = 24 + blocks.len() as u64;
    let second = (24 + blocks.len() / 2) as u8;
    let index = [leads(b'a', 0), leads(b'b', second)].concat();
    blocks.extend(block(b'i', 1, &index));
    let positions = Positions {
        ref_index,
        ..Positions::default()
    };
    for block_size in [0, 4096] {
        let bytes = table(block_size, &blocks, positions);
        assert_eq!(names(&bytes).unwrap(), "ab");
        let read = open(&bytes, Kind::Sha1).unwrap();
        for (name, is_there) in [("a", true), ("b", true), ("aa", false), ("c", false)] {
            assert_eq!(
                read.find_ref(name.into()).unwrap().is_some(),
                is_there,
                "{name}"
            );
        }
    }
}

#[test]
fn an_index_that_leads_back_to_itself_ends() {
    let first = block(b'r', 0, &deleted(b'a'));
    let at = 24 + first.len();
    for to in [at as u8, at as u8 + 1, 120] {
        let blocks = [first.clone(), block(b'i', 1, &leads(b'z', to))].concat();
        let positions = Positions {
            ref_index: at as u64,
            ..Positions::default()
        };
        let bytes = table(0, &blocks, positions);
        let found = open(&bytes, Kind::Sha1).unwrap().find_ref("b".into());
        let error = found.unwrap_err().to_string();
        assert_eq!(error, format!("an index that leads nowhere at byte {at}"));
    }
}

#[test]
fn names_ascend_and_have_a_limit() {
    let twice = [deleted(b'b'), deleted(b'a')].concat();
    let bytes = table(0, &block(b'r', 0, &twice), Positions::default());
    assert_eq!(
        names(&bytes).unwrap_err(),
        "records that are not in order at byte 0"
    );
    let mut long = vec![0, 0x80 | 1, 0x80 | 0x7f, 0x78];
    long.extend(vec![b'x'; 6000]);
    let bytes = table(0, &block(b'r', 0, &long), Positions::default());
    assert_eq!(
        names(&bytes).unwrap_err(),
        "a name that is too long at byte 0"
    );
}

#[test]
fn a_block_cannot_claim_more_than_it_can_inflate_to() {
    let mut blocks = vec![b'g', 0xff, 0xff, 0xff];
    blocks.extend(hedgerow_codec::deflate(b"small", 9));
    let bytes = table(0, &blocks, Positions::default());
    let read = open(&bytes, Kind::Sha1).unwrap();
    let error = all_logs(&read, "").unwrap_err().to_string();
    assert_eq!(error, "a block that cannot be so long at byte 0");
}
