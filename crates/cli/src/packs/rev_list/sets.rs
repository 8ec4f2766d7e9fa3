//! Questions whose answer is a number: no order need be kept, and many threads find it.

use super::failure;
use super::options::Options;
use super::output::disk_usage;
use crate::failure::Failure;
use crate::output::Output;
use hedgerow::plumbing::pack::{oid, Location, ObjectKind};
use hedgerow::plumbing::reach::{walk_set, Objects, Seen, SeenIds, Source};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The sum of what objects take on disk.
struct Sizes<'s> {
    seen: SeenIds,
    source: Source<'s>,
    bytes: AtomicU64,
    has_failed: AtomicBool,
}

pub fn can_answer(options: &Options) -> bool {
    let is_number = options.count || options.disk_usage.is_some() || options.is_quiet;
    is_number
        && options.request.objects == Objects::All
        && options.request.is_set()
        && !options.left_right
        && !options.print_omitted
}

pub fn answer(source: Source<'_>, options: Options, output: &Output) -> Result<(), Failure> {
    let threads = hedgerow_fs::cpu::available();
    let (is_quiet, count) = (options.is_quiet, options.count);
    let Some(for_people) = options.disk_usage else {
        let seen = SeenIds::default();
        walk_set(source, options.request, threads, &seen).map_err(failure)?;
        if count {
            let count = if is_quiet { 0 } else { seen.count() };
            output.data(format!("{count}\n").as_bytes());
        }
        return Ok(());
    };
    let sizes = Sizes {
        seen: SeenIds::default(),
        source,
        bytes: AtomicU64::new(0),
        has_failed: AtomicBool::new(false),
    };
    walk_set(source, options.request, threads, &sizes).map_err(failure)?;
    if sizes.has_failed.load(Ordering::Relaxed) {
        return Err(Failure::fatal("unable to get disk usage of an object"));
    }
    if count {
        output.data(b"0\n");
    }
    let bytes = sizes.bytes.load(Ordering::Relaxed);
    output.data(disk_usage(bytes, for_people).as_bytes());
    Ok(())
}

impl Seen for Sizes<'_> {
    fn insert(&self, id: &oid, kind: ObjectKind, name_hash: u32) -> bool {
        self.seen.insert(id, kind, name_hash)
    }

    fn wants_locations(&self) -> bool {
        true
    }

    fn found(&self, id: &oid, _: ObjectKind, location: Option<Location>) {
        if id.is_empty_tree() {
            // Git knows it by heart: it takes nothing.
            return;
        }
        let size = location.map(|location| self.source.store.size_on_disk(id, location));
        match size {
            Some(Ok(size)) => {
                self.bytes.fetch_add(size, Ordering::Relaxed);
            }
            _ => self.has_failed.store(true, Ordering::Relaxed),
        }
    }
}
