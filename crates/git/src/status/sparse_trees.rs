//! What differs in the directories of a sparse index. Git compares such a directory with that of a
//! tree as a whole, and lists what differs in it one level deep: of a directory there, the tree.

use super::differences::{Difference, DifferenceSide};
use crate::index::Mode;
use crate::repository::{Objects, Repository};
use crate::tree::{entries, order, TreeEntry};
use crate::worktree::name_rules;
use crate::worktree::sparse_index::SparseDirectory;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_pack::Reader;
use hedgerow_tree::EntryKind;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The tree that an index with directories is compared with.
pub(super) struct Compared<'r> {
    repository: &'r Repository,
    objects: Objects<'r>,
    root: ObjectId,
}

impl<'r> Compared<'r> {
    pub(super) fn new(repository: &'r Repository, root: ObjectId) -> Self {
        Compared {
            repository,
            objects: repository.shared_objects(),
            root,
        }
    }

    /// Takes the differences in those of `directories` that `fits` from `pairs`. Returns what is listed
    /// instead, by paths that end in a slash for directories: so they are in the order of trees.
    pub(super) fn take(
        &self,
        pairs: &mut BTreeMap<BString, Difference>,
        directories: &[SparseDirectory],
        fits: impl Fn(&BStr) -> bool,
    ) -> Result<BTreeMap<BString, Difference>> {
        let mut listed = BTreeMap::new();
        for directory in directories {
            let above = BString::from([directory.path.as_bytes(), b"/"].concat());
            let below = pairs.range(above.clone()..).map(|(path, _)| path);
            let below = below.take_while(|path| path.starts_with(&above));
            let below: Vec<BString> = below.cloned().collect();
            if below.is_empty() || !fits(above.as_bstr()) {
                continue;
            }
            below.iter().for_each(|path| drop(pairs.remove(path)));
            let old = self.directory(directory.path.as_bstr())?;
            self.compare(above.as_bstr(), old, directory.tree, &mut listed)?;
        }
        Ok(listed)
    }

    /// The tree of the directory `path`, if the tree has it.
    fn directory(&self, path: &BStr) -> Result<Option<ObjectId>> {
        let mut reader = Reader::new(self.repository.objects());
        let mut tree = self.root;
        for name in path.split_str("/") {
            let content = self.objects.read_tree(&mut reader, tree)?;
            let found = self.parse(tree, content)?.into_iter();
            let mut found = found.filter(|entry| entry.kind == EntryKind::Directory);
            match found.find(|entry| entry.name == name) {
                Some(entry) => tree = entry.id.to_owned(),
                None => return Ok(None),
            }
        }
        Ok(Some(tree))
    }

    /// Lists how the entries of two trees differ.
    fn compare(
        &self,
        above: &BStr,
        old: Option<ObjectId>,
        new: ObjectId,
        listed: &mut BTreeMap<BString, Difference>,
    ) -> Result<()> {
        let mut reader = Reader::new(self.repository.objects());
        let old_content = match old {
            Some(id) => self.objects.read_tree(&mut reader, id)?.to_vec(),
            None => Vec::new(),
        };
        let old_entries = self.parse(old.unwrap_or(new), &old_content)?;
        let new_content = self.objects.read_tree(&mut reader, new)?;
        let new_entries = self.parse(new, new_content)?;
        let mut olds = old_entries.iter().peekable();
        let mut news = new_entries.iter().peekable();
        loop {
            let which = match (olds.peek(), news.peek()) {
                (None, None) => return Ok(()),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(old), Some(new)) => order(old, new),
            };
            let old = (which != Ordering::Greater).then(|| olds.next()).flatten();
            let new = (which != Ordering::Less).then(|| news.next()).flatten();
            let Some(entry) = new.or(old) else { continue };
            if old.map(side) == new.map(side) {
                continue;
            }
            let path = BString::from([above.as_bytes(), entry.name].concat());
            let mut place = path.clone();
            if entry.kind == EntryKind::Directory {
                place.push(b'/');
            }
            let difference = Difference {
                path,
                old: old.map(side),
                new: new.map(side),
                is_unmerged: false,
                has_both_sides: false,
                is_dirty: false,
            };
            listed.insert(place, difference);
        }
    }

    fn parse<'c>(&self, id: ObjectId, content: &'c [u8]) -> Result<Vec<TreeEntry<'c>>> {
        let (hash, names) = (self.repository.hash_kind(), name_rules(self.repository));
        entries(content, hash, names).map_err(|reason| Error::CorruptObject {
            kind: "tree",
            id,
            reason,
        })
    }
}

fn side(entry: &TreeEntry<'_>) -> DifferenceSide {
    DifferenceSide {
        mode: Mode::from(entry.kind),
        id: Some(entry.id.to_owned()),
    }
}
