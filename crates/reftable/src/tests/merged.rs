//! Stacks of tables.

use super::{logs, open, options, refs, table};
use crate::{
    merged_logs, merged_refs, parse_list, table_name, tables_to_compact, LogRecord, RefTarget,
    Table,
};
use gix_hash::Kind;
use hedgerow_testkit::Random;
use std::collections::BTreeMap;

#[test]
fn the_newest_table_that_has_a_name_wins() {
    let mut random = Random::new(3);
    for _ in 0..20 {
        let mut expected = BTreeMap::new();
        let mut expected_logs = BTreeMap::new();
        let mut tables: Vec<Table> = Vec::new();
        for _ in 0..random.below(6) {
            let count = random.below(60);
            let refs = refs(&mut random, count, Kind::Sha1);
            let logs = logs(&mut random, count, Kind::Sha1);
            let bytes = table(options(512, Kind::Sha1), &refs, &logs);
            tables.push(open(&bytes, Kind::Sha1).unwrap());
            expected.extend(refs.into_iter().map(|record| (record.name.clone(), record)));
            expected_logs.extend(logs.into_iter().map(|record| (record.key(), record)));
        }
        for from in ["", "refs/heads/", "refs/heads/00030", "x"] {
            let found = merged_refs(&tables, from.into()).unwrap();
            let found: Vec<_> = found.existing().map(Result::unwrap).collect();
            let behind = expected
                .values()
                .filter(|record| record.name >= from && record.target != RefTarget::Deleted);
            assert_eq!(found, behind.cloned().collect::<Vec<_>>());
            let found = merged_logs(&tables, from.into()).unwrap();
            let found: Vec<LogRecord> = found.map(Result::unwrap).collect();
            let behind = expected_logs.values().filter(|record| record.name >= from);
            assert_eq!(found, behind.cloned().collect::<Vec<_>>());
        }
    }
}

#[test]
fn few_tables_are_left_of_many() {
    for factor in [2, 3, 10] {
        let mut sizes: Vec<u64> = Vec::new();
        let mut written = 0;
        for _ in 0..10_000 {
            sizes.push(100);
            if let Some(range) = tables_to_compact(&sizes, factor) {
                let sum = sizes[range.clone()].iter().sum::<u64>();
                written += sum;
                sizes.splice(range, [sum]);
            }
            assert!(
                sizes.windows(2).all(|pair| pair[0] >= factor * pair[1]),
                "{sizes:?}"
            );
            assert!(sizes.len() <= 14, "{sizes:?}");
        }
        assert!(written < 10_000 * 100 * 14 * factor);
    }
    assert_eq!(tables_to_compact(&[], 2), None);
    assert_eq!(tables_to_compact(&[1], 2), None);
    assert_eq!(tables_to_compact(&[64, 32, 16], 2), None);
    assert_eq!(tables_to_compact(&[1000, 32, 31, 3, 1], 2), Some(1..3));
    assert_eq!(tables_to_compact(&[64, 32, 31], 2), Some(0..3));
    assert_eq!(
        tables_to_compact(&[u64::MAX - 1, u64::MAX], 256),
        Some(0..2)
    );
}

#[test]
fn lists_name_files_beside_them() {
    let list = parse_list(b"0x1-0x1-a.ref\nb.log\n").unwrap();
    assert_eq!(list, ["0x1-0x1-a.ref", "b.log"]);
    assert_eq!(parse_list(b""), Some(Vec::new()));
    for wrong in ["../x\n", "a/b\n", "..\n", "a\0\n", "a\nb\na\n"] {
        assert_eq!(parse_list(wrong.as_bytes()), None, "{wrong:?}");
    }
    let name = table_name((1, 0xabc), 7);
    assert_eq!(name, "0x000000000001-0x000000000abc-00000007.ref");
}
