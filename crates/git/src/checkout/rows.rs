//! Writing and removing the files of an index of their own: those of a tree of untracked files.

use super::carry_out::{remove, write};
use super::outcome::Done;
use super::session::Session;
use super::supplies::supplies;
use super::transition::{removal, Transition, Write};
use super::Rejects;
use crate::index::Index;
use crate::worktree::attribute_files::Direction;
use crate::Result;
use bstr::BStr;
use hedgerow_fs::Dir;
use hedgerow_tree::split_path;

/// Writes all files of `index`. Nothing is at their places.
pub(crate) fn write_rows(session: &Session<'_>, index: Index, done: &mut Done) -> Result<()> {
    let rows = 0..index.entries().len() as u32;
    let writes = rows.map(|row| Write {
        row,
        replaces: false,
        untracked: true,
    });
    let mut next = transition(index.clone(), writes.collect());
    let direction = Direction::CheckIn {
        listed: None,
        is_gone: &|_| false,
    };
    let supplies = supplies(session, &next, &direction)?;
    write(session, &mut next, supplies, done)
}

/// Removes all files of `index`, and the directories that become empty.
pub(crate) fn remove_rows(session: &Session<'_>, index: &Index, done: &mut Done) -> Result<()> {
    let entries = index.entries().iter().enumerate();
    let mut next = transition(Index::empty(index.hash()), Vec::new());
    next.removals = entries.map(|(row, entry)| removal(row, entry)).collect();
    remove(session, index, &next, done)
}

fn transition(index: Index, writes: Vec<Write>) -> Transition {
    Transition {
        kept_from: vec![None; index.entries().len()],
        index,
        writes,
        removals: Vec::new(),
        must_be_absent: Vec::new(),
        absent_links: Vec::new(),
        became_directories: Vec::new(),
        left_despite_sparse: Vec::new(),
        rejects: Rejects::default(),
    }
}

/// Whether anything is at `path`, or something on the way to it that is no directory.
pub(crate) fn kept_out(root: &Dir, path: &BStr) -> Result<bool> {
    Ok(super::obstacles::first_blocking(root, path)?.is_some() || is_there(root, path)?)
}

/// Whether anything is at `path`, the way to which is free.
pub(crate) fn is_there(root: &Dir, path: &BStr) -> Result<bool> {
    let (parent, name) = split_path(path);
    let found = root
        .open_dir(parent)
        .and_then(|directory| directory.stat(name));
    match found {
        Ok(_) => Ok(true),
        Err(error) if error.is_absent() => Ok(false),
        Err(error) => Err(error.into()),
    }
}
