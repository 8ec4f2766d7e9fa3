//! Trees to walk, running the binary, and asking find(1).

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{symlink, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

/// How a run of the binary ended.
#[derive(Debug)]
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

/// `hedgerow walk` with these words, in `directory`.
pub fn walk(directory: &Path, words: &[&str]) -> Outcome {
    walk_with(directory, words, &[])
}

/// The same with more environment.
pub fn walk_with(directory: &Path, words: &[&str], environment: &[(&str, &str)]) -> Outcome {
    let mut command = hedgerow_testkit::isolated(env!("CARGO_BIN_EXE_hedgerow"));
    command.arg("walk").args(words);
    command.current_dir(directory);
    command.envs(environment.iter().copied());
    run(&mut command)
}

/// Runs a command and looks whether it ended in order.
pub fn run(command: &mut Command) -> Outcome {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let outcome = Outcome {
        code: output.status.code(),
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    };
    assert!(!outcome.stderr.contains("panic"), "{outcome:?}");
    assert!(outcome.code.is_some(), "{command:?}: {outcome:?}");
    outcome
}

pub use hedgerow_testkit::skip;

/// The parts of a list whose elements end with `end`.
pub fn parts(list: &[u8], end: u8) -> BTreeSet<Vec<u8>> {
    let count = list.iter().filter(|byte| **byte == end).count();
    let parts = list.split_inclusive(|byte| *byte == end);
    let set: BTreeSet<Vec<u8>> = parts.map(|part| part[..part.len() - 1].to_vec()).collect();
    assert_eq!(set.len(), count, "each entry once");
    set
}

/// What find(1) says of a tree, in the words of `--stat`.
pub fn found(root: &Path) -> BTreeSet<Vec<u8>> {
    let form = r"%y %m %n %U %G %s %T@ %i %P\0";
    let mut find = Command::new("find");
    find.arg(root).args(["-mindepth", "1", "-printf", form]);
    let outcome = run(&mut find);
    let columns = |line: Vec<u8>| {
        let mut columns = line.splitn(9, |byte| *byte == b' ');
        let mut column = || String::from_utf8(columns.next().unwrap().to_vec()).unwrap();
        let mut text = column();
        let mode = u32::from_str_radix(&column(), 8).unwrap();
        text += &format!(" {mode:04o}");
        for _ in 0..4 {
            text += &format!(" {}", column());
        }
        // find(1) prints ten decimals.
        text += &format!(" {}", column().strip_suffix('0').unwrap());
        text += &format!(" {} ", column());
        [text.as_bytes(), columns.next().unwrap()].concat()
    };
    parts(&outcome.stdout, 0).into_iter().map(columns).collect()
}

/// The paths in the lines of `--stat`.
pub fn path_of(line: &[u8]) -> Vec<u8> {
    line.splitn(9, |byte| *byte == b' ')
        .nth(8)
        .unwrap()
        .to_vec()
}

/// Canonical order, said in another way: `/` is the lowest byte of all.
pub fn in_order(paths: impl IntoIterator<Item = Vec<u8>>) -> Vec<Vec<u8>> {
    let mut paths: Vec<Vec<u8>> = paths.into_iter().collect();
    paths.sort_by_key(|path| {
        let byte = |byte: &u8| match byte {
            b'/' => 0,
            byte => u16::from(*byte) + 1,
        };
        path.iter().map(byte).collect::<Vec<u16>>()
    });
    paths
}

/// Numbers that are the same everywhere for the same seed: Marsaglia's xorshift64.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % end as u64) as usize
    }
}

/// A tree of about `entries` entries of all kinds that need no privilege, with hostile names.
pub fn generate(root: &Path, seed: u64, entries: usize) {
    let mut random = Random::new(seed);
    let mut directories = vec![root.to_owned()];
    let mut files: Vec<PathBuf> = Vec::new();
    for number in 0..entries {
        let directory = directories[random.below(directories.len())].clone();
        let path = directory.join(OsStr::from_bytes(&name(&mut random, number)));
        match random.below(20) {
            0..=3 => {
                fs::create_dir(&path).unwrap();
                directories.push(path);
            }
            4 => symlink(["..", ".", "nowhere", "/"][random.below(4)], &path).unwrap(),
            5 => special(&path, "p"),
            6 => socket(&directory, &path),
            7 if !files.is_empty() => {
                fs::hard_link(&files[random.below(files.len())], &path).unwrap();
            }
            _ => {
                file(&path, &mut random);
                files.push(path);
            }
        }
    }
}

fn name(random: &mut Random, number: usize) -> Vec<u8> {
    const ODD: [&[u8]; 12] = [
        b"a",
        b"-rf",
        b" ",
        b"\n",
        b"\x1b[2J",
        b"\xff\xfe",
        b"\xc3\xa4",
        b"a.",
        b"a-",
        b"\\",
        b"\"",
        b"{}",
    ];
    let mut name = ODD[random.below(ODD.len())].to_vec();
    name.extend_from_slice(number.to_string().as_bytes());
    if random.below(30) == 0 {
        name.resize(255, b'x');
    }
    name
}

fn file(path: &Path, random: &mut Random) {
    let size = [0, 1, 4095, 10_000][random.below(4)];
    fs::write(path, vec![b'x'; size]).unwrap();
    let mtime = Duration::new(random.below(2_000_000_000) as u64, random.below(10) as u32);
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + mtime).unwrap();
    let mode = [0o644, 0o600, 0o755, 0o444, 0o4711][random.below(5)];
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A fifo or a device.
fn special(path: &Path, kind: &str) {
    let mut mknod = Command::new("mknod");
    mknod.arg("--").arg(path).arg(kind);
    if kind != "p" {
        mknod.args(["1", "3"]);
    }
    assert!(mknod.status().unwrap().success(), "{mknod:?}");
}

/// A device of each kind, if that is allowed.
pub fn devices(root: &Path) -> bool {
    let mut probe = Command::new("mknod");
    probe.arg(root.join("device")).args(["b", "7", "0"]);
    let made = probe.stderr(Stdio::null()).status().unwrap().success();
    if made {
        special(&root.join("character"), "c");
    }
    made
}

fn socket(directory: &Path, path: &Path) {
    // The path of a socket is short: made elsewhere and moved.
    let place = tempfile::tempdir_in("/tmp").unwrap();
    let made = place.path().join("s");
    drop(UnixListener::bind(&made).unwrap());
    if fs::rename(&made, path).is_err() {
        // Another file system.
        let short = directory.join("s");
        let bound = UnixListener::bind(&short);
        if bound.is_err() || fs::rename(&short, path).is_err() {
            skip("no socket can be made in a directory with so long a path");
        }
    }
}
