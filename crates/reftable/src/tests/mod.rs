//! Tables that are written, read, merged and damaged.

mod damaged;
mod handmade;
mod merged;
mod written;

use crate::{LogRecord, LogUpdate, RefRecord, RefTarget, Table, TableWriter, WriterOptions};
use bstr::BString;
use gix_hash::{Kind, ObjectId};
use hedgerow_testkit::Random;

fn id(random: &mut Random, hash: Kind) -> ObjectId {
    let mut bytes = vec![0; hash.len_in_bytes()];
    bytes.fill_with(|| random.below(256) as u8);
    ObjectId::try_from(bytes.as_slice()).unwrap()
}

fn options(block_size: u32, hash: Kind) -> WriterOptions {
    WriterOptions {
        block_size,
        restart_interval: 16,
        hash,
    }
}

/// A table of `refs` and `logs`, in any order, with the update indexes 1 to 1000.
fn table(options: WriterOptions, refs: &[RefRecord], logs: &[LogRecord]) -> Vec<u8> {
    let mut refs: Vec<_> = refs.iter().collect();
    refs.sort_by(|a, b| a.name.cmp(&b.name));
    let mut logs: Vec<_> = logs.iter().collect();
    logs.sort_by_key(|log| log.key());
    let mut bytes = Vec::new();
    let mut sink = |piece: &[u8]| {
        bytes.extend_from_slice(piece);
        Ok(())
    };
    let mut writer = TableWriter::new(&mut sink, options, (1, 1000));
    refs.iter()
        .for_each(|record| writer.add_ref(record).unwrap());
    logs.iter()
        .for_each(|record| writer.add_log(record).unwrap());
    writer.finish().unwrap();
    bytes
}

fn open(bytes: &[u8], hash: Kind) -> crate::Result<Table> {
    Table::open(Box::new(bytes.to_vec()), hash)
}

fn name(random: &mut Random, number: usize) -> BString {
    let rooms = [
        "refs/heads/",
        "refs/tags/v1.",
        "refs/remotes/origin/feature/",
        "",
    ];
    let room = rooms[random.below(rooms.len())];
    let filling = "x".repeat(random.below(20) * random.below(5));
    format!("{room}{number:05}{filling}").into()
}

/// `count` references with different names, in order.
fn refs(random: &mut Random, count: usize, hash: Kind) -> Vec<RefRecord> {
    let mut refs: Vec<RefRecord> = (0..count)
        .map(|number| RefRecord {
            name: name(random, number),
            update_index: 1 + random.below(1000) as u64,
            target: match random.below(8) {
                0 => RefTarget::Deleted,
                1 => RefTarget::Peeled(id(random, hash), id(random, hash)),
                2 => RefTarget::Symbolic(name(random, number)),
                _ => RefTarget::Id(id(random, hash)),
            },
        })
        .collect();
    refs.sort_by(|a, b| a.name.cmp(&b.name));
    refs
}

/// Up to three entries for each of `count` logs, in order.
fn logs(random: &mut Random, count: usize, hash: Kind) -> Vec<LogRecord> {
    let mut logs = Vec::new();
    for number in 0..count {
        let name = name(random, number);
        for entry in 0..random.below(4) {
            let update = LogUpdate {
                old: id(random, hash),
                new: id(random, hash),
                name: "A U Thor".into(),
                email: "a@b".into(),
                seconds: 1_700_000_000 + random.below(1000) as u64,
                zone: random.below(2400) as i16 - 1200,
                message: "m".repeat(random.below(60) * random.below(4)).into(),
            };
            logs.push(LogRecord {
                name: name.clone(),
                update_index: 1 + entry as u64 * 300,
                update: (random.below(6) > 0).then_some(update),
            });
        }
    }
    logs.sort_by_key(LogRecord::key);
    logs
}

fn all_refs(table: &Table, from: &str) -> crate::Result<Vec<RefRecord>> {
    let mut cursor = table.refs_from(from.into())?;
    let mut found = Vec::new();
    while let Some(record) = cursor.next_record()? {
        found.push(record);
    }
    Ok(found)
}

fn all_logs(table: &Table, from: &str) -> crate::Result<Vec<LogRecord>> {
    let mut cursor = table.logs_from(from.into())?;
    let mut found = Vec::new();
    while let Some(record) = cursor.next_record()? {
        found.push(record);
    }
    Ok(found)
}
