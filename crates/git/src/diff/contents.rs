//! Where the contents of differing files are: in objects, or in the working tree.

use crate::convert::{Buffers, Converter, FilterContext};
use crate::index::{Index, Mode};
use crate::repository::{Objects, Repository};
use crate::status::rename::{Contents, Filepair, ObjectContents, Side};
use crate::status::Difference;
use crate::worktree::attribute_files::{directories_above, Direction};
use crate::worktree::compare::{blob_id, Comparison};
use crate::worktree::Worktree;
use crate::{Error, Result};
use bstr::{BString, ByteSlice};
use gix_hash::ObjectId;
use hedgerow_engine::Execution;
use hedgerow_fs::Dir;
use hedgerow_pack::Reader;
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// The contents of differing files; see [`super::show`].
pub struct FileContents<'r> {
    hash: gix_hash::Kind,
    objects: ObjectContents<'r>,
    files: Option<Files<'r>>,
    /// The commits that are checked out in submodules.
    commits: HashMap<BString, ObjectId>,
    /// The submodules in which something else than the commit differs.
    dirty: BTreeSet<BString>,
}

/// The files of the working tree.
struct Files<'r> {
    root: Dir,
    index: Index,
    converter: Converter,
    objects: Objects<'r>,
    filters: FilterContext,
}

impl<'r> FileContents<'r> {
    /// All are objects.
    pub fn of_objects(repository: &'r Repository) -> Self {
        FileContents {
            hash: repository.hash_kind(),
            objects: ObjectContents::new(repository),
            files: None,
            commits: HashMap::new(),
            dirty: BTreeSet::new(),
        }
    }

    /// The new sides of `list` are files of the working tree where their objects are not known.
    ///
    /// # Errors
    /// There is no working tree; the index or attributes cannot be read.
    pub fn of_working_tree(
        repository: &'r Repository,
        list: &[Difference],
        execution: &Execution,
    ) -> Result<Self> {
        let worktree = Worktree::open(repository, execution, "diff")?;
        let index = worktree.read_index()?.index;
        let directories = directories_above(list.iter().map(|it| it.path.as_bstr()));
        let direction = Direction::CheckIn {
            listed: None,
            is_gone: &|_| false,
        };
        let (converter, _) = worktree.converter(&index, &directories, &direction)?;
        let filters = worktree.filter_context();
        let mut commits = HashMap::new();
        for difference in list {
            let Some(new) = difference.new.filter(|new| new.mode == Mode::Gitlink) else {
                continue;
            };
            if new.id.is_none() {
                let path = &difference.path;
                commits.extend(checked_out(repository, path)?.map(|id| (path.clone(), id)));
            }
        }
        let dirty = list.iter().filter(|difference| difference.is_dirty);
        Ok(FileContents {
            commits,
            dirty: dirty.map(|difference| difference.path.clone()).collect(),
            files: Some(Files {
                root: worktree.root,
                index,
                converter,
                objects: repository.shared_objects(),
                filters,
            }),
            ..FileContents::of_objects(repository)
        })
    }

    /// What is compared: of a submodule, a line with its commit.
    pub(crate) fn content(
        &self,
        worker: &mut FileWorker<'r>,
        side: Option<&Side>,
        is_new: bool,
    ) -> Result<Vec<u8>> {
        let Some(side) = side else {
            return Ok(Vec::new());
        };
        if side.mode == Mode::Gitlink {
            let id = self.known_id(worker, side)?;
            let is_dirty = is_new && self.dirty.contains(&side.path);
            let ending = if is_dirty { "-dirty" } else { "" };
            return Ok(format!("Subproject commit {id}{ending}\n").into_bytes());
        }
        let mut content = Vec::new();
        self.read(worker, side, &mut |piece| content.extend_from_slice(piece))?;
        Ok(content)
    }

    /// The object of a side, which need not exist.
    pub(crate) fn known_id(&self, worker: &mut FileWorker<'r>, side: &Side) -> Result<ObjectId> {
        let id = self.id(worker, side)?;
        id.ok_or_else(|| Error::Setup {
            reason: format!("cannot hash {}", side.path),
        })
    }

    /// Whether the sides of a pair are the same, as far as it is known without reading them.
    pub(crate) fn is_same(&self, pair: &Filepair) -> bool {
        let (Some(old), Some(new)) = (&pair.old, &pair.new) else {
            return false;
        };
        let is_known = old.id.is_some() && old.id == new.id;
        is_known && old.mode == new.mode && pair.origin.is_none() && !self.is_dirty(pair)
    }

    /// Whether a pair is a submodule in which something else than the commit differs.
    pub(crate) fn is_dirty(&self, pair: &Filepair) -> bool {
        let path = pair.path().unwrap_or_default();
        !self.dirty.is_empty() && self.dirty.contains(path)
    }

    /// Finds the objects of files that were compared with others to find renames: of all that are
    /// new, if there was anything that they could come from.
    pub(super) fn know_new(&self, pairs: &mut [Filepair]) -> Result<()> {
        let mut worker = self.worker();
        for pair in pairs {
            let is_new = pair.old.is_none() || pair.origin.is_some();
            if let Some(new) = pair.new.as_mut().filter(|new| is_new && new.id.is_none()) {
                new.id = Some(self.known_id(&mut worker, new)?);
            }
        }
        Ok(())
    }

    fn file(&self, buffers: &mut Buffers, side: &Side) -> Result<Vec<u8>> {
        let Some(files) = &self.files else {
            return Err(Error::Internal {
                reason: format!("'{}' has no object", side.path),
            });
        };
        let comparison = Comparison {
            root: &files.root,
            index: &files.index,
            converter: &files.converter,
            objects: files.objects,
            filters: files.filters.clone(),
        };
        let cleaned = comparison.cleaned(side.path.as_bstr(), buffers, false)?;
        Ok(cleaned.content)
    }
}

/// The commit that is checked out in a submodule.
fn checked_out(repository: &Repository, path: &BString) -> Result<Option<ObjectId>> {
    let directory = repository
        .require_work_tree()?
        .join(OsStr::from_bytes(path));
    let submodule = Repository::open_submodule(&directory, repository.environment())?;
    Ok(submodule.head()?.id())
}

/// What a worker reuses.
pub(crate) type FileWorker<'r> = (Reader<'r>, Buffers);

impl<'r> Contents for FileContents<'r> {
    type Worker = FileWorker<'r>;

    fn worker(&self) -> FileWorker<'r> {
        (self.objects.worker(), Buffers::default())
    }

    fn id(&self, worker: &mut FileWorker<'r>, side: &Side) -> Result<Option<ObjectId>> {
        if side.id.is_some() {
            return Ok(side.id);
        }
        if side.mode == Mode::Gitlink {
            return Ok(self.commits.get(&side.path).copied());
        }
        let content = self.file(&mut worker.1, side)?;
        blob_id(self.hash, &content).map(Some)
    }

    fn size(&self, worker: &mut FileWorker<'r>, side: &Side) -> Result<Option<u64>> {
        match side.id {
            Some(_) => self.objects.size(&mut worker.0, side),
            None => Ok(Some(self.file(&mut worker.1, side)?.len() as u64)),
        }
    }

    fn read(
        &self,
        worker: &mut FileWorker<'r>,
        side: &Side,
        sink: &mut dyn FnMut(&[u8]),
    ) -> Result<()> {
        if side.id.is_some() {
            return self.objects.read(&mut worker.0, side, sink);
        }
        sink(&self.file(&mut worker.1, side)?);
        Ok(())
    }
}
