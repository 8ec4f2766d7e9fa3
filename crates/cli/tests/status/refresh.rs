//! The index that status leaves behind when it may write it.

use crate::compare::{differences, look, look_and_refresh};
use crate::invocation::Invocation;
use crate::state::{shown, State};
use crate::HEDGEROW;
use hedgerow_testkit::IndexFile;
use hedgerow_testkit::{Outcome, Program};
use std::path::PathBuf;

/// Lets both refresh the same index, one after the other; or what differs.
pub fn compare(state: &State) -> Result<(), String> {
    let invocation = Invocation {
        words: vec![b"--porcelain=v2".to_vec()],
        directory: PathBuf::new(),
    };
    let path = state.index_path();
    let before = Saved::take(&path);
    let expected = look_and_refresh(state, Program::Git, &invocation);
    let by_git = std::fs::read(&path).unwrap_or_default();
    before.put_back(&path);
    let found = look_and_refresh(state, HEDGEROW, &invocation);
    let by_hedgerow = std::fs::read(&path).unwrap_or_default();
    if path.with_extension("lock").exists() {
        return Err("refresh: a lock was left".to_owned());
    }
    if expected.stderr.contains("not to be a symbolic link") {
        return Ok(());
    }
    same("with leave to write", &expected, &found)?;
    // What it says aside depends on its cache of untracked files.
    let again = look(state, Program::Git, &invocation);
    let stderr = expected.stderr.clone();
    let again = Outcome { stderr, ..again };
    same("git, after hedgerow wrote the index", &expected, &again)?;
    if by_git.is_empty() || has_parts(&by_git) || has_parts(&by_hedgerow) {
        return Ok(());
    }
    entries(state, &by_git, &by_hedgerow)
}

fn same(what: &str, expected: &Outcome, found: &Outcome) -> Result<(), String> {
    if expected == found {
        Ok(())
    } else {
        Err(format!("{what}:\n{}", differences(expected, found)))
    }
}

/// Whether it is split or sparse: then it may be written whole or in parts.
fn has_parts(index: &[u8]) -> bool {
    index
        .windows(4)
        .any(|part| part == b"link" || part == b"sdir")
}

/// The same entries; and none that git has found unchanged is left to be read again.
fn entries(state: &State, by_git: &[u8], by_hedgerow: &[u8]) -> Result<(), String> {
    let id_bytes = if state.sha256 { 32 } else { 20 };
    let expected = IndexFile::read(by_git, id_bytes);
    let found = IndexFile::read(by_hedgerow, id_bytes);
    if expected.without_stat() != found.without_stat() {
        let (git, our) = (expected.without_stat(), found.without_stat());
        let pair = git.iter().zip(&our).find(|(a, b)| a != b);
        let counts = (git.len(), our.len());
        return Err(format!("refresh: other entries, of {counts:?}: {pair:?}"));
    }
    if expected.version != found.version {
        let (a, b) = (expected.version, found.version);
        return Err(format!("refresh: version {a} of git, {b} of hedgerow"));
    }
    let (git, our) = (expected.cache_tree(id_bytes), found.cache_tree(id_bytes));
    if let Some((path, node)) = our.iter().find(|(path, node)| git.get(*path) != Some(node)) {
        return Err(format!("refresh: the tree {} is {node:?}", shown(path)));
    }
    let root = &state.repository.root;
    for (a, b) in expected.entries.iter().zip(&found.entries) {
        if a.is_fresh(root) && !b.is_fresh(root) {
            let path = shown(&a.path);
            return Err(format!("refresh: stat data of {path} are stale: {b:?}"));
        }
    }
    Ok(())
}

/// An index and its time, which says which of its entries can be trusted.
struct Saved {
    content: Option<(Vec<u8>, std::time::SystemTime)>,
}

impl Saved {
    fn take(path: &std::path::Path) -> Saved {
        let time = std::fs::metadata(path).and_then(|stat| stat.modified());
        let content = std::fs::read(path).ok();
        Saved {
            content: content.zip(time.ok()),
        }
    }

    fn put_back(&self, path: &std::path::Path) {
        if let Some((content, time)) = &self.content {
            std::fs::write(path, content).unwrap();
            let file = std::fs::OpenOptions::new().write(true).open(path);
            file.unwrap().set_modified(*time).unwrap();
        }
    }
}
