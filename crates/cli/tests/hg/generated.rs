//! Working copies in all sorts of states, made from seeds.

use crate::random::Random;
use crate::{past, set_time, Bench, Format, FORMATS};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{symlink, PermissionsExt};
use std::path::{Path, PathBuf};

/// Seeds, each for a working copy in each format.
const SEEDS: u64 = 52;

/// Names that sort in odd ways, and that are no UTF-8.
const NAMES: [&[u8]; 16] = [
    b"a",
    b"b",
    b"a-b",
    b"a.c",
    b"a b",
    b"A",
    b"c.o",
    b"x~",
    b"\xff\xfe",
    b"\xc3\xa4",
    b"-d",
    b"build",
    b"log.txt",
    b"'q'",
    b"a0",
    b"[x]",
];

/// Lines for ignore files.
const PATTERNS: [&str; 26] = [
    r"\.o$",
    r"^build/",
    "syntax: glob\n*.o",
    "syntax: glob\nbuild",
    "syntax: rootglob\na/*",
    "glob:**/log.txt",
    "rootglob:a?b",
    "re:^a/(b|c)",
    "(?i)LOG",
    "relglob:a b/{a,b}",
    "syntax: glob\n[ab].c\nsyntax: regexp\n~$",
    "include:more-ignores",
    "subinclude:a/.hgignore",
    "subinclude:b/ignores",
    r"^(?!a).*\.txt$",
    r"(a|b)/\1",
    r"\bx~",
    "glob:a/**/b",
    "a # comment",
    r"glob:\[x\]",
    "glob:[!a]",
    "rootglob:build",
    r"(?<=a/)b$",
    r"[^\w/.]",
    "glob:*/a0",
    "x{1,2}~|^A/",
];

const PLAIN: [&[&str]; 9] = [
    &[],
    &["-A"],
    &["-i"],
    &["-u", "-i", "-n"],
    &["-n", "-0"],
    &["--copies"],
    &["-m", "-a", "-r", "-d"],
    &["-c", "--copies"],
    &["-d", "-u", "-0"],
];
/// When Mercurial has to be asked, which takes time.
const ASKING: [&[&str]; 2] = [&["-A"], &["-m", "-r", "-d"]];

struct Copy<'b> {
    bench: &'b mut Bench,
    root: PathBuf,
    random: Random,
    /// Files that were committed.
    files: Vec<PathBuf>,
    /// Whether files may be left in a state that only their content tells.
    may_be_undecided: bool,
}

impl Copy<'_> {
    fn name(&mut self) -> PathBuf {
        let depth = 1 + self.random.below(3);
        let parts = (0..depth).map(|_| OsStr::from_bytes(NAMES[self.random.below(NAMES.len())]));
        parts.collect()
    }

    fn write(&mut self, path: &Path, content: &[u8]) -> bool {
        let full = self.root.join(path);
        let Some(parent) = full.parent() else {
            return false;
        };
        if fs::create_dir_all(parent).is_err() || !parent.starts_with(&self.root) {
            return false;
        }
        if fs::write(&full, content).is_err() {
            return false;
        }
        let (seconds, nanoseconds) = past(self.random.number());
        set_time(&full, seconds, nanoseconds);
        true
    }

    fn content(&mut self) -> Vec<u8> {
        let length = self.random.below(20);
        (0..length)
            .map(|_| b'a' + self.random.below(4) as u8)
            .collect()
    }

    /// Makes files, links and executables that are then committed.
    fn tree(&mut self) {
        for _ in 0..self.random.below(25) + 1 {
            let name = self.name();
            let content = self.content();
            if self.random.once_in(8) {
                let full = self.root.join(&name);
                let made = full
                    .parent()
                    .map(fs::create_dir_all)
                    .is_some_and(|made| made.is_ok());
                if made && symlink("target", &full).is_ok() {
                    let (seconds, nanoseconds) = past(self.random.number());
                    set_time(&full, seconds, nanoseconds);
                    self.files.push(name);
                }
            } else if self.write(&name, &content) {
                if self.random.once_in(5) {
                    self.set_mode(&name, 0o755);
                }
                self.files.push(name);
            }
        }
        self.files.sort();
        self.files.dedup();
        self.bench.hg(&self.root, &["addremove", "-q"]);
        self.bench.hg(&self.root, &["commit", "-qm", "one"]);
    }

    fn set_mode(&self, path: &Path, mode: u32) {
        let permissions = fs::Permissions::from_mode(mode);
        // It may be gone, or a link to nowhere.
        let _ = fs::set_permissions(self.root.join(path), permissions);
    }

    fn ignore_files(&mut self) {
        for name in [".hgignore", "more-ignores", "a/.hgignore", "b/ignores"] {
            if self.random.once_in(3) && name != ".hgignore" {
                continue;
            }
            let mut lines = String::new();
            for _ in 0..self.random.below(4) {
                let line = *self.random.pick(&PATTERNS);
                // Nothing includes itself.
                let is_inner = name != ".hgignore" && line.contains("include:");
                if !is_inner {
                    lines.push_str(line);
                    lines.push('\n');
                }
            }
            self.write(Path::new(name), lines.as_bytes());
        }
        if self.random.once_in(3) {
            let settings = "[ui]\nignore = more-ignores\nignore.other = $HGRCPATH-none\n";
            fs::write(self.root.join(".hg/hgrc"), settings).unwrap();
        }
    }

    /// Begins a merge of two heads that changed different and the same files.
    fn merge(&mut self) {
        for side in ["one", "two"] {
            for _ in 0..3 {
                let file = self.random.pick(&self.files).clone();
                let is_file = self
                    .root
                    .join(&file)
                    .symlink_metadata()
                    .is_ok_and(|state| state.is_file());
                if is_file {
                    let content = [side.as_bytes(), &self.content()].concat();
                    self.write(&file, &content);
                }
            }
            let new = self.name();
            self.write(&new, side.as_bytes());
            self.bench.hg(&self.root, &["addremove", "-q"]);
            let committed = [OsString::from("-qm"), side.into()];
            self.bench.hg_on(&self.root, &["commit"], &committed);
            if side == "one" {
                self.bench.hg(&self.root, &["update", "-qr", "0"]);
            }
        }
        let no_words: [OsString; 0] = [];
        self.bench.hg_on(&self.root, &["merge", "-q"], &no_words);
        self.settle();
    }

    /// Gives every file a time that has passed, and lets Mercurial note it.
    fn settle(&mut self) {
        let mut pending = vec![self.root.clone()];
        while let Some(directory) = pending.pop() {
            for entry in fs::read_dir(&directory).unwrap() {
                let path = entry.unwrap().path();
                if path.ends_with(".hg") {
                    continue;
                }
                let state = path.symlink_metadata().unwrap();
                if state.is_dir() {
                    pending.push(path);
                } else if !state.is_symlink() {
                    let (seconds, nanoseconds) = past(self.random.number());
                    set_time(&path, seconds, nanoseconds);
                }
            }
        }
        self.bench.hg(&self.root, &["status", "-q"]);
    }

    fn change(&mut self) {
        let file = self.random.pick(&self.files).clone();
        let full = self.root.join(&file);
        let new = self.name();
        match self.random.below(17) {
            0 => self.hg(&["remove", "-qf", "--"], &[&file]),
            1 => self.hg(&["forget", "-q", "--"], &[&file]),
            2 => self.hg(&["copy", "-q", "--"], &[&file, &new]),
            3 => self.hg(&["rename", "-q", "--"], &[&file, &new]),
            4 => {
                let content = self.content();
                if self.write(&new, &content) {
                    self.hg(&["add", "-q", "--"], &[&new]);
                }
            }
            5 => drop(fs::remove_file(&full)),
            6 => drop(self.write(&file, b"a content longer than any other")),
            7 => self.set_mode(&file, 0o755),
            8 => self.set_mode(&file, 0o644),
            9 => {
                // A link in the place of a file, or the other way round.
                let _ = fs::remove_file(&full);
                let _ = symlink("elsewhere", &full);
            }
            10..=13 => self.change_directory(&file),
            14 if self.may_be_undecided => self.change_time(&full),
            15 if self.may_be_undecided => self.change_bytes(&full),
            _ => {
                let content = self.content();
                self.write(&new, &content);
            }
        }
    }

    fn hg(&mut self, words: &[&str], paths: &[&Path]) {
        let paths: Vec<OsString> = paths.iter().map(|path| path.into()).collect();
        self.bench.hg_on(&self.root, words, &paths);
    }

    /// Does something to the directory of a file, or makes one of the file.
    fn change_directory(&mut self, file: &Path) {
        let full = self.root.join(file);
        let parent = full.parent().unwrap().to_owned();
        match self.random.below(4) {
            0 => {
                let _ = fs::remove_file(&full);
                let _ = fs::create_dir(&full);
                self.write(&file.join("inside"), b"x");
            }
            _ if parent == self.root => {}
            1 => {
                let _ = fs::remove_dir_all(&parent);
                let _ = fs::write(&parent, "was a directory");
            }
            2 => {
                let moved = self.root.join("moved away");
                if fs::rename(&parent, &moved).is_ok() {
                    let _ = symlink(&moved, &parent);
                }
            }
            // Mercurial refuses to compare what is in a repository of its own.
            _ if self.may_be_undecided => {}
            _ => {
                // A repository of its own, perhaps around tracked files.
                let _ = fs::create_dir(parent.join(".hg"));
            }
        }
    }

    /// Touches it: another time, the same content.
    fn change_time(&mut self, full: &Path) {
        if full.symlink_metadata().is_ok_and(|state| state.is_file()) {
            set_time(full, 1_400_000_000, 0);
        }
    }

    /// Gives it another content of the same size, now or at an old time.
    fn change_bytes(&mut self, full: &Path) {
        if full.symlink_metadata().is_ok_and(|state| state.is_file()) {
            let mut content = fs::read(full).unwrap();
            content.reverse();
            fs::write(full, content).unwrap();
            if self.random.once_in(2) {
                set_time(full, 1_400_000_001, 5);
            }
        }
    }

    fn compare(&mut self, context: &str) {
        let sets: Vec<&[&str]> = if self.may_be_undecided {
            ASKING.to_vec()
        } else {
            let mut sets = PLAIN[..2].to_vec();
            sets.extend((0..3).map(|_| *self.random.pick(&PLAIN[2..])));
            sets
        };
        let root = self.root.clone();
        self.bench.compare(&root, &sets, context);
        if self.may_be_undecided {
            return;
        }
        let Some(below) = self.files.iter().find_map(|file| {
            let parent = root.join(file.parent()?);
            let is_real =
                parent != root && parent.is_dir() && parent.canonicalize().ok()? == parent;
            (is_real && hedgerow::plumbing::hg::find_root(&parent)? == root).then_some(parent)
        }) else {
            return;
        };
        let sets: [&[&str]; 2] = [&["."], &["-A", "--copies", ".", "../a"]];
        self.bench
            .compare(&below, &sets, &format!("{context} below"));
    }
}

fn working_copy(bench: &mut Bench, seed: u64, format: Format) {
    let root = bench.init(&format!("{seed}-{format:?}"), format);
    let mut copy = Copy {
        bench,
        root: root.clone(),
        random: Random::new(seed),
        files: Vec::new(),
        may_be_undecided: seed.is_multiple_of(4),
    };
    copy.tree();
    if !copy.may_be_undecided {
        copy.settle();
    }
    if seed.is_multiple_of(3) {
        copy.merge();
    }
    for _ in 0..copy.random.below(14) {
        copy.change();
    }
    copy.ignore_files();
    copy.compare(&format!("seed {seed} {format:?}"));
    fs::remove_dir_all(root).unwrap();
}

fn working_copies(seeds: impl Iterator<Item = u64>) {
    let Some(mut bench) = Bench::new() else {
        return;
    };
    for seed in seeds {
        for format in FORMATS {
            working_copy(&mut bench, seed, format);
        }
    }
}

#[test]
fn generated_working_copies_first_part() {
    working_copies((0..SEEDS).filter(|seed| seed % 2 == 0));
}

#[test]
fn generated_working_copies_second_part() {
    working_copies((0..SEEDS).filter(|seed| seed % 2 == 1));
}
