//! Combines the smallest packs: `--geometric`.

use super::existing::{ExistingPack, ExistingPacks, Role};
use super::plan::{NewPack, NewRole, Plan};
use super::settings::Settings;
use crate::error::refused;
use crate::Observer;
use crate::Result;
use hedgerow_git::repository::Repository;
use hedgerow_pack::{ObjectKind, ObjectStore};
use hedgerow_serve::{
    name_objects, objects_of_pack, own_loose_objects, split, FollowLimits, Selection, Selector,
    TooLarge, Wanted,
};
use std::collections::HashSet;

/// Plans which packs are combined into one, with all loose objects. Packs from a promisor remote
/// are a progression of their own.
pub fn plan(
    plan: &mut Plan,
    repository: &Repository,
    factor: u32,
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<()> {
    let store = repository.objects();
    let (promisor, plain) = members(&plan.existing, settings);
    let (rolled_up, above) = divide(promisor, factor)?;
    if !rolled_up.is_empty() {
        let wanted = objects(store, &rolled_up)?;
        let role = NewRole::Promisor;
        let wanted = without(store, wanted, &above, plan, settings);
        plan.packs.push(NewPack { wanted, role });
        plan.replaced.extend(rolled_up);
    }
    let (rolled_up, above) = divide(plain, factor)?;
    let mut wanted = objects(store, &rolled_up)?;
    let mut warn = |warning: String| observer.warn(&warning);
    let mut known: HashSet<_> = wanted.iter().map(|object| object.id).collect();
    let loose = own_loose_objects(store, &mut warn)?;
    wanted.extend(loose.into_iter().filter(|object| known.insert(object.id)));
    if !settings.midx_with_cruft {
        follow(plan, store, &above, &mut wanted)?;
    }
    let mut wanted = without(store, wanted, &above, plan, settings);
    name_objects(store, &mut wanted);
    wanted.sort_by_key(|object| object.kind != ObjectKind::Commit);
    let role = NewRole::Plain { is_closed: false };
    plan.packs.push(NewPack { wanted, role });
    plan.replaced.extend(rolled_up);
    // Packs of other object directories and kept packs must not be deleted.
    let may_go = |pack: &ExistingPack| pack.is_local && pack.role != Role::Kept;
    plan.replaced.retain(may_go);
    plan.above = Some(above);
    Ok(())
}

/// The packs of one progression: those from a promisor remote, or the others.
pub fn members(
    existing: &ExistingPacks,
    settings: &Settings,
) -> (Vec<ExistingPack>, Vec<ExistingPack>) {
    let is_member = |pack: &&ExistingPack| {
        let is_left_out = pack.role == Role::Kept && (pack.is_named || !settings.packs_kept);
        let is_cruft = hedgerow_fs::exists(&pack.path.with_extension("mtimes"));
        (pack.is_local || !settings.local) && !is_left_out && !is_cruft
    };
    let members = existing.packs.iter().filter(is_member).cloned();
    members.partition(|pack| pack.is_promisor)
}

/// The packs to combine, and the larger ones, smallest first.
pub fn divide(
    mut packs: Vec<ExistingPack>,
    factor: u32,
) -> Result<(Vec<ExistingPack>, Vec<ExistingPack>)> {
    packs.sort_by_key(|pack| pack.objects);
    let counts: Vec<u32> = packs.iter().map(|pack| pack.objects).collect();
    let at = split(&counts, factor).map_err(|too_large| {
        let (at, why) = match too_large {
            TooLarge::ToConsider(at) => (at, "too large to consider in geometric progression"),
            TooLarge::ToRollUp(at) => (at, "too large to roll up"),
        };
        let path = packs[at].path.display();
        refused(format_args!("pack {path} {why}"))
    })?;
    let above = packs.split_off(at);
    Ok((packs, above))
}

/// The objects of `packs`, the newest pack first, each once.
fn objects(store: &ObjectStore, packs: &[ExistingPack]) -> Result<Vec<Wanted>> {
    let mut numbers: Vec<u32> = packs.iter().map(|pack| pack.number).collect();
    numbers.sort_unstable();
    let mut seen = HashSet::new();
    let mut wanted = Vec::new();
    for number in numbers {
        let objects = objects_of_pack(store, number)?;
        wanted.extend(objects.into_iter().filter(|object| seen.insert(object.id)));
    }
    Ok(wanted)
}

/// Removes objects that are in remaining packs.
fn without(
    store: &ObjectStore,
    mut wanted: Vec<Wanted>,
    above: &[ExistingPack],
    plan: &Plan,
    settings: &Settings,
) -> Vec<Wanted> {
    let above = above.iter().map(|pack| pack.number);
    let selection = Selection {
        local: settings.local,
        left_out: plan
            .existing
            .left_out(settings)
            .into_iter()
            .chain(above)
            .collect(),
        ..Selection::default()
    };
    Selector::new(store, &selection).retain(&mut wanted);
    wanted
}

/// Adds objects that only cruft packs have and other objects reach, since the multi-pack-index is
/// not to list cruft packs. The packs that it lists are closed under reachability; others need not
/// be.
fn follow(
    plan: &Plan,
    store: &ObjectStore,
    above: &[ExistingPack],
    wanted: &mut Vec<Wanted>,
) -> Result<()> {
    let is_listed = |pack: &&ExistingPack| plan.existing.in_midx.contains(&pack.index_name());
    let (closed, open): (Vec<_>, Vec<_>) = above.iter().partition(is_listed);
    let mut starts = wanted.clone();
    let mut limits = FollowLimits::default();
    for pack in &open {
        starts.extend(objects_of_pack(store, pack.number)?);
    }
    let closed = closed.iter().map(|pack| pack.number).collect();
    if open.is_empty() {
        limits.passed = closed
    } else {
        limits.ends = closed
    }
    hedgerow_serve::follow(store, starts, &limits, wanted);
    Ok(())
}
