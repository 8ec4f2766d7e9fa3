//! A small pack that is right, for targets that put something wrong beside it.

use hedgerow_codec::deflate;
use hedgerow_pack::indexer::{index_pack_file, IndexOptions, Installation};
use hedgerow_pack::{HashKind, IndexLayout, ObjectId, TrailerHasher};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

/// A pack and the files beside it.
pub struct Packed {
    pack: Vec<u8>,
    pub index: Vec<u8>,
    reverse: Vec<u8>,
    /// What it holds, in order of ids.
    pub ids: Vec<ObjectId>,
    pub checksum: ObjectId,
}

/// The same pack each time: commits with trees and blobs, and deltas.
pub fn packed() -> &'static Packed {
    static PACKED: OnceLock<Packed> = OnceLock::new();
    PACKED.get_or_init(make)
}

impl Packed {
    /// Writes the pack and its files into `objects/pack`, `changed` ones instead of its own.
    pub fn write(&self, objects: &Path, changed: &[(&str, &[u8])]) {
        let directory = objects.join("pack");
        fs::create_dir_all(&directory).expect("a directory");
        let own = [("pack", &self.pack), ("idx", &self.index), ("rev", &self.reverse)];
        let own = own.map(|(extension, content)| (extension, content.as_slice()));
        for (extension, content) in own.iter().chain(changed) {
            let path = directory.join(format!("pack-{}.{extension}", self.checksum));
            fs::write(path, content).expect("a file");
        }
    }
}

/// `content`, the checksum of the pack, and the hash of all that.
pub fn seal(mut content: Vec<u8>, pack: Option<&ObjectId>) -> Vec<u8> {
    content.extend_from_slice(pack.map(|id| id.as_slice()).unwrap_or_default());
    let mut hasher = TrailerHasher::new(HashKind::Sha1);
    hasher.update(&content);
    content.extend_from_slice(hasher.finish().as_slice());
    content
}

fn make() -> Packed {
    let mut pack = b"PACK\0\0\0\x02\0\0\0\0".to_vec();
    let mut count = 0_u32;
    let mut add = |kind: u8, name: &str, base: Option<u64>, content: &[u8]| {
        let start = pack.len() as u64;
        let size = content.len();
        pack.extend([0x80 | kind << 4 | (size & 15) as u8, (size >> 4) as u8 & 0x7f]);
        // All entries are near each other: a distance takes two bytes.
        pack.extend(base.into_iter().flat_map(|base| {
            let distance = start - base - 128;
            [0x80 | (distance >> 7) as u8, (distance & 0x7f) as u8]
        }));
        pack.extend(deflate(content, 1));
        count += 1;
        let header = format!("{name} {size}\0");
        let mut hasher = TrailerHasher::new(HashKind::Sha1);
        hasher.update(&[header.as_bytes(), content].concat());
        (hasher.finish(), start)
    };
    let mut parent = String::new();
    let long: Vec<u8> = (0..1000_u32).map(|at| (at * at % 251) as u8).collect();
    let (_, first) = add(3, "blob", None, &long);
    for number in 0..30_u32 {
        let text = format!("{number}");
        let (blob, _) = add(3, "blob", None, text.as_bytes());
        let tree = [b"100644 f\0".as_slice(), blob.as_slice()].concat();
        let (tree, _) = add(2, "tree", None, &tree);
        let commit = format!("tree {tree}\n{parent}author a <a> 1 +0\ncommitter a <a> 1 +0\n\n");
        let (commit, _) = add(1, "commit", None, commit.as_bytes());
        parent = format!("parent {commit}\n");
        if number % 7 == 3 {
            // Copies the start of the large blob, and adds a byte.
            let length = 50 + number as u8;
            add(6, "", Some(first), &[0xe8, 7, length + 1, 0x90, length, 1, b'x']);
        }
    }
    pack[8..12].copy_from_slice(&count.to_be_bytes());
    let pack = seal(pack, None);
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("a.pack");
    fs::write(&path, &pack).expect("a file");
    let options = IndexOptions::new(HashKind::Sha1);
    let indexed = index_pack_file(&path, &options);
    let mut indexed = indexed.expect("a sound pack");
    let places = Installation {
        index: path.with_extension("idx"),
        layout: IndexLayout::default(),
        reverse: Some(path.with_extension("rev")),
        pack: None,
        notes: Vec::new(),
        sync_pack: false,
        sync_indexes: false,
        threads: std::num::NonZeroUsize::MIN,
    };
    indexed.install(&places).expect("files");
    let read = |extension| fs::read(path.with_extension(extension)).expect("a file");
    Packed {
        pack,
        index: read("idx"),
        reverse: read("rev"),
        ids: indexed.entries.iter().map(|entry| entry.id).collect(),
        checksum: indexed.checksum,
    }
}
