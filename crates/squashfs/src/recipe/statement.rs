//! Parses one line of a description.

use super::words::{canonical, number, Words};
use bstr::ByteSlice;

/// A parsed line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statement {
    /// The path in the image; empty for the root.
    pub path: Vec<u8>,
    /// `None`: as in the source. Only globs have `None` here, and in the next two fields.
    pub mode: Option<u16>,
    pub uid: Option<u32>,
    pub gid: Option<u32>,
    pub what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    Directory,
    Symlink(Vec<u8>),
    /// A hard link to this path in the image.
    HardLink(Vec<u8>),
    Device {
        is_block: bool,
        numbers: (u32, u32),
    },
    Fifo,
    Socket,
    /// The path of the file with the content.
    File(Vec<u8>),
    Glob(Glob),
}

/// Which entries of a directory are added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Glob {
    /// The path of the directory, relative to the inputs.
    pub directory: Vec<u8>,
    /// Letters of `find -type`; all kinds if empty.
    pub kinds: Vec<u8>,
    pub pattern: Option<GlobPattern>,
    pub one_file_system: bool,
    pub keep_time: bool,
    pub nonrecursive: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum GlobPattern {
    Name(Vec<u8>),
    /// Matches the path in the image.
    Path(Vec<u8>),
}

/// Limits of the device numbers that an image can hold, which are the kernel's.
const MAJOR_LIMIT: u32 = 1 << 12;
const MINOR_LIMIT: u32 = 1 << 20;

impl Statement {
    /// `<type> <path> <mode> <uid> <gid> [<extra>]`
    pub(super) fn parse(line: &[u8]) -> Result<Self, String> {
        let mut words = Words::new(line);
        let keyword = words.word().unwrap_or_default();
        let known: [&[u8]; 8] = [
            b"dir", b"slink", b"link", b"nod", b"pipe", b"sock", b"file", b"glob",
        ];
        if !known.contains(&keyword) {
            return Err(format!(
                "'{}' is no type of entry: dir, file, glob, link, nod, pipe, slink or sock",
                keyword.as_bstr()
            ));
        }
        let is_glob = keyword == b"glob";
        let path = canonical(&words.quoted(false)?)?;
        if path.is_empty() && keyword != b"dir" && !is_glob {
            return Err(format!("the root cannot be a {}", keyword.as_bstr()));
        }
        let mut field = |name: &str, base, limit: u32| {
            let word = words
                .word()
                .ok_or_else(|| format!("the {name} is missing"))?;
            if is_glob && word == b"*" {
                return Ok(None);
            }
            let value = number(word, base).filter(|value| *value <= limit);
            let wrong = || format!("the {name} '{}' is no number up to ", word.as_bstr());
            match (value, base) {
                (Some(value), _) => Ok(Some(value)),
                (None, 8) => Err(wrong() + &format!("0{limit:o}, in octal")),
                (None, _) => Err(wrong() + &limit.to_string()),
            }
        };
        let mode = field("mode", 8, 0o7777)?.map(|mode| mode as u16);
        let uid = field("uid", 10, u32::MAX)?;
        let gid = field("gid", 10, u32::MAX)?;
        let extra = words.rest();
        let needed = |name: &str| match extra {
            b"" => Err(format!("the {name} is missing")),
            _ => Ok(extra.to_vec()),
        };
        let what = match keyword {
            b"dir" => What::Directory,
            b"slink" => What::Symlink(needed("target")?),
            b"link" => What::HardLink(canonical(&needed("target")?)?),
            b"nod" => device(extra)?,
            b"pipe" => What::Fifo,
            b"sock" => What::Socket,
            b"file" if extra.is_empty() => What::File(path.clone()),
            b"file" => What::File(extra.to_vec()),
            _ => What::Glob(Glob::parse(words)?),
        };
        Ok(Statement {
            path,
            mode,
            uid,
            gid,
            what,
        })
    }
}

fn device(extra: &[u8]) -> Result<What, String> {
    let mut words = Words::new(extra);
    let is_block = match words.word() {
        Some(b"c" | b"C") => false,
        Some(b"b" | b"B") => true,
        _ => return Err("a device is 'c' or 'b', and two numbers".into()),
    };
    let mut next = |name: &str, limit| {
        let value = words.word().and_then(|word| number(word, 10));
        let value = value.filter(|value| *value < limit);
        value.ok_or_else(|| format!("the {name} number is none up to {}", limit - 1))
    };
    Ok(What::Device {
        is_block,
        numbers: (next("major", MAJOR_LIMIT)?, next("minor", MINOR_LIMIT)?),
    })
}

impl Glob {
    fn parse(mut words: Words<'_>) -> Result<Self, String> {
        let mut glob = Glob::default();
        while words.rest().starts_with(b"-") {
            match words.word().unwrap_or_default() {
                b"--" => break,
                b"-type" => match words.word() {
                    Some([kind @ (b'b' | b'c' | b'd' | b'p' | b'f' | b'l' | b's')]) => {
                        glob.kinds.push(*kind);
                    }
                    _ => return Err("-type is followed by one of b, c, d, f, l, p, s".into()),
                },
                b"-xdev" | b"-mount" => glob.one_file_system = true,
                b"-keeptime" => glob.keep_time = true,
                b"-nonrecursive" => glob.nonrecursive = true,
                b"-name" => glob.pattern = Some(GlobPattern::Name(pattern(&mut words)?)),
                b"-path" => glob.pattern = Some(GlobPattern::Path(pattern(&mut words)?)),
                other => return Err(format!("'{}' is no option of glob", other.as_bstr())),
            }
        }
        glob.directory = words.rest().to_vec();
        Ok(glob)
    }

    /// Whether entries of this kind, a letter of `find -type`, are added.
    pub(super) fn wants(&self, kind: u8) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }
}

/// A word, or text in single or double quotes. There are no escapes between quotes: a backslash
/// belongs to the pattern.
fn pattern(words: &mut Words<'_>) -> Result<Vec<u8>, String> {
    let rest = words.rest();
    let Some((quote @ (b'"' | b'\''), text)) = rest.split_first() else {
        let word = words.word().ok_or("a pattern is missing")?;
        return Ok(word.to_vec());
    };
    let end = text.iter().position(|byte| byte == quote);
    let end = end.ok_or("a quote is not closed")?;
    *words = Words::new(text.get(end + 1..).unwrap_or_default());
    Ok(text.get(..end).unwrap_or_default().to_vec())
}
