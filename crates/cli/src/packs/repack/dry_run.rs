//! What a repack would do, told and not done.

use crate::failure::Failure;
use crate::output::Output;
use hedgerow::plumbing::maintain::repack::{
    count_loose, ExistingPack, NewRole, Plan, Role, Settings,
};
use hedgerow::plumbing::pack::{Location, ObjectId};
use hedgerow::Repository;
use std::collections::HashSet;

pub fn tell(
    repository: &Repository,
    plan: &Plan,
    settings: &Settings,
    output: &Output,
) -> Result<(), Failure> {
    let store = repository.objects();
    let mut lines = String::new();
    for new in plan.packs.iter().filter(|new| !new.wanted.is_empty()) {
        let size = |object: &hedgerow::plumbing::serve::Wanted| {
            store.size_on_disk(&object.id, object.location).unwrap_or(0)
        };
        let bytes: u64 = new.wanted.iter().map(size).sum();
        let what = match new.role {
            NewRole::Plain { .. } => "a pack",
            NewRole::Promisor => "a pack of promised objects",
            NewRole::Cruft(_) => "a pack of unreachable objects",
        };
        let count = new.wanted.len();
        lines += &format!("would write {what}: {count} objects, about {bytes} bytes\n");
    }
    if lines.is_empty() {
        lines += "would write no pack\n";
    }
    for pack in &plan.existing.packs {
        if pack.is_local {
            lines += &about(pack, plan, settings);
        }
    }
    if !plan.loosened.is_empty() {
        lines += &format!("would make {} objects loose\n", plan.loosened.len());
    }
    let loose = count_loose(store)?;
    if settings.deletes {
        let packed = plan.objects_of(|_| true);
        let gone = packed_loose(repository, &packed)?;
        lines +=
            &format!("would delete {gone} of {loose} loose objects, which are in packs then\n");
    } else {
        lines += &format!("would leave {loose} loose objects\n");
    }
    if settings.midx {
        lines += "would write a multi-pack-index\n";
    }
    output.data(lines.as_bytes());
    Ok(())
}

fn about(pack: &ExistingPack, plan: &Plan, settings: &Settings) -> String {
    let is_replaced = plan
        .replaced
        .iter()
        .any(|other| other.number == pack.number);
    let verb = match (is_replaced, pack.role) {
        (true, _) if plan.above.is_some() => "would roll up",
        (true, _) => "would delete",
        (false, Role::Kept) => "would leave (kept)",
        (false, _) if settings.deletes => "would keep",
        (false, _) => "would leave",
    };
    let (stem, objects, bytes) = (&pack.stem, pack.objects, pack.bytes());
    format!("{verb} {stem}.pack: {objects} objects, {bytes} bytes\n")
}

/// How many loose objects are in packs, or are going to be.
fn packed_loose(repository: &Repository, packed: &HashSet<ObjectId>) -> Result<u64, Failure> {
    let store = repository.objects();
    let mut count = 0;
    for byte in 0..=u8::MAX {
        for id in store.own_loose_objects(byte).map_err(Failure::fatal)? {
            let is_packed = |copy| matches!(copy, Location::Packed { .. });
            count += u64::from(packed.contains(&id) || store.all_copies(&id).any(is_packed));
        }
    }
    Ok(count)
}
