//! Which untracked paths git ignores: gitignore(5).

use crate::Result;
use bstr::{BStr, BString, ByteSlice};
use hedgerow_fs::Dir;
use hedgerow_walk::{Patterns, Verdict};
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex};

/// Ignore rules: the user's and the repository's, and the `.gitignore` files of the working tree,
/// which are read when a path below them is asked about.
#[derive(Debug)]
pub struct Ignore {
    /// Nothing is ignored, whatever the files say.
    is_off: bool,
    /// Lowest precedence first.
    outer: Vec<Patterns>,
    ignore_case: bool,
    directories: Mutex<HashMap<BString, Arc<Patterns>>>,
}

impl Ignore {
    /// Rules with the patterns of `core.excludesFile` and `info/exclude`, in this order.
    pub(crate) fn new(outer: Vec<Patterns>, ignore_case: bool) -> Self {
        Ignore {
            is_off: false,
            outer,
            ignore_case,
            directories: Mutex::default(),
        }
    }

    /// Rules that ignore nothing.
    pub(crate) fn nothing() -> Self {
        Ignore {
            is_off: true,
            ..Ignore::new(Vec::new(), false)
        }
    }

    /// Whether `path` below the working tree `root` is ignored, itself or by a directory above it.
    pub fn is_ignored(&self, root: &Dir, path: &BStr, is_directory: bool) -> Result<bool> {
        if self.is_off {
            return Ok(false);
        }
        for end in path.find_iter(b"/") {
            if self.is_matched(root, path[..end].as_bstr(), true)? {
                return Ok(true);
            }
        }
        self.is_matched(root, path, is_directory)
    }

    fn is_matched(&self, root: &Dir, path: &BStr, is_directory: bool) -> Result<bool> {
        let slashes: Vec<usize> = path.find_iter(b"/").collect();
        let starts = slashes
            .iter()
            .rev()
            .map(|at| (&path[..*at], &path[at + 1..]));
        for (directory, rest) in starts.chain([(BStr::new(b""), path)]) {
            let patterns = self.patterns_of(root, directory.as_bstr())?;
            if let Some(verdict) = patterns.verdict(rest, is_directory) {
                return Ok(verdict == Verdict::Matched);
            }
        }
        let outer = self.outer.iter().rev();
        let verdict = outer
            .filter_map(|patterns| patterns.verdict(path, is_directory))
            .next();
        Ok(verdict == Some(Verdict::Matched))
    }

    fn patterns_of(&self, root: &Dir, directory: &BStr) -> Result<Arc<Patterns>> {
        let known = self
            .directories
            .lock()
            .ok()
            .and_then(|map| map.get(directory).cloned());
        if let Some(patterns) = known {
            return Ok(patterns);
        }
        let content = match read(root, directory) {
            Err(error) if is_absent(&error) => Vec::new(),
            read => read?,
        };
        let patterns = Arc::new(Patterns::parse(&content).ignoring_case(self.ignore_case));
        if let Ok(mut map) = self.directories.lock() {
            map.insert(directory.to_owned(), patterns.clone());
        }
        Ok(patterns)
    }
}

fn read(root: &Dir, directory: &BStr) -> hedgerow_fs::Result<Vec<u8>> {
    let mut content = Vec::new();
    let file = root.open_dir(directory)?.open_file(b".gitignore")?;
    file.read_to_end(&mut content, Patterns::FILE_LIMIT_BYTES)?;
    Ok(content)
}

/// A `.gitignore` that is a link is not read: it could lead anywhere. One that is a directory says
/// nothing.
fn is_absent(error: &hedgerow_fs::Error) -> bool {
    error.is_absent() || error.kind() == io::ErrorKind::IsADirectory
}
