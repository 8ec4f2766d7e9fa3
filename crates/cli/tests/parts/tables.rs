//! `walk --format`, `--part` and `--merge`.

use crate::{at_once, command, hedgerow};
use hedgerow_testkit::{run, skip};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A tree with odd names, links, holes in time and a fifo.
pub fn tree(root: &Path) {
    for directory in 0..12 {
        for name in [&b"a"[..], b"a b", b"\xff\xfe", "\u{e4}".as_bytes()] {
            let below = root
                .join(format!("d{directory}"))
                .join(OsStr::from_bytes(name));
            fs::create_dir_all(&below).unwrap();
            for file in 0..directory {
                fs::write(below.join(format!("f{file}")), vec![b'x'; file * 1000]).unwrap();
            }
        }
    }
    let file = fs::File::create(root.join("old")).unwrap();
    let long_ago = std::time::SystemTime::UNIX_EPOCH - std::time::Duration::new(1, 5);
    file.set_modified(long_ago).unwrap();
    std::os::unix::fs::symlink("nowhere", root.join("link")).unwrap();
    fs::hard_link(root.join("old"), root.join("second")).unwrap();
}

fn scene() -> (tempfile::TempDir, PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("tree");
    fs::create_dir(&root).unwrap();
    tree(&root);
    (place, root)
}

/// A Python with the libraries that read tables: `HEDGEROW_TEST_PYTHON`, or `python3`.
fn python() -> Option<PathBuf> {
    let named = std::env::var_os("HEDGEROW_TEST_PYTHON").unwrap_or("python3".into());
    let imports = "import pyarrow.parquet, pyarrow.ipc, duckdb, polars";
    let mut python = Command::new(&named);
    let found = python.args(["-c", imports]).output();
    if found.is_ok_and(|output| output.status.success()) {
        return Some(named.into());
    }
    skip(
        "python3 with pyarrow, duckdb and polars is not installed (HEDGEROW_TEST_PYTHON names one)",
    );
    None
}

/// Compares every value that three libraries read with what the system says.
const READ: &str = r#"
import os, sys
import duckdb, polars, pyarrow.ipc as ipc, pyarrow.parquet as pq
root, parquet, arrow, stream = sys.argv[1:]
table = pq.read_table(parquet)
pq.ParquetFile(parquet).metadata.row_group(0)
assert table.equals(ipc.open_file(arrow).read_all())
with open(stream, "rb") as file:
    assert table.equals(ipc.open_stream(file).read_all())
table.validate(full=True)
# What readers leave out by: bounds of paths and types, and an order only where it is that of readers.
group = pq.ParquetFile(parquet).metadata.row_group(0)
texts = table.column("path").to_pylist()
for name in ["path", "type"]:
    found = group.column(table.schema.get_field_index(name)).statistics
    values = table.column(name).to_pylist()
    assert found.has_min_max and found.null_count == 0
    assert found.min <= min(values, key=str.encode) and found.max >= max(values, key=str.encode)
assert (found.min, found.max) == (min(values), max(values))
ascends = texts == sorted(texts, key=str.encode)
assert [own.column_index for own in group.sorting_columns] == ([0] if ascends else []), group.sorting_columns
assert duckdb.sql(f"select max(path) from read_parquet('{parquet}')").fetchall() == [(max(texts, key=str.encode),)]
for path in [texts[0], texts[-1], max(texts, key=str.encode)]:
    assert pq.read_table(parquet, filters=[("path", "=", path)]).num_rows == texts.count(path)
    assert polars.scan_parquet(parquet).filter(polars.col("path") == path).collect().height == texts.count(path)
assert polars.read_parquet(parquet).equals(polars.read_ipc(arrow))
assert polars.read_parquet(parquet).equals(polars.from_arrow(table))
times = ["mtime", "ctime", "atime"]
numbers = table
for name in times:
    at = numbers.schema.get_field_index(name)
    assert str(numbers.schema.field(name).type) == "timestamp[ns, tz=UTC]"
    numbers = numbers.set_column(at, name, numbers.column(name).cast("int64"))
words = {0o100000: "file", 0o040000: "directory", 0o120000: "symlink"}
expected = {}
for directory, below, files in os.walk(os.fsencode(root)):
    for name in below + files:
        path = os.path.join(directory, name)
        stat = os.lstat(path)
        kind = words[stat.st_mode & 0o170000]
        own = os.path.relpath(path, os.fsencode(root))
        expected[own] = dict(
            path=own.decode("utf-8", "replace"), type=kind, mode=stat.st_mode & 0o7777, nlink=stat.st_nlink,
            uid=stat.st_uid, gid=stat.st_gid, size_bytes=stat.st_size, mtime=stat.st_mtime_ns,
            ctime=stat.st_ctime_ns, ino=stat.st_ino, dev=stat.st_dev, rdev=stat.st_rdev, blocks=stat.st_blocks,
            # To follow a link, as os.walk does, changes the time of its last access.
            atime=None if kind == "directory" else stat.st_atime_ns if kind == "file" else ...)
rows = numbers.to_pylist()
paths = []
for row in rows:
    path = row.pop("path_bytes") or row["path"].encode()
    paths.append(path)
    if expected[path]["atime"] is ...:
        assert row["atime"] > 0
        row["atime"] = ...
    assert row == expected[path], (row, expected[path])
assert len(paths) == len(expected)
assert paths == sorted(paths, key=lambda path: path.split(b"/")), "canonical order"
count, size, newest = duckdb.sql(
    f"select count(*), sum(size_bytes)::bigint, epoch_ns(max(mtime)) from read_parquet('{parquet}') where size_bytes >= 0").fetchall()[0]
assert (count, size) == (len(rows), sum(row["size_bytes"] for row in rows))
assert newest == max(row["mtime"] for row in rows)
# By the least and greatest values in the file alone.
assert duckdb.sql(f"select count(*) from read_parquet('{parquet}') where size_bytes > {1 << 60}").fetchall() == [(0,)]
print(len(rows))
"#;

#[test]
fn libraries_read_what_the_system_says() {
    let Some(python) = python() else { return };
    let (place, _) = scene();
    let here = place.path();
    let at = |name: &str| here.join(name).to_str().unwrap().to_owned();
    let check = |tree: &str| {
        for (format, target) in [("parquet", "p"), ("arrow", "a"), ("arrow-stream", "s")] {
            let words = ["walk", "--format", format, "-f", "-o", &at(target), tree];
            hedgerow(here, &words).ok("walk");
            let piped = hedgerow(here, &["walk", "--format", format, tree]).ok("piped");
            assert!(piped == fs::read(at(target)).unwrap());
        }
        let mut read = Command::new(&python);
        read.args(["-c", READ])
            .args([at(tree), at("p"), at("a"), at("s")]);
        let rows = String::from_utf8(run(read).ok("python")).unwrap();
        rows.trim().parse::<u32>().unwrap()
    };
    assert!(check("tree") > 200);
    // The same where the canonical order is that of the bytes, and with paths that are cut in the bounds.
    for name in ["a", "b", &"\u{e4}".repeat(70)] {
        fs::create_dir_all(here.join("plain").join(name)).unwrap();
        fs::write(here.join("plain").join(name).join("x"), "").unwrap();
    }
    check("plain");
    // This one is not: "a!" comes after "a/x".
    fs::write(here.join("plain/a!"), "").unwrap();
    check("plain");
}

/// Rounds of parts, each listed by several processes at once, some of them twice, some killed.
#[test]
fn parts_of_several_processes_are_one_listing() {
    let (place, root) = scene();
    let here = place.path();
    hedgerow(
        here,
        &["walk", "--format", "parquet", "-o", "whole", "tree"],
    )
    .ok("whole");
    hedgerow(
        here,
        &[
            "walk", "--part", "--budget", "1", "-o", "p", "--rest", "r", "tree",
        ],
    )
    .ok("first");
    let (mut parts, mut rests) = (vec!["p".to_owned()], vec!["r".to_owned()]);
    let mut round = 0;
    while !rests.is_empty() {
        let name = |kind: &str, share: u32| format!("{kind}{round}.{share}");
        let share = |share: u32| {
            let mut part = command(here, &["walk", "--part", "--budget", "20", "-f"]);
            part.args(["-o", &name("p", share), "--rest", &name("r", share)]);
            part.args(["--shard", &format!("{share}/3")]);
            rests.iter().for_each(|rest| {
                part.args(["--from", rest]);
            });
            part.arg(&root);
            part
        };
        let mut killed = share(2).spawn().unwrap();
        killed.kill().unwrap();
        killed.wait().unwrap();
        at_once([share(1), share(2), share(3), share(1)]);
        parts.extend((1..=3).map(|share| name("p", share)));
        let left = |rest: &String| {
            !fs::read_to_string(here.join(rest))
                .unwrap()
                .ends_with("\nend 0\n")
        };
        rests = (1..=3).map(|share| name("r", share)).filter(left).collect();
        round += 1;
    }
    assert!(round > 2, "{round}");
    let words = ["walk", "--merge", "-o", "merged"].map(str::to_owned);
    let all: Vec<String> = words.into_iter().chain(parts.iter().cloned()).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    hedgerow(here, &all).ok("merge");
    let read = |name: &str| fs::read(here.join(name)).unwrap();
    assert!(read("merged") == read("whole"));
    // Without one of the parts: refused, and nothing is left.
    let refused = hedgerow(here, &["walk", "--merge", "-o", "none", "p"]).failed(2, "incomplete");
    assert!(refused.contains("are in none of the parts"), "{refused}");
    assert!(!here.join("none").exists());
    let names = fs::read_dir(here)
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    let odd = |name: &std::ffi::OsString| name.as_bytes().starts_with(b".");
    assert_eq!(names.filter(odd).count(), 0, "temporary files");
}

#[test]
fn a_directory_that_vanished_is_named() {
    let (place, root) = scene();
    let here = place.path();
    let first = [
        "walk", "--part", "--budget", "1", "-o", "p", "--rest", "r", "tree",
    ];
    hedgerow(here, &first).ok("first");
    fs::remove_dir_all(root.join("d7")).unwrap();
    // The part itself has what it left.
    let second = [
        "walk", "--part", "--budget", "60s", "-o", "q", "--from", "p", "tree",
    ];
    let said = hedgerow(here, &second).failed(3, "vanished");
    assert!(
        said.contains("'tree/d7': No such file or directory"),
        "{said}"
    );
    let said = hedgerow(here, &["walk", "--merge", "-o", "m", "p", "q"]).failed(3, "merged");
    assert!(said.contains("'d7': No such file or directory"), "{said}");
    assert!(here.join("m").exists());
}

/// Parts of other trees, or made with other options, would make a listing in which nobody knows what
/// is missing.
#[test]
fn parts_of_different_listings_are_refused() {
    let (place, root) = scene();
    let here = place.path();
    fs::create_dir_all(here.join("other/d1")).unwrap();
    let part = |name: &str, words: &[&str]| {
        let first = ["walk", "--part", "--budget", "0.05s", "-f", "-o", name];
        hedgerow(here, &[&first[..], words].concat())
    };
    let first = ["walk", "--part", "--budget", "1", "-o", "p", "--rest", "r"];
    hedgerow(here, &[&first[..], &["tree"]].concat()).ok("first");
    let own = format!("'{}' (all entries)", root.display());
    for (words, said) in [
        (&["--exclude", "f1", "tree"][..], "tree' (exclude 'f1')"),
        (&["--max-depth", "3", "tree"], "tree' (max_depth 3)"),
        (&["-x", "tree"], "tree' (one_file_system)"),
        (&["other"], "other' (all entries)"),
    ] {
        for from in ["p", "r"] {
            let refused = part("q", &[&["--from", from], words].concat()).failed(2, said);
            assert!(
                refused.contains(said) && refused.contains(&own),
                "{refused}"
            );
            assert!(!here.join("q").exists());
        }
        part("q", words).ok("part");
        let refused = hedgerow(here, &["walk", "--merge", "-o", "m", "p", "q"]).failed(2, said);
        for word in [said, &own, "'p'", "'q'", "same root and options"] {
            assert!(refused.contains(word), "{refused}");
        }
        assert!(!here.join("m").exists());
        fs::remove_file(here.join("q")).unwrap();
    }
    // The same root in other words.
    let absolute = root.to_str().unwrap();
    for tree in ["tree/", "./tree", absolute] {
        let words = ["--budget", "1000", "--from", "r", tree];
        hedgerow(
            here,
            &[&["walk", "--part", "-f", "-o", "q"][..], &words].concat(),
        )
        .ok("rest");
        hedgerow(here, &["walk", "--merge", "-f", "-o", "m", "p", "q"]).ok("merge");
    }
    let mut inside = command(
        &root,
        &["walk", "--part", "--budget", "1000", "--from", "../r"],
    );
    inside.args(["-f", "-o", "../q"]);
    run(inside).ok("inside");
    hedgerow(here, &["walk", "--merge", "-f", "-o", "m", "p", "q"]).ok("merge");
}

#[test]
fn no_partial_table_stays() {
    let (place, _) = scene();
    let here = place.path();
    fs::write(here.join("there"), "mine").unwrap();
    for words in [
        &["walk", "--format", "parquet", "-o", "there", "tree"][..],
        &["walk", "--part", "--budget", "1", "-o", "there", "tree"],
        &[
            "walk", "--part", "--budget", "1", "-o", "p", "--rest", "there", "tree",
        ],
        &[
            "walk", "--part", "--budget", "1", "-f", "-o", "p", "--rest", "./p", "tree",
        ],
        &["walk", "--format", "parquet", "-o", "none/file", "tree"],
        &["walk", "--format", "parquet", "-o", "p", "nowhere"],
        &[
            "walk",
            "--part",
            "--budget",
            "1",
            "-o",
            "p",
            "--gitignore",
            "tree",
        ],
        &[
            "walk", "--part", "--budget", "1", "-o", "p", "--format", "arrow", "tree",
        ],
        &[
            "walk", "--part", "--budget", "1", "-o", "p", "--from", "there", "tree",
        ],
        &["walk", "--part", "--budget", "x", "-o", "p", "tree"],
        &["walk", "--part", "-o", "p", "tree"],
        &["walk", "--shard", "1/2", "tree"],
        &["walk", "--merge", "-o", "p", "there"],
        &["walk", "--json", "--format", "parquet", "tree"],
    ] {
        hedgerow(here, words).failed(2, &format!("{words:?}"));
        let names = fs::read_dir(here)
            .unwrap()
            .map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.collect();
        names.sort();
        assert_eq!(names, ["there", "tree"], "{words:?}");
    }
    assert_eq!(fs::read(here.join("there")).unwrap(), b"mine");
    let mut full = command(here, &["walk", "--format", "parquet", "tree"]);
    full.stdout(fs::File::options().write(true).open("/dev/full").unwrap());
    assert_eq!(full.output().unwrap().status.code(), Some(2));
    for fault in ["write:1:28", "rename:1:5", "create:1:13"] {
        let mut faulty = command(here, &["walk", "--format", "parquet", "-o", "p", "tree"]);
        faulty.env("HEDGEROW_TEST_FAULT", fault);
        let outcome = run(faulty);
        assert_eq!(outcome.code, 2, "{fault}");
        assert!(!here.join("p").exists());
        assert_eq!(fs::read_dir(here).unwrap().count(), 2, "{fault}");
    }
}
