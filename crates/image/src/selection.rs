use bstr::ByteSlice;

/// The selected paths of a tree: all, or some with everything below them and their parent
/// directories.
pub struct Selection {
    /// Without `.` and empty components. Empty: everything is selected.
    paths: Vec<Vec<u8>>,
}

impl Selection {
    /// Selects everything.
    pub fn all() -> Self {
        Selection { paths: Vec::new() }
    }

    /// Selects these paths, or everything if there are none or one of them is the root.
    pub fn new(paths: &[&[u8]]) -> Self {
        let normal = |path: &[u8]| {
            let names = path.split_str("/");
            let names = names.filter(|name| !name.is_empty() && *name != b".");
            bstr::join("/", names)
        };
        let paths: Vec<_> = paths.iter().map(|path| normal(path)).collect();
        if paths.iter().any(Vec::is_empty) {
            Self::all()
        } else {
            Selection { paths }
        }
    }

    /// Whether the entry with this path is selected.
    pub fn wants(&self, path: &[u8]) -> bool {
        let is_in = |path: &[u8], directory: &[u8]| {
            let rest = path.strip_prefix(directory);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        };
        let wanted = |selected: &Vec<u8>| is_in(path, selected) || is_in(selected, path);
        self.paths.is_empty() || self.paths.iter().any(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::Selection;

    #[test]
    fn a_path_is_wanted_with_what_is_in_it_and_what_it_is_in() {
        let some = Selection::new(&[b"a/b", b"./c//d/"]);
        for path in ["a", "a/b", "a/b/x", "c", "c/d"] {
            assert!(some.wants(path.as_bytes()), "{path}");
        }
        for path in ["b", "a/bb", "a/a", "cc", "c/dd", "c/e/d"] {
            assert!(!some.wants(path.as_bytes()), "{path}");
        }
        assert!(Selection::new(&[b"a", b"/"]).wants(b"x"));
        assert!(Selection::new(&[]).wants(b"x"));
    }
}
