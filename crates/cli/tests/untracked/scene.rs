//! Working trees drawn from seeds: tracked files and what may stand beside, in place of and below
//! them.

use hedgerow_testkit::{Random, Repository};
use std::process::Command;

/// What one step of the making does.
#[derive(Clone, Debug)]
enum Step {
    Write(Vec<u8>, &'static str),
    Link(Vec<u8>, &'static str),
    Directory(Vec<u8>),
    Fifo(Vec<u8>),
    Repository(Vec<u8>, bool),
    GitFile(Vec<u8>, &'static str),
    Remove(Vec<u8>),
    Git(Vec<&'static str>),
}

/// A working tree to make any number of times.
pub struct Scene {
    steps: Vec<Step>,
    /// Directories that exist, for use as current ones.
    pub directories: Vec<Vec<u8>>,
    /// Paths that exist, existed, or might.
    pub paths: Vec<Vec<u8>>,
}

const NAMES: [&[u8]; 16] = [
    b"a",
    b"b",
    b"c",
    b"d",
    b"lib",
    b"src",
    b"x.o",
    b"y.o",
    b"keep.o",
    b"z.c",
    b"out",
    b"a b",
    b"q\"t",
    b"\xc3\xa4",
    b"n\nl",
    b"\xff",
];
const IGNORES: [&str; 12] = [
    "*.o\n",
    "*.o\n!keep.o\n",
    "out/\n",
    "out\n!out/\n",
    "/lib\n",
    "lib/*\n!lib/a\n",
    "a/b\n",
    "**/c\n",
    "d/\n*.c\n",
    "*\n!*/\n!z.c\n",
    "x.o\nsrc/\n",
    "# nothing\n",
];

impl Scene {
    pub fn new(random: &mut Random) -> Scene {
        let mut scene = Scene {
            steps: Vec::new(),
            directories: vec![Vec::new()],
            paths: Vec::new(),
        };
        for _ in 0..2 + random.below(8) {
            let path = scene.path(random, 3);
            scene.steps.push(Step::Write(path, "tracked\n"));
        }
        scene.ignores(random);
        scene.steps.push(Step::Git(vec!["add", "-A", "-f"]));
        scene
            .steps
            .push(Step::Git(vec!["commit", "-q", "-m", "first"]));
        for _ in 0..4 + random.below(24) {
            scene.change(random);
        }
        scene.ignores(random);
        if random.chance(15) {
            scene.steps.push(Step::Git(vec!["add", "-A"]));
        }
        scene
    }

    /// Makes it in an empty repository. What is in the way of a step is left.
    pub fn make(&self, repository: &Repository) {
        for step in &self.steps {
            self.take(step, repository);
        }
    }

    fn take(&self, step: &Step, repository: &Repository) {
        use Step::*;
        let free = |path: &[u8]| fits(repository, path, false);
        match step {
            Write(path, content) if fits(repository, path, true) => repository.write(path, content),
            Link(path, target) if free(path) => repository.symlink(path, target),
            Directory(path) if free(path) => {
                std::fs::create_dir_all(repository.path(path)).unwrap();
            }
            Fifo(path) if free(path) => {
                let place = repository.path(path);
                std::fs::create_dir_all(place.parent().unwrap()).unwrap();
                assert!(Command::new("mkfifo")
                    .arg(place)
                    .status()
                    .unwrap()
                    .success());
            }
            Repository(path, has_file) if free(path) => {
                std::fs::create_dir_all(repository.path(path)).unwrap();
                let inner = hedgerow_testkit::Repository::at(repository.path(path));
                inner.git(&["init", "-q", "-b", "main"]);
                if *has_file {
                    inner.commit_files(&[("inside", "x")], "inside");
                }
            }
            GitFile(path, content) if free(path) => {
                repository.write([path.as_slice(), b"/.git"].concat(), content);
                repository.write([path.as_slice(), b"/inside"].concat(), "x");
            }
            Remove(path) => repository.remove(path),
            Git(words) => drop(repository.run(words, b"")),
            _ => {}
        }
    }

    fn change(&mut self, random: &mut Random) {
        let path = self.path(random, 4);
        let step = match random.below(20) {
            0..=9 => Step::Write(path, ["", "untracked\n", "tracked\n"][random.below(3)]),
            10 => Step::Link(path, ["a", "../src", ".", "nowhere"][random.below(4)]),
            11 | 12 => {
                self.directories.push(path.clone());
                Step::Directory(path)
            }
            13 => Step::Fifo(path),
            14 => Step::Repository(path, random.chance(50)),
            15 => Step::GitFile(path, ["gitdir: nowhere\n", "odd"][random.below(2)]),
            _ => {
                let known = self.paths.len();
                let path = self.paths[random.below(known)].clone();
                let end = if random.chance(30) { 1 } else { path.len() };
                let first = path.split(|byte| *byte == b'/').next().unwrap();
                let path = if end == 1 { first.to_vec() } else { path };
                self.steps.push(Step::Remove(path.clone()));
                match random.below(3) {
                    0 => Step::Write(path, "instead\n"),
                    1 => Step::Write([path.as_slice(), b"/a"].concat(), "instead\n"),
                    _ => return,
                }
            }
        };
        self.steps.push(step);
    }

    fn ignores(&mut self, random: &mut Random) {
        for _ in 0..random.below(3) {
            let rules = *random.pick(&IGNORES);
            let path = match random.below(3) {
                0 => b".gitignore".to_vec(),
                1 => [random.pick(&NAMES[..6]), &b"/.gitignore"[..]].concat(),
                _ => b".git/info/exclude".to_vec(),
            };
            if path.starts_with(b".git/") {
                self.steps.push(Step::Remove(path.clone()));
            }
            self.steps.push(Step::Write(path, rules));
        }
    }

    fn path(&mut self, random: &mut Random, depth: usize) -> Vec<u8> {
        let mut parts: Vec<&[u8]> = Vec::new();
        for _ in 0..random.below(depth) {
            parts.push(NAMES[random.below(6)]);
        }
        if !parts.is_empty() && random.chance(40) {
            self.directories.push(parts.join(&b'/'));
        }
        let last = *random.pick(&NAMES);
        parts.push(last);
        let path = parts.join(&b'/');
        self.paths.push(path.clone());
        path
    }
}

/// Whether nothing is at the path, or a file if `over_file`, and all above it are directories or
/// nothing.
fn fits(repository: &Repository, path: &[u8], over_file: bool) -> bool {
    let mut place = repository.root.clone();
    let full = repository.path(path);
    for part in full.strip_prefix(&repository.root).unwrap() {
        place.push(part);
        match std::fs::symlink_metadata(&place) {
            Ok(stat) if place != full && stat.is_dir() => {}
            Ok(stat) => return over_file && place == full && stat.is_file(),
            Err(_) => return true,
        }
    }
    false
}
