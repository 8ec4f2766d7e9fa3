//! Two copies of one place. In one, `git` is git; in the other it is the link to hedgerow. Each is
//! moved to the same path while something runs in it, so that names in messages, configuration and
//! linked working trees are the same.

use crate::HEDGEROW;
use hedgerow_testkit::{
    differences, isolated, run_with, snapshot, temporary, Outcome, Program, Snapshot,
};
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What `git` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The real git.
    Plain,
    /// hedgerow, called as git.
    Linked,
}

pub const SIDES: [Side; 2] = [Side::Plain, Side::Linked];

/// A directory with the link `git` to hedgerow.
pub fn link_in(directory: &Path) {
    std::fs::create_dir_all(directory).unwrap();
    symlink(HEDGEROW, directory.join("git")).unwrap();
}

/// The first git in `PATH`.
pub fn real_git() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let mut files = std::env::split_paths(&path).map(|directory| directory.join("git"));
    files.find(|file| file.is_file()).expect("git is installed")
}

/// A `PATH` in which `directory` is first.
pub fn path_with(directory: &Path) -> OsString {
    let mut path = directory.as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap());
    path
}

/// What both have.
pub struct Twins {
    home: tempfile::TempDir,
    /// Directories below the place whose index is compared.
    pub trees: Vec<&'static str>,
    /// What was done, for a message.
    pub story: Vec<String>,
}

impl Twins {
    /// Both with what `make` leaves in the directory that it is given.
    pub fn new(make: impl Fn(&Path)) -> Twins {
        let twins = Twins {
            home: temporary(),
            trees: Vec::new(),
            story: Vec::new(),
        };
        link_in(&twins.links());
        std::fs::create_dir(twins.place()).unwrap();
        make(&twins.place());
        for side in SIDES {
            let mut copy = Command::new("cp");
            copy.arg("-a").args([twins.place(), twins.kept(side)]);
            assert!(copy.status().unwrap().success());
        }
        std::fs::remove_dir_all(twins.place()).unwrap();
        twins
    }

    pub fn links(&self) -> PathBuf {
        self.home.path().join("links")
    }

    /// Where one of them is while something runs.
    pub fn place(&self) -> PathBuf {
        self.home.path().join("place")
    }

    fn kept(&self, side: Side) -> PathBuf {
        self.home.path().join(format!("{side:?}"))
    }

    /// Does it in each.
    pub fn each<T>(&self, what: impl Fn(Side) -> T) -> [T; 2] {
        SIDES.map(|side| {
            std::fs::rename(self.kept(side), self.place()).unwrap();
            let result = what(side);
            std::fs::rename(self.place(), self.kept(side)).unwrap();
            result
        })
    }

    /// The `PATH` of this side.
    pub fn environment(links: &Path, side: Side) -> Option<(&'static str, OsString)> {
        (side == Side::Linked).then(|| ("PATH", path_with(links)))
    }

    /// The same command in both. What they say or leave differently, in words.
    pub fn both(&mut self, what: &str, prepare: impl Fn(Side) -> (Command, Vec<u8>)) -> Difference {
        self.story.push(what.to_owned());
        let before = self.each(|_| self.picture());
        let [untracked, _] = self.each(|_| self.listed(&["-o"]));
        let [tracked, _] = self.each(|_| self.listed(&[]));
        let [git, our] = self.each(|side| {
            let (command, input) = prepare(side);
            run_with(command, &input)
        });
        let after = self.each(|_| self.picture());
        Difference {
            what: what.to_owned(),
            is_touched: before[0] != after[0],
            is_ours_touched: before[1] != after[1],
            left: after[0].differences(&after[1]),
            is_crossed: are_crossed(&tracked, &untracked),
            untracked,
            before: before[0].files.clone(),
            after: after[0].files.clone(),
            git,
            our,
        }
    }

    /// The same script of the shell in both, in which `git` is the git of the side and `$PLACE` where
    /// both are.
    pub fn script(&mut self, script: &str) -> Difference {
        let (place, links) = (self.place(), self.links());
        self.both(script, |side| {
            let mut shell = isolated("sh");
            shell.envs(Twins::environment(&links, side));
            hedgerow_testkit::use_global_config(&mut shell, place.join("config"));
            shell.env("PLACE", &place).current_dir(place.join("work"));
            shell.arg("-c").arg(script);
            (shell, Vec::new())
        })
    }

    /// Makes them alike again, as git has left it.
    pub fn make_alike(&self) {
        let [plain, linked] = SIDES.map(|side| self.kept(side));
        std::fs::remove_dir_all(&linked).unwrap();
        let mut copy = Command::new("cp");
        copy.arg("-a").args([plain, linked]);
        assert!(copy.status().unwrap().success());
    }

    /// What `ls-files` lists in the trees: untracked files, ignored ones included, or tracked ones.
    fn listed(&self, words: &[&str]) -> Vec<Vec<u8>> {
        let place = self.place();
        let trees = self.trees.iter().filter(|tree| place.join(tree).is_dir());
        let listed = trees.flat_map(|tree| {
            let mut command = Program::Git.command(&place.join(tree));
            command.args(["ls-files", "-z"]).args(words);
            let said = run_with(command, b"").stdout;
            let paths = said
                .split(|byte| *byte == 0)
                .filter(|path| !path.is_empty());
            let below = |path: &[u8]| [tree.as_bytes(), b"/", path].concat();
            paths.map(below).collect::<Vec<_>>()
        });
        listed.collect()
    }

    fn picture(&self) -> Picture {
        let place = self.place();
        let entries = self.trees.iter().filter(|tree| place.join(tree).is_dir());
        let entries = entries.map(|tree| {
            let words = ["ls-files", "--stage", "-t", "-v"];
            let mut command = Program::Git.command(&place.join(tree));
            command.args(words);
            let outcome = run_with(command, b"");
            format!("{tree}: {}{}", shown(&outcome.stdout), outcome.stderr)
        });
        Picture {
            files: snapshot(&place, &is_private),
            entries: entries.collect(),
        }
    }
}

/// Files, references, logs, configuration, and the entries of each index.
#[derive(PartialEq)]
struct Picture {
    files: Snapshot,
    entries: Vec<String>,
}

impl Picture {
    fn differences(&self, our: &Picture) -> Vec<String> {
        let mut different = differences(&self.files, &our.files);
        if self.entries != our.entries {
            different.push(format!("index {:#?}\nnot {:#?}", our.entries, self.entries));
        }
        different
    }
}

fn are_crossed(tracked: &[Vec<u8>], untracked: &[Vec<u8>]) -> bool {
    let is_below = |path: &[u8], above: &[u8]| {
        path.strip_prefix(above)
            .is_some_and(|rest| rest.starts_with(b"/"))
    };
    tracked.iter().any(|known| {
        let mut others = untracked.iter();
        others.any(|other| is_below(other, known) || is_below(known, other))
    })
}

/// How a command ended in both.
pub struct Difference {
    pub what: String,
    pub git: Outcome,
    pub our: Outcome,
    /// Whether git changed anything.
    pub is_touched: bool,
    /// Whether hedgerow did.
    pub is_ours_touched: bool,
    /// What they left differently.
    pub left: Vec<String>,
    /// A name is a file in the index and a directory on disk, or the other way round.
    pub is_crossed: bool,
    /// The untracked files, and all files before and after, of git.
    pub untracked: Vec<Vec<u8>>,
    pub before: Snapshot,
    pub after: Snapshot,
}

impl Difference {
    pub fn is_none(&self) -> bool {
        self.git == self.our && self.left.is_empty()
    }
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "`{}`", self.what)?;
        if self.git != self.our {
            writeln!(
                f,
                "  git {:?}\n  our {:?}",
                said(&self.git),
                said(&self.our)
            )?;
        }
        self.left
            .iter()
            .try_for_each(|line| writeln!(f, "  left {line}"))
    }
}

fn said(outcome: &Outcome) -> (i32, String, &str) {
    (outcome.code, shown(&outcome.stdout), &outcome.stderr)
}

/// Files of git's that hold times, or packs whose names depend on how they were written.
fn is_private(path: &[u8]) -> bool {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap();
    // Names of tables have a random part.
    let private = [
        "index",
        "objects",
        "objects-dir",
        "index-file",
        "other-index",
        "gc.pid",
        "reftable",
    ];
    private.iter().any(|other| other.as_bytes() == name)
}

pub fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Words as they were typed.
pub fn typed<S: AsRef<OsStr>>(words: &[S]) -> String {
    let words: Vec<_> = words
        .iter()
        .map(|word| word.as_ref().to_string_lossy())
        .collect();
    words.join(" ")
}
