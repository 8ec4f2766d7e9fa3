//! The same bytes as veritysetup.

use crate::{checked, data, image, write, BLOCK};
use hedgerow_image::verity::{check, Verity};
use hedgerow_image::{hex, uuid};
use std::fs;
use std::path::Path;
use std::process::Command;

/// What `veritysetup format` makes of the same data, salt and identifier; `None` without it.
fn formatted(place: &Path, data: &[u8], verity: &Verity) -> Option<(Vec<u8>, String)> {
    if !hedgerow_testkit::require("veritysetup") {
        return None;
    }
    let target = place.join("formatted");
    fs::write(&target, data).unwrap();
    let output = Command::new("veritysetup")
        .arg("format")
        .arg(format!("--salt={}", verity.salt_text()))
        .arg(format!("--uuid={}", uuid::text(&verity.uuid)))
        .arg(format!("--hash-offset={}", data.len()))
        .arg(format!("--data-blocks={}", data.len() / BLOCK))
        .args([&target, &target])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let root = text
        .lines()
        .find_map(|line| line.strip_prefix("Root hash:"));
    Some((fs::read(&target).unwrap(), root.unwrap().trim().to_owned()))
}

/// What `veritysetup verify` says.
fn verify(place: &Path, bytes: &[u8], verity: &Verity) -> bool {
    let target = place.join("verified");
    fs::write(&target, bytes).unwrap();
    let output = Command::new("veritysetup")
        .arg("verify")
        .arg(format!("--hash-offset={}", verity.hash_offset))
        .args([&target, &target])
        .arg(hex::text(&verity.root_hash))
        .output()
        .unwrap();
    output.status.success()
}

/// One data block, for which there is no level, and the sizes at which a level is added.
#[test]
fn trees_are_those_of_veritysetup() {
    let own = tempfile::tempdir().unwrap();
    let salts: [&[u8]; 4] = [b"", b"s", b"a salt of a few bytes", &[0xff; 256]];
    let sizes = [1, 2, 127, 128, 129, 255, 256, 257, 16_383, 16_384, 16_385];
    for blocks in sizes {
        let data = data(blocks);
        let salts = if blocks < 1000 {
            &salts[..]
        } else {
            &salts[..1]
        };
        for salt in salts {
            let what = format!("{blocks} blocks, {} bytes of salt", salt.len());
            let (bytes, verity) = image(&data, salt);
            let found = checked(&bytes, data.len() as u64, Some(&verity.root_hash)).unwrap();
            assert_eq!((found.findings, found.omitted), (Vec::new(), 0), "{what}");
            assert_eq!(found.verity.as_ref(), Some(&verity), "{what}");
            let Some((expected, root)) = formatted(own.path(), &data, &verity) else {
                continue;
            };
            assert_eq!(hex::text(&verity.root_hash), root, "{what}");
            assert!(bytes == expected, "{what}");
            assert!(verify(own.path(), &bytes, &verity), "{what}");
        }
    }
}

/// Whatever we call damaged, veritysetup does.
#[test]
fn veritysetup_agrees_about_damage() {
    if !hedgerow_testkit::require("veritysetup") {
        return;
    }
    let own = tempfile::tempdir().unwrap();
    let data = data(130);
    let (bytes, verity) = image(&data, b"salt");
    for block in [0, 1, 127, 128, 129, 131, 132, 133] {
        for at in [0, 64, BLOCK - 1] {
            let mut wrong = bytes.clone();
            wrong[block * BLOCK + at] ^= 1;
            let found = checked(&wrong, data.len() as u64, Some(&verity.root_hash)).unwrap();
            assert_eq!(found.findings.len(), 1, "{block} {at}: {found:?}");
            assert!(!verify(own.path(), &wrong, &verity), "{block} {at}");
        }
    }
}

#[test]
fn any_number_of_workers_writes_the_same_tree_at_any_place() {
    let own = tempfile::tempdir().unwrap();
    let target = own.path().join("image");
    let data = data(1000);
    let (expected, verity) = image(&data, b"");
    for workers in [1, 2, 5, 16] {
        let zeros = 512 * workers;
        let (end, found) = write(&target, (zeros, &data), b"", workers);
        let bytes = fs::read(&target).unwrap();
        assert_eq!((end, &found), (bytes.len() as u64, &verity));
        assert!(bytes[zeros..] == expected, "{workers} workers");
        let root = Some(&verity.root_hash);
        let size = Some(data.len() as u64);
        let found = check(&bytes, zeros as u64, size, root, &crate::workers(2)).unwrap();
        assert_eq!(found.unwrap().findings, Vec::new());
    }
}
