//! A definition: `NAME TYPE` and what the type requires.

use crate::rules::named_xattr;
use bstr::ByteSlice;
use hedgerow_tree::{NodeKind, Xattr};
use std::fmt::Display;
use std::path::PathBuf;

/// Limits of the device numbers in an inode, inclusive.
const DEVICE: (u32, u32) = (0xfff, 0xf_ffff);
/// Length of the part of a definition that messages show, in bytes.
const SHOWN_BYTES: usize = 200;

/// Why a definition cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{definition}{reason}")]
pub struct DefinitionError {
    definition: String,
    reason: String,
}

impl DefinitionError {
    pub(super) fn new(text: impl AsRef<[u8]>, reason: impl Display) -> Self {
        let text = text.as_ref();
        let shown = text.get(..SHOWN_BYTES).unwrap_or(text);
        DefinitionError {
            definition: match shown {
                b"" => String::new(),
                shown => format!("'{}': ", shown.as_bstr()),
            },
            reason: reason.to_string(),
        }
    }
}

/// An entry that is added, or a change of an entry.
#[derive(Debug)]
pub(super) struct Definition {
    /// Its path in the image.
    pub path: Vec<u8>,
    pub action: Action,
}

#[derive(Debug)]
pub(super) enum Action {
    /// Another entry.
    Create(Metadata, Body),
    /// A hard link to a file outside of the image, or what a symbolic link leads to.
    LinkToFile {
        file: PathBuf,
        follow: bool,
    },
    /// A hard link to an entry that another definition makes.
    LinkToEntry(Vec<u8>),
    /// Changes permissions and owner, and the time if there is one.
    Modify(Metadata),
    Xattr(Xattr),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Metadata {
    pub mode: u16,
    pub uid: u32,
    pub gid: u32,
    pub mtime_s: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Body {
    Directory,
    Device(NodeKind, (u32, u32)),
    Symlink(Vec<u8>),
    Ipc(NodeKind),
    /// A part of the data behind the definitions of file number `file`.
    Data {
        file: usize,
        start: u64,
        bytes: u64,
    },
}

impl Definition {
    /// Parses a definition. `data` is the number of the file that it is in: only there, it may
    /// refer to data.
    pub fn parse(text: &[u8], data: Option<usize>) -> Result<Self, DefinitionError> {
        let wrong = |reason: String| DefinitionError::new(text, reason);
        let mut fields = Fields { rest: text };
        let path = fields
            .name()
            .and_then(|name| path_of(&name))
            .map_err(wrong)?;
        let kind = fields.word("a type").map_err(wrong)?;
        let action = fields.action(kind, data).map_err(wrong)?;
        Ok(Definition { path, action })
    }

    /// Whether it makes a directory.
    pub fn is_directory(&self) -> bool {
        matches!(&self.action, Action::Create(_, Body::Directory))
    }
}

/// Parses the attributes of directories, `d MODE UID GID` or `D TIME MODE UID GID`.
pub(super) fn directory(text: &[u8]) -> Result<Metadata, DefinitionError> {
    let mut fields = Fields { rest: text };
    let parsed = (|| match fields.word("a type")? {
        kind @ (b"d" | b"D") => {
            let metadata = fields.metadata(kind == b"D")?;
            fields.end()?;
            Ok(metadata)
        }
        _ => Err("the type of a directory is d or D".to_owned()),
    })();
    parsed.map_err(|reason| DefinitionError::new(text, reason))
}

/// A name as a path in the image, without slashes at its ends.
fn path_of(name: &[u8]) -> Result<Vec<u8>, String> {
    let names: Vec<&[u8]> = name
        .split_str("/")
        .filter(|name| !name.is_empty())
        .collect();
    if names.iter().any(|name| matches!(*name, b"." | b"..")) {
        return Err("a name with '.' or '..' between slashes".into());
    }
    if names
        .iter()
        .any(|name| name.len() > 255 || name.contains(&0))
    {
        return Err("a name of more than 255 bytes, or with a NUL byte".into());
    }
    Ok(names.join(&b'/'))
}

/// The fields of a definition that are still to be read.
struct Fields<'t> {
    rest: &'t [u8],
}

impl<'t> Fields<'t> {
    /// The name: in quotes, as a whole or in parts, or with backslashes before blanks.
    fn name(&mut self) -> Result<Vec<u8>, String> {
        self.skip_blanks();
        let mut is_quoted = false;
        let mut name = Vec::new();
        let mut bytes = self.rest.iter().enumerate();
        let end = loop {
            match bytes.next() {
                None if is_quoted => return Err("a quote is not closed".into()),
                None => break self.rest.len(),
                Some((_, b'"')) => is_quoted = !is_quoted,
                Some((at, b' ' | b'\t' | b'\n')) if !is_quoted => break at,
                Some((_, b'\\')) => {
                    let escaped = bytes.next().ok_or("nothing follows a backslash")?;
                    name.push(*escaped.1);
                }
                Some((_, byte)) => name.push(*byte),
            }
        };
        self.rest = self.rest.get(end..).unwrap_or_default();
        if name.is_empty() {
            return Err("the name is missing".into());
        }
        Ok(name)
    }

    fn action(&mut self, kind: &[u8], data: Option<usize>) -> Result<Action, String> {
        let [letter] = kind else {
            return Err(format!(
                "there is no type '{}'; blanks in names need quotes",
                kind.as_bstr()
            ));
        };
        let timed = letter.is_ascii_uppercase();
        let action = match letter {
            b'd' | b'D' => Action::Create(self.metadata(timed)?, Body::Directory),
            b'm' | b'M' => Action::Modify(self.metadata(timed)?),
            b'b' | b'B' => self.device(timed, NodeKind::BlockDevice)?,
            b'c' | b'C' => self.device(timed, NodeKind::CharacterDevice)?,
            b'i' | b'I' => {
                let metadata = self.metadata(timed)?;
                let kind = match self.word("s for a socket or f for a fifo")? {
                    b"s" => NodeKind::Socket,
                    b"f" => NodeKind::Fifo,
                    _ => return Err("neither s for a socket nor f for a fifo".into()),
                };
                Action::Create(metadata, Body::Ipc(kind))
            }
            b's' | b'S' => {
                let metadata = self.metadata(timed)?;
                let target = self.remainder("the target of the link")?.to_vec();
                // Links have all permissions.
                let mode = 0o777;
                Action::Create(Metadata { mode, ..metadata }, Body::Symlink(target))
            }
            b'x' => {
                let xattr = named_xattr(self.remainder("NAME=VALUE")?);
                Action::Xattr(xattr.map_err(|error| error.to_string())?)
            }
            b'l' | b'h' => Action::LinkToFile {
                file: bstr::ByteSlice::to_path_lossy(self.remainder("a file")?).into_owned(),
                follow: *letter == b'h',
            },
            b'L' => {
                let target = path_of(&self.name()?)?;
                Action::LinkToEntry(target)
            }
            b'R' => self.data(data.ok_or("type R is possible only in a file of definitions")?)?,
            b'f' | b'F' => {
                return Err(
                    "type f takes the output of a command, and commands are never run here; write \
                     it to a file first, and add that with type l"
                        .into(),
                )
            }
            other => return Err(format!("there is no type '{}'", char::from(*other))),
        };
        self.end()?;
        Ok(action)
    }

    /// `[TIME] MODE UID GID`
    fn metadata(&mut self, timed: bool) -> Result<Metadata, String> {
        let mtime_s = if timed {
            Some(self.number("a time in seconds since 1970")?)
        } else {
            None
        };
        let word = self.word("permissions")?;
        let mode = word
            .to_str()
            .ok()
            .and_then(|word| u16::from_str_radix(word, 8).ok());
        let mode = mode.filter(|mode| *mode <= 0o7777 && !word.starts_with(b"+"));
        Ok(Metadata {
            mtime_s,
            mode: mode.ok_or("the permissions are no octal number up to 7777")?,
            uid: self.account("an owner", |name| {
                hedgerow_fs::account_by_name(name).map(|it| it.uid)
            })?,
            gid: self.account("a group", |name| {
                hedgerow_fs::group_by_name(name).map(|it| it.gid)
            })?,
        })
    }

    fn account(&mut self, what: &str, find: impl Fn(&[u8]) -> Option<u32>) -> Result<u32, String> {
        let word = self.word(what)?;
        let number = word.to_str().ok().and_then(|word| word.parse().ok());
        let number = number.filter(|_| !word.starts_with(b"+"));
        number.or_else(|| find(word)).ok_or_else(|| {
            format!(
                "'{}' is neither {what} of this system nor a number of 32 bits",
                word.as_bstr()
            )
        })
    }

    fn device(&mut self, timed: bool, kind: NodeKind) -> Result<Action, String> {
        let metadata = self.metadata(timed)?;
        let device = (
            self.number("a major number")?,
            self.number("a minor number")?,
        );
        if device.0 > DEVICE.0 || device.1 > DEVICE.1 {
            return Err(format!(
                "no image can hold device {}:{}",
                device.0, device.1
            ));
        }
        Ok(Action::Create(metadata, Body::Device(kind, device)))
    }

    /// `TIME MODE UID GID LENGTH OFFSET SPARSE`; the last is decided anew, and squashfs-tools 4.5
    /// does not write it.
    fn data(&mut self, file: usize) -> Result<Action, String> {
        let metadata = self.metadata(true)?;
        let (bytes, start) = (self.number("a length")?, self.number("an offset")?);
        if !self.rest.trim_ascii().is_empty() {
            let _sparse: u32 = self.number("0 or 1")?;
        }
        let is_possible = bytes <= i64::MAX as u64 && start <= i64::MAX as u64;
        let end = is_possible
            .then_some(())
            .ok_or("a length or an offset over 2^63");
        end?;
        Ok(Action::Create(metadata, Body::Data { file, start, bytes }))
    }

    fn number<T: std::str::FromStr>(&mut self, what: &str) -> Result<T, String> {
        let word = self.word(what)?;
        let number = word.to_str().ok().filter(|word| !word.starts_with('+'));
        let number = number.and_then(|word| word.parse().ok());
        number.ok_or_else(|| format!("'{}' is not {what}", word.as_bstr()))
    }

    fn word(&mut self, what: &str) -> Result<&'t [u8], String> {
        self.skip_blanks();
        let end = self.rest.find_byteset(b" \t\n").unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        if word.is_empty() {
            return Err(format!("{what} is missing"));
        }
        self.rest = rest;
        Ok(word)
    }

    /// All that is left.
    fn remainder(&mut self, what: &str) -> Result<&'t [u8], String> {
        self.skip_blanks();
        match std::mem::take(&mut self.rest) {
            b"" => Err(format!("{what} is missing")),
            rest => Ok(rest),
        }
    }

    fn end(&mut self) -> Result<(), String> {
        self.skip_blanks();
        match self.rest {
            b"" => Ok(()),
            rest => Err(format!("'{}' is too much", rest.as_bstr())),
        }
    }

    /// Skips blanks; a backslash at the end of a line is one, too.
    fn skip_blanks(&mut self) {
        loop {
            self.rest = match self.rest {
                [b' ' | b'\t' | b'\n', rest @ ..] | [b'\\', b'\n', rest @ ..] => rest,
                _ => return,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Definition, String> {
        Definition::parse(text.as_bytes(), Some(0)).map_err(|error| error.to_string())
    }

    #[test]
    fn every_type_is_understood() {
        let made = |text: &str| match parse(text).unwrap().action {
            Action::Create(metadata, body) => (metadata.mode, metadata.mtime_s, body),
            other => panic!("{other:?}"),
        };
        assert_eq!(made("a d 755 0 0"), (0o755, None, Body::Directory));
        assert_eq!(
            made("a D 7 4711 1 root"),
            (0o4711, Some(7), Body::Directory)
        );
        let null = Body::Device(NodeKind::CharacterDevice, (1, 3));
        assert_eq!(made("a c 666 0 0 1 3"), (0o666, None, null));
        assert_eq!(
            made("a S 5 1 0 0  x y "),
            (0o777, Some(5), Body::Symlink(b"x y ".into()))
        );
        assert_eq!(made("a I 5 1 0 0 f").2, Body::Ipc(NodeKind::Fifo));
        let data = Body::Data {
            file: 0,
            start: 9,
            bytes: 3,
        };
        assert_eq!(made("a R 5 644 0 0 3 9 0").2, data);
        assert!(
            matches!(parse("a x user.b=c d").unwrap().action, Action::Xattr(it) if it.value == "c d".as_bytes())
        );
        assert!(matches!(
            parse("a m 644 1 1").unwrap().action,
            Action::Modify(_)
        ));
        assert!(
            matches!(parse("a L \"x y\"").unwrap().action, Action::LinkToEntry(it) if it == b"x y")
        );
        for (text, path) in [
            ("\"a b\" d 1 0 0", "a b"),
            ("a\"b c\"d\\\" d 1 0 0", "ab cd\""),
            ("/a\\ b/c\\\\/ d 1 0 0", "a b/c\\"),
            ("/ d 1 0 0", ""),
            ("a\\\nb d \\\n 1 0 0", "a\nb"),
        ] {
            assert_eq!(parse(text).unwrap().path, path.as_bytes(), "{text:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, said) in [
            ("a", "a type is missing"),
            ("a d", "permissions is missing"),
            ("a q 755 0 0", "there is no type 'q'"),
            ("a b 755 0 0", "a major number is missing"),
            (
                "a b c 755 0 0",
                "the permissions are no octal number up to 7777",
            ),
            (
                "a dd 755 0 0",
                "there is no type 'dd'; blanks in names need quotes",
            ),
            (
                "a d 99999 0 0",
                "the permissions are no octal number up to 7777",
            ),
            (
                "a d +7 0 0",
                "the permissions are no octal number up to 7777",
            ),
            (
                "a d 755 no-such-user 0",
                "'no-such-user' is neither an owner of this system nor a number of 32 bits",
            ),
            (
                "a d 755 0 4294967296",
                "'4294967296' is neither a group of this system nor a number of 32 bits",
            ),
            ("a d 755 0 0 x", "'x' is too much"),
            ("a c 755 0 0 4096 0", "no image can hold device 4096:0"),
            ("a i 755 0 0 x", "neither s for a socket nor f for a fifo"),
            ("a s 755 0 0", "the target of the link is missing"),
            ("a x user.b", "'user.b': '=' is missing"),
            ("a D -1 755 0 0", "'-1' is not a time in seconds since 1970"),
            ("../a d 755 0 0", "a name with '.' or '..' between slashes"),
            ("\"a d 755 0 0", "a quote is not closed"),
            (
                "a R 5 644 0 0 9223372036854775808 0 0",
                "a length or an offset over 2^63",
            ),
            ("", "the name is missing"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.ends_with(said), "{text}: {error}");
        }
        let error = parse("a f 644 0 0 date").unwrap_err();
        assert!(error.contains("commands are never run"), "{error}");
        let error = Definition::parse(b"a R 5 644 0 0 1 1 0", None)
            .unwrap_err()
            .to_string();
        assert!(error.contains("only in a file"), "{error}");
        assert!(directory(b"d 755 0 0").is_ok() && directory(b"m 755 0 0").is_err());
    }
}
