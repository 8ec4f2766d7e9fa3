//! Images that are written, as the kernel and fsck.erofs read them.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests make trees and look at files"
)]

mod acl;
mod blocks;
mod crafted;
mod determinism;
mod foreign;
mod hostile;
mod oracle;
mod parts;
mod recreated;

use hedgerow_engine::Execution;
use hedgerow_erofs::{create_numbered, verify, CreateOptions, Image};
use hedgerow_image::compare::{diff, Aspects};
use hedgerow_image::{Created, WriteError};
use hedgerow_testkit::image_trees as trees;
use hedgerow_walk::{nodes_of_directory, WalkOptions};
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

/// All that two images of one tree have in common, whatever their options.
pub const ASPECTS: Aspects = Aspects {
    contents: true,
    mode: true,
    owner: true,
    mtime: true,
    xattrs: true,
    links: true,
    inodes: false,
};

/// Options as a user would have them, with so many workers.
pub fn options(workers: usize) -> CreateOptions {
    CreateOptions {
        replace: true,
        execution: Execution::with_threads(NonZeroUsize::new(workers).unwrap()),
        ..CreateOptions::default()
    }
}

/// Paths with the numbers of their inodes.
pub type Numbers = Vec<(Vec<u8>, u64)>;

/// An image of the tree below `root`; also the numbers of its inodes, by path.
pub fn image_of(
    root: &Path,
    target: &Path,
    options: &CreateOptions,
) -> Result<(Created, Numbers), WriteError> {
    let walk = WalkOptions {
        execution: options.execution.clone(),
        ..WalkOptions::default()
    };
    let mut numbers = Vec::new();
    let mut tell = |path: &[u8], number| numbers.push((path.to_vec(), number));
    let created = nodes_of_directory(root, walk, |nodes| {
        create_numbered(nodes, target, options, &mut tell)
    })??;
    Ok((created, numbers))
}

/// Two images hold the same tree, and nothing is wrong in the second.
pub fn assert_same_images(first: &Path, second: &Path, what: &str) {
    let open = |path| Arc::new(Image::open(path, 0).unwrap());
    let mut found = Vec::new();
    let tell = |path: &[u8], told| {
        found.push(format!("{} {told:?}", String::from_utf8_lossy(path)));
    };
    let images = [&open(first), &open(second)];
    diff(images, ASPECTS, &Execution::default(), tell).unwrap();
    assert_eq!(found, [""; 0], "{what}");
    let file = hedgerow_fs::ReadFile::open(second).unwrap();
    let report = verify(Box::new(file), 0, &Execution::default()).unwrap();
    assert_eq!(report.findings, [], "{what}");
}

/// All that a tree holds, a line an entry.
pub fn listing(root: &Path) -> String {
    let own = hedgerow_fs::Dir::open(root).unwrap();
    trees::listing(root, &|path| {
        let mut xattrs = own.xattrs_of(path.as_os_str().as_bytes()).unwrap();
        xattrs.sort();
        format!("{xattrs:?}")
    })
}
