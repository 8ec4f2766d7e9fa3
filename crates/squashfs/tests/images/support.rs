//! Programs that make and read images, and what a tree looks like.

use hedgerow_squashfs::{Body, Image, ImageSource};
use hedgerow_tree::NodeKind;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::process::{Command, Stdio};

/// All that is known of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    pub kind: NodeKind,
    pub mode: u32,
    pub owner: (u32, u32),
    pub mtime: i64,
    /// Size, links and blocks: file systems have their own views of those of directories.
    pub numbers: (u64, u64, u64),
    pub rdev: u64,
    pub target: Vec<u8>,
    pub hash: Vec<u8>,
    /// The first path of the same file.
    pub first: Vec<u8>,
    pub xattrs: BTreeMap<Vec<u8>, Vec<u8>>,
}

pub type Snapshot = BTreeMap<Vec<u8>, Described>;

pub use hedgerow_testkit::{require, skip};

/// Runs a program; says whether it did what it should.
pub fn run<S: AsRef<OsStr>>(program: &str, words: &[S]) -> Result<Vec<u8>, String> {
    let mut command = Command::new(program);
    command.args(words).env("LC_ALL", "C").env("TZ", "UTC");
    let output = command.stdin(Stdio::null()).output().unwrap();
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// What this crate reads.
pub fn of_image(image: &Image) -> Snapshot {
    let mut snapshot = Snapshot::new();
    let mut firsts: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
    let source = ImageSource::new(image).unwrap();
    let mut previous: Option<Vec<u8>> = None;
    let omissions = source.entries(&mut |found| {
        let metadata = found.entry.metadata.unwrap();
        let path = found.entry.path.to_vec();
        if let Some(previous) = &previous {
            assert!(hedgerow_tree::canonical_order(previous, &path).is_lt());
        }
        previous = Some(path.clone());
        let (mut target, mut hash) = (Vec::new(), Vec::new());
        match &found.inode.body {
            Body::Symlink(to) => target = to.to_vec(),
            Body::File(file) => hash = content_hash(image, file),
            _ => {}
        }
        let mut xattrs = BTreeMap::new();
        if let Some(index) = found.inode.xattrs {
            for xattr in image.xattrs(index).unwrap() {
                let xattr = xattr.unwrap();
                assert!(xattrs.insert(xattr.name.to_vec(), xattr.value).is_none());
            }
        }
        let first = firsts.entry(metadata.ino).or_insert_with(|| path.clone());
        let described = Described {
            kind: found.entry.kind,
            mode: metadata.mode,
            owner: (metadata.uid, metadata.gid),
            mtime: metadata.mtime_s,
            numbers: (metadata.size_bytes, metadata.nlink, metadata.blocks),
            rdev: metadata.rdev,
            target,
            hash,
            first: first.clone(),
            xattrs,
        };
        snapshot.insert(path, described);
        ControlFlow::Continue(())
    });
    assert!(omissions.is_empty(), "{omissions:?}");
    snapshot
}

pub fn content_hash(image: &Image, file: &hedgerow_squashfs::File) -> Vec<u8> {
    let (mut hasher, mut content, mut length) = (Sha256::new(), Vec::new(), 0);
    for piece in image.pieces(file).unwrap() {
        let piece = piece.unwrap();
        image.read_piece(&piece, &mut content).unwrap();
        assert_eq!(content.len(), piece.length as usize);
        length += u64::from(piece.length);
        hasher.update(&content);
    }
    assert_eq!(length, file.size);
    hasher.finalize().to_vec()
}

/// What the system reads below a directory.
pub fn of_directory(root: &Path) -> Snapshot {
    let xattrs = xattrs_below(root);
    let mut snapshot = Snapshot::new();
    let mut pending = vec![Vec::new()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(root.join(OsStr::from_bytes(&directory))).unwrap() {
            let name = entry.unwrap().file_name();
            let mut path: Vec<u8> = directory.clone();
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend_from_slice(name.as_bytes());
            let full = root.join(OsStr::from_bytes(&path));
            let metadata = fs::symlink_metadata(&full).unwrap();
            let (mut target, mut hash) = (Vec::new(), Vec::new());
            let kind = kind(&metadata.file_type());
            match kind {
                NodeKind::Symlink => {
                    target = fs::read_link(&full)
                        .unwrap()
                        .as_os_str()
                        .as_bytes()
                        .to_vec();
                }
                NodeKind::File => hash = Sha256::digest(fs::read(&full).unwrap()).to_vec(),
                NodeKind::Directory => pending.push(path.clone()),
                _ => {}
            }
            let described = Described {
                kind,
                mode: metadata.mode() & 0o7777,
                owner: (metadata.uid(), metadata.gid()),
                mtime: metadata.mtime(),
                numbers: (metadata.size(), metadata.nlink(), metadata.blocks()),
                rdev: metadata.rdev(),
                target,
                hash,
                // The inode number for now.
                first: metadata.ino().to_be_bytes().to_vec(),
                xattrs: xattrs.get(&path).cloned().unwrap_or_default(),
            };
            snapshot.insert(path, described);
        }
    }
    let mut paths: Vec<Vec<u8>> = snapshot.keys().cloned().collect();
    paths.sort_by(|a, b| hedgerow_tree::canonical_order(a, b));
    let mut firsts: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
    for path in paths {
        let described = snapshot.get_mut(&path).unwrap();
        let first = firsts.entry(described.first.clone());
        described.first = first.or_insert(path).clone();
    }
    snapshot
}

fn kind(found: &fs::FileType) -> NodeKind {
    match () {
        () if found.is_dir() => NodeKind::Directory,
        () if found.is_symlink() => NodeKind::Symlink,
        () if found.is_fifo() => NodeKind::Fifo,
        () if found.is_socket() => NodeKind::Socket,
        () if found.is_block_device() => NodeKind::BlockDevice,
        () if found.is_char_device() => NodeKind::CharacterDevice,
        () => NodeKind::File,
    }
}

/// Attributes as getfattr(1) prints them: `# file: PATH`, then `NAME=0xVALUE`. It escapes odd bytes
/// of names in octal.
fn xattrs_below(root: &Path) -> BTreeMap<Vec<u8>, BTreeMap<Vec<u8>, Vec<u8>>> {
    let mut all: BTreeMap<Vec<u8>, BTreeMap<Vec<u8>, Vec<u8>>> = BTreeMap::new();
    let script = "cd \"$0\" && getfattr -R -P -h -d -m - -e hex .";
    let text = run(
        "sh",
        &[OsStr::new("-c"), OsStr::new(script), root.as_os_str()],
    );
    let mut path = Vec::new();
    for line in text.unwrap_or_default().split(|byte| *byte == b'\n') {
        if let Some(name) = line.strip_prefix(b"# file: ") {
            path = unescaped(name);
        } else if let Some(at) = line.iter().position(|byte| *byte == b'=') {
            let value = line[at + 1..].strip_prefix(b"0x").unwrap_or_default();
            let digits = std::str::from_utf8(value).unwrap();
            let bytes = (0..digits.len() / 2)
                .map(|at| u8::from_str_radix(&digits[at * 2..at * 2 + 2], 16).unwrap());
            let entry = all.entry(path.clone()).or_default();
            entry.insert(unescaped(&line[..at]), bytes.collect());
        }
    }
    all
}

fn unescaped(text: &[u8]) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), text);
    while let Some((first, others)) = rest.split_first() {
        let octal = others.get(..3).filter(|_| *first == b'\\');
        let octal = octal.and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &others[3..];
            }
            None => {
                bytes.push(*first);
                rest = others;
            }
        }
    }
    bytes
}

/// Mounts an image while `look` looks at it; says whether that could be done.
pub fn mounted(image: &Path, what: &str, look: impl FnOnce(&Path)) -> bool {
    let place = tempfile::tempdir().unwrap();
    let words = ["-t", "squashfs", "-o", "loop,ro"].map(OsStr::new);
    let words = [&words[..], &[image.as_os_str(), place.path().as_os_str()]].concat();
    if let Err(reason) = run("mount", &words) {
        skip(&format!(
            "the kernel does not mount {what}: {}",
            reason.trim()
        ));
        return false;
    }
    let looked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| look(place.path())));
    // For a moment, programs that other tests start hold what is open here.
    if run("umount", &[place.path()]).is_err() {
        run("umount", &[OsStr::new("-l"), place.path().as_os_str()]).unwrap();
    }
    looked.unwrap();
    true
}

/// Compares, and shows only the first that differs, in short.
pub fn assert_same(ours: &Snapshot, theirs: &Snapshot, what: &str) {
    let short = |entry: Option<&Described>| {
        let text: String = format!("{entry:?}").chars().take(500).collect();
        text
    };
    for path in ours.keys().chain(theirs.keys()) {
        let (our, their) = (ours.get(path), theirs.get(path));
        if our != their {
            let path = String::from_utf8_lossy(path);
            panic!("{what}: {path}\n{}\n{}", short(our), short(their));
        }
    }
}

/// Without what depends on the file system on which the tree stands.
pub fn portable(snapshot: &Snapshot) -> Snapshot {
    let mut snapshot = snapshot.clone();
    for entry in snapshot.values_mut() {
        let (size, links, _) = entry.numbers;
        entry.numbers = match entry.kind {
            NodeKind::Directory => (0, 0, 0),
            _ => (size, links, 0),
        };
    }
    snapshot
}

/// As gensquashfs packs it, which takes every name for a file of its own and drops empty
/// attributes.
pub fn as_gensquashfs(snapshot: &Snapshot) -> Snapshot {
    let mut snapshot = snapshot.clone();
    for (path, entry) in &mut snapshot {
        entry.numbers.1 = 1;
        entry.first = path.clone();
        entry.xattrs.retain(|_, value| !value.is_empty());
    }
    snapshot
}
