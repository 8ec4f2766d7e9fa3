use std::collections::BTreeMap;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// One thing in a directory tree.
#[derive(Clone, PartialEq, Eq)]
pub enum Node {
    /// Permission bits and content.
    File(u32, Vec<u8>),
    Symlink(Vec<u8>),
    Directory,
}

impl std::fmt::Debug for Node {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Node::File(mode, content) => {
                let shown = &content[..content.len().min(60)];
                let shown = String::from_utf8_lossy(shown);
                write!(out, "file {mode:o} of {} bytes {shown:?}", content.len())
            }
            Node::Symlink(target) => write!(out, "link to {:?}", String::from_utf8_lossy(target)),
            Node::Directory => write!(out, "directory"),
        }
    }
}

/// Everything below a directory, by relative path.
pub type Snapshot = BTreeMap<Vec<u8>, Node>;

/// Takes a picture of `root`, without what `leave_out` says by its relative path.
pub fn snapshot(root: &Path, leave_out: &dyn Fn(&[u8]) -> bool) -> Snapshot {
    let mut picture = Snapshot::new();
    let mut pending = vec![Vec::new()];
    while let Some(directory) = pending.pop() {
        let place = root.join(std::ffi::OsStr::from_bytes(&directory));
        for entry in std::fs::read_dir(&place).unwrap() {
            let entry = entry.unwrap();
            let mut path = directory.clone();
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend_from_slice(entry.file_name().as_bytes());
            if leave_out(&path) {
                continue;
            }
            let kind = entry.file_type().unwrap();
            let node = if kind.is_symlink() {
                let target = std::fs::read_link(entry.path()).unwrap();
                Node::Symlink(target.into_os_string().into_vec())
            } else if kind.is_dir() {
                pending.push(path.clone());
                Node::Directory
            } else {
                let mode = entry.metadata().unwrap().permissions().mode() & 0o7777;
                Node::File(mode, std::fs::read(entry.path()).unwrap())
            };
            picture.insert(path, node);
        }
    }
    picture
}

/// What differs, in words.
pub fn differences(expected: &Snapshot, found: &Snapshot) -> Vec<String> {
    let paths: std::collections::BTreeSet<_> = expected.keys().chain(found.keys()).collect();
    paths
        .into_iter()
        .filter(|path| expected.get(*path) != found.get(*path))
        .map(|path| {
            let name = String::from_utf8_lossy(path);
            let (expected, found) = (expected.get(path), found.get(path));
            format!("{name:?}: git has {expected:?}, hedgerow has {found:?}")
        })
        .collect()
}
