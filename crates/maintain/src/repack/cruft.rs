//! Unreachable objects and their ages: `--cruft`.

use super::existing::Role;
use super::plan::{NewPack, NewRole, Plan};
use super::settings::Settings;
use crate::error::refused;
use crate::Result;
use hedgerow_git::repository::Repository;
use hedgerow_pack::{read_mtimes, ObjectId, ObjectStore};
use hedgerow_serve::{
    follow, name_objects, objects_of_pack, own_loose_objects, FollowLimits, Selection, Selector,
    Wanted,
};
use std::collections::{HashMap, HashSet};

/// When each object was last known to be in use, in seconds since 1970.
pub type Ages = HashMap<ObjectId, u32>;

/// Plans the pack of unreachable objects. Objects older than `expiry` that no younger one reaches
/// are left out, and are deleted with their packs.
pub fn plan(
    plan: &Plan,
    repository: &Repository,
    settings: &Settings,
    expiry: Option<i64>,
) -> Result<Option<NewPack>> {
    if expiry.is_some() && repository.config().string("gc.recentObjectsHook").is_some() {
        return Err(refused(
            "hedgerow does not run the hooks of gc.recentObjectsHook; git does",
        ));
    }
    let store = repository.objects();
    let packed = plan.objects_of(|_| true);
    let (mut wanted, mut ages) = gather(plan, store, &packed)?;
    if let Some(expiry) = expiry {
        let is_young = |object: &Wanted| {
            ages.get(&object.id)
                .is_some_and(|age| i64::from(*age) > expiry)
        };
        let young: Vec<Wanted> = wanted.iter().filter(|o| is_young(o)).copied().collect();
        let mut kept = young.clone();
        follow(store, young, &FollowLimits::default(), &mut kept);
        kept.retain(|object| !packed.contains(&object.id));
        for object in &kept {
            // Older objects get the age at which they expire next time.
            let oldest = u32::try_from(expiry).unwrap_or(0);
            let age = ages.entry(object.id).or_insert(oldest);
            *age = (*age).max(oldest);
        }
        wanted = kept;
    }
    let kept = plan.existing.with_role(Role::Kept);
    let selection = Selection {
        local: settings.local,
        left_out: kept.map(|pack| pack.number).collect(),
        ..Selection::default()
    };
    Selector::new(store, &selection).retain(&mut wanted);
    name_objects(store, &mut wanted);
    let role = NewRole::Cruft(ages);
    Ok((!wanted.is_empty()).then_some(NewPack { wanted, role }))
}

/// The objects younger than `expiry`, and those that they reach, among the objects that are in no
/// new pack.
pub fn recent(
    plan: &Plan,
    repository: &Repository,
    expiry: i64,
    packed: &HashSet<ObjectId>,
) -> Result<HashSet<ObjectId>> {
    let store = repository.objects();
    let (wanted, ages) = gather(plan, store, packed)?;
    let is_young = |object: &Wanted| {
        ages.get(&object.id)
            .is_some_and(|age| i64::from(*age) > expiry)
    };
    let young: Vec<Wanted> = wanted.into_iter().filter(is_young).collect();
    let mut reached = young.clone();
    follow(store, young, &FollowLimits::default(), &mut reached);
    Ok(reached.iter().map(|object| object.id).collect())
}

/// Unreachable loose objects and objects of packs that may be deleted, without those in new packs.
/// Each has the age of its youngest copy.
fn gather(
    plan: &Plan,
    store: &ObjectStore,
    packed: &HashSet<ObjectId>,
) -> Result<(Vec<Wanted>, Ages)> {
    let mut ages = Ages::new();
    let mut found = Vec::new();
    let mut note = |object: Wanted, age: u32| {
        if packed.contains(&object.id) {
            return;
        }
        match ages.get_mut(&object.id) {
            Some(known) => *known = age.max(*known),
            None => {
                ages.insert(object.id, age);
                found.push(object);
            }
        }
    };
    for pack in plan.existing.not_kept() {
        let stat = hedgerow_fs::stat(&pack.path)?;
        let of_pack = stat.map_or(0, |stat| seconds(stat.mtime.seconds));
        let table = match pack.role {
            Role::Cruft => Some(table(store, pack.number)?),
            _ => None,
        };
        for object in objects_of_pack(store, pack.number)? {
            let own = table.as_ref().and_then(|table| table.get(&object.id));
            note(object, own.copied().unwrap_or(of_pack));
        }
    }
    let mut warn = |_| {};
    for object in own_loose_objects(store, &mut warn)? {
        let stat = hedgerow_fs::stat(&store.own_loose_path(&object.id));
        if let Some(stat) = stat? {
            note(object, seconds(stat.mtime.seconds));
        }
    }
    Ok((found, ages))
}

/// The content of a pack's `.mtimes` file.
fn table(store: &ObjectStore, number: u32) -> Result<Ages> {
    let path = store.pack_path(number).unwrap_or("".as_ref());
    let path = path.with_extension("mtimes");
    let count = store.pack_object_count(number);
    let mtimes = read_mtimes(&path, count, store.hash_kind());
    let mtimes = mtimes
        .map_err(|reason| refused(format_args!("cannot use '{}': {reason}", path.display())))?;
    let ids = (0..count).map(|position| store.pack_object_id(number, position));
    let rows = ids.zip(mtimes);
    Ok(rows
        .filter_map(|(id, age)| Some((id?.to_owned(), age)))
        .collect())
}

fn seconds(seconds: i64) -> u32 {
    u32::try_from(seconds.max(0)).unwrap_or(u32::MAX)
}
