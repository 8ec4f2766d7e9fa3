//! What cannot be stored is named, and leaves neither an image nor half of one.

use crate::options;
use hedgerow_codec::block::Compressor;
use hedgerow_squashfs::create;
use hedgerow_tree::{Content, Handle, Node, NodeError, NodeKind};
use std::io;
use std::path::Path;

/// A content that is there, or fails after so many bytes.
struct Made {
    content: Vec<u8>,
    size_bytes: u64,
    fails: bool,
}

impl Handle for Made {
    fn target(&mut self) -> Result<Vec<u8>, NodeError> {
        Ok(self.content.clone())
    }

    fn open(&mut self) -> Result<Box<dyn Content>, NodeError> {
        Ok(Box::new(Given {
            rest: self.content.clone(),
            size_bytes: self.size_bytes,
            fails: self.fails,
        }))
    }
}

struct Given {
    rest: Vec<u8>,
    size_bytes: u64,
    fails: bool,
}

impl Content for Given {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, NodeError> {
        if self.rest.is_empty() && self.fails {
            let reason = io::Error::from_raw_os_error(5);
            let error = hedgerow_fs::Error::new("read", "d/bad", reason);
            return Err(NodeError::entry(error));
        }
        let count = buffer.len().min(self.rest.len());
        for (byte, read) in buffer.iter_mut().zip(self.rest.drain(..count)) {
            *byte = read;
        }
        Ok(count)
    }
}

fn node(path: &[u8], kind: NodeKind, size_bytes: u64, content: &[u8], fails: bool) -> Node {
    Node {
        path: path.to_vec(),
        kind,
        mode: 0o644,
        uid: 0,
        gid: 0,
        mtime_s: 0,
        mtime_ns: 0,
        size_bytes,
        device: (0, 0),
        link: None,
        content_id: None,
        handle: Box::new(Made {
            content: content.to_vec(),
            size_bytes,
            fails,
        }),
    }
}

fn file(path: &[u8]) -> Node {
    node(path, NodeKind::File, 4, b"four", false)
}

fn directory(path: &[u8]) -> Node {
    node(path, NodeKind::Directory, 0, b"", false)
}

/// The words of the failure; nothing is left in the directory.
fn refused(nodes: Vec<Node>, workers: usize) -> String {
    let place = tempfile::tempdir().unwrap();
    let image = place.path().join("image");
    let nodes = nodes.into_iter().map(Ok);
    let failed = create(nodes, &image, &options(Compressor::Zstd, 4096, workers)).unwrap_err();
    assert_eq!(count(place.path()), 0, "{failed}");
    failed.to_string()
}

fn count(directory: &Path) -> usize {
    std::fs::read_dir(directory).unwrap().count()
}

#[test]
fn entries_that_make_no_sense_are_named() {
    let long = [b'n'; 256];
    for (path, reason) in [
        (
            &b"a/b"[..],
            "cannot store 'a/b': its directory did not come before it",
        ),
        (
            b"..",
            "cannot store '..': it has a name that no file can have",
        ),
        (
            b".",
            "cannot store '.': it has a name that no file can have",
        ),
        (b"a\0b", "it has a name that no file can have"),
        (&long, "it has a name that no file can have"),
        (b"0", "cannot store '0': it does not come in its order"),
        (b"1", "cannot store '1': it does not come in its order"),
    ] {
        for workers in [1, 2] {
            let said = refused(vec![directory(b""), file(b"1"), file(path)], workers);
            assert!(said.contains(reason), "{said}");
        }
    }
    assert!(refused(vec![file(b"a")], 1).contains("its directory did not come before it"));
    assert!(refused(Vec::new(), 1).contains("it has no root"));
}

#[test]
fn contents_that_cannot_be_read_are_named() {
    let megabytes = vec![7; 3 << 20];
    for (content, size, fails, reason) in [
        (
            &b"some"[..],
            9,
            true,
            "cannot read 'd/bad': Input/output error",
        ),
        (b"some", 9, false, "it has become shorter while it was read"),
        (&megabytes, 4 << 20, true, "Input/output error"),
        (
            &megabytes,
            4 << 20,
            false,
            "it has become shorter while it was read",
        ),
    ] {
        for workers in [1, 3] {
            let mut nodes = vec![directory(b""), directory(b"d")];
            nodes.extend((0..50).map(|number| file(format!("d/a{number:02}").as_bytes())));
            nodes.push(node(b"d/bad", NodeKind::File, size, content, fails));
            nodes.extend((0..50).map(|number| file(format!("d/c{number:02}").as_bytes())));
            let said = refused(nodes, workers);
            assert!(said.contains(reason), "{said}");
        }
    }
}

#[test]
fn directories_have_a_depth() {
    let chain = |depth: usize| {
        let mut path = Vec::new();
        let mut nodes = vec![directory(b"")];
        for _ in 0..depth {
            path.extend_from_slice(if path.is_empty() { b"d" } else { b"/d" });
            nodes.push(directory(&path));
        }
        nodes
    };
    let said = refused(chain(2049), 2);
    assert!(said.contains("more than 2048 directories"), "{said}");
    let place = tempfile::tempdir().unwrap();
    let nodes = chain(2048).into_iter().map(Ok);
    let image = place.path().join("image");
    create(nodes, &image, &options(Compressor::Zstd, 4096, 2)).unwrap();
}

#[test]
fn a_target_of_a_link_has_a_length() {
    for target in [&b""[..], &[b't'; 4096]] {
        let nodes = vec![
            directory(b""),
            node(b"l", NodeKind::Symlink, 0, target, false),
        ];
        assert!(refused(nodes, 2).contains("the target of the link is"));
    }
}

#[test]
fn a_file_that_is_there_stays() {
    let place = tempfile::tempdir().unwrap();
    let image = place.path().join("image");
    std::fs::write(&image, "precious").unwrap();
    let mut own = options(Compressor::Gzip, 4096, 2);
    own.replace = false;
    let nodes = || vec![directory(b""), file(b"a")].into_iter().map(Ok);
    let said = create(nodes(), &image, &own).unwrap_err().to_string();
    assert!(said.contains("File exists"), "{said}");
    assert_eq!(std::fs::read(&image).unwrap(), b"precious");
    own.replace = true;
    create(nodes(), &image, &own).unwrap();
    assert_eq!(std::fs::read(&image).unwrap()[..4], *b"hsqs");
    assert_eq!(count(place.path()), 1);
}
