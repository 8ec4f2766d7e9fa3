//! Finds objects that came into use while the new packs were made, and that only a pack to be
//! deleted contains.

use super::existing::ExistingPack;
use super::plan::Plan;
use crate::Observer;
use crate::Result;
use hedgerow_git::reachability::{Roots, Sources};
use hedgerow_git::repository::Repository;
use hedgerow_pack::{Location, ObjectId, Reader};
use hedgerow_serve::{follow_besides, Wanted};
use std::collections::HashSet;

/// The packs among `replaced` that are still needed. `now` is the repository, opened after the new
/// packs were in place.
pub fn still_needed(
    now: &Repository,
    plan: &Plan,
    replaced: &[ExistingPack],
    observer: &dyn Observer,
) -> Result<Vec<ExistingPack>> {
    let sources = Sources::read(now)?;
    let warn = |warning: String| observer.warn(&warning);
    let tips = Roots::ALL.tips_besides(now, &sources, &plan.tips, &warn)?;
    let store = now.objects();
    let mut reader = Reader::new(store);
    let mut starts = Vec::new();
    for tip in tips {
        let Some(location) = store.locate(&tip.id)? else {
            continue;
        };
        let header = reader.header(&tip.id, location)?;
        starts.push(Wanted {
            id: tip.id,
            location,
            kind: header.kind,
            name_hash: 0,
        });
    }
    if starts.is_empty() {
        return Ok(Vec::new());
    }
    // The new packs contain everything that their objects reach.
    let packed = plan.objects_of(|_| true);
    let is_open = |object: &Wanted| !packed.contains(&object.id);
    let starts: Vec<Wanted> = starts.into_iter().filter(is_open).collect();
    let reached = follow_besides(store, starts, &packed);
    let going: HashSet<u32> = numbers(now, replaced);
    let only_there = |id: &ObjectId| {
        let mut copies = store.all_copies(id).peekable();
        copies.peek().is_some()
            && copies.all(|copy| match copy {
                Location::Packed { pack, .. } => going.contains(&pack),
                Location::Loose { .. } => false,
            })
    };
    let lost: Vec<ObjectId> = reached.into_iter().filter(|id| only_there(id)).collect();
    let has_one = |pack: &&ExistingPack| {
        let number = numbers(now, std::slice::from_ref(pack)).into_iter().next();
        let has = |id: &ObjectId| number.is_some_and(|n| store.offset_in_pack(n, id).is_some());
        lost.iter().any(has)
    };
    Ok(replaced.iter().filter(has_one).cloned().collect())
}

/// The current numbers of packs.
fn numbers(now: &Repository, packs: &[ExistingPack]) -> HashSet<u32> {
    let files = now.objects().pack_files();
    let found = files.filter(|(_, path, _)| packs.iter().any(|pack| pack.path == *path));
    found.map(|(number, ..)| number).collect()
}
