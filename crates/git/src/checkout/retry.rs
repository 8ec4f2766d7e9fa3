//! Retries files whose place was taken. On a file system that ignores case, the other file belongs
//! to the same tree. The files are written again one after the other in index order, so that the
//! last one wins, as with git.

use super::contents::Contents;
use super::outcome::Done;
use bstr::BString;
use hedgerow_fs::{Dir, FileKind, Stat};
use hedgerow_tree::split_path;
use hedgerow_writer::{write_entry, Place, Plan, Problem, Written};
use std::collections::{BTreeMap, BTreeSet};

impl Contents<'_> {
    /// Writes the collided files again and reports all that share a place. If such a file shares
    /// its place with no other, something else was in its way and has been replaced.
    pub(crate) fn retry_collided(&self, root: &Dir, done: &mut Done) {
        let mut rows = match self.results.lock() {
            Ok(mut results) => std::mem::take(&mut results.collided),
            Err(_) => return,
        };
        rows.sort_unstable();
        let mut inodes = BTreeSet::new();
        for row in rows {
            let outcome = self.write_over(root, row);
            if let Ok(stat) = &outcome {
                inodes.insert(stat.ino as u32);
            }
            (&self).written(vec![Written { row, outcome }]);
        }
        if !inodes.is_empty() {
            done.collided = self.sharing(root, &inodes);
        }
    }

    fn write_over(&self, root: &Dir, row: u32) -> Result<Stat, Problem> {
        let path = self.place(row);
        let (parent, name) = split_path(path);
        let directory = root.open_dir(parent)?;
        match directory.stat(name) {
            Ok(stat) if stat.kind == FileKind::Directory => {
                let reason = std::io::Error::from(std::io::ErrorKind::IsADirectory);
                let path = directory.path_of(name);
                return Err(hedgerow_fs::Error::new("create", path, reason).into());
            }
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
        let place = Place {
            directory: &directory,
            name,
            replaces: true,
        };
        let plan = &self;
        let mut worker = plan.worker();
        write_entry(place, plan.form(row), |sink| {
            plan.fill(&mut worker, row, sink)
        })
    }

    /// The files whose names now lead to one of `inodes`, if several lead to it.
    fn sharing(&self, root: &Dir, inodes: &BTreeSet<u32>) -> Vec<BString> {
        let Ok(results) = self.results.lock() else {
            return Vec::new();
        };
        let mut at: BTreeMap<u32, BTreeSet<BString>> = BTreeMap::new();
        for (row, _) in &results.written {
            let path = self.place(*row);
            let (parent, name) = split_path(path);
            let stat = root
                .open_dir(parent)
                .and_then(|directory| directory.stat(name));
            let inode = stat.map(|stat| stat.ino as u32);
            if let Some(inode) = inode.ok().filter(|inode| inodes.contains(inode)) {
                at.entry(inode).or_default().insert(path.to_owned());
            }
        }
        let groups = at.into_values().filter(|paths| paths.len() > 1);
        let paths: BTreeSet<BString> = groups.flatten().collect();
        paths.into_iter().collect()
    }
}
