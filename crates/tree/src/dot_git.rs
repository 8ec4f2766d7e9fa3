//! Spellings that some file systems treat as `.git` or `.gitmodules`.
//!
//! Git refuses them on every platform, because repositories are copied between platforms; see
//! CVE-2014-9390 and CVE-2019-1352 to 1354.

use crate::NameRules;

/// Whether `name` is `.git`, or is treated as `.git` by a file system that `rules` protect.
pub(crate) fn is_dot_git(name: &[u8], rules: NameRules) -> bool {
    name.eq_ignore_ascii_case(b".git")
        || rules.protect_ntfs && parts(name).any(is_ntfs_dot_git)
        || rules.protect_hfs && is_hfs(name, b".git")
}

/// Whether `name` is `.gitmodules`, or is treated as such by a file system that `rules` protect.
pub(crate) fn is_dot_gitmodules(name: &[u8], rules: NameRules) -> bool {
    name.eq_ignore_ascii_case(b".gitmodules")
        || rules.protect_ntfs && parts(name).any(is_ntfs_dot_gitmodules)
        || rules.protect_hfs && is_hfs(name, b".gitmodules")
}

/// Splits a name at backslashes, which separate components on Windows.
fn parts(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    name.split(|byte| *byte == b'\\')
}

fn is_ntfs_dot_git(name: &[u8]) -> bool {
    [b".git".as_slice(), b"git~1"].iter().any(|spelling| {
        starts_with_ignoring_case(name, spelling) && ends_name(&name[spelling.len()..])
    })
}

fn is_ntfs_dot_gitmodules(name: &[u8]) -> bool {
    is_ntfs_spelling(name, &DotFile::Modules.spelling())
}

/// A file whose name has a meaning for git.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DotFile {
    /// `.gitmodules`
    Modules,
    /// `.gitattributes`
    Attributes,
    /// `.gitignore`
    Ignore,
    /// `.mailmap`
    Mailmap,
}

/// The NTFS spellings of a long name: the name itself, the start of its short names, and the start
/// of the hashed short names that are used when four short names are taken.
struct Spelling {
    long: &'static [u8],
    short: &'static [u8],
    hashed: &'static [u8; 6],
}

impl DotFile {
    fn spelling(self) -> Spelling {
        let (long, short, hashed): (&[u8], &[u8], _) = match self {
            DotFile::Modules => (b".gitmodules", b"gitmod~", b"gi7eba"),
            DotFile::Attributes => (b".gitattributes", b"gitatt~", b"gi7d29"),
            DotFile::Ignore => (b".gitignore", b"gitign~", b"gi250a"),
            DotFile::Mailmap => (b".mailmap", b"mailma~", b"maba30"),
        };
        Spelling {
            long,
            short,
            hashed,
        }
    }
}

/// Whether NTFS or HFS+ treats `name`, a single component, as `file`.
pub fn is_dot_file(name: &[u8], file: DotFile) -> bool {
    let spelling = file.spelling();
    is_ntfs_spelling(name, &spelling) || is_hfs(name, spelling.long)
}

/// Whether NTFS or HFS+ treats `name`, a single component, as `.git`, or on Windows as a path with
/// a component `.git`.
pub fn is_any_dot_git(name: &[u8]) -> bool {
    parts(name).any(is_ntfs_dot_git) || is_hfs(name, b".git")
}

fn is_ntfs_spelling(name: &[u8], spelling: &Spelling) -> bool {
    if starts_with_ignoring_case(name, spelling.long) {
        return ends_name(&name[spelling.long.len()..]);
    }
    if starts_with_ignoring_case(name, spelling.short) {
        let rest = &name[spelling.short.len()..];
        return matches!(rest.first(), Some(b'1'..=b'4')) && ends_name(&rest[1..]);
    }
    is_hashed_short_name(name, spelling.hashed)
}

/// Whether `name` is a hashed short name of NTFS, as used when `GITMOD~1` to `~4` are taken: the
/// first two letters, four digits of a hash of the long name, a tilde and a number. A longer number
/// moves the tilde to the left.
fn is_hashed_short_name(name: &[u8], prefix: &[u8; 6]) -> bool {
    const LENGTH: usize = 8;
    let Some(tilde) = name.iter().take(LENGTH).position(|byte| *byte == b'~') else {
        return false;
    };
    let Some(number) = name.get(tilde + 1..LENGTH) else {
        return false;
    };
    tilde <= prefix.len()
        && name[..tilde].eq_ignore_ascii_case(&prefix[..tilde])
        && matches!(number.first(), Some(b'1'..=b'9'))
        && number.iter().all(u8::is_ascii_digit)
        && ends_name(&name[LENGTH..])
}

/// Whether NTFS ends the name here: it drops trailing dots and spaces, and a colon starts the name
/// of a stream.
fn ends_name(rest: &[u8]) -> bool {
    rest.iter()
        .find(|byte| !matches!(byte, b'.' | b' '))
        .is_none_or(|byte| *byte == b':')
}

fn starts_with_ignoring_case(name: &[u8], prefix: &[u8]) -> bool {
    name.get(..prefix.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// Whether HFS+ treats `name` as `spelling`: it ignores case and some code points. If a name is not
/// valid UTF-8, only its valid start is compared.
fn is_hfs(name: &[u8], spelling: &[u8]) -> bool {
    let valid = match std::str::from_utf8(name) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&name[..error.valid_up_to()]).unwrap_or_default(),
    };
    let mut seen = valid
        .chars()
        .filter(|character| !is_ignored_by_hfs(*character));
    spelling.iter().all(|byte| {
        seen.next()
            .is_some_and(|c| c.eq_ignore_ascii_case(&char::from(*byte)))
    }) && seen.next().is_none()
}

fn is_ignored_by_hfs(character: char) -> bool {
    matches!(character,
        '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}
