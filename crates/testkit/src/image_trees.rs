//! Trees drawn from seeds, of which images are made; and looking at them.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::hash::{Hash, Hasher};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{symlink, FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

/// Numbers that look random: xorshift64*.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % limit
    }

    pub fn bytes(&mut self, count: usize, compressible: bool) -> Vec<u8> {
        let mask = if compressible { 0x0303_0303 } else { u32::MAX };
        let words = (0..count.div_ceil(4)).map(|_| self.below(1 << 31) as u32 & mask);
        let mut bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
        bytes.truncate(count);
        bytes
    }
}

/// Makes a tree below `root` in which everything occurs that an image can hold, with sizes around
/// those of blocks of `block` bytes.
pub fn make(root: &Path, seed: u64, block: usize) {
    let mut random = Random::new(seed);
    let mut directories = vec![root.to_owned()];
    let mut files: Vec<PathBuf> = Vec::new();
    for number in 0..10 + random.below(50) {
        let parent = directories[random.below(directories.len() as u64) as usize].clone();
        let path = parent.join(OsStr::from_bytes(&name(&mut random, number)));
        match random.below(20) {
            0..=3 => {
                fs::create_dir(&path).unwrap();
                directories.push(path);
            }
            4 => symlink("some/where", &path).unwrap(),
            5 => symlink(
                OsStr::from_bytes(&vec![b't'; 1 + random.below(3000) as usize]),
                &path,
            )
            .unwrap(),
            6 => special(&path, &["p"]),
            7 if is_root() => special(&path, &["c", "300", "70000"]),
            8 if is_root() => special(&path, &["b", "8", "1"]),
            9 if !files.is_empty() => {
                let other = &files[random.below(files.len() as u64) as usize];
                fs::hard_link(other, &path).unwrap();
            }
            10 if !files.is_empty() => {
                let other = &files[random.below(files.len() as u64) as usize];
                fs::copy(other, &path).unwrap();
                files.push(path);
            }
            11 => {
                sparse(&path, &mut random, block);
                files.push(path);
            }
            _ => {
                let content = content(&mut random, block);
                fs::write(&path, content).unwrap();
                files.push(path);
            }
        }
    }
    set_xattrs(&mut random, &directories, &files);
    for path in &files {
        let mode = [0o644, 0o755, 0o600, 0o4711, 0o1777][random.below(5) as usize];
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(random.below(1 << 31));
        File::options()
            .write(true)
            .open(path)
            .unwrap()
            .set_modified(time)
            .unwrap();
        if is_root() && random.below(4) == 0 {
            let owner = Some(random.below(70_000) as u32);
            std::os::unix::fs::chown(path, owner, Some(7)).unwrap();
        }
    }
}

/// Gives some of the entries extended attributes: short ones, long ones that several have, and
/// sets that are the same.
fn set_xattrs(random: &mut Random, directories: &[PathBuf], files: &[PathBuf]) {
    let mut dump = Vec::new();
    for path in directories.iter().chain(files) {
        if random.below(3) > 0 {
            continue;
        }
        dump.extend_from_slice(b"# file: ");
        for byte in path.as_os_str().as_bytes() {
            match byte {
                b'!'..=b'[' | b']'..=b'~' => dump.push(*byte),
                byte => dump.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
            }
        }
        dump.push(b'\n');
        let prefixes = if is_root() { 3 } else { 1 };
        for number in 0..random.below(4) {
            let prefix = ["user", "trusted", "security"][random.below(prefixes) as usize];
            let value = match random.below(4) {
                0 => String::new(),
                1 => "5a".repeat(200 + random.below(2) as usize),
                2 => "00ff".into(),
                _ => format!("{:08x}", random.below(1 << 32)),
            };
            let value = if value.is_empty() {
                String::new()
            } else {
                format!("0x{value}")
            };
            dump.extend_from_slice(format!("{prefix}.name{number}={value}\n").as_bytes());
        }
        dump.push(b'\n');
    }
    let mut setfattr = Command::new("setfattr")
        .arg("--restore=-")
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut setfattr.stdin.take().unwrap(), &dump).unwrap();
    assert!(setfattr.wait().unwrap().success());
}

/// A directory in which files have extended attributes, and nothing waits for a disk.
pub fn place() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| tempfile::tempdir().unwrap())
}

fn name(random: &mut Random, number: u64) -> Vec<u8> {
    match random.below(12) {
        0 => [format!("{number}").as_bytes(), &vec![b'n'; 250]].concat(),
        1 => format!("\u{fc}ber {number}").into_bytes(),
        2 => [b"\xff\xfe", format!("{number}").as_bytes()].concat(),
        3 => format!(".{number}\n").into_bytes(),
        _ => format!("f{number}").into_bytes(),
    }
}

fn content(random: &mut Random, block: usize) -> Vec<u8> {
    let around = |random: &mut Random, size: usize| size + random.below(3) as usize - 1;
    let size = match random.below(10) {
        0 => 0,
        1 => 1,
        2 => around(random, block),
        3 => around(random, 2 * block),
        4 => around(random, 4 * block),
        5 if random.below(8) == 0 => (1 << 20) + random.below(2 * block as u64) as usize,
        _ => random.below(block as u64) as usize,
    };
    match random.below(5) {
        // The same in many files, and of one size with others.
        0 => vec![b'=' + random.below(2) as u8; size],
        1 => vec![0; size],
        2 => random.bytes(size, false),
        _ => random.bytes(size, true),
    }
}

fn sparse(path: &Path, random: &mut Random, block: usize) {
    let file = File::create(path).unwrap();
    let blocks = 1 + random.below(6);
    file.set_len(blocks * block as u64 + random.below(block as u64))
        .unwrap();
    let at = random.below(blocks) * block as u64;
    file.write_all_at(b"not a hole", at).unwrap();
}

fn special(path: &Path, words: &[&str]) {
    let status = Command::new("mknod")
        .arg(path)
        .args(words)
        .status()
        .unwrap();
    assert!(status.success());
}

pub fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// All that a tree holds, a line an entry, in order. `xattrs` shows the extended attributes of the
/// entry at a path below the root.
pub fn listing(root: &Path, xattrs: &dyn Fn(&Path) -> String) -> String {
    let mut lines = Vec::new();
    let mut pending = vec![PathBuf::new()];
    while let Some(path) = pending.pop() {
        let stat = fs::symlink_metadata(root.join(&path)).unwrap();
        let kind = stat.file_type();
        let mut content = Vec::new();
        if kind.is_dir() {
            let entries = fs::read_dir(root.join(&path)).unwrap();
            pending.extend(entries.map(|entry| path.join(entry.unwrap().file_name())));
        } else if kind.is_file() {
            content = fs::read(root.join(&path)).unwrap();
        } else if kind.is_symlink() {
            let target = fs::read_link(root.join(&path)).unwrap();
            content = target.into_os_string().into_encoded_bytes();
        }
        let size = if kind.is_dir() { 0 } else { stat.size() };
        lines.push(format!(
            "{path:?} {:o} {}:{} {}-links, {} s, {size} bytes {:016x}, device {:x}, {}\n",
            stat.mode(),
            stat.uid(),
            stat.gid(),
            stat.nlink(),
            stat.mtime(),
            hash(&content),
            stat.rdev(),
            xattrs(&path),
        ));
    }
    lines.sort();
    lines.concat()
}

fn hash(content: &[u8]) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    content.hash(&mut hasher);
    hasher.finish()
}

/// Both listings are the same, line by line.
pub fn assert_same(found: &str, expected: &str, what: &str) {
    let (found, expected): (Vec<&str>, Vec<&str>) =
        (found.lines().collect(), expected.lines().collect());
    let is_in = |lines: &[&str], line: &&str| !lines.contains(line);
    let more: Vec<_> = found.iter().filter(|line| is_in(&expected, line)).collect();
    let less: Vec<_> = expected.iter().filter(|line| is_in(&found, line)).collect();
    assert!(
        more.is_empty() && less.is_empty(),
        "{what}\n+ {more:#?}\n- {less:#?}"
    );
    assert_eq!(found.len(), expected.len(), "{what}");
}

/// Mounts an image as a file system of this type, with these options, and lets `look` look at it.
/// Returns whether mounting worked.
pub fn mounted(image: &Path, kind: &str, options: &str, look: impl FnOnce(&Path)) -> bool {
    let at = place();
    let done = Command::new("mount")
        .args(["-t", kind, "-o", options])
        .arg(image)
        .arg(at.path())
        .output()
        .unwrap();
    if !done.status.success() {
        crate::skip(&format!("mount: {}", String::from_utf8_lossy(&done.stderr)));
        return false;
    }
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| look(at.path())));
    let done = Command::new("umount")
        .arg("-l")
        .arg(at.path())
        .output()
        .unwrap();
    assert!(done.status.success(), "umount: {done:?}");
    outcome.unwrap();
    true
}
