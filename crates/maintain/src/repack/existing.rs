//! The packs that exist before a repack.

use super::settings::Settings;
use crate::error::refused;
use crate::Result;
use hedgerow_git::repository::Repository;
use hedgerow_pack::{midx_packs, ObjectStore, PACK_EXTENSIONS};
use std::path::PathBuf;

/// The role of a pack in the own directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It may be repacked.
    Plain,
    /// It stays: it has a `.keep` file or was named.
    Kept,
    /// It contains unreachable objects with their ages.
    Cruft,
}

/// An existing pack.
#[derive(Clone, Debug)]
pub struct ExistingPack {
    /// Its number in the store.
    pub number: u32,
    /// The path of the pack file.
    pub path: PathBuf,
    /// Its file name without an extension.
    pub stem: String,
    /// Its role, if it is in the own directory.
    pub role: Role,
    /// Whether the command line names it as a pack to keep.
    pub is_named: bool,
    /// Whether it came from the remote of a partial clone.
    pub is_promisor: bool,
    /// Whether it is in the own object directory, not in an alternate's.
    pub is_local: bool,
    /// Number of objects.
    pub objects: u32,
}

/// All existing packs.
#[derive(Debug)]
pub struct ExistingPacks {
    /// In the order of the store.
    pub packs: Vec<ExistingPack>,
    /// The packs that the multi-pack-index lists, by the names of their indexes.
    pub in_midx: Vec<String>,
}

impl ExistingPacks {
    /// Lists the packs of `repository`; `settings` name some to keep.
    pub fn collect(repository: &Repository, settings: &Settings) -> Result<Self> {
        let store = repository.objects();
        let mut packs = Vec::new();
        for (number, path, count) in store.pack_files() {
            let stem = path.file_stem().expect("a pack has a name");
            let stem = stem.to_string_lossy().into_owned();
            let has = |extension| {
                let mark = hedgerow_fs::lstat(&path.with_extension(extension));
                mark.map(|mark| mark.is_some())
            };
            let is_named = settings.keep_packs.contains(&format!("{stem}.pack"));
            let is_local = store.is_local_pack(number);
            if hedgerow_fs::lstat(path)?.is_none() {
                // Another process has just deleted it.
                continue;
            }
            let unusable = || refused(format_args!("cannot open index for {}", path.display()));
            packs.push(ExistingPack {
                number,
                path: path.to_owned(),
                stem,
                role: match (is_named || has("keep")?, has("mtimes")?) {
                    (true, _) => Role::Kept,
                    (_, true) => Role::Cruft,
                    _ => Role::Plain,
                },
                is_named,
                is_promisor: has("promisor")?,
                is_local,
                objects: count.ok_or_else(unusable)?,
            });
        }
        let in_midx = midx_packs(store.directory(), store.hash_kind())?;
        Ok(ExistingPacks { packs, in_midx })
    }

    /// The packs of the own directory with that role.
    pub fn with_role(&self, role: Role) -> impl Iterator<Item = &ExistingPack> + '_ {
        let is_one = move |pack: &&ExistingPack| pack.is_local && pack.role == role;
        self.packs.iter().filter(is_one)
    }

    /// The packs of the own directory that may be deleted.
    pub fn not_kept(&self) -> impl Iterator<Item = &ExistingPack> + '_ {
        let is_one = |pack: &&ExistingPack| pack.is_local && pack.role != Role::Kept;
        self.packs.iter().filter(is_one)
    }

    /// The numbers of the packs whose objects are left out of new ones: always those that were
    /// named, and other kept packs if `settings` say so.
    pub fn left_out(&self, settings: &Settings) -> Vec<u32> {
        let kept = self.with_role(Role::Kept);
        let kept = kept.filter(|pack| pack.is_named || !settings.packs_kept);
        kept.map(|pack| pack.number).collect()
    }
}

impl ExistingPack {
    /// Whether a new pack with that checksum is identical to this one.
    pub fn is_same(&self, checksum: &str) -> bool {
        self.stem.ends_with(checksum)
    }

    /// The name of its index.
    pub fn index_name(&self) -> String {
        format!("{}.idx", self.stem)
    }

    /// The size of the pack and its auxiliary files, in bytes.
    pub fn bytes(&self) -> u64 {
        let size = |extension| {
            let stat = hedgerow_fs::stat(&self.path.with_extension(extension));
            stat.ok().flatten().map_or(0, |stat| stat.size)
        };
        PACK_EXTENSIONS.map(size).iter().sum()
    }
}

/// Number of loose objects in the own directory.
pub fn count_loose(store: &ObjectStore) -> Result<u64> {
    let mut count = 0;
    for byte in 0..=u8::MAX {
        count += store.own_loose_objects(byte)?.len() as u64;
    }
    Ok(count)
}
