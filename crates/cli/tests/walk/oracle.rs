//! The same entries, with the same states, as find(1) finds.

use crate::support::{devices, found, generate, in_order, parts, path_of, skip, walk, walk_with};
use std::collections::BTreeSet;
use std::path::Path;

fn assert_same(root: &Path, words: &[&str], environment: &[(&str, &str)]) {
    let expected = found(root);
    let words = [&["--stat", "-0"], words].concat();
    let outcome = walk_with(root, &words, environment);
    assert_eq!(outcome.code, Some(0), "{words:?}: {}", outcome.stderr);
    let first = outcome.stderr.lines().next().unwrap_or("HEDGEROW");
    assert!(first.starts_with("HEDGEROW"), "{outcome:?}");
    let listed = parts(&outcome.stdout, 0);
    let missing: Vec<_> = expected.difference(&listed).take(3).collect();
    let surplus: Vec<_> = listed.difference(&expected).take(3).collect();
    assert!(
        expected == listed,
        "{words:?}: {missing:?} / {surplus:?}, {} of {}",
        listed.len(),
        expected.len()
    );
}

#[test]
fn generated_trees() {
    for seed in 1..6 {
        let root = tempfile::tempdir().unwrap();
        generate(root.path(), seed, 400);
        if seed == 1 && !devices(root.path()) {
            skip("only root makes devices");
        }
        for jobs in ["1", "2", "8", "64", "auto"] {
            assert_same(root.path(), &["-j", jobs], &[]);
            assert_same(root.path(), &["-j", jobs, "--sort"], &[]);
        }
    }
}

#[test]
fn a_real_tree() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    assert_same(&repository, &[], &[]);
    assert_same(&repository, &["--sort"], &[]);
}

#[test]
fn a_file_system_that_tells_no_kinds() {
    let root = tempfile::tempdir().unwrap();
    generate(root.path(), 77, 300);
    let large = root.path().join("large");
    std::fs::create_dir(&large).unwrap();
    for number in 0..300 {
        std::fs::write(large.join(number.to_string()), "x").unwrap();
    }
    for kinds in ["kind:1-9999999:5", "kind:20-100:5"] {
        let environment = [("HEDGEROW_TEST_FAULT", kinds)];
        for jobs in ["1", "8"] {
            assert_same(root.path(), &["-j", jobs], &environment);
            assert_same(root.path(), &["-j", jobs, "--sort"], &environment);
            for words in [&["-0", "--sort"][..], &["-0"]] {
                let plain = walk_with(root.path(), words, &environment);
                let paths: BTreeSet<_> = found(root.path()).iter().map(|l| path_of(l)).collect();
                assert!(parts(&plain.stdout, 0) == paths, "{words:?} {kinds}");
            }
        }
    }
}

#[test]
fn the_order_is_the_same_for_any_number_of_workers_and_any_delay() {
    let root = tempfile::tempdir().unwrap();
    generate(root.path(), 9, 500);
    let paths = found(root.path());
    let expected = in_order(paths.iter().map(|line| path_of(line)));
    for (jobs, seed) in [
        ("1", ""),
        ("2", "1"),
        ("3", "2"),
        ("8", "3"),
        ("64", "4"),
        ("64", ""),
    ] {
        for words in [&["-0", "--sort"][..], &["-0", "--sort", "--stat"]] {
            let words = [words, &["-j", jobs]].concat();
            let outcome = walk_with(root.path(), &words, &[("HEDGEROW_TEST_DELAY", seed)]);
            assert_eq!(outcome.code, Some(0), "{outcome:?}");
            let lines = outcome.stdout.split(|byte| *byte == 0);
            let mut lines: Vec<Vec<u8>> = lines.map(<[u8]>::to_vec).collect();
            assert_eq!(lines.pop(), Some(Vec::new()));
            if words.contains(&"--stat") {
                lines = lines.iter().map(|line| path_of(line)).collect();
            }
            assert!(lines == expected, "{words:?}");
        }
    }
}

#[test]
fn totals_count_hard_links_once() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    std::fs::create_dir_all(root.join("d/e")).unwrap();
    std::fs::write(root.join("one"), vec![b'x'; 5000]).unwrap();
    std::fs::hard_link(root.join("one"), root.join("d/two")).unwrap();
    std::fs::hard_link(root.join("one"), root.join("d/e/three")).unwrap();
    std::fs::write(root.join("d/small"), "abc").unwrap();
    std::os::unix::fs::symlink("target", root.join("link")).unwrap();
    let du = |words: &[&str]| -> u64 {
        let mut du = std::process::Command::new("du");
        let outcome = crate::support::run(du.args(words).arg(root));
        let text = String::from_utf8(outcome.stdout).unwrap();
        text.split_whitespace().next().unwrap().parse().unwrap()
    };
    use std::os::unix::fs::MetadataExt;
    let own = std::fs::metadata(root).unwrap().blocks() * 512;
    let allocated = du(&["-s", "--block-size=1"]) - own;
    for jobs in ["1", "8"] {
        let outcome = walk(root, &["--summary", "-j", jobs]);
        let text = String::from_utf8(outcome.stdout).unwrap();
        let expected = format!(
            "files 4\ndirectories 2\nsymlinks 1\nothers 0\nbytes 5009\nallocated_bytes \
             {allocated}\nrepeated_links 2\nomitted 0\n"
        );
        assert_eq!(text, expected);
    }
    let outcome = walk(root, &["--summary", "--json", "--stat", "--sort"]);
    let value: serde_json::Value = serde_json::from_slice(&outcome.stdout).unwrap();
    let expected = serde_json::json!({
        "schema": "hedgerow.walk.v1", "type": "summary", "files": 4, "directories": 2,
        "symlinks": 1, "others": 0, "bytes": 5009, "allocated_bytes": allocated,
        "repeated_links": 2, "omitted": 0,
    });
    assert_eq!(value, expected);
}
