//! Nodes as no honest source yields them.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests look at files"
)]

use hedgerow_engine::Execution;
use hedgerow_fs::Dir;
use hedgerow_tree::{Content, Handle, Node, NodeError, NodeKind};
use hedgerow_writer::{extract, ExtractOptions, XattrRule};

/// A symbolic link to a place, or a file with that for its content.
struct Fake(Vec<u8>);

impl Handle for Fake {
    fn target(&mut self) -> Result<Vec<u8>, NodeError> {
        Ok(self.0.clone())
    }

    fn open(&mut self) -> Result<Box<dyn Content>, NodeError> {
        Ok(Box::new(Fake(self.0.clone())))
    }
}

impl Content for Fake {
    fn size_bytes(&self) -> u64 {
        100
    }

    fn read(&mut self, _: &mut [u8]) -> Result<usize, NodeError> {
        Ok(0)
    }
}

fn node(path: &str, kind: NodeKind, text: &str) -> Result<Node, NodeError> {
    Ok(Node {
        path: path.into(),
        kind,
        mode: 0o755,
        uid: 0,
        gid: 0,
        mtime_s: 1,
        mtime_ns: 0,
        size_bytes: 0,
        device: (0, 0),
        link: None,
        content_id: None,
        handle: Box::new(Fake(text.into())),
    })
}

fn options(replace: bool) -> ExtractOptions {
    ExtractOptions {
        execution: Execution::default(),
        owners: false,
        setuid_anyway: false,
        devices: true,
        xattrs: XattrRule::None,
        permissions: true,
        times: true,
        replace,
        root_attributes: false,
    }
}

#[test]
fn nothing_is_made_through_a_link_or_outside_and_no_half_file_stays() {
    for replace in [false, true] {
        let home = tempfile::tempdir().unwrap();
        let (target, outside) = (home.path().join("target"), home.path().join("outside"));
        std::fs::create_dir(&target).unwrap();
        std::fs::create_dir(&outside).unwrap();
        let away = outside.to_str().unwrap();
        let nodes = [
            node("a", NodeKind::Symlink, away),
            node("a", NodeKind::Directory, ""),
            node("a/fifo", NodeKind::Fifo, ""),
            node("b", NodeKind::Symlink, away),
            node("b/c/fifo", NodeKind::Fifo, ""),
            node("d", NodeKind::Directory, ""),
            node("d", NodeKind::Symlink, away),
            node("d/fifo", NodeKind::Fifo, ""),
            node("../outside/fifo", NodeKind::Fifo, ""),
            node("e/../../outside/fifo", NodeKind::Fifo, ""),
            node("short", NodeKind::File, ""),
        ];
        let options = options(replace);
        let mut told = Vec::new();
        let root = Dir::open(&target).unwrap();
        let extracted = extract(&root, nodes.into_iter(), &options, |failed| {
            told.push(failed.path.unwrap_or_default());
        });
        let extracted = extracted.unwrap();
        assert_eq!(extracted.failed as usize, told.len());
        assert!(told.contains(&b"short".to_vec()), "{told:?}");
        assert!(told.contains(&b"../outside/fifo".to_vec()), "{told:?}");
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0, "{told:?}");
        assert!(std::fs::symlink_metadata(target.join("short")).is_err());
    }
}

#[test]
fn a_path_with_an_empty_component_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let root = Dir::open(home.path()).unwrap();
    let bad = ["//a/fifo", "/fifo", "d//fifo", "d/"];
    let mut nodes = vec![node("d", NodeKind::Directory, "")];
    nodes.extend(bad.map(|path| node(path, NodeKind::Fifo, "")));
    nodes.push(node("e", NodeKind::Fifo, ""));
    let mut told = Vec::new();
    let extracted = extract(&root, nodes.into_iter(), &options(false), |failed| {
        told.push(failed.path.unwrap_or_default());
    });
    assert_eq!(told, bad.map(|path| path.as_bytes().to_vec()));
    assert_eq!(extracted.unwrap().entries, 2);
    assert!(home.path().join("e").symlink_metadata().is_ok());
}
