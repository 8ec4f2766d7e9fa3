use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Everything below a directory, and the directory: content, mode and times of every entry.
pub fn snapshot(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    let mut pending = vec![root.to_owned()];
    while let Some(path) = pending.pop() {
        let state = path.symlink_metadata().unwrap();
        let content = if state.is_dir() {
            let entries = std::fs::read_dir(&path).unwrap();
            pending.extend(entries.map(|entry| entry.unwrap().path()));
            Vec::new()
        } else if state.is_file() {
            std::fs::read(&path).unwrap()
        } else {
            Vec::new()
        };
        let times = (
            state.mtime(),
            state.mtime_nsec(),
            state.ctime(),
            state.ctime_nsec(),
        );
        all.insert(path, format!("{:o} {times:?} {content:?}", state.mode()));
    }
    all
}
