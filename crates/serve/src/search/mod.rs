//! The search for new deltas.

mod candidates;
mod window;

use crate::plan::{Base, Delta, Plan, Source};
use crate::{PackOptions, Result};
use hedgerow_engine::{run_ordered, Window};
use hedgerow_engine::{Jobs, Stage};
use hedgerow_pack::{Location, ObjectStore, Reader, SharedBases};
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicU64;
use window::Search;

/// Maximum size of reconstructed delta bases shared by the readers, in bytes.
const SHARED_BASE_BYTES: usize = 96 << 20;

/// A new delta.
#[derive(Debug)]
pub(crate) struct NewDelta {
    /// The object.
    entry: u32,
    base: u32,
    depth: u32,
    /// The length of the delta in bytes.
    size: u64,
    /// The compressed delta, if there was room to keep it.
    compressed: Option<Vec<u8>>,
}

/// Searches deltas for the objects of `plan` that are not sent in their stored form. The objects
/// are split into the same parts for any number of threads, which take one part after the other.
pub(crate) fn search(
    plan: &mut Plan<'_>,
    store: &ObjectStore,
    options: &PackOptions,
) -> Result<()> {
    if options.window == 0 || options.depth == 0 {
        return Ok(());
    }
    let candidates = candidates::candidates(plan, options);
    if candidates.is_empty() {
        return Ok(());
    }
    let parts = candidates::parts(plan, &candidates, options.window);
    let location = |number: &u32| plan.entries[*number as usize].location;
    let needed: Vec<Location> = candidates.iter().map(location).collect();
    let threads = options.execution.threads().get();
    let bases = SharedBases::plan_with_threads(store, &needed, SHARED_BASE_BYTES, threads)?;
    options
        .execution
        .progress
        .stage(Stage::Compressing)
        .expect(candidates.len() as u64);
    let jobs = NonZeroUsize::new(threads.min(parts.len())).unwrap_or(NonZeroUsize::MIN);
    let cached = AtomicU64::new(0);
    let mut found = Vec::new();
    let whole: &Plan<'_> = plan;
    run_ordered(
        &options
            .execution
            .with_jobs(Jobs::Fixed(jobs))
            .options("deltas"),
        // All results are kept in any case.
        Window { bytes: u64::MAX },
        parts.into_iter().map(|part| Ok((part, 1))),
        |_| {
            let reader = Reader::with_bases(store, &bases);
            Search::new(whole, options, reader, &cached)
        },
        |search, part| {
            let part = candidates.get(part);
            search.run(part.expect("the parts are of the candidates"))
        },
        |_, part: Vec<NewDelta>| {
            found.extend(part);
            Ok(())
        },
    )?;
    for found in found {
        let entry = &mut plan.entries[found.entry as usize];
        entry.depth = found.depth;
        entry.delta = Some(Delta {
            base: Base::Entry(found.base),
            size: found.size,
            source: match found.compressed {
                Some(compressed) => Source::Found(compressed),
                None => Source::Forgotten,
            },
        });
    }
    Ok(())
}
