//! What deletes objects believes no accelerator: whatever a commit-graph, a multi-pack-index, a
//! bitmap or a reverse index says, also with a hash that is right, nothing in use is lost.

use super::midx_damage::{hash_len, seal};
use super::several::several_packs;
use super::{lines, printed};
use crate::HEDGEROW;
use hedgerow_testkit::history::Scene;
use hedgerow_testkit::Random;
use hedgerow_testkit::{git, run};
use std::path::{Path, PathBuf};

const COMMANDS: [&[&str]; 8] = [
    &["repack", "-a", "-d"],
    &["repack", "-a", "-d", "--cruft", "--cruft-expiration=now"],
    &["repack", "-A", "-d", "--unpack-unreachable=now"],
    &["repack", "-a", "-d", "-k", "--write-midx"],
    &["repack", "-d", "--geometric=2", "--write-midx", "-b"],
    &["maintenance", "run", "--task=full-repack"],
    &["multi-pack-index", "expire"],
    &["multi-pack-index", "repack"],
];

/// A repository with all accelerators.
struct Accelerated {
    scene: Scene,
    format: &'static str,
    /// All that is in use.
    live: Vec<String>,
}

impl Accelerated {
    fn new(seed: u64, format: &'static str) -> Self {
        let scene = several_packs(seed, format);
        scene.git(&["commit-graph", "write", "--reachable"]);
        printed(&scene, &["reverse-index"]);
        printed(&scene, &["multi-pack-index", "write", "--bitmap"]);
        let list = [
            "rev-list",
            "--objects",
            "--no-object-names",
            "--all",
            "--reflog",
        ];
        let live = lines(&scene.git(&list));
        Accelerated {
            scene,
            format,
            live,
        }
    }

    fn accelerators(&self) -> Vec<PathBuf> {
        let objects = self.scene.root.join(".git/objects");
        let mut found = vec![PathBuf::from("info/commit-graph")];
        for entry in std::fs::read_dir(objects.join("pack")).unwrap() {
            let name = PathBuf::from("pack").join(entry.unwrap().file_name());
            let is_one = name.extension().is_none_or(|e| e == "bitmap" || e == "rev");
            found.extend(is_one.then_some(name));
        }
        found.sort_unstable();
        found
    }

    /// Runs `words` in a copy of the repository one of whose accelerators has another content.
    fn try_with(&self, accelerator: &Path, content: &[u8], words: &[&str], what: &str) {
        let copy = hedgerow_testkit::temporary();
        let root = copy.path().join("copy");
        let from = &self.scene.root;
        let copied = std::process::Command::new("cp")
            .arg("-a")
            .args([from, &root])
            .status();
        assert!(copied.unwrap().success());
        let objects = root.join(".git/objects");
        let path = objects.join(accelerator);
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, content).unwrap();
        for words in [words, &["multi-pack-index", "expire"]] {
            let mut command = HEDGEROW.command(&root);
            command.args(words);
            run(command).assert_civil(what);
        }
        // What is damaged may be there still, and git says so.
        let _ = std::fs::remove_file(objects.join("info/commit-graph"));
        for entry in std::fs::read_dir(objects.join("pack")).unwrap() {
            let path = entry.unwrap().path();
            if !path
                .extension()
                .is_some_and(|end| end == "pack" || end == "idx")
            {
                std::fs::remove_file(path).unwrap();
            }
        }
        let input = self.live.join("\n");
        let found = git(&root, &["cat-file", "--batch-check"], input.as_bytes());
        let missing = lines(&found)
            .into_iter()
            .filter(|line| line.ends_with("missing"));
        assert_eq!(missing.count(), 0, "{what}");
        git(
            &root,
            &["fsck", "--full", "--no-dangling", "--no-progress"],
            b"",
        );
    }
}

#[test]
fn a_wrong_parent_in_the_commit_graph() {
    for (seed, format) in [(70, "sha1"), (71, "sha256")] {
        let case = Accelerated::new(seed, format);
        let path = Path::new("info/commit-graph");
        let whole = std::fs::read(case.scene.root.join(".git/objects").join(path)).unwrap();
        let data = commit_data(&whole);
        let length = hash_len(format) + 16;
        let count = data.len() / length;
        let mut words = COMMANDS[..4].iter().cycle();
        for commit in (0..count).step_by(count.div_ceil(12)) {
            for (field, value) in [(0, 0x7000_0000_u32), (0, 0), (4, 0x7000_0000)] {
                let at = data.start + commit * length + hash_len(format) + field;
                let mut damaged = whole.clone();
                damaged[at..at + 4].copy_from_slice(&value.to_be_bytes());
                seal(&mut damaged, format);
                let words = words.next().unwrap();
                let what = format!("{format}: commit {commit}, field {field}: {words:?}");
                case.try_with(path, &damaged, words, &what);
            }
        }
    }
}

/// Where the chunk CDAT is.
fn commit_data(graph: &[u8]) -> std::ops::Range<usize> {
    let number = |at: usize| u64::from_be_bytes(graph[at..at + 8].try_into().unwrap()) as usize;
    let rows = (0..usize::from(graph[6])).map(|row| 8 + row * 12);
    let row = rows
        .clone()
        .find(|at| &graph[*at..at + 4] == b"CDAT")
        .unwrap();
    number(row + 4)..number(row + 16)
}

#[test]
fn any_byte_of_any_accelerator() {
    for (seed, format) in [(72, "sha1"), (73, "sha256")] {
        let case = Accelerated::new(seed, format);
        let mut random = Random::new(seed);
        let mut words = COMMANDS.iter().cycle();
        let accelerators = case.accelerators();
        assert!(accelerators.len() > 5, "{accelerators:?}");
        for path in &accelerators {
            let whole = std::fs::read(case.scene.root.join(".git/objects").join(path)).unwrap();
            for round in 0..10 {
                let mut damaged = whole.clone();
                let at = random.below(whole.len() - hash_len(case.format));
                damaged[at] ^= 1 << random.below(8);
                if round % 5 > 0 {
                    seal(&mut damaged, format);
                }
                let words = words.next().unwrap();
                let what = format!("{format}: byte {at} of {path:?}: {words:?}");
                case.try_with(path, &damaged, words, &what);
            }
        }
    }
}

/// The numbers of packs in a multi-pack-index decide which pack goes.
#[test]
fn a_multi_pack_index_that_forgets_a_pack() {
    for (seed, format) in [(74, "sha1"), (75, "sha256")] {
        let case = Accelerated::new(seed, format);
        let path = Path::new("pack/multi-pack-index");
        let whole = std::fs::read(case.scene.root.join(".git/objects").join(path)).unwrap();
        let rows = (0..usize::from(whole[6])).map(|row| 12 + row * 12);
        let row = rows
            .clone()
            .find(|at| &whole[*at..at + 4] == b"OOFF")
            .unwrap();
        let number = |at: usize| u64::from_be_bytes(whole[at..at + 8].try_into().unwrap());
        let (start, end) = (number(row + 4) as usize, number(row + 16) as usize);
        let packs = u32::from_be_bytes(whole[8..12].try_into().unwrap());
        for forgotten in 0..packs {
            let mut damaged = whole.clone();
            for at in (start..end).step_by(8) {
                if damaged[at..at + 4] == forgotten.to_be_bytes() {
                    let other = (forgotten + 1) % packs;
                    damaged[at..at + 4].copy_from_slice(&other.to_be_bytes());
                }
            }
            seal(&mut damaged, format);
            let what = format!("{format}: pack {forgotten}");
            case.try_with(path, &damaged, &["multi-pack-index", "expire"], &what);
        }
    }
}
