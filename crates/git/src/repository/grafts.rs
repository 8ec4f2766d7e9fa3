//! Commits whose parents are others than they say: the boundary of a shallow clone
//! (gitformat-shallow, `shallow`) and grafts (gitrepository-layout(5), `info/grafts`).

use super::Repository;
use crate::Result;
use bstr::ByteSlice;
use hedgerow_fs::LockFile;
use hedgerow_pack::{oid, ObjectId};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Larger files are refused.
const LIMIT_BYTES: u64 = 64 << 20;

/// The parents that count instead of those that commits name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grafts {
    parents: HashMap<ObjectId, Vec<ObjectId>>,
    shallow: Vec<ObjectId>,
}

impl Grafts {
    /// The parents of the commit `id`, if they are not those that it names.
    pub fn parents(&self, id: &oid) -> Option<&[ObjectId]> {
        self.parents.get(&id.to_owned()).map(Vec::as_slice)
    }

    /// All commits whose parents are not those that they name, with their parents.
    pub fn iter(&self) -> impl Iterator<Item = (&ObjectId, &[ObjectId])> {
        let all = self.parents.iter();
        all.map(|(commit, parents)| (commit, parents.as_slice()))
    }

    /// Those of them at the boundary of a shallow clone, which have none, in the order of the file.
    pub fn shallow(&self) -> &[ObjectId] {
        &self.shallow
    }
}

impl Repository {
    /// The grafts, read when they are asked for first.
    pub fn grafts(&self) -> Result<&Grafts> {
        if let Some(grafts) = self.grafts.get() {
            return Ok(grafts);
        }
        let grafts = self.read_grafts()?;
        Ok(self.grafts.get_or_init(|| grafts))
    }

    /// The file that lists the boundary of a shallow clone; `None` if the environment says that there is
    /// none.
    pub(crate) fn shallow_file(&self) -> Option<PathBuf> {
        self.list_of_parents(&self.environment.shallow_file, "shallow")
    }

    /// The file of grafts, likewise.
    pub(crate) fn graft_file(&self) -> Option<PathBuf> {
        self.list_of_parents(&self.environment.graft_file, "info/grafts")
    }

    /// The file that the environment names, or else that in its `usual` place. Git has changed to the top
    /// of the working tree when it reads it.
    fn list_of_parents(&self, named: &Option<PathBuf>, usual: &str) -> Option<PathBuf> {
        match named {
            Some(file) if file.as_os_str().is_empty() => None,
            Some(file) => {
                let base = self.work_tree.as_deref().unwrap_or(&self.environment.cwd);
                Some(base.join(file))
            }
            None => Some(self.common_dir.join(usual)),
        }
    }

    /// Removes commits that are gone from the list of those at the boundary of a shallow clone.
    pub fn prune_shallow(&self) -> Result<()> {
        let Some(path) = self.shallow_file() else {
            return Ok(());
        };
        let content = read(&path)?;
        let is_here = |line: &&[u8]| {
            let id = ObjectId::from_hex(line.trim_ascii());
            id.is_ok_and(|id| !matches!(self.has_object(&id), Ok(false)))
        };
        if content.lines().all(|line| is_here(&line)) {
            return Ok(());
        }
        let mut lock = LockFile::acquire_linked(&path)?;
        for line in content.lines().filter(is_here) {
            lock.write_all(&[line, b"\n"].concat())?;
        }
        // Without its boundary a shallow clone is a broken one.
        lock.sync()?;
        lock.commit()?;
        Ok(())
    }

    fn read_grafts(&self) -> Result<Grafts> {
        let mut grafts = Grafts::default();
        let listed = self
            .graft_file()
            .map_or(Ok(Vec::new()), |path| read(&path))?;
        for line in listed.lines() {
            if line.first() == Some(&b'#') {
                continue;
            }
            let mut ids = line.fields().filter_map(|hex| ObjectId::from_hex(hex).ok());
            if let Some(commit) = ids.next() {
                grafts.parents.insert(commit, ids.collect());
            }
        }
        let shallow = self.shallow_file();
        let shallow = shallow.map_or(Ok(Vec::new()), |path| read(&path))?;
        let ids = shallow.lines().map(<[u8]>::trim_ascii);
        grafts.shallow = ids.filter_map(|hex| ObjectId::from_hex(hex).ok()).collect();
        let boundary = grafts.shallow.iter().map(|commit| (*commit, Vec::new()));
        grafts.parents.extend(boundary);
        Ok(grafts)
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    Ok(hedgerow_fs::read_file(path, LIMIT_BYTES)?.unwrap_or_default())
}
