//! Options and tips for bitmaps, from the configuration and the references of a repository.

use crate::error::refused;
use crate::pseudo_merges::{groups, Group};
use crate::{Observer, Result};
use bstr::{BString, ByteSlice};
use hedgerow_engine::Execution;
use hedgerow_git::repository::{Peeler, Repository};
use hedgerow_pack::{BitOrder, BitmapContents, Bitmaps, ObjectId, ObjectKind, ObjectStore};
use hedgerow_reach::BuildOptions;
use std::cmp::Reverse;
use std::path::{Path, PathBuf};

/// Upper size limit of a list of commits, in bytes.
const LIMIT_BYTES: u64 = 1 << 30;

/// A request for bitmaps.
#[derive(Clone, Debug, Default)]
pub struct BitmapRequest<'r> {
    /// How to run.
    pub execution: Execution,
    /// A file of ids to use as tips; without it, the references are the tips.
    pub refs_snapshot: Option<&'r Path>,
}

impl BitmapRequest<'_> {
    /// The options for making bitmaps, including the configuration of `repository`.
    pub fn options(
        &self,
        repository: &Repository,
        observer: &dyn Observer,
    ) -> Result<BuildOptions> {
        let config = repository.config();
        let mut groups = groups(config, observer)?;
        let mut tips = Tips::default();
        match self.refs_snapshot {
            Some(path) => tips.read_snapshot(repository, path)?,
            None => tips.add_head(repository),
        }
        if self.refs_snapshot.is_none() || !groups.is_empty() {
            let by_reference = match self.refs_snapshot {
                Some(_) => None,
                None => Some(&mut tips),
            };
            read_references(repository, by_reference, &mut groups, observer)?;
        }
        Ok(BuildOptions {
            tips: tips.all,
            preferred_tips: tips.preferred,
            only_reachable: false,
            pseudo_merges: groups.into_iter().map(Group::into_parts).collect(),
            shallow: repository.grafts()?.shallow().iter().copied().collect(),
            name_hashes: config.bool("pack.writeBitmapHashCache")?.unwrap_or(true),
            lookup_table: config.bool("pack.writeBitmapLookupTable")?.unwrap_or(false),
            execution: self.execution.clone(),
        })
    }
}

/// Makes the bitmaps of `order`; `observer` is shown the progress.
pub fn build_bitmaps<'o>(
    store: &ObjectStore,
    order: &'o BitOrder<'o>,
    previous: Option<&Bitmaps<'_>>,
    options: &BuildOptions,
    observer: &dyn Observer,
) -> hedgerow_reach::Result<BitmapContents<'o>> {
    let finish = observer.building_bitmaps(&options.execution.progress);
    let contents = hedgerow_reach::build(store, order, previous, options)?;
    finish();
    Ok(contents)
}

/// Writes the bitmaps of the pack called `pack`, or of the largest one of `repository`; `anew`: nothing
/// is taken over from bitmaps there are. Returns how many there are, and their file.
///
/// # Errors
/// If there is no such pack, or something that an object of it reaches is not in it.
pub fn write_pack_bitmaps(
    repository: &Repository,
    pack: Option<&Path>,
    anew: bool,
    request: &BitmapRequest<'_>,
    observer: &dyn Observer,
) -> Result<(usize, PathBuf)> {
    let store = repository.objects();
    let order = store.pack_order(chosen(store, pack)?).map_err(refused)?;
    let options = request.options(repository, observer)?;
    let previous = if anew { None } else { Bitmaps::open(store) };
    let contents = build_bitmaps(store, &order, previous.as_ref(), &options, observer)?;
    let path = contents.write(options.execution.threads().get(), true)?;
    repository.share_pack(&path)?;
    Ok((contents.commits.len(), path))
}

/// The number of the pack that is called as `named` is, or of that with the most objects.
fn chosen(store: &ObjectStore, named: Option<&Path>) -> Result<u32> {
    let mut packs = store.pack_files();
    let Some(named) = named else {
        let usable = packs.filter_map(|(number, _, count)| Some((count?, number)));
        let largest = usable.max_by_key(|(count, number)| (*count, Reverse(*number)));
        let none = || refused("this repository has no pack");
        return largest.map(|(_, number)| number).ok_or_else(none);
    };
    let found = packs.find(|(_, path, _)| path.file_stem() == named.file_stem());
    found.map(|(number, ..)| number).ok_or_else(|| {
        let named = named.display();
        refused(format_args!("'{named}' is no pack of this repository"))
    })
}

/// Adds the commits that references point to.
fn read_references(
    repository: &Repository,
    mut tips: Option<&mut Tips>,
    groups: &mut [Group],
    observer: &dyn Observer,
) -> Result<()> {
    let prefixes = preferred(repository, observer);
    let mut peeler = repository.peeler();
    for reference in repository.references_below("refs/".into())? {
        let Some(id) = reference.id else { continue };
        let Some(commit) = peeled(&mut peeler, &id) else {
            continue;
        };
        let name: &[u8] = reference.name.as_ref();
        if let Some(tips) = &mut tips {
            let is_preferred = prefixes.iter().any(|prefix| is_below(name, prefix));
            tips.add(commit, is_preferred);
        }
        groups.iter_mut().for_each(|group| group.add(name, commit));
    }
    Ok(())
}

/// The prefixes of preferred references. As in git, a key without a value is reported, and then
/// none is preferred.
fn preferred(repository: &Repository, observer: &dyn Observer) -> Vec<BString> {
    let key = "pack.preferBitmapTips";
    let values = repository.config().strings(key);
    if values.is_empty() || repository.config().string(key).is_some() {
        return values;
    }
    let shown = key.to_ascii_lowercase();
    observer.error(&format_args!("missing value for '{shown}'"));
    Vec::new()
}

/// The tips from which history is walked.
#[derive(Default)]
struct Tips {
    all: Vec<ObjectId>,
    preferred: Vec<ObjectId>,
}

impl Tips {
    fn add(&mut self, commit: ObjectId, is_preferred: bool) {
        self.all.push(commit);
        if is_preferred {
            self.preferred.push(commit);
        }
    }

    fn add_head(&mut self, repository: &Repository) {
        self.all
            .extend(repository.head().ok().and_then(|head| head.id()));
    }

    /// Reads a file with an id on each line; a plus sign before it marks a preferred tip.
    fn read_snapshot(&mut self, repository: &Repository, path: &Path) -> Result<()> {
        let content = hedgerow_fs::read_file(path, LIMIT_BYTES)?;
        let missing = || {
            let path = path.display();
            refused(format_args!(
                "could not open '{path}' for reading: No such file or directory"
            ))
        };
        let mut peeler = repository.peeler();
        for line in content.ok_or_else(missing)?.lines() {
            let bad = |what: &str| refused(format_args!("{what} line: {}", line.as_bstr()));
            let (is_preferred, hex) = match line.strip_prefix(b"+") {
                Some(hex) => (true, hex),
                None => (false, line),
            };
            let length = repository.hash_kind().len_in_hex();
            let (hex, rest) = hex
                .split_at_checked(length)
                .ok_or_else(|| bad("could not parse"))?;
            let id = ObjectId::from_hex(hex).map_err(|_| bad("could not parse"))?;
            if !rest.is_empty() {
                return Err(bad("malformed"));
            }
            if repository.objects().locate(&id)?.is_none() {
                return Err(refused(format_args!("unable to parse object: {id}")));
            }
            if let Some(commit) = peeled(&mut peeler, &id) {
                self.add(commit, is_preferred);
            }
        }
        Ok(())
    }
}

/// The commit `id`, or the one to which the tag `id` peels.
fn peeled(peeler: &mut Peeler<'_>, id: &ObjectId) -> Option<ObjectId> {
    peeler.peel(id, Some(ObjectKind::Commit)).ok().flatten()
}

/// Whether the reference `name` is in the directory `prefix`.
fn is_below(name: &[u8], prefix: &[u8]) -> bool {
    let rest = name.strip_prefix(prefix);
    rest.is_some_and(|rest| prefix.ends_with(b"/") || rest.starts_with(b"/"))
}
