//! Writes a multi-pack-index like `git multi-pack-index write`, byte for byte.

use super::encode::Content;
use super::layers::{failed, plain_path, Layer, Layers, Loaded};
use super::order::{pseudo_pack_order, Order};
use super::read::MultiPackIndex;
use super::remove;
use super::select::{select, Bucket, DROPPED};
use super::source::{Candidate, Source};

use crate::error::Result;
use gix_hash::{Kind, ObjectId};
use hedgerow_fs::{LockFile, MappedFile};
use std::collections::HashSet;
use std::io::Read;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Options for writing a multi-pack-index.
#[derive(Clone, Debug)]
pub struct MidxOptions {
    /// The hash function of the repository.
    pub hash: Kind,
    /// The version of the file, 1 or 2 (`midx.version`). Git before 2.54 reads version 1 only.
    pub version: u8,
    /// The preferred pack, by the name of its file or of its index: objects that it shares with
    /// other packs are taken from it.
    pub preferred_pack: Option<String>,
    /// The file names of the indexes of the packs to list; `None`: all packs.
    pub packs: Option<Vec<String>>,
    /// Whether to add the pseudo-pack order, which a bitmap needs.
    pub for_bitmap: bool,
    /// Number of threads.
    pub threads: NonZeroUsize,
    /// Whether to wait until it is on disk before it replaces the old one (`pack-metadata` of
    /// core.fsync).
    pub sync: bool,
}

/// A multi-pack-index that is written but not in its place yet, so that its bitmap can be put
/// there first. Dropped without [`WrittenMidx::commit`] it is gone.
#[derive(Debug)]
pub struct WrittenMidx {
    lock: LockFile,
    /// The pack directory.
    pub(crate) packs: PathBuf,
    checksum: ObjectId,
    order: Option<Order>,
    /// Where it is going to be.
    pub(crate) path: PathBuf,
    pub(crate) file: MultiPackIndex,
}

/// Writes the multi-pack-index of the object directory `objects` beside its place. `None` if the
/// one that is there will do. `warn` is told of what is left out, in git's words.
///
/// An object in several packs is taken from the preferred one, else from the one modified last,
/// else from the first one in the directory listing. As in git, the rows of a former
/// multi-pack-index are reused for the packs it lists, and count as older than any other pack.
///
/// # Errors
/// [`Error::MultiPackIndex`](crate::Error::MultiPackIndex) if there is nothing to list, or a pack
/// that has to be listed cannot be.
pub fn write_midx(
    objects: &Path,
    options: &MidxOptions,
    warn: &mut dyn FnMut(String),
) -> Result<Option<WrittenMidx>> {
    write(&objects.join("pack"), options, &HashSet::new(), warn)
}

/// As [`write_midx`] for the pack directory `packs`, without the packs whose index names are in
/// `dropped`.
pub(super) fn write(
    packs: &Path,
    options: &MidxOptions,
    dropped: &HashSet<String>,
    warn: &mut dyn FnMut(String),
) -> Result<Option<WrittenMidx>> {
    let existing = load(packs, options, warn)?;
    let none = Layers::default();
    let former = existing.as_ref().filter(|_| options.packs.is_none());
    let former = former.unwrap_or(&none);
    let candidates = gather(packs, options, former, warn)?;
    let covers = |existing: &Layers| is_up_to_date(existing, &candidates, options);
    if dropped.is_empty() && existing.as_ref().is_some_and(covers) {
        if !options.for_bitmap {
            remove::bitmaps(packs)?;
        }
        return Ok(None);
    }
    let preferred = preferred_pack(&candidates, options, warn).map_err(|why| failed(packs, why))?;
    let table = assemble(former, &candidates, preferred, dropped, options)
        .map_err(|reason| failed(packs, reason))?;
    if options.for_bitmap && table.order.is_none() {
        warn("refusing to write multi-pack .bitmap without any objects".into());
    }
    let content = Content {
        hash: options.hash,
        version: options.version,
        names: &table.names,
        buckets: &table.buckets,
        order: table.order.as_ref(),
    };
    let path = plain_path(packs);
    let mut lock = LockFile::acquire(&path)?;
    let checksum = content.write(&mut lock)?;
    if options.sync {
        lock.sync()?;
    }
    // The new file must be readable before it replaces another.
    let written = path.with_extension("lock");
    let file = MultiPackIndex::parse(MappedFile::open(&written)?, &written, options.hash)
        .map_err(|refusal| failed(packs, refusal.to_string()))?;
    Ok(Some(WrittenMidx {
        lock,
        packs: packs.to_owned(),
        checksum,
        order: table.order,
        path,
        file,
    }))
}

impl WrittenMidx {
    /// The hash the file ends with, by which its bitmap is named.
    pub fn checksum(&self) -> &ObjectId {
        &self.checksum
    }

    /// The file, as long as it does not have its name.
    pub fn lock(&self) -> &LockFile {
        &self.lock
    }

    /// The position, in order of ids, of the object of each bit; empty unless it was written for
    /// a bitmap.
    pub fn pseudo_pack_order(&self) -> &[u32] {
        match &self.order {
            Some(order) => &order.positions,
            None => &[],
        }
    }

    /// Puts it in its place, and removes the bitmaps and reverse indexes of others.
    pub fn commit(self) -> Result<()> {
        self.lock.commit()?;
        remove::after_writing(&self.packs, &self.checksum)?;
        Ok(())
    }
}

/// All that the file says.
struct Assembled {
    names: Vec<String>,
    buckets: Vec<Bucket>,
    order: Option<Order>,
}

/// Chooses a copy of each object. The error is a reason.
fn assemble(
    former: &Layers,
    candidates: &[Candidate],
    preferred: Option<u32>,
    dropped: &HashSet<String>,
    options: &MidxOptions,
) -> Result<Assembled, String> {
    let names = candidates.iter().map(|candidate| &candidate.name);
    let mut names: Vec<String> = names.filter(|n| !dropped.contains(*n)).cloned().collect();
    names.sort_unstable();
    if names.is_empty() {
        return Err("no pack files to index.".into());
    }
    let number = |candidate: &Candidate| {
        let number = names.binary_search(&candidate.name);
        number.map_or(DROPPED, |number| number as u32)
    };
    let numbers: Vec<u32> = candidates.iter().map(number).collect();
    let sources = sources(former, candidates, preferred);
    let buckets = select(sources, &numbers, options.threads)?;
    let count: usize = buckets.iter().map(|bucket| bucket.rows.len()).sum();
    if u32::try_from(count).is_err() {
        return Err("too many objects for one file".into());
    }
    let order = (options.for_bitmap && count > 0).then(|| {
        let preferred = preferred.and_then(|number| numbers.get(number as usize).copied());
        let rows = buckets
            .iter()
            .flat_map(|bucket| bucket.rows.iter().copied());
        let order = pseudo_pack_order(rows, names.len(), preferred, options.threads);
        assert_eq!(order.positions.len(), count, "every object has a bit");
        order
    });
    Ok(Assembled {
        names,
        buckets,
        order,
    })
}

/// The multi-pack-index there is, if it is whole.
fn load(
    packs: &Path,
    options: &MidxOptions,
    warn: &mut dyn FnMut(String),
) -> Result<Option<Layers>> {
    let loaded = Loaded::open(packs, options.hash)?;
    loaded.complaints().for_each(&mut *warn);
    let layers = loaded.layers;
    if !layers.iter().all(|layer| layer.file.is_whole(options.hash)) {
        if options.packs.is_none() {
            warn("ignoring existing multi-pack-index; checksum mismatch".into());
        }
        return Ok(None);
    }
    Ok((!layers.is_empty()).then_some(layers))
}

/// The packs to list: those of `former`, then the others in directory order.
fn gather(
    packs: &Path,
    options: &MidxOptions,
    former: &Layers,
    warn: &mut dyn FnMut(String),
) -> Result<Vec<Candidate>> {
    let mut candidates = Vec::new();
    let mut known = HashSet::new();
    for (number, name) in former.names().enumerate() {
        known.insert(name);
        let found = Candidate::find(packs, name, options.hash);
        let gone = || failed(packs, format!("could not load pack {number}"));
        candidates.push(found.ok_or_else(gone)?);
    }
    let wanted: Option<HashSet<&String>> = options.packs.as_ref().map(|all| all.iter().collect());
    for entry in hedgerow_fs::list_directory(packs)?.unwrap_or_default() {
        let name = String::from_utf8_lossy(&entry.name).into_owned();
        let is_wanted = wanted.as_ref().is_none_or(|wanted| wanted.contains(&name));
        if !name.ends_with(".idx") || known.contains(name.as_str()) || !is_wanted {
            continue;
        }
        let path = packs.join(&name);
        match Candidate::find(packs, &name, options.hash) {
            None => warn(format!("failed to add packfile '{}'", path.display())),
            Some(candidate) => match candidate.index() {
                Ok(_) => candidates.push(candidate),
                Err(reason) => {
                    let path = path.display();
                    warn(format!("failed to open pack-index '{path}': {reason}"));
                }
            },
        }
    }
    Ok(candidates)
}

/// Whether `existing` lists exactly `candidates`.
fn is_up_to_date(existing: &Layers, candidates: &[Candidate], options: &MidxOptions) -> bool {
    let Some(top) = existing.top() else {
        return false;
    };
    let names: HashSet<&str> = existing.names().collect();
    top.file.version() == options.version
        && names.len() == candidates.len()
        && candidates.iter().all(|c| names.contains(c.name.as_str()))
        && (!options.for_bitmap || has_bitmap(top))
}

/// Bytes of the header of a bitmap before the checksum of what it belongs to.
const BITMAP_HEADER_BYTES: usize = 12;

/// Whether there is a bitmap for the multi-pack-index whose newest layer is `top`.
fn has_bitmap(top: &Layer) -> bool {
    let checksum = top.file.checksum();
    let id = ObjectId::from_bytes_or_panic(checksum);
    let path = top
        .path
        .with_file_name(format!("multi-pack-index-{id}.bitmap"));
    let head = || {
        let mut file = hedgerow_fs::ReadFile::open(&path).ok()?;
        let mut head = vec![0; BITMAP_HEADER_BYTES + checksum.len()];
        file.read_exact(&mut head).ok()?;
        Some(head)
    };
    let belongs = |head: Vec<u8>| {
        head.starts_with(b"BITM") && head.get(BITMAP_HEADER_BYTES..) == Some(checksum)
    };
    top.file.pseudo_pack_order().is_some() && head().is_some_and(belongs)
}

/// The number of the preferred pack. For a bitmap there is always one, so that the first pack of
/// the pseudo-pack order provides all its objects: the oldest pack if none is named.
fn preferred_pack(
    candidates: &[Candidate],
    options: &MidxOptions,
    warn: &mut dyn FnMut(String),
) -> Result<Option<u32>, String> {
    let preferred = match &options.preferred_pack {
        Some(name) => {
            let found = candidates.iter().position(|c| c.is_called(name));
            if found.is_none() {
                warn(format!("unknown preferred pack: '{name}'"));
            }
            found
        }
        None if options.for_bitmap => oldest(candidates),
        None => None,
    };
    let Some((number, pack)) = preferred.and_then(|number| Some((number, candidates.get(number)?)))
    else {
        return Ok(None);
    };
    match pack.index() {
        Err(_) => Err(format!("failed to open preferred pack {}", pack.name)),
        Ok(index) if index.count() == 0 => {
            let path = pack.path.with_extension("pack");
            let path = path.display();
            Err(format!(
                "cannot select preferred pack {path} with no objects"
            ))
        }
        Ok(_) => Ok(Some(number as u32)),
    }
}

/// The first of the oldest packs with objects.
fn oldest(candidates: &[Candidate]) -> Option<usize> {
    let mut oldest: Option<(usize, &Candidate)> = None;
    for (number, pack) in candidates.iter().enumerate() {
        let is_older = |other: &Candidate| other.count() == 0 || pack.modified < other.modified;
        if oldest.is_none_or(|(_, other)| is_older(other)) {
            oldest = Some((number, pack));
        }
    }
    let (number, _) = oldest.filter(|(_, pack)| pack.count() > 0)?;
    Some(number)
}

fn sources<'s>(
    former: &'s Layers,
    candidates: &'s [Candidate],
    preferred: Option<u32>,
) -> Vec<Source<'s>> {
    let known = former.pack_count();
    let layers = former.iter();
    let mut sources: Vec<_> = layers
        .map(|layer| Source::former(layer, preferred))
        .collect();
    for (number, candidate) in (0..).zip(candidates) {
        let is_preferred = preferred == Some(number);
        if let (true, Ok(index)) = (number >= known || is_preferred, candidate.index()) {
            let source = Source::pack(index, number, candidate.modified, is_preferred);
            sources.push(source);
        }
    }
    sources
}
