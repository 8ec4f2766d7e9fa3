#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests make files and look at them"
)]

use super::{write_tree, ObjectWriter, TreeRow};
use crate::index::Mode;
use crate::repository::Scratch;
use bstr::BString;
use hedgerow_engine::Options;
use hedgerow_object::ObjectKind;

#[test]
fn git_reads_what_is_written_and_nothing_is_written_twice() {
    let scratch = Scratch::with_history();
    let repository = scratch.open("r");
    let writer = ObjectWriter::new(&repository).unwrap();
    let blob = writer.write_one(ObjectKind::Blob, b"hello\n").unwrap();
    assert_eq!(
        scratch.ask("r", &["cat-file", "-p", &blob.to_string()]),
        "hello"
    );
    let path = repository.objects().own_loose_path(&blob);
    let before = std::fs::metadata(&path).unwrap();
    let old = std::time::SystemTime::UNIX_EPOCH;
    let file = std::fs::File::options().read(true).open(&path).unwrap();
    file.set_modified(old).unwrap();
    assert_eq!(
        writer.write_one(ObjectKind::Blob, b"hello\n").unwrap(),
        blob
    );
    let after = std::fs::metadata(&path).unwrap();
    assert!(after.modified().unwrap() > old, "it looks new again");
    assert_eq!(before.len(), after.len());
    let paths: Vec<BString> = (0..500)
        .map(|number| format!("d{}/e{}/f{number:03}", number / 100, number / 10).into())
        .collect();
    let rows = paths.iter().map(|path| TreeRow {
        path: path.as_ref(),
        mode: Mode::File,
        id: blob,
    });
    let tree = write_tree(&repository, &writer, rows, &Options::default()).unwrap();
    let listed = scratch.ask("r", &["ls-tree", "-r", "--name-only", &tree.to_string()]);
    let expected: Vec<String> = paths.iter().map(ToString::to_string).collect();
    assert_eq!(listed.lines().collect::<Vec<_>>(), expected);
    assert_eq!(scratch.ask("r", &["fsck", "--strict", "--no-dangling"]), "");
}
