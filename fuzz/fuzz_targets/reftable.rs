//! Tables of references from any bytes, and with a sound footer forged behind any blocks: whatever
//! can be listed is in order, is found by its name, and is the same when it is merged and written
//! again.
#![no_main]

use gix_hash::Kind;
use hedgerow_codec::{crc32, deflate};
use hedgerow_reftable::{merged_refs, RefRecord, Table, TableWriter, WriterOptions};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (Vec<u8>, [u16; 5], u16, Vec<Vec<u8>>)| {
    let (bytes, positions, block_size, logs) = input;
    read(bytes.clone());
    read(forged(&bytes, positions, block_size, &logs));
});

/// A table with `blocks`, some of `logs` deflated behind them, and a footer whose checksum is right.
fn forged(blocks: &[u8], positions: [u16; 5], block_size: u16, logs: &[Vec<u8>]) -> Vec<u8> {
    let mut table = b"REFT\x01\0".to_vec();
    table.extend(block_size.to_be_bytes());
    table.extend([0; 15]);
    table.push(200);
    let header = table.clone();
    table.extend(blocks);
    let begin = table.len() as u64;
    for log in logs {
        let length = (log.len() as u32 + 4).min(0x00ff_ffff);
        table.extend((u32::from(b'g') << 24 | length).to_be_bytes());
        table.extend(deflate(log, 1));
    }
    let mut footer = header;
    for (number, position) in positions.iter().enumerate() {
        let begins_logs = number == 3 && !logs.is_empty() && *position % 2 == 0;
        let position = if begins_logs { begin } else { u64::from(*position) };
        let position = if number == 1 { position << 5 } else { position };
        footer.extend(position.to_be_bytes());
    }
    footer.extend(crc32(0, &footer).to_be_bytes());
    table.extend(footer);
    table
}

fn read(bytes: Vec<u8>) {
    let kind = if bytes.get(4) == Some(&2) { Kind::Sha256 } else { Kind::Sha1 };
    let Ok(table) = Table::open(Box::new(bytes), kind) else { return };
    let mut all: Vec<RefRecord> = Vec::new();
    let mut is_whole = false;
    if let Ok(mut cursor) = table.refs_from("".into()) {
        loop {
            match cursor.next_record() {
                Ok(Some(record)) => all.push(record),
                Ok(None) => break is_whole = true,
                Err(_) => break,
            }
        }
    }
    assert!(all.is_sorted_by(|a, b| a.name < b.name));
    let step = all.len() / 8 + 1;
    for record in all.iter().step_by(step).filter(|_| is_whole) {
        if let Ok(found) = table.find_ref(record.name.as_ref()) {
            assert_eq!(found.as_ref(), Some(record));
        }
    }
    if is_whole {
        let merged = merged_refs([&table, &table], "".into()).expect("it was read before");
        let merged: Vec<RefRecord> = merged.map(|it| it.expect("it was read before")).collect();
        assert_eq!(merged, all);
        write(&table, kind, &all);
    }
    let Ok(mut cursor) = table.logs_from("".into()) else { return };
    let mut last = None;
    while let Ok(Some(record)) = cursor.next_record() {
        let place = (record.name, u64::MAX - record.update_index);
        assert!(last.is_none_or(|last| last < place));
        last = Some(place);
    }
}

/// What was read can be written, unless it is too large, and is read again.
fn write(table: &Table, hash: Kind, all: &[RefRecord]) {
    let mut bytes = Vec::new();
    let mut sink = |piece: &[u8]| {
        bytes.extend_from_slice(piece);
        Ok(())
    };
    let options = WriterOptions { block_size: 1024, restart_interval: 3, hash };
    let mut writer = TableWriter::new(&mut sink, options, table.update_indexes());
    for record in all {
        if writer.add_ref(record).is_err() {
            return;
        }
    }
    if writer.finish().is_err() {
        return;
    }
    let again = Table::open(Box::new(bytes), hash).expect("a table");
    let mut cursor = again.refs_from("".into()).expect("its references");
    for record in all {
        let found = cursor.next_record().expect("a record");
        assert_eq!(found.as_ref(), Some(record));
    }
    assert!(cursor.next_record().expect("the end").is_none());
}
