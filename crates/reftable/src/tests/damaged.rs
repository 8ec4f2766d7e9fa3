//! Tables that are damaged: refused, or read as something, but never with a panic and never without
//! an end.

use super::{all_logs, all_refs, logs, open, options, refs, table};
use bstr::ByteSlice;
use gix_hash::Kind;
use hedgerow_testkit::Random;

/// Reads all that the table in `bytes` has; says whether all could be.
fn is_read(bytes: &[u8], names: &[&str]) -> bool {
    let Ok(table) = open(bytes, Kind::Sha1) else {
        return false;
    };
    let mut is_sound = all_logs(&table, "").is_ok();
    match all_refs(&table, "") {
        Err(_) => is_sound = false,
        Ok(all) => {
            assert!(all.is_sorted_by(|a, b| a.name < b.name));
            // What is found by its name is what is listed under it.
            for name in names {
                let listed = all.iter().find(|record| record.name == *name);
                match table.find_ref((*name).into()) {
                    Ok(found) => assert_eq!(found.as_ref(), listed, "{name}"),
                    Err(_) => is_sound = false,
                }
            }
        }
    }
    is_sound
}

#[test]
fn every_byte_of_a_table_may_be_wrong() {
    let mut random = Random::new(4);
    let mut refused = 0;
    let mut count = 0;
    for (block_size, of_refs, of_logs) in [(4096, 12, 3), (512, 60, 12), (512, 0, 9)] {
        let refs = refs(&mut random, of_refs, Kind::Sha1);
        let logs = logs(&mut random, of_logs, Kind::Sha1);
        let sound = table(options(block_size, Kind::Sha1), &refs, &logs);
        let names: Vec<&str> = refs.iter().map(|it| it.name.to_str().unwrap()).collect();
        assert!(is_read(&sound, &names));
        for position in 0..sound.len() {
            for value in [sound[position] ^ 1, sound[position] ^ 0x80, 0, 0xff] {
                let mut damaged = sound.clone();
                damaged[position] = value;
                refused += usize::from(!is_read(&damaged, &names));
                count += 1;
            }
            assert!(!is_read(&sound[..position], &names));
        }
    }
    // Most of the rest is in ids, which can be anything.
    assert!(refused * 3 > count, "{refused} of {count}");
}

#[test]
fn several_bytes_may_be_wrong_and_pieces_missing() {
    let mut random = Random::new(5);
    let refs = refs(&mut random, 200, Kind::Sha1);
    let logs = logs(&mut random, 20, Kind::Sha1);
    let sound = table(options(512, Kind::Sha1), &refs, &logs);
    let names: Vec<&str> = refs.iter().map(|it| it.name.to_str().unwrap()).collect();
    for _ in 0..2000 {
        let mut damaged = sound.clone();
        // The footer has a checksum; without one of these, nothing behind it would be read.
        let length = damaged.len() - 68;
        for _ in 0..1 + random.below(4) {
            damaged[24 + random.below(length - 24)] = random.below(256) as u8;
        }
        if random.below(3) == 0 {
            let start = random.below(length);
            let end = start + random.below(length - start);
            damaged.drain(start..end);
        }
        is_read(&damaged, &names[..20]);
    }
}
