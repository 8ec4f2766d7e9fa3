//! How git reads the text of a value: gitglossary(7), git-config(1) under "Values".

use bstr::{BStr, ByteSlice};
use hedgerow_numbers::integer;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A boolean: the words git knows, or a number that is or is not zero.
pub fn boolean(text: &BStr) -> Option<bool> {
    match text.to_ascii_lowercase().as_slice() {
        b"true" | b"yes" | b"on" => Some(true),
        b"" | b"false" | b"no" | b"off" => Some(false),
        // Git reads this number into 32 bits.
        _ => i32::try_from(integer(text).ok()?)
            .ok()
            .map(|number| number != 0),
    }
}

/// A path with `~/`, `~user/` or `%(prefix)/` in front replaced. `None` if the home directory it
/// asks for is not known.
pub(crate) fn interpolate(text: &BStr, home: Option<&Path>, prefix: &Path) -> Option<PathBuf> {
    if let Some(rest) = text.strip_prefix(b"%(prefix)/") {
        return Some(prefix.join(OsStr::from_bytes(rest)));
    }
    let Some(after) = text.strip_prefix(b"~") else {
        return Some(PathBuf::from(OsStr::from_bytes(text)));
    };
    let end = after.find_byte(b'/').unwrap_or(after.len());
    let (user, rest) = after.split_at(end);
    let home = match user {
        b"" => home?.to_owned(),
        _ => hedgerow_fs::account_by_name(user)?.home,
    };
    match rest.strip_prefix(b"/") {
        Some(rest) => Some(home.join(OsStr::from_bytes(rest))),
        None => Some(home),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn booleans() {
        for yes in ["true", "YES", "on", "1", "-1", "2k"] {
            assert_eq!(boolean(yes.into()), Some(true), "{yes}");
        }
        for no in ["false", "No", "off", "0", "", "00"] {
            assert_eq!(boolean(no.into()), Some(false), "{no}");
        }
        for neither in ["y", "tru", "1x", " ", "2g"] {
            assert_eq!(boolean(neither.into()), None, "{neither}");
        }
    }

    #[test]
    fn paths() {
        let home = Some(Path::new("/home/ada"));
        let read = |text: &str| interpolate(text.into(), home, Path::new("/usr"));
        assert_eq!(read("~/x"), Some("/home/ada/x".into()));
        assert_eq!(read("~"), Some("/home/ada".into()));
        assert_eq!(read("%(prefix)/etc"), Some("/usr/etc".into()));
        assert_eq!(read("a/~"), Some("a/~".into()));
        assert_eq!(read("~nobody-of-this-name/x"), None);
        assert_eq!(interpolate("~/x".into(), None, Path::new("/")), None);
    }
}
