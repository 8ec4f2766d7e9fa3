//! A tree with everything that an image can hold.

use super::support::{run, skip};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{symlink, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Numbers that are the same everywhere for the same seed: Marsaglia's xorshift64.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % end as u64) as usize
    }
}

/// Bytes that compress somewhat.
pub fn content(random: &mut Random, length: usize) -> Vec<u8> {
    (0..length)
        .map(|_| b"abcdefghijklmnop"[random.below(16)])
        .collect()
}

/// Makes the tree; `length` is what the largest files have, in bytes.
pub fn make(root: &Path, seed: u64, length: usize) {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    fs::create_dir_all(root.join("empty")).unwrap();
    let deep = root.join(["deep"; 60].join("/"));
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("bottom"), b"x").unwrap();
    for border in [1, 4095, 4096, 4097, 8192, 131_071, 131_072, 131_073, length] {
        let bytes = content(&mut random, border);
        fs::write(root.join(format!("size-{border}")), &bytes).unwrap();
        fs::write(root.join(format!("again-{border}")), &bytes).unwrap();
    }
    let noise: Vec<u8> = (0..length).map(|_| random.below(256) as u8).collect();
    fs::write(root.join("noise"), noise).unwrap();
    fs::write(root.join("nothing"), b"").unwrap();
    sparse(root, length as u64);
    fs::hard_link(root.join("noise"), root.join("empty.link")).unwrap();
    fs::hard_link(root.join("size-1"), root.join("deep/link")).unwrap();
    symlink("noise", root.join("symlink")).unwrap();
    symlink("t".repeat(4095), root.join("long-symlink")).unwrap();
    fs::create_dir(root.join("names")).unwrap();
    for name in [
        &[b'n'; 255][..],
        b"\xff\xfe",
        b"\xc3\xa4 b",
        b"-x",
        b"\\",
        b"a.",
        b"a-",
    ] {
        fs::write(root.join("names").join(OsStr::from_bytes(name)), name).unwrap();
    }
    fs::create_dir(root.join("many")).unwrap();
    for number in 0..1000 {
        let file = root.join(format!("many/{number:x}-{}", "m".repeat(number % 90)));
        fs::write(file, content(&mut random, number % 50)).unwrap();
    }
    special(root);
    attributes(root);
    owners_and_times(root, &mut random);
}

fn sparse(root: &Path, length: u64) {
    for (name, size) in [("hole", length), ("hole-and-tail", length + 77)] {
        let file = fs::File::create(root.join(name)).unwrap();
        file.set_len(size).unwrap();
    }
    use std::os::unix::fs::FileExt;
    let file = fs::File::create(root.join("islands")).unwrap();
    for at in [0, 1 << 20, 5 << 18] {
        file.write_all_at(b"island", at).unwrap();
    }
    file.set_len(3 << 19).unwrap();
}

fn special(root: &Path) {
    for (name, words) in [
        ("fifo", &["p"][..]),
        ("block", &["b", "7", "300"]),
        ("character", &["c", "259", "1000000"]),
    ] {
        let mut words = words.to_vec();
        let path = root.join(name);
        words.insert(0, path.to_str().unwrap());
        if let Err(reason) = run("mknod", &words) {
            skip(&format!("no {name}: {}", reason.trim()));
        }
    }
    drop(UnixListener::bind(root.join("socket")).unwrap());
}

fn attributes(root: &Path) {
    let long = "0x".to_owned() + &"5a".repeat(3000);
    for (path, name, value) in [
        ("noise", "user.short", "value"),
        ("noise", "user.empty", ""),
        ("noise", "security.any", "0x00ff00"),
        ("empty", "trusted.long", &long),
        ("many", "trusted.long", &long),
        ("many", "user.medium", &long[..900]),
        ("fifo", "trusted.f", "1"),
        ("socket", "trusted.f", "1"),
        ("block", "trusted.f", "1"),
        ("character", "trusted.f", "2"),
        ("symlink", "trusted.f", "3"),
    ] {
        let path = root.join(path);
        let words = ["-h", "-n", name, "-v", value, path.to_str().unwrap()];
        if let Err(reason) = run("setfattr", &words) {
            skip(&format!("no attribute {name}: {}", reason.trim()));
        }
    }
}

fn owners_and_times(root: &Path, random: &mut Random) {
    for number in 0..200 {
        let path = root.join(format!("many/{number:x}-{}", "m".repeat(number % 90)));
        let mode = [0o644, 0o600, 0o4755, 0o2711, 0o1777, 0][random.below(6)];
        let owner = (Some(number as u32 * 7), Some(u32::MAX - 1 - number as u32));
        // A test that is not run by root leaves the owner as it is.
        let _ = std::os::unix::fs::chown(&path, owner.0, owner.1);
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let time = [0, 1, 1_700_000_000, 4_294_967_295][random.below(4)];
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(time);
        let file = fs::File::open(&path).unwrap();
        file.set_modified(time).unwrap();
    }
}
