//! Blocks of an older image make no difference but in time.

use crate::{image_of, options};
use hedgerow_codec::block::{Compressor, Settings};
use hedgerow_squashfs::{Image, NotReusable, Reuse};
use hedgerow_testkit::image_trees::{make, place};
use std::fs;
use std::path::Path;
use std::sync::Arc;

#[test]
fn an_image_with_old_blocks_is_the_same_as_without() {
    for (seed, compressor) in (300..).zip(Compressor::ALL) {
        let own = place();
        let path = |name: &str| own.path().join(name);
        fs::create_dir(path("tree")).unwrap();
        make(&path("tree"), seed, 4096);
        // What hits the checksum of zstd that the kernel cannot read is among them.
        for number in 0..300 {
            let content = format!("{number:0>8}").repeat(256 + number % 700);
            fs::write(path(&format!("tree/x{number}")), content).unwrap();
        }
        let mut given = options(compressor, 4096, 2);
        image_of(&path("tree"), &path("old"), &given).unwrap();
        fs::write(path("tree/added"), "something that was not there").unwrap();
        fs::remove_file(path("tree/x7")).unwrap();
        fs::write(path("tree/x9"), vec![b'9'; 20_000]).unwrap();
        image_of(&path("tree"), &path("full"), &given).unwrap();
        let old = Image::open(&path("old"), 0).unwrap();
        let reuse = Reuse::of(old, &given.settings, 4096, &given.execution).unwrap();
        given.reuse = Some(Arc::new(reuse));
        image_of(&path("tree"), &path("again"), &given).unwrap();
        let same = fs::read(path("full")).unwrap() == fs::read(path("again")).unwrap();
        assert!(same, "{compressor}");
    }
}

#[test]
fn blocks_that_would_not_be_the_same_are_not_used() {
    let own = place();
    let path = |name: &str| own.path().join(name);
    fs::create_dir(path("tree")).unwrap();
    make(&path("tree"), 400, 4096);
    let text: String = (0..20_000)
        .map(|number| format!("line {number}\n"))
        .collect();
    fs::write(path("tree/text"), text).unwrap();
    let given = options(Compressor::Lzma, 4096, 2);
    image_of(&path("tree"), &path("old"), &given).unwrap();
    let of = |image: &Path, settings: &Settings, block| {
        let old = Image::open(image, 0).unwrap();
        Reuse::of(old, settings, block, &given.execution).unwrap_err()
    };
    let other = of(&path("old"), &given.settings, 8192);
    assert!(matches!(other, NotReusable::BlockSize), "{other}");
    let zstd = Settings::default_for(Compressor::Zstd, 4096);
    let other = of(&path("old"), &zstd, 4096);
    assert!(matches!(other, NotReusable::Settings), "{other}");
    // The format does not tell this setting: it shows only in the blocks.
    let lzma = Settings::parse(Compressor::Lzma, 4096, Some("1"), []).unwrap();
    let other = of(&path("old"), &lzma, 4096);
    assert!(matches!(other, NotReusable::Encoder), "{other}");
}

/// A tail that is added or changed moves others to other fragment blocks, but not all of them.
#[test]
fn fragment_blocks_are_soon_the_same_again() {
    let own = place();
    let path = |name: &str| own.path().join(name);
    fs::create_dir(path("tree")).unwrap();
    for number in 0..6000_u32 {
        let content = blake3::hash(&number.to_le_bytes()).to_hex().repeat(3);
        fs::write(path(&format!("tree/{number:05}")), &content[..100]).unwrap();
    }
    let given = options(Compressor::Lz4, 4096, 2);
    image_of(&path("tree"), &path("old"), &given).unwrap();
    fs::write(path("tree/00100"), "changed").unwrap();
    image_of(&path("tree"), &path("new"), &given).unwrap();
    let blocks = |name: &str| -> Vec<Vec<u8>> {
        let bytes = fs::read(path(name)).unwrap();
        bytes.windows(64).step_by(1).map(<[u8]>::to_vec).collect()
    };
    let old: std::collections::HashSet<Vec<u8>> = blocks("old").into_iter().collect();
    let new = blocks("new");
    let kept = new.iter().filter(|window| old.contains(*window)).count();
    assert!(kept * 10 > new.len() * 7, "{kept} of {}", new.len());
}
