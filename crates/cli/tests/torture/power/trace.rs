//! The log of strace, read back as changes of a disk.

use super::disk::Disk;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

const CALLS: &str = "open,openat,openat2,creat,write,pwrite64,writev,pwritev,pwritev2,lseek,\
    ftruncate,truncate,fallocate,rename,renameat,renameat2,link,linkat,unlink,unlinkat,rmdir,mkdir,\
    mkdirat,symlink,symlinkat,fsync,fdatasync,syncfs,sync,copy_file_range,sendfile,splice";

/// The words that start a program and record in `log` what it does to files.
pub fn recording(log: &Path) -> Vec<String> {
    let words = ["strace", "-f", "-qq", "-y", "-xx", "-s", "100000000", "-o"];
    let mut words: Vec<String> = words.map(str::to_owned).to_vec();
    words.push(log.to_str().unwrap().to_owned());
    words.push("-e".to_owned());
    words.push(format!("trace={CALLS}"));
    words
}

/// Does to `disk`, which is what `root` was, what the log says.
pub fn replay(log: &str, root: &Path, disk: &mut Disk) {
    let mut replay = Replay {
        root,
        disk,
        nameless: HashMap::new(),
        opened: HashMap::new(),
        positions: HashMap::new(),
    };
    let mut halves: HashMap<&str, String> = HashMap::new();
    for line in log.lines() {
        let (thread, rest) = line.split_once(' ').expect("a thread");
        let rest = rest.trim_start();
        if let Some(half) = rest.strip_suffix("<unfinished ...>") {
            halves.insert(thread, half.to_owned());
        } else if let Some(resumed) = rest.strip_prefix("<... ") {
            let (_, end) = resumed.split_once(" resumed>").expect("the end of a call");
            let start = halves.remove(thread).expect("its beginning");
            replay.call(&(start + end));
        } else if !rest.starts_with(['+', '-']) {
            replay.call(rest);
        }
    }
}

struct Replay<'a> {
    root: &'a Path,
    disk: &'a mut Disk,
    /// Files without a name, by what the kernel calls them.
    nameless: HashMap<PathBuf, usize>,
    /// What was opened last under a descriptor.
    opened: HashMap<String, usize>,
    /// Where the next `write` goes.
    positions: HashMap<usize, usize>,
}

/// An argument of a call as it is in the log.
#[derive(Clone, Debug)]
struct Argument(String);

impl Replay<'_> {
    fn call(&mut self, text: &str) {
        let (name, rest) = text.split_once('(').expect("a call");
        // The halves of a call are padded where they meet.
        let (arguments, result) = rest.rsplit_once(" = ").unwrap_or((rest, "-1"));
        let arguments = arguments.trim_end().strip_suffix(')').unwrap_or(arguments);
        if result.starts_with('-') || result.starts_with('?') {
            return;
        }
        let arguments = split(arguments);
        let at = |number: usize| &arguments[number];
        match name {
            "open" | "creat" => self.open(at(1), result),
            "openat" | "openat2" => self.open(at(2), result),
            "write" | "pwrite64" | "writev" => self.write(name, &arguments, result),
            "lseek" => {
                if let Some(inode) = self.file(at(0)) {
                    self.positions.insert(inode, result.parse().unwrap());
                }
            }
            "ftruncate" => {
                if let Some(inode) = self.file(at(0)) {
                    self.disk.set_length(inode, at(1).0.parse().unwrap());
                }
            }
            "fsync" | "fdatasync" => {
                if let Some(inode) = self.file(at(0)) {
                    self.disk.sync(inode);
                }
            }
            "rename" => self.rename(self.path(at(0)), self.path(at(1))),
            "renameat" | "renameat2" => {
                self.rename(self.path_at(at(0), at(1)), self.path_at(at(2), at(3)));
            }
            "link" => self.link(self.path(at(0)), self.path(at(1))),
            "linkat" => self.linkat(&arguments),
            "unlink" | "rmdir" => self.remove(self.path(at(0))),
            "unlinkat" => self.remove(self.path_at(at(0), at(1))),
            "mkdir" => self.mkdir(self.path(at(0))),
            "mkdirat" => self.mkdir(self.path_at(at(0), at(1))),
            "symlink" => self.symlink(at(0), self.path(at(1))),
            "symlinkat" => self.symlink(at(0), self.path_at(at(1), at(2))),
            other => {
                let concerns = arguments.iter().any(|one| self.file(one).is_some());
                assert!(!concerns, "{other} is not recorded: {text}");
            }
        }
    }

    fn open(&mut self, flags: &Argument, result: &str) {
        let result = Argument(result.to_owned());
        let Some(path) = result.described() else {
            return;
        };
        let descriptor = result.number();
        let Some(below) = self.below(&path) else {
            self.opened.remove(&descriptor);
            return;
        };
        let inode = if flags.0.contains("O_TMPFILE") {
            let inode = self.disk.new_file();
            self.nameless.insert(path, inode);
            inode
        } else {
            let known = self.disk.find(&below);
            if known.is_none() && !flags.0.contains("O_CREAT") {
                return;
            }
            known.unwrap_or_else(|| {
                let inode = self.disk.new_file();
                self.disk.name(&[(&below, Some(inode))]);
                inode
            })
        };
        if flags.0.contains("O_TRUNC") && self.disk.length(inode) > 0 {
            self.disk.set_length(inode, 0);
        }
        let is_appending = flags.0.contains("O_APPEND");
        let position = if is_appending {
            self.disk.length(inode)
        } else {
            0
        };
        self.positions.insert(inode, position);
        self.opened.insert(descriptor, inode);
    }

    fn write(&mut self, name: &str, arguments: &[Argument], result: &str) {
        let Some(inode) = self.file(&arguments[0]) else {
            return;
        };
        let count: usize = result.parse().unwrap();
        let mut bytes = arguments[1].bytes();
        bytes.truncate(count);
        let position = self.positions.entry(inode).or_default();
        let offset = if name == "pwrite64" {
            arguments[3].0.parse().unwrap()
        } else {
            let offset = *position;
            *position += count;
            offset
        };
        self.disk.write(inode, offset, bytes);
    }

    fn rename(&mut self, from: Option<PathBuf>, to: Option<PathBuf>) {
        let (Some(from), Some(to)) = (from, to) else {
            return;
        };
        let inode = self.disk.find(&from);
        assert!(inode.is_some(), "{from:?} is unknown");
        self.disk.name(&[(&from, None), (&to, inode)]);
    }

    fn link(&mut self, from: Option<PathBuf>, to: Option<PathBuf>) {
        let (Some(from), Some(to)) = (from, to) else {
            return;
        };
        let inode = self.disk.find(&from);
        assert!(inode.is_some(), "{from:?} is unknown");
        self.disk.name(&[(&to, inode)]);
    }

    fn linkat(&mut self, arguments: &[Argument]) {
        let to = self.path_at(&arguments[2], &arguments[3]);
        let source = arguments[1].bytes();
        let descriptor = source.strip_prefix(b"/proc/self/fd/");
        let Some(descriptor) = descriptor else {
            return self.link(self.path_at(&arguments[0], &arguments[1]), to);
        };
        let descriptor = String::from_utf8(descriptor.to_vec()).unwrap();
        if let (Some(inode), Some(to)) = (self.opened.get(&descriptor), to) {
            self.disk.name(&[(&to, Some(*inode))]);
        }
    }

    fn remove(&mut self, path: Option<PathBuf>) {
        if let Some(path) = path {
            self.disk.name(&[(&path, None)]);
        }
    }

    fn mkdir(&mut self, path: Option<PathBuf>) {
        if let Some(path) = path {
            let inode = self.disk.new_directory();
            self.disk.name(&[(&path, Some(inode))]);
        }
    }

    fn symlink(&mut self, target: &Argument, path: Option<PathBuf>) {
        if let Some(path) = path {
            let target = target.bytes();
            let inode = self.disk.new_link(Path::new(OsStr::from_bytes(&target)));
            self.disk.name(&[(&path, Some(inode))]);
        }
    }

    /// What a descriptor stands for, if it is something of ours.
    fn file(&self, descriptor: &Argument) -> Option<usize> {
        let path = descriptor.described()?;
        let below = self.below(&path)?;
        let nameless = self.nameless.get(&path).copied();
        nameless
            .or_else(|| self.disk.find(&below))
            .or_else(|| self.opened.get(&descriptor.number()).copied())
    }

    fn path(&self, argument: &Argument) -> Option<PathBuf> {
        self.below(&self.root.join(OsStr::from_bytes(&argument.bytes())))
    }

    fn path_at(&self, directory: &Argument, name: &Argument) -> Option<PathBuf> {
        let directory = directory
            .described()
            .unwrap_or_else(|| self.root.to_owned());
        self.below(&directory.join(OsStr::from_bytes(&name.bytes())))
    }

    /// A path relative to the root, if it is below it.
    fn below(&self, path: &Path) -> Option<PathBuf> {
        let mut plain = PathBuf::new();
        for component in path.components() {
            match component {
                Component::CurDir => {}
                Component::ParentDir => {
                    plain.pop();
                }
                other => plain.push(other),
            }
        }
        plain.strip_prefix(self.root).ok().map(Path::to_owned)
    }
}

impl Argument {
    /// All bytes of the strings in it.
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for text in self.0.split('"').skip(1).step_by(2) {
            bytes.extend(unescaped(text));
        }
        bytes
    }

    /// The path that strace says a descriptor stands for.
    fn described(&self) -> Option<PathBuf> {
        let (_, rest) = self.0.split_once('<')?;
        let (path, _) = rest.rsplit_once('>')?;
        Some(PathBuf::from(OsStr::from_bytes(&unescaped(path))))
    }

    fn number(&self) -> String {
        self.0.chars().take_while(char::is_ascii_digit).collect()
    }
}

fn unescaped(text: &str) -> Vec<u8> {
    let digits = text.split("\\x").skip(1);
    digits
        .map(|two| u8::from_str_radix(&two[..2], 16).expect("two digits"))
        .collect()
}

/// Cuts the arguments of a call apart, at commas outside of brackets and strings.
fn split(text: &str) -> Vec<Argument> {
    let mut arguments = vec![String::new()];
    let (mut depth, mut is_quoted) = (0_usize, false);
    for character in text.chars() {
        match character {
            '"' => is_quoted = !is_quoted,
            '[' | '{' if !is_quoted => depth += 1,
            ']' | '}' if !is_quoted => depth -= 1,
            ',' if !is_quoted && depth == 0 => {
                arguments.push(String::new());
                continue;
            }
            _ => {}
        }
        arguments.last_mut().unwrap().push(character);
    }
    arguments
        .into_iter()
        .map(|argument| Argument(argument.trim().to_owned()))
        .collect()
}
