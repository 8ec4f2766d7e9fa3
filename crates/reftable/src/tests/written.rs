//! What is written is read again.

use super::{all_logs, all_refs, logs, open, options, refs, table};
use crate::{Error, RefRecord, RefTarget, TableWriter};
use bstr::ByteSlice;
use gix_hash::Kind;
use hedgerow_testkit::Random;

#[test]
fn records_come_back_whatever_the_size_of_blocks() {
    let mut random = Random::new(1);
    for round in 0..60 {
        let hash = [Kind::Sha1, Kind::Sha256][round % 2];
        let options = options([512, 1024, 4096, 1 << 16][random.below(4)], hash);
        let count = [0, 1, 30, 1000][random.below(4)];
        let refs = refs(&mut random, count, hash);
        let count = [0, 1, 30, 300][random.below(4)];
        let logs = logs(&mut random, count, hash);
        let read = open(&table(options, &refs, &logs), hash).unwrap();
        assert_eq!(read.update_indexes(), (1, 1000));
        assert_eq!(all_refs(&read, "").unwrap(), refs, "round {round}");
        assert_eq!(all_logs(&read, "").unwrap(), logs, "round {round}");
        for record in &refs {
            let found = read.find_ref(record.name.as_bstr()).unwrap();
            assert_eq!(found.as_ref(), Some(record));
        }
        for absent in ["A", "refs/heads/", "refs/heads/00500y", "zzz"] {
            assert_eq!(read.find_ref(absent.into()).unwrap(), None);
            let behind: Vec<_> = refs
                .iter()
                .filter(|record| record.name >= absent)
                .cloned()
                .collect();
            assert_eq!(all_refs(&read, absent).unwrap(), behind);
            let behind: Vec<_> = logs
                .iter()
                .filter(|record| record.name >= absent)
                .cloned()
                .collect();
            assert_eq!(all_logs(&read, absent).unwrap(), behind);
        }
    }
}

#[test]
fn an_entry_that_is_larger_than_a_block_is_refused() {
    let mut random = Random::new(2);
    let mut logs = logs(&mut random, 30, Kind::Sha1);
    logs.retain(|log| log.update.is_some());
    let mut sink = |_: &[u8]| Ok(());
    let mut writer = TableWriter::new(&mut sink, options(4096, Kind::Sha1), (1, 1000));
    writer.add_log(&logs[0]).unwrap();
    logs[1].update.as_mut().unwrap().message = "long ".repeat(1000).into();
    let long = writer.add_log(&logs[1]);
    assert!(matches!(long, Err(Error::TooLarge { .. })), "{long:?}");
}

#[test]
fn what_does_not_belong_into_a_table_is_refused() {
    let record = |name: &str, update_index| RefRecord {
        name: name.into(),
        update_index,
        target: RefTarget::Deleted,
    };
    let mut sink = |_: &[u8]| Ok(());
    let mut writer = TableWriter::new(&mut sink, options(256, Kind::Sha1), (5, 6));
    writer.add_ref(&record("refs/heads/b", 5)).unwrap();
    for (name, index) in [
        ("refs/heads/b", 5),
        ("refs/heads/a", 5),
        ("refs/heads/c", 7),
        ("", 5),
    ] {
        let refused = writer.add_ref(&record(name, index));
        assert!(
            matches!(refused, Err(Error::Misplaced { .. })),
            "{name} {refused:?}"
        );
    }
    let long = writer.add_ref(&record(&format!("refs/heads/{}", "x".repeat(300)), 5));
    assert!(matches!(long, Err(Error::TooLarge { .. })), "{long:?}");
}
