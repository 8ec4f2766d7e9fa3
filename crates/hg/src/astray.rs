//! Paths that Mercurial refuses to follow: those through a symbolic link, or into another
//! repository. Mercurial looks at the directories above a file from the root down, each time it
//! reads one and for each path that is named.

use crate::{Error, Result};
use bstr::{BString, ByteSlice};
use hedgerow_fs::FileKind;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Looks at the directories above paths, at each of them once.
#[derive(Debug)]
pub(crate) struct Ancestors<'r> {
    root: &'r Path,
    seen: HashMap<BString, Option<Obstacle>>,
}

#[derive(Clone, Copy, Debug)]
enum Obstacle {
    Link,
    Repository,
}

impl<'r> Ancestors<'r> {
    pub fn new(root: &'r Path) -> Self {
        Ancestors {
            root,
            seen: HashMap::new(),
        }
    }

    /// Fails if something above `path`, which is relative to the root, is a symbolic link or a
    /// repository of its own.
    pub fn check(&mut self, path: &[u8]) -> Result<()> {
        match self.refusal(path)? {
            Some(refusal) => Err(refusal),
            None => Ok(()),
        }
    }

    /// The error with which Mercurial refuses `path`, if it does.
    pub fn refusal(&mut self, path: &[u8]) -> Result<Option<Error>> {
        for (end, _) in path.iter().enumerate().filter(|(_, byte)| **byte == b'/') {
            let (directory, _) = path.split_at(end);
            let Some(obstacle) = self.obstacle(directory)? else {
                continue;
            };
            return Ok(Some(match obstacle {
                Obstacle::Link => Error::Link {
                    path: literal(path),
                    link: literal(directory),
                },
                Obstacle::Repository => Error::Nested {
                    path: path.into(),
                    repository: literal(directory),
                },
            }));
        }
        Ok(None)
    }

    fn obstacle(&mut self, directory: &[u8]) -> Result<Option<Obstacle>> {
        if let Some(known) = self.seen.get(directory.as_bstr()) {
            return Ok(*known);
        }
        let full = self.root.join(OsStr::from_bytes(directory));
        let obstacle = match hedgerow_fs::lstat(&full)?.map(|stat| stat.kind) {
            Some(FileKind::Symlink) => Some(Obstacle::Link),
            Some(FileKind::Directory) if is_repository(&full) => Some(Obstacle::Repository),
            _ => None,
        };
        self.seen.insert(directory.into(), obstacle);
        Ok(obstacle)
    }
}

/// A link to a directory makes a repository as well, though not where directories are listed.
fn is_repository(directory: &Path) -> bool {
    let stat = hedgerow_fs::stat(&directory.join(".hg"));
    stat.is_ok_and(|stat| stat.is_some_and(|stat| stat.kind == FileKind::Directory))
}

/// Bytes as a literal of Python, which is how Mercurial shows them.
fn literal(bytes: &[u8]) -> String {
    let quote = if bytes.contains(&b'\'') && !bytes.contains(&b'"') {
        '"'
    } else {
        '\''
    };
    let mut text = String::from(quote);
    for byte in bytes {
        match char::from(*byte) {
            '\t' => text.push_str("\\t"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            character if character == '\\' || character == quote => {
                text.extend(['\\', character]);
            }
            character @ ' '..='~' => text.push(character),
            _ => text.push_str(&format!("\\x{byte:02x}")),
        }
    }
    text.push(quote);
    text
}

#[cfg(test)]
mod tests {
    use super::literal;

    #[test]
    fn literals_are_those_of_python() {
        for (bytes, text) in [
            (&b"d/f"[..], "'d/f'"),
            (b"o'o", "\"o'o\""),
            (b"o'\"o", "'o\\'\"o'"),
            (
                b"\xc3\xa4\\\t\n\r\x01\x7f",
                "'\\xc3\\xa4\\\\\\t\\n\\r\\x01\\x7f'",
            ),
        ] {
            assert_eq!(literal(bytes), text);
        }
    }
}
