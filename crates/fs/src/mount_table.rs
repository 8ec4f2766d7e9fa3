//! What is mounted where: proc_pid_mountinfo(5).

use crate::{Error, Result};
use rustix::fs::{AtFlags, StatxFlags, CWD};
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Limit for reading the table, in bytes.
const TABLE_LIMIT_BYTES: u64 = 64 << 20;
const PATH_LIMIT_BYTES: u64 = 64 << 10;

/// A mount of this process's mount namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Its number, as of statx(2).
    id: u64,
    /// Which directory of the file system is seen there: `/`, or a part of it that was mounted alone.
    root: OsString,
    /// Where it is mounted.
    pub path: PathBuf,
    /// The type of the file system, such as `overlay`.
    pub kind: String,
    /// What the file system calls its source.
    pub source: OsString,
    /// The options of the file system, as the table has them.
    options: Vec<u8>,
}

impl Mount {
    /// Whether all of the file system is seen there.
    pub fn is_whole(&self) -> bool {
        self.root == "/"
    }

    /// The file that is mounted, if it is one: by itself, or as a loop device.
    pub fn file(&self) -> Option<PathBuf> {
        let source = Path::new(&self.source);
        let number = source.to_str().and_then(|it| it.strip_prefix("/dev/loop"));
        let Some(number) = number else {
            return source.is_absolute().then(|| source.to_owned());
        };
        // sysfs: Documentation/ABI/testing/sysfs-block-loop of Linux.
        let path = format!("/sys/block/loop{number}/loop/backing_file");
        let file = crate::read_file(Path::new(&path), PATH_LIMIT_BYTES).ok()??;
        let file = file.strip_suffix(b"\n").unwrap_or(&file);
        Some(OsString::from_vec(file.to_vec()).into())
    }

    /// The value of the option `key` of the file system.
    pub fn option(&self, key: &str) -> Option<OsString> {
        let mut options = self.options.split(|byte| *byte == b',');
        let value = |option: &'_ [u8]| {
            let value = option.strip_prefix(key.as_bytes())?.strip_prefix(b"=")?;
            Some(unquoted(value))
        };
        options.find_map(value)
    }
}

/// All mounts, also those that others hide.
pub fn mounts() -> Result<Vec<Mount>> {
    let path = Path::new("/proc/self/mountinfo");
    let table = crate::read_file(path, TABLE_LIMIT_BYTES)?;
    let table = table.ok_or_else(|| Error::new("read", path, std::io::ErrorKind::NotFound))?;
    Ok(parse(&table))
}

/// The mount that is seen at `path`, whose links have been resolved. Others may be there, too: below it,
/// or hidden by what is mounted on a directory above.
pub fn mount_at(path: &Path) -> Result<Option<Mount>> {
    let mounts = mounts()?.into_iter();
    let mut found: Vec<Mount> = mounts.filter(|mount| mount.path == path).collect();
    if found.is_empty() {
        return Ok(None);
    }
    match seen_at(path) {
        Ok(Some(id)) => Ok(found.into_iter().find(|mount| mount.id == id)),
        // Before Linux 5.8: mostly the one that was made last.
        Ok(None) => Ok(found.pop()),
        // Since the table was read, it was unmounted, and the directory removed.
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error),
    }
}

/// The number of the mount that is seen at `path`; `None` if the system does not tell.
fn seen_at(path: &Path) -> Result<Option<u64>> {
    let wanted = StatxFlags::MNT_ID;
    match rustix::fs::statx(CWD, path, AtFlags::NO_AUTOMOUNT, wanted) {
        Ok(found) if found.stx_mask & wanted.bits() != 0 => Ok(Some(found.stx_mnt_id)),
        Ok(_) | Err(rustix::io::Errno::NOSYS) => Ok(None),
        Err(error) => Err(Error::new("stat", path, io::Error::from(error))),
    }
}

/// The mounts of a table. Lines of another form are skipped.
fn parse(table: &[u8]) -> Vec<Mount> {
    let lines = table.split(|byte| *byte == b'\n');
    lines.filter_map(mount).collect()
}

/// ID PARENT DEVICE ROOT PATH OPTIONS [TAG...] - KIND SOURCE OPTIONS
fn mount(line: &[u8]) -> Option<Mount> {
    let mut words = line.split(|byte| *byte == b' ');
    let id = std::str::from_utf8(words.next()?).ok()?.parse().ok()?;
    let root = words.nth(2)?;
    let path = words.next()?;
    let mut words = words.skip_while(|word| *word != b"-").skip(1);
    let kind = String::from_utf8(words.next()?.to_vec()).ok()?;
    Some(Mount {
        id,
        root: unquoted(root),
        path: unquoted(path).into(),
        kind,
        source: unquoted(words.next()?),
        options: words.next().unwrap_or_default().to_vec(),
    })
}

/// A word in which spaces and the like are written as a backslash and three octal digits.
fn unquoted(word: &[u8]) -> OsString {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((first, after)) = rest.split_first() {
        let quoted = (*first == b'\\')
            .then(|| after.get(..3).and_then(octal))
            .flatten();
        rest = match quoted {
            Some(byte) => {
                bytes.push(byte);
                &after[3..]
            }
            None => {
                bytes.push(*first);
                after
            }
        };
    }
    OsString::from_vec(bytes)
}

fn octal(digits: &[u8]) -> Option<u8> {
    let text = std::str::from_utf8(digits).ok()?;
    u8::from_str_radix(text, 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn a_line_of_the_table_is_read() {
        let table = b"22 1 0:21 / /proc rw shared:5 - proc proc rw\n\
            36 35 98:0 /mnt1 /a\\040b\\134c rw,noatime master:1 extra - ext3 /dev/root rw,x=y\n\
            nonsense\n";
        let found = parse(table);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].id, found[0].is_whole()), (22, true));
        assert_eq!((found[1].id, found[1].is_whole()), (36, false));
        assert_eq!(found[1].path.as_os_str().as_bytes(), b"/a b\\c");
        assert_eq!(found[1].kind, "ext3");
        assert_eq!(found[1].source, "/dev/root");
        assert_eq!(found[1].option("x").unwrap(), "y");
        assert_eq!(found[1].option("rw"), None);
        assert_eq!(unquoted(b"\\9\\04"), "\\9\\04");
    }

    #[test]
    fn the_root_is_mounted() {
        assert!(mount_at(Path::new("/proc")).unwrap().is_some());
        assert!(mount_at(Path::new("/proc/self")).unwrap().is_none());
    }
}
