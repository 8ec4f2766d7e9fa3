//! The common leading directory of all pathspecs: git goes there at once, and warns if it is
//! missing.

use super::remarks::Warning;
use bstr::{BStr, ByteSlice};
use hedgerow_fs::{FileKind, Listing};
use std::io;

/// The warning that the directory `leading` (with a slash at its end) is missing, if `directory`
/// above it (without one) is the last directory on the way that exists.
///
/// Git gives no warning about a symbolic link on the way, nor if the first component is missing
/// from the root.
pub(crate) fn missing(leading: &BStr, directory: &[u8], listing: &Listing) -> Option<Warning> {
    const ENOENT: i32 = 2;
    const ENOTDIR: i32 = 20;
    if directory.is_empty() {
        return None;
    }
    let rest = leading.strip_prefix(directory)?.strip_prefix(b"/")?;
    let name = rest
        .split_str(b"/")
        .next()
        .filter(|name| !name.is_empty())?;
    let next = listing
        .entries()
        .iter()
        .find(|entry| listing.name(entry) == name);
    let number = match next.map(|entry| entry.kind) {
        None => ENOENT,
        Some(Some(FileKind::Directory | FileKind::Symlink)) => return None,
        Some(_) => ENOTDIR,
    };
    let reason = hedgerow_fs::reason(&io::Error::from_raw_os_error(number));
    Some(Warning {
        is_failure: false,
        path: leading.to_owned(),
        text: format!("could not open directory '{leading}': {reason}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_directory_on_the_way_tells() {
        let mut listing = Listing::default();
        for (name, kind) in [
            ("d", FileKind::Directory),
            ("f", FileKind::File),
            ("l", FileKind::Symlink),
        ] {
            listing.push(name.as_bytes(), Some(kind)).unwrap();
        }
        for (leading, directory, expected) in [
            ("a/x/", "a", Some("No such file or directory")),
            ("a/x/y/", "a", Some("No such file or directory")),
            ("a/f/", "a", Some("Not a directory")),
            ("a/d/", "a", None),
            ("a/l/", "a", None),
            ("a/", "a", None),
            ("ab/x/", "a", None),
            ("b/x/", "a", None),
            ("", "a", None),
            ("x/", "", None),
        ] {
            let expected =
                expected.map(|why| format!("could not open directory '{leading}': {why}"));
            let found =
                missing(leading.into(), directory.as_bytes(), &listing).map(|warning| warning.text);
            assert_eq!(found, expected, "{leading} {directory}");
        }
    }
}
