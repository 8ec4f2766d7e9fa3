//! Images that are written, as the kernel, unsquashfs and rdsquashfs read them.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests make trees and look at files"
)]

mod determinism;
mod failures;
mod items;
mod oracle;
mod parts;
mod recreated;
mod reuse;

use hedgerow_codec::block::{Compressor, Settings};
use hedgerow_engine::Execution;
use hedgerow_squashfs::{create, CreateOptions, Created, FragmentPolicy, WriteError};
use hedgerow_walk::{nodes_of_directory, WalkOptions};
use std::num::NonZeroUsize;
use std::path::Path;

/// Options as a user would have them, with so many workers.
pub fn options(compressor: Compressor, block_bytes: u32, workers: usize) -> CreateOptions {
    let execution = Execution::with_threads(NonZeroUsize::new(workers).unwrap());
    CreateOptions {
        settings: Settings::default_for(compressor, block_bytes),
        block_bytes,
        fragments: FragmentPolicy::Always,
        dedup: true,
        hole_limit_bytes: hedgerow_squashfs::HOLE_LIMIT_BLOCKS * u64::from(block_bytes),
        exportable: true,
        mtime_s: Some(1),
        replace: true,
        execution,
        ..CreateOptions::default()
    }
}

/// An image of the tree below `root`.
pub fn image_of(
    root: &Path,
    target: &Path,
    options: &CreateOptions,
) -> Result<Created, WriteError> {
    let walk = WalkOptions {
        execution: options.execution.clone(),
        ..WalkOptions::default()
    };
    let consume = |nodes| create(nodes, target, options);
    nodes_of_directory(root, walk, consume)?
}
