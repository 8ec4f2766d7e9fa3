//! The objects of packs that are named.

use super::{Enumerated, Enumeration};
use crate::{
    follow, name_objects, objects_of_pack, own_loose_objects, Error, FollowLimits, Result,
    Selector, Wanted,
};
use bstr::ByteSlice;
use hedgerow_git::repository::Repository;
use hedgerow_pack::{ObjectKind, ObjectStore};
use std::collections::{BTreeMap, HashSet};
use std::io::BufRead;

/// How a named pack is meant.
#[derive(Clone, Copy, Default)]
struct Named {
    is_taken: bool,
    /// Left out, with all that it reaches.
    is_closed: bool,
    /// Left out, but not what it reaches.
    is_open: bool,
}

impl Enumeration {
    /// The objects of the packs that `names` lists, a file name a line. After a circumflex, a pack is
    /// one whose objects are left out. With `follows`, also what the objects reach, up to those
    /// packs; packs after an exclamation mark are left out, but what they reach is not. `warn` is told
    /// of what cannot be read.
    ///
    /// # Errors
    /// [`Error::List`] if a pack is not there, or may not be named.
    pub fn of_packs(
        &self,
        repository: &Repository,
        names: impl BufRead,
        follows: bool,
        warn: &dyn Fn(String),
    ) -> Result<Enumerated> {
        let store = repository.objects();
        let chosen = self.choose(store, read_names(names, follows)?)?;
        let of = |test: fn(&Named) -> bool| {
            let found = chosen.iter().filter(move |(_, named)| test(named));
            found.map(|(number, _)| *number).collect::<Vec<u32>>()
        };
        let mut selection = self.selection(store, false);
        selection
            .left_out
            .extend(of(|named| named.is_closed || named.is_open));
        let mut wanted = Vec::new();
        // Packs are numbered from the newest.
        for number in of(|named| named.is_taken) {
            wanted.extend(objects_of_pack(store, number)?);
        }
        if self.unpacked {
            wanted.extend(own_loose_objects(store, &mut |warning| warn(warning))?);
        }
        keep_first_of_each(&mut wanted);
        if follows {
            let mut starts = wanted.clone();
            for number in of(|named| named.is_open) {
                starts.extend(objects_of_pack(store, number)?);
            }
            let (closed, open) = (of(|named| named.is_closed), of(|named| named.is_open));
            let mut limits = FollowLimits::default();
            if open.is_empty() {
                limits.passed = closed
            } else {
                limits.ends = closed
            }
            if self.exclude_promised {
                limits.ends.extend(store.promisor_packs());
            }
            follow(store, starts, &limits, &mut wanted);
        }
        Selector::new(store, &selection).retain(&mut wanted);
        name_objects(store, &mut wanted);
        commits_first(&mut wanted);
        Ok(Enumerated {
            wanted,
            is_closed: false,
        })
    }

    /// The packs that `names` are of, by their numbers in the store.
    fn choose(
        &self,
        store: &ObjectStore,
        mut names: BTreeMap<String, Named>,
    ) -> Result<Vec<(u32, Named)>> {
        let mut chosen = Vec::new();
        for (number, path, _) in store.pack_files() {
            let name = path.file_name().and_then(|name| name.to_str());
            let Some(named) = name.and_then(|name| names.remove(name)) else {
                continue;
            };
            let is_promisor = || hedgerow_fs::exists(&path.with_extension("promisor"));
            if named.is_taken && self.exclude_promised && is_promisor() {
                return Err(Error::List(format!(
                    "packfile {} is a promisor but --exclude-promisor-objects was given",
                    path.display()
                )));
            }
            chosen.push((number, named));
        }
        match names.into_keys().next() {
            Some(name) => Err(Error::List(format!("could not find pack '{name}'"))),
            None => Ok(chosen),
        }
    }
}

fn read_names(input: impl BufRead, follows: bool) -> Result<BTreeMap<String, Named>> {
    let mut names: BTreeMap<String, Named> = BTreeMap::new();
    for line in input.split(b'\n') {
        let line = line.map_err(|error| Error::List(error.to_string()))?;
        let (kind, name) = match line.split_first() {
            None => continue,
            Some((b'^', name)) => (b'^', name),
            Some((b'!', name)) if follows => (b'!', name),
            _ => (b' ', line.as_slice()),
        };
        let named = names.entry(name.to_str_lossy().into_owned()).or_default();
        match kind {
            b'^' => named.is_closed = true,
            b'!' => named.is_open = true,
            _ => named.is_taken = true,
        }
    }
    Ok(names)
}

/// Drops what was there before.
fn keep_first_of_each(wanted: &mut Vec<Wanted>) {
    let mut seen = HashSet::with_capacity(wanted.len());
    wanted.retain(|object| seen.insert(object.id));
}

fn commits_first(wanted: &mut [Wanted]) {
    wanted.sort_by_key(|object| object.kind != ObjectKind::Commit);
}
