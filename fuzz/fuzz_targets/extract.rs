//! Hostile images, and nodes made of any bytes, into a directory: nothing changes outside of it.
#![no_main]

use hedgerow_engine::Execution;
use hedgerow_fs::Dir;
use hedgerow_squashfs::{nodes_of_image, Image};
use hedgerow_tree::{Node, NodeError};
use hedgerow_writer::{extract, ExtractError, ExtractOptions, XattrRule};
use libfuzzer_sys::fuzz_target;
use made::Choices;
use std::num::NonZeroUsize;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

#[path = "made/mod.rs"]
mod made;

/// Entries of an image, at most, and the largest file: an image can say much in few bytes.
const ENTRIES: usize = 400;
const FILE_BYTES: u64 = 4 << 20;

fuzz_target!(|bytes: &[u8]| {
    let own = tempfile::tempdir().expect("there is room for files");
    let (inside, outside) = (own.path().join("inside"), own.path().join("outside"));
    std::fs::create_dir(&inside).expect("there is room for files");
    std::fs::create_dir(&outside).expect("there is room for files");
    std::fs::write(outside.join("file"), "as it was").expect("there is room for files");
    let before = state(own.path(), &outside);
    let root = Dir::open(&inside).expect("it is there");
    let image = Image::new(Box::new(bytes.to_vec()), 0).ok().map(Arc::new);
    let mut choices = Choices(bytes);
    let features = choices.byte();
    let made = match image {
        Some(_) => Vec::new(),
        None => made::entries(&mut choices, features & 1 != 0),
    };
    // The second time, everything is in the way.
    for replace in [false, true] {
        let options = ExtractOptions {
            execution: Execution::with_threads(NonZeroUsize::MIN),
            owners: features & 2 != 0,
            setuid_anyway: features & 32 != 0,
            devices: true,
            permissions: features & 64 == 0,
            times: features & 128 == 0,
            xattrs: match features & 12 {
                0 => XattrRule::None,
                4 => XattrRule::User,
                _ => XattrRule::All,
            },
            replace,
            root_attributes: features & 16 != 0,
        };
        let made = made.iter().map(|entry| Ok(entry.node()));
        let ended = match image.as_ref().map(|image| nodes_of_image(image, &[])) {
            Some(Err(_)) => return,
            Some(Ok(nodes)) => run(&root, nodes.take(ENTRIES), &options),
            None => run(&root, made, &options),
        };
        assert!(!matches!(ended, Err(ExtractError::Panicked(_))));
    }
    assert_eq!(state(own.path(), &outside), before);
});

fn run(
    root: &Dir,
    nodes: impl Iterator<Item = Result<Node, NodeError>> + Send,
    options: &ExtractOptions,
) -> Result<(), ExtractError> {
    let is_small = |node: &Result<Node, NodeError>| {
        node.as_ref()
            .is_ok_and(|node| node.size_bytes <= FILE_BYTES)
    };
    extract(root, nodes.filter(is_small), options, |_| ()).map(|_| ())
}

/// What is there beside the target, and what it looks like.
fn state(own: &Path, outside: &Path) -> Vec<(u32, u32, u64, i64, i64)> {
    let beside = std::fs::read_dir(own).expect("it is there").count() as u64;
    let within = std::fs::read_dir(outside).expect("it is there").count() as u64;
    let stat = |path: &Path| {
        let stat = path.symlink_metadata().expect("it is there");
        (
            stat.mode(),
            stat.uid(),
            stat.nlink(),
            stat.ctime(),
            stat.ctime_nsec(),
        )
    };
    vec![
        (0, 0, beside + 100 * within, 0, 0),
        stat(outside),
        stat(&outside.join("file")),
    ]
}
