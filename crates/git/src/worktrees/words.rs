//! Paths as users give them, and names made of them.

use crate::repository::Repository;
use bstr::{BStr, BString, ByteSlice};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// A path that a user gave, relative to the current directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenPath {
    /// As git shows it: relative to the top of the working tree.
    pub shown: BString,
    /// Where it is.
    pub path: PathBuf,
}

impl GivenPath {
    /// The path that `word` means to a user of `repository`.
    pub fn new(repository: &Repository, word: &BStr) -> Self {
        let path = repository.environment().cwd.join(OsStr::from_bytes(word));
        let shown = if word.starts_with(b"/") {
            word.to_owned()
        } else {
            [repository.prefix().as_bytes(), word.as_bytes()]
                .concat()
                .into()
        };
        GivenPath { shown, path }
    }

    /// Its last part, slashes at the end left out.
    pub(crate) fn base_name(&self) -> &BStr {
        base_name(self.shown.as_ref())
    }
}

/// The name of a branch for a working tree at `path`, as git guesses it: slashes at the end stay
/// where more stands before the name than follows it, and then make no valid name.
pub(crate) fn guessed_name(path: &BStr) -> &BStr {
    let bare = path.trim_end_with(|character| character == '/');
    let start = bare.rfind_byte(b'/').map_or(0, |at| at + 1);
    let name = &path[start..];
    name[..name.len().min(bare.len())].as_bstr()
}

pub(crate) fn base_name(path: &BStr) -> &BStr {
    let path = path.trim_end_with(|character| character == '/');
    match path.rfind_byte(b'/') {
        Some(at) => path[at + 1..].as_bstr(),
        None => path.as_bstr(),
    }
}

/// `name`, changed where it could not be a part of a reference's name, as git changes it.
pub(crate) fn as_reference_part(name: &BStr) -> BString {
    let mut part = BString::default();
    let mut last = 0;
    for byte in name.iter().copied() {
        match byte {
            b'.' if last == b'.' => {}
            b'{' if last == b'@' => part.push(b'-'),
            b'\0'..=b' ' | 0x7f | b'~' | b'^' | b':' | b'?' | b'[' | b'\\' | b'*' => {
                part.push(b'-')
            }
            other => part.push(other),
        }
        last = byte;
    }
    if let Some(first @ b'.') = part.first_mut() {
        *first = b'-';
    }
    while part.ends_with(b".lock") {
        let kept = part.len() - b".lock".len();
        part.truncate(kept);
    }
    if part.ends_with(b".") {
        part.pop();
        part.push(b'-');
    }
    if part == "@" {
        part = "-".into();
    }
    part
}

/// `path` with links resolved as far as it exists.
pub(crate) fn real_as_far_as_it_goes(path: &Path) -> PathBuf {
    let mut real = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::Normal(name) => {
                real.push(name);
                if let Ok(found) = hedgerow_fs::real_path(&real) {
                    real = found;
                }
            }
            Component::ParentDir => {
                real.pop();
            }
            _ => {}
        }
    }
    real
}

/// The way from the directory `from` to `to`; both are absolute and without links.
pub(crate) fn relative(to: &Path, from: &Path) -> PathBuf {
    let shared = to.components().zip(from.components());
    let shared = shared.take_while(|(a, b)| a == b).count();
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    let way: PathBuf = up.chain(to.components().skip(shared)).collect();
    if way.as_os_str().is_empty() {
        "./".into()
    } else {
        way
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_parts_of_references() {
        for (name, part) in [
            ("plain", "plain"),
            (".hidden", "-hidden"),
            ("a..b", "a.b"),
            ("a b~c", "a-b-c"),
            ("x.lock.lock", "x"),
            ("end.", "end-"),
            ("a@{b", "a@-b"),
            ("@", "-"),
        ] {
            assert_eq!(as_reference_part(name.into()), part, "{name}");
        }
    }

    #[test]
    fn ways_between_directories() {
        for (to, from, way) in [
            ("/a/b", "/a/c/d", "../../b"),
            ("/a/b/c", "/a/b", "c"),
            ("/x", "/a", "../x"),
        ] {
            assert_eq!(relative(Path::new(to), Path::new(from)), Path::new(way));
        }
        assert_eq!(base_name("a/b//".into()), "b");
        assert_eq!(base_name("b".into()), "b");
    }
}
