//! Repositories that hedgerow does not read, and files that are not what they should be.

use crate::{Bench, Format};
use std::fs;
use std::path::{Path, PathBuf};

fn refused(bench: &Bench, root: &Path) -> String {
    let ours = bench.ours(root, &[]);
    assert_eq!(ours.status.code(), Some(128));
    assert!(ours.stdout.is_empty());
    let said = String::from_utf8(ours.stderr).unwrap();
    said.replace(&root.display().to_string(), "ROOT")
}

/// A repository as it could stand on any machine; Mercurial is not needed.
fn made_by_hand(requires: &str) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    fs::create_dir_all(root.join(".hg/store")).unwrap();
    fs::write(root.join(".hg/requires"), requires).unwrap();
    fs::write(root.join("hgrc"), "").unwrap();
    (directory, root)
}

fn status(root: &Path) -> (Option<i32>, String, String) {
    let output = hedgerow_testkit::isolated(env!("CARGO_BIN_EXE_hedgerow"))
        .arg("status")
        .current_dir(root)
        .env("HGRCPATH", root.join("hgrc"))
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        text.replace(&root.display().to_string(), "ROOT")
    };
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn requirements_that_are_not_met_are_named() {
    for (requirement, reason) in [
        ("exp-sparse", "sparse working copies are not supported"),
        ("narrowhg-experimental", "narrow clones are not supported"),
        ("largefiles", "the extension 'largefiles' is not supported"),
        ("from-the-future", "it is not known to hedgerow"),
    ] {
        let (_keep, root) = made_by_hand(&format!("revlogv1\nstore\n{requirement}\n"));
        let said =
            format!("fatal: unsupported: 'ROOT/.hg/requires' requires '{requirement}': {reason}\n");
        assert_eq!(status(&root), (Some(128), String::new(), said));
    }
    let (_keep, root) = made_by_hand("share-safe\n");
    fs::write(root.join(".hg/store/requires"), "store\nexp-sparse\n").unwrap();
    let said = "fatal: unsupported: 'ROOT/.hg/store/requires' requires 'exp-sparse': sparse \
                working copies are not supported\n";
    assert_eq!(status(&root), (Some(128), String::new(), said.into()));
}

#[test]
fn requirements_about_the_store_are_no_obstacle() {
    let (_keep, root) = made_by_hand("revlogv1\ntreemanifest\nlfs\nexp-compression-zstd\n");
    assert_eq!(status(&root), (Some(0), "? hgrc\n".into(), String::new()));
    fs::remove_file(root.join(".hg/requires")).unwrap();
    assert_eq!(status(&root), (Some(0), "? hgrc\n".into(), String::new()));
}

#[test]
fn no_repository_is_said() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    let (code, data, said) = status(&root);
    assert_eq!((code, data.as_str()), (Some(128), ""));
    assert!(said.contains("not a git repository"), "{said}");
}

#[test]
fn a_dirstate_that_is_none_is_corrupt() {
    let record = |state: u8, path: &[u8]| {
        let mut record = vec![state];
        for number in [0o100_644, 1, 1_000_000, path.len() as u32] {
            record.extend_from_slice(&u32::to_be_bytes(number));
        }
        [record.as_slice(), path].concat()
    };
    let with = |records: &[Vec<u8>]| [vec![0; 40], records.concat()].concat();
    let good = record(b'n', b"hgrc");
    let (_keep, root) = made_by_hand("store\n");
    for (content, reason) in [
        (b"short".to_vec(), "it ends within the names of the parents"),
        (
            with(&[good[..12].to_vec()]),
            "the record at byte 40 is not one",
        ),
        (
            with(&[good.clone(), record(b'q', b"x")]),
            "the record at byte 61 is not one",
        ),
        (
            with(&[record(b'n', b"../x")]),
            "the record at byte 40 is not one",
        ),
        (
            with(&[record(b'n', b"/x")]),
            "the record at byte 40 is not one",
        ),
        (
            with(&[record(b'n', b"")]),
            "the record at byte 40 is not one",
        ),
        (with(&[good.clone(), good.clone()]), "'hgrc' is in it twice"),
    ] {
        fs::write(root.join(".hg/dirstate"), content).unwrap();
        let said = format!("fatal: corrupt 'ROOT/.hg/dirstate': {reason}\n");
        assert_eq!(status(&root), (Some(128), String::new(), said));
    }
}

#[test]
fn a_dirstate_in_the_other_format_or_without_its_data_is_corrupt() {
    let Some(mut bench) = Bench::new() else {
        return;
    };
    let root = bench.init("second", Format::V2);
    fs::write(root.join("a"), "").unwrap();
    bench.hg(&root, &["add", "-q"]);
    let docket = fs::read(root.join(".hg/dirstate")).unwrap();
    let name = String::from_utf8(docket[125..].to_vec()).unwrap();
    let data_path = root.join(format!(".hg/dirstate.{name}"));
    let data = fs::read(&data_path).unwrap();

    fs::write(&data_path, &data[..data.len() - 1]).unwrap();
    let (has, wants) = (data.len() - 1, data.len());
    assert_eq!(
        refused(&bench, &root),
        format!(
            "fatal: corrupt 'ROOT/.hg/dirstate.{name}': it has {has} bytes instead of {wants}\n"
        )
    );
    fs::remove_file(&data_path).unwrap();
    assert_eq!(
        refused(&bench, &root),
        format!("fatal: corrupt 'ROOT/.hg/dirstate': its data file 'dirstate.{name}' is missing\n")
    );
    fs::write(&data_path, &data).unwrap();

    // The name of the data file leads elsewhere; a node is its own child.
    let mut changed = docket.clone();
    changed[125..128].copy_from_slice(b"../");
    fs::write(root.join(".hg/dirstate"), &changed).unwrap();
    assert!(refused(&bench, &root).contains("names no data file"));
    fs::write(root.join(".hg/dirstate"), &docket).unwrap();
    let mut circle = data.clone();
    let node = u32::from_be_bytes(docket[76..80].try_into().unwrap());
    let at = node as usize;
    circle[at + 14..at + 22].copy_from_slice(&[node.to_be_bytes(), 1_u32.to_be_bytes()].concat());
    fs::write(&data_path, &circle).unwrap();
    assert!(refused(&bench, &root).contains("more nodes than it has room for"));
    fs::write(&data_path, &data).unwrap();

    let requires = fs::read_to_string(root.join(".hg/requires")).unwrap();
    let first = requires.replace("dirstate-v2\n", "");
    fs::write(root.join(".hg/requires"), first).unwrap();
    assert!(refused(&bench, &root).contains("it is in the second format"));
    fs::write(root.join(".hg/requires"), &requires).unwrap();
    fs::write(root.join(".hg/dirstate"), vec![0; 200]).unwrap();
    assert!(refused(&bench, &root).contains("it is not in the second format"));
}

#[test]
fn the_nearer_repository_counts_and_each_has_its_own_options() {
    let (_keep, root) = made_by_hand("store\n");
    let inner = root.join("inner");
    fs::create_dir(&inner).unwrap();
    let shown = |directory: &Path, words: &[&str]| {
        let output = hedgerow_testkit::isolated(env!("CARGO_BIN_EXE_hedgerow"))
            .arg("status")
            .args(words)
            .current_dir(directory)
            .env("HGRCPATH", root.join("hgrc"))
            .output()
            .unwrap();
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        (output.status.code().unwrap(), text)
    };
    assert_eq!(shown(&inner, &["-A"]), (0, "? hgrc\n".to_owned()));
    hedgerow_testkit::git(&inner, &["init", "-q"], b"");
    assert_eq!(shown(&inner, &["--short"]), (0, String::new()));
    let is_refused = |directory: &Path, option: &str| {
        let (code, said) = shown(directory, &[option]);
        assert_eq!(code, 129, "{said}");
        assert!(said.contains("unexpected argument"), "{said}");
    };
    is_refused(&inner, "-A");
    is_refused(&inner, "--copies");
    is_refused(&root, "-s");
    is_refused(&root, "--porcelain");
    // Of two in one place, Git's.
    fs::rename(inner.join(".git"), root.join(".git")).unwrap();
    assert_eq!(shown(&root, &["-s"]), (0, "?? .hg/\n?? hgrc\n".to_owned()));
}
