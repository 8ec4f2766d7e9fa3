//! What the tests of conversion do with repositories, and numbers for them.

use gix_hash::ObjectId;
use hedgerow_testkit::{blob_id, Repository};
use std::collections::BTreeMap;

/// Puts blobs of exactly these contents into the index; tells their ids.
pub fn stage(
    repository: &Repository,
    files: &BTreeMap<String, Vec<u8>>,
) -> BTreeMap<String, ObjectId> {
    let mut ids = BTreeMap::new();
    let mut names = String::new();
    let mut by_content: BTreeMap<&[u8], ObjectId> = BTreeMap::new();
    for (number, content) in files.values().enumerate() {
        if !by_content.contains_key(content.as_slice()) {
            by_content.insert(content, blob_id(content));
            let name = format!(".git/raw/{number}");
            repository.write(&name, content);
            names.push_str(&name);
            names.push('\n');
        }
    }
    let store = ["hash-object", "-w", "--no-filters", "--stdin-paths"];
    repository.git_with(&store, names.as_bytes());
    let mut lines = String::new();
    for (path, content) in files {
        let id = by_content[content.as_slice()];
        lines.push_str(&format!("100644 {id}\t{path}\n"));
        ids.insert(path.clone(), id);
    }
    repository.git_with(&["update-index", "--index-info"], lines.as_bytes());
    ids
}

/// A generator of the same numbers on every machine.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}
