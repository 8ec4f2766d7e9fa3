//! The table of SECURITY.md and the tests name the same numbers.

use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn every_number_of_the_table_has_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("../../SECURITY.md")).unwrap();
    let listed: BTreeSet<String> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| "))
        .filter(|row| row.starts_with("CVE-") || row.starts_with("RUSTSEC-"))
        .map(|row| {
            row.split(' ')
                .next()
                .unwrap()
                .to_lowercase()
                .replace('-', "_")
        })
        .collect();
    let mut tested = BTreeSet::new();
    for entry in std::fs::read_dir(root.join("tests/advisories")).unwrap() {
        let source = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for line in source.lines().filter_map(|line| line.strip_prefix("fn ")) {
            let name = line.split('(').next().unwrap();
            if name.starts_with("cve_") || name.starts_with("rustsec_") {
                tested.insert(name.to_owned());
            }
        }
    }
    assert_eq!(listed, tested);
}
