//! Repositories with every kind of object in odd places, made from a seed.

use crate::{git, Random, Repository};
use std::path::PathBuf;

/// A repository and the ids of what is in it.
pub struct Scene {
    pub root: PathBuf,
    pub commits: Vec<String>,
    pub trees: Vec<String>,
    pub blobs: Vec<String>,
    pub tags: Vec<String>,
    _repository: Repository,
}

/// How the objects are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    Loose,
    Packed,
    /// In packs and beside them.
    Both,
    /// In another repository.
    Alternate,
}

/// How the commit-graph is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Graph {
    None,
    File,
    /// A chain of two files, and commits in neither.
    Chain,
}

pub fn scene(seed: u64, format: &str, storage: Storage, graph: Graph) -> Scene {
    let format = format!("--object-format={format}");
    let mut scene = Scene {
        commits: Vec::new(),
        trees: Vec::new(),
        blobs: Vec::new(),
        tags: Vec::new(),
        root: PathBuf::new(),
        _repository: Repository::init(&[format.as_str()]),
    };
    scene.root.clone_from(&scene._repository.root);
    let random = &mut Random::new(seed);
    for number in 0..12 {
        let content = format!("{number}\n").repeat(1 + random.below(200));
        scene
            .blobs
            .push(scene.put(&["hash-object", "-w", "--stdin"], content.as_bytes()));
    }
    scene.trees.push(scene.put(&["mktree"], b""));
    for _ in 0..14 {
        scene.add_tree(random);
    }
    let skew = [0, 0, 3, 50][random.below(4)];
    let count = 12 + random.below(12);
    for number in 0..count {
        scene.add_commit(random, number, skew);
        if graph == Graph::Chain && (number == count / 3 || number == count * 2 / 3) {
            scene.point("refs/heads/main", scene.commits.last().unwrap());
            scene.git(&["commit-graph", "write", "--reachable", "--split=no-merge"]);
        }
    }
    scene.point("refs/heads/main", scene.commits.last().unwrap());
    for number in 0..4 {
        scene.point(
            &format!("refs/heads/b{number}"),
            random.pick(&scene.commits),
        );
    }
    for number in 0..6 {
        scene.add_tag(random, number);
    }
    scene.point("refs/tags/lt", random.pick(&scene.trees));
    scene.point("refs/tags/lb", random.pick(&scene.blobs));
    if matches!(storage, Storage::Packed | Storage::Both) {
        scene.git(&["repack", "-adq"]);
    }
    if storage == Storage::Both {
        scene.add_commit(random, count, skew);
        scene.point("refs/heads/new", scene.commits.last().unwrap());
    }
    if graph == Graph::File {
        scene.git(&["commit-graph", "write", "--reachable"]);
    }
    if storage == Storage::Alternate {
        let other = scene.root.with_file_name("other.git");
        scene.git(&[
            "clone",
            "-q",
            "--shared",
            "--bare",
            ".",
            other.to_str().unwrap(),
        ]);
        scene.root = other;
    }
    scene
}

impl Scene {
    pub fn git(&self, words: &[&str]) -> Vec<u8> {
        git(&self.root, words, b"")
    }

    fn put(&self, words: &[&str], input: &[u8]) -> String {
        let id = git(&self.root, words, input);
        String::from_utf8(id).unwrap().trim().to_owned()
    }

    fn point(&self, name: &str, id: impl AsRef<str>) {
        self.git(&["update-ref", name, id.as_ref()]);
    }

    fn add_tree(&mut self, random: &mut Random) {
        let mut entries = String::new();
        for number in 0..random.below(5) {
            let blob = random.pick(&self.blobs);
            entries += &format!("100644 blob {blob}\tf{number} x\n");
        }
        for number in 0..random.below(4) {
            let tree = random.pick(&self.trees);
            entries += &format!("040000 tree {tree}\td{number}\n");
        }
        if random.chance(20) {
            let digits = "1".repeat(self.blobs[0].len());
            entries += &format!("160000 commit {digits}\tsub\n");
        }
        self.trees
            .push(self.put(&["mktree", "--missing"], entries.as_bytes()));
    }

    fn add_commit(&mut self, random: &mut Random, number: usize, skew: usize) {
        let seconds = 1_000_000_000 + number / 2 + 50 - random.below(skew + 1);
        let mut text = format!("tree {}\n", random.pick(&self.trees));
        let recent = self.commits.len().saturating_sub(8);
        let mut parents: Vec<&String> = Vec::new();
        for _ in 0..[1, 1, 1, 1, 2, 2, 3, 0][random.below(8)].min(self.commits.len()) {
            let parent = random.pick(&self.commits[recent..]);
            if !parents.contains(&parent) {
                text += &format!("parent {parent}\n");
                parents.push(parent);
            }
        }
        text += &format!("author a <a> {seconds} +0000\ncommitter a <a> {seconds} +0000\n\nx\n");
        let id = self.put(
            &["hash-object", "-w", "-t", "commit", "--stdin"],
            text.as_bytes(),
        );
        self.commits.push(id);
    }

    fn add_tag(&mut self, random: &mut Random, number: usize) {
        let mut targets = vec![
            ("commit", random.pick(&self.commits).clone()),
            ("tree", random.pick(&self.trees).clone()),
            ("blob", random.pick(&self.blobs).clone()),
        ];
        targets.extend(self.tags.last().map(|tag| ("tag", tag.clone())));
        let (kind, target) = random.pick(&targets);
        let text =
            format!("object {target}\ntype {kind}\ntag t{number}x\ntagger a <a> 1 +0000\n\nx\n");
        let tag = self.put(
            &["hash-object", "-w", "-t", "tag", "--stdin"],
            text.as_bytes(),
        );
        self.point(&format!("refs/tags/t{number}"), &tag);
        self.tags.push(tag);
    }
}
