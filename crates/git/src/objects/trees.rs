//! Tree objects of a list of paths: git-write-tree(1).

use super::ObjectWriter;
use crate::index::Mode;
use crate::repository::Repository;
use crate::{Error, Result};
use bstr::{BStr, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_engine::Options;
use hedgerow_object::ObjectKind;
use std::collections::HashSet;

/// A file of a tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TreeRow<'a> {
    pub path: &'a BStr,
    pub mode: Mode,
    pub id: ObjectId,
}

/// Writes the tree of `rows`, ascending by path, and all trees below it that are not there yet, in
/// parallel. Returns its id.
pub(crate) fn write_tree<'a>(
    repository: &Repository,
    writer: &ObjectWriter<'_>,
    rows: impl Iterator<Item = TreeRow<'a>>,
    options: &Options,
) -> Result<ObjectId> {
    let mut trees = Trees {
        repository,
        writer,
        open: vec![Vec::new()],
        known: HashSet::new(),
        missing: Vec::new(),
    };
    let rows: Vec<TreeRow<'_>> = rows.collect();
    let mut directory: &[u8] = b"";
    for row in &rows {
        let (parent, name) = hedgerow_tree::split_path(row.path);
        if parent != directory {
            refuse_file_above(&rows, row.path)?;
        }
        trees.change(directory, parent)?;
        directory = parent;
        trees.add(row.mode, name, &row.id);
    }
    trees.change(directory, b"")?;
    let content = trees.open.pop().expect("the top is open");
    let root = trees.finish(content)?;
    let Trees { missing, .. } = trees;
    writer.write_all(ObjectKind::Tree, &missing, options)?;
    Ok(root)
}

/// Refuses rows that have a file in the place of a directory above `path`: its tree would have two
/// entries of one name.
fn refuse_file_above(rows: &[TreeRow<'_>], path: &BStr) -> Result<()> {
    for end in path.find_iter(b"/") {
        let above = path[..end].as_bstr();
        if rows.binary_search_by(|row| row.path.cmp(above)).is_ok() {
            return Err(Error::Setup {
                reason: format!("You have both {above} and {path}"),
            });
        }
    }
    Ok(())
}

struct Trees<'a> {
    repository: &'a Repository,
    writer: &'a ObjectWriter<'a>,
    /// The trees from the top down to the current directory, as far as they are known.
    open: Vec<Vec<u8>>,
    /// The trees that need not be written (again).
    known: HashSet<ObjectId>,
    missing: Vec<Vec<u8>>,
}

impl Trees<'_> {
    /// Leaves the directory `from` for `to`.
    fn change(&mut self, from: &[u8], to: &[u8]) -> Result<()> {
        if from == to {
            return Ok(());
        }
        let from: Vec<&[u8]> = parts(from);
        let to: Vec<&[u8]> = parts(to);
        let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
        for name in from[common..].iter().rev() {
            let content = self.open.pop().expect("each directory is open");
            let id = self.finish(content)?;
            self.add(Mode::SparseDirectory, name, &id);
        }
        self.open.extend(to[common..].iter().map(|_| Vec::new()));
        Ok(())
    }

    fn add(&mut self, mode: Mode, name: &[u8], id: &ObjectId) {
        let content = self.open.last_mut().expect("the top is open");
        content.extend_from_slice(format!("{:o} ", mode.to_u32()).as_bytes());
        content.extend_from_slice(name);
        content.push(0);
        content.extend_from_slice(id.as_slice());
    }

    /// The id of a tree, which is written later if it is not there.
    fn finish(&mut self, content: Vec<u8>) -> Result<ObjectId> {
        let id = self.writer.id(ObjectKind::Tree, &content)?;
        if self.known.insert(id) && self.repository.objects().locate(&id)?.is_none() {
            self.missing.push(content);
        }
        Ok(id)
    }
}

fn parts(path: &[u8]) -> Vec<&[u8]> {
    if path.is_empty() {
        return Vec::new();
    }
    path.split_str("/").collect()
}
