//! Paths as git shows them to people: relative to their directory, quoted where needed.

use super::quote::{needs_quotes, quoted, quoted_with_spaces};

/// How to show paths.
#[derive(Clone, Copy, Debug)]
pub struct PathStyle<'a> {
    /// The directory they are relative to, ending in a slash; empty for the top.
    pub prefix: &'a [u8],
    /// `core.quotePath`: bytes above 127 are quoted, too.
    pub high: bool,
}

impl PathStyle<'_> {
    /// The path, relative.
    pub fn relative(&self, path: &[u8]) -> Vec<u8> {
        relative(path, self.prefix)
    }

    /// The path, relative and quoted.
    pub fn path(&self, path: &[u8]) -> Vec<u8> {
        quoted(&relative(path, self.prefix), self.high)
    }

    /// Appends the path, relative and quoted, to `text`.
    pub fn push_path(&self, path: &[u8], text: &mut Vec<u8>) {
        let is_plain = self.prefix.is_empty() && !path.is_empty() && !needs_quotes(path, self.high);
        if is_plain {
            text.extend_from_slice(path);
        } else {
            text.extend(self.path(path));
        }
    }

    /// What is at `rest` in `directory`, shown as below the relative path of that directory, which
    /// has a slash at its end.
    pub fn path_in(&self, directory: &[u8], rest: &[u8]) -> Vec<u8> {
        let mut path = relative(directory, self.prefix);
        path.extend_from_slice(rest);
        quoted(&path, self.high)
    }

    /// Appends the relative path to `text`; if it has a space, it is quoted, too, as in the short
    /// format.
    pub fn push_path_of_short(&self, path: &[u8], text: &mut Vec<u8>) {
        let is_plain = self.prefix.is_empty()
            && !path.is_empty()
            && !path.contains(&b' ')
            && !needs_quotes(path, self.high);
        if is_plain {
            text.extend_from_slice(path);
        } else {
            text.extend(quoted_with_spaces(&relative(path, self.prefix), self.high));
        }
    }
}

/// The relative path from the directory `prefix` to `path`; both are relative to the same root.
pub(crate) fn relative(path: &[u8], prefix: &[u8]) -> Vec<u8> {
    let is_within = |end: &usize| path.get(..*end) == prefix.get(..*end);
    let ends = prefix.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    let common = ends.map(|(at, _)| at + 1).take_while(is_within).last();
    let common = common.unwrap_or(0);
    let ups = prefix[common..]
        .iter()
        .filter(|byte| **byte == b'/')
        .count();
    let mut shown = b"../".repeat(ups);
    shown.extend_from_slice(&path[common..]);
    if shown.is_empty() {
        b"./".to_vec()
    } else {
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_lead_up_and_down() {
        for (path, prefix, expected) in [
            ("a/b", "", "a/b"),
            ("a/b", "a/", "b"),
            ("a/b", "a/c/", "../b"),
            ("x", "a/c/", "../../x"),
            ("a/", "a/", "./"),
            ("ab/c", "a/", "../ab/c"),
            ("a/b/c", "a/bc/", "../b/c"),
        ] {
            let shown = relative(path.as_bytes(), prefix.as_bytes());
            assert_eq!(shown, expected.as_bytes(), "{path} from {prefix}");
        }
    }

    #[test]
    fn spaces_are_quoted_in_the_short_format_alone() {
        let shown = PathStyle {
            prefix: b"",
            high: true,
        };
        assert_eq!(shown.path(b"a b"), b"a b");
        let short = |path: &[u8]| {
            let mut text = Vec::new();
            shown.push_path_of_short(path, &mut text);
            text
        };
        assert_eq!(short(b"a"), b"a");
        assert_eq!(short(b"a b"), b"\"a b\"");
        assert_eq!(short(b"a\tb c"), b"\"a\\tb c\"");
    }
}
