use bstr::{BString, ByteSlice};
use hedgerow_fs::FileKind;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The selected part of the working copy.
#[derive(Clone, Debug, Default)]
pub(super) struct Selection {
    /// Files and directories, ascending; everything if empty.
    paths: Vec<BString>,
    /// What is below the paths is not selected.
    is_exact: bool,
    is_absent: bool,
}

impl Selection {
    pub fn new(mut paths: Vec<BString>) -> Self {
        if paths.iter().any(|path| path.is_empty()) {
            paths.clear();
        }
        paths.sort_unstable();
        Selection {
            paths,
            ..Selection::default()
        }
    }

    /// The selection of `paths` below `root`. If none of them is a directory, or could have been
    /// one, Mercurial looks at nothing but the paths themselves.
    pub fn below(root: &Path, paths: Vec<BString>) -> Self {
        let mut selection = Selection::new(paths);
        let kind = |path: &BString| {
            let stat = hedgerow_fs::lstat(&root.join(OsStr::from_bytes(path)));
            stat.ok().flatten().map(|stat| stat.kind)
        };
        let kinds: Vec<Option<FileKind>> = selection.paths.iter().map(kind).collect();
        let is_other = |kind: &Option<FileKind>| kind.is_some_and(|it| it != FileKind::Directory);
        selection.is_exact = !kinds.is_empty() && kinds.iter().all(is_other);
        selection.is_absent = !kinds.is_empty() && kinds.iter().all(Option::is_none);
        selection
    }

    /// Whether paths are named and none of them exists.
    pub fn is_absent(&self) -> bool {
        self.is_absent
    }

    /// Whether `path` is selected: named itself, or below a named path.
    pub fn has(&self, path: &[u8]) -> bool {
        let selects = |named: &BString| {
            if self.is_exact {
                named == path
            } else {
                is_at_or_below(path, named)
            }
        };
        self.paths.is_empty() || self.paths.iter().any(selects)
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
