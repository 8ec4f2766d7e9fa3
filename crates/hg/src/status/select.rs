use bstr::{BString, ByteSlice};

/// The selected part of the working copy.
#[derive(Clone, Debug, Default)]
pub(super) struct Selection {
    /// Files and directories, ascending; everything if empty.
    paths: Vec<BString>,
}

impl Selection {
    pub fn new(mut paths: Vec<BString>) -> Self {
        if paths.iter().any(|path| path.is_empty()) {
            paths.clear();
        }
        paths.sort_unstable();
        Selection { paths }
    }

    /// Whether `path` is selected: named itself, or below a named path.
    pub fn has(&self, path: &[u8]) -> bool {
        self.paths.is_empty() || self.paths.iter().any(|named| is_at_or_below(path, named))
    }

    /// Whether anything in the directory `path` may be selected.
    pub fn reaches(&self, path: &[u8]) -> bool {
        self.has(path) || self.paths.iter().any(|named| is_at_or_below(named, path))
    }

    pub fn paths(&self) -> &[BString] {
        &self.paths
    }
}

/// Whether `path` is `directory` or in it, at any depth.
pub(super) fn is_at_or_below(path: &[u8], directory: &[u8]) -> bool {
    let below = path.strip_prefix(directory);
    directory.is_empty() || below.is_some_and(|rest| rest.is_empty() || rest.starts_with_str("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_selects_what_is_in_it() {
        let selection = Selection::new(vec!["b/c".into(), "a".into()]);
        for path in ["a", "a/x", "b/c", "b/c/d/e"] {
            assert!(selection.has(path.as_bytes()), "{path}");
        }
        for path in ["ab", "b", "b/cd", "c"] {
            assert!(!selection.has(path.as_bytes()), "{path}");
        }
        assert!(selection.reaches(b"b"));
        assert!(selection.reaches(b""));
        assert!(!selection.reaches(b"c"));
        assert!(Selection::default().has(b"x"));
        assert!(Selection::new(vec!["".into(), "a".into()]).has(b"x"));
    }
}
