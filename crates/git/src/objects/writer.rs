use crate::config::Sharing;
use crate::repository::Repository;
use crate::{Error, Result};
use gix_hash::ObjectId;
use hedgerow_codec::Deflater;
use hedgerow_engine::{run_tasks, Options, Scope};
use hedgerow_object::{hash_object, ObjectKind};
use hedgerow_pack::{write_loose, Location, LooseOptions, ObjectStore, Reader};
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// `core.looseCompression` where it is not set: zlib's fastest.
const FASTEST: i64 = 1;
/// The permissions of the file of an object, before the umask.
const READ_ONLY: u32 = 0o444;

/// Writes objects into the repository's own object directory: each as a file of its own, unless it
/// is there already. Workers may share it.
#[derive(Debug)]
pub(crate) struct ObjectWriter<'r> {
    objects: &'r ObjectStore,
    hash: gix_hash::Kind,
    level: i32,
    sharing: Sharing,
    options: LooseOptions,
    /// The packs whose times have been set to now.
    fresh_packs: Mutex<HashSet<u32>>,
    /// The directories with names that may not be on disk yet, if that matters.
    unsynced: Mutex<BTreeSet<PathBuf>>,
}

impl<'r> ObjectWriter<'r> {
    /// Reads what the configuration says about compression, syncing and permissions.
    pub(crate) fn new(repository: &'r Repository) -> Result<Self> {
        let settings = repository.settings();
        let mode = match settings.sharing {
            Sharing::Umask => None,
            sharing => {
                let umask = hedgerow_fs::umask().unwrap_or(0);
                Some(sharing.of_file(READ_ONLY & !umask))
            }
        };
        Ok(ObjectWriter {
            objects: repository.objects(),
            hash: repository.hash_kind(),
            level: level(repository)?,
            sharing: settings.sharing,
            options: LooseOptions {
                mtime: None,
                mode,
                sync: settings.fsync.loose_object,
                replace: false,
            },
            fresh_packs: Mutex::default(),
            unsynced: Mutex::default(),
        })
    }

    /// What compresses objects; each worker has its own.
    pub(crate) fn deflater(&self) -> Deflater {
        Deflater::new(self.level)
    }

    /// The id of an object, which is there afterwards. One that was there looks new, so that nobody
    /// deletes it before something refers to it.
    pub(crate) fn write(
        &self,
        deflater: &mut Deflater,
        kind: ObjectKind,
        content: &[u8],
    ) -> Result<ObjectId> {
        let id = self.id(kind, content)?;
        let objects = self.objects;
        let mut options = self.options;
        if let Some(location) = objects.locate(&id)? {
            options.replace = self.is_damaged(&id, location, (kind, content));
            if !options.replace && self.freshen(&id, location) {
                return Ok(id);
            }
        }
        let path = objects.own_loose_path(&id);
        if let Some(directory) = path.parent() {
            if !hedgerow_fs::exists(directory) {
                self.sharing.create_directories(directory)?;
            }
        }
        let object = (kind, content);
        write_loose(objects.directory(), &id, object, deflater, &options)?;
        if self.options.sync {
            let unsynced = self.unsynced.lock();
            let directories = path.ancestors().skip(1).take(2).map(Path::to_owned);
            unsynced
                .unwrap_or_else(PoisonError::into_inner)
                .extend(directories);
        }
        Ok(id)
    }

    /// Whether objects are on disk before they count.
    pub(crate) fn is_syncing(&self) -> bool {
        self.options.sync
    }

    /// Waits until the names of the written objects are on disk, if objects are to be. The file of an
    /// object is synced when it is written; its name need not be.
    pub(crate) fn sync_names(&self) -> Result<()> {
        let unsynced = self.unsynced.lock();
        let unsynced = std::mem::take(&mut *unsynced.unwrap_or_else(PoisonError::into_inner));
        for directory in unsynced {
            hedgerow_fs::sync_directory(&directory)?;
        }
        Ok(())
    }

    /// Writes one object.
    pub(crate) fn write_one(&self, kind: ObjectKind, content: &[u8]) -> Result<ObjectId> {
        self.write(&mut self.deflater(), kind, content)
    }

    /// Writes objects of one kind, in parallel.
    pub(crate) fn write_all(
        &self,
        kind: ObjectKind,
        contents: &[Vec<u8>],
        options: &Options,
    ) -> Result<()> {
        let work = |deflater: &mut Deflater, content: &Vec<u8>, _: &Scope<'_, &Vec<u8>>| {
            self.write(deflater, kind, content).map(drop)
        };
        let contents = contents.iter().collect();
        run_tasks(options, contents, |_| self.deflater(), work).map_err(Error::from)?;
        Ok(())
    }

    pub(crate) fn id(&self, kind: ObjectKind, content: &[u8]) -> Result<ObjectId> {
        hash_object(self.hash, kind, content).ok_or_else(|| Error::Setup {
            reason: "SHA-1 appears to be part of a collision attack".into(),
        })
    }

    /// Whether the file that should have the object has not: after a crash, it may be empty. What is in a
    /// pack is not read.
    fn is_damaged(&self, id: &ObjectId, location: Location, object: (ObjectKind, &[u8])) -> bool {
        if let Location::Packed { .. } = location {
            return false;
        }
        let mut reader = Reader::new(self.objects);
        let read = reader.read(id, location);
        read.map_or(true, |found| found != object)
    }

    /// Sets the time of the file that has an object to now, of a pack only once.
    fn freshen(&self, id: &ObjectId, location: Location) -> bool {
        if let Location::Packed { pack, .. } = location {
            let fresh = self.fresh_packs.lock();
            let mut fresh = fresh.unwrap_or_else(PoisonError::into_inner);
            if fresh.contains(&pack) {
                return true;
            }
            let is_done = self.objects.freshen(id, location);
            if is_done {
                fresh.insert(pack);
            }
            return is_done;
        }
        self.objects.freshen(id, location)
    }
}

/// `core.looseCompression`, else `core.compression`; -1 is zlib's usual level.
fn level(repository: &Repository) -> Result<i32> {
    let config = repository.config();
    let level = match config.integer("core.looseCompression")? {
        Some(level) => level,
        None => config.integer("core.compression")?.unwrap_or(FASTEST),
    };
    let known = i32::try_from(level).ok();
    known
        .filter(|level| (-1..=9).contains(level))
        .ok_or_else(|| Error::Config {
            reason: format!("bad zlib compression level {level}"),
        })
}
