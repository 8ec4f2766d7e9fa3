//! Times reading many objects: `decode OBJECTS-DIRECTORY THREADS BUDGET-MIB [verify] < ids`.
//!
//! The ids are hexadecimal, one a line, read in their order; without a budget no bases are shared.
//! Each phase is told in milliseconds. It is what the figures of this crate are measured with.
#![allow(clippy::disallowed_methods, clippy::print_stdout)]

use hedgerow_pack::{Location, ObjectId, ObjectStore, Reader, SharedBases, StoreOptions};
use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Objects that a thread takes at a time.
const BATCH: usize = 64;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [objects, threads, budget, mode @ ..] = arguments.as_slice() else {
        return Err("decode OBJECTS-DIRECTORY THREADS BUDGET-MIB [verify] < ids".into());
    };
    let (threads, budget) = (threads.parse::<usize>()?, budget.parse::<usize>()? << 20);
    let verify = mode.first().is_some_and(|word| word == "verify");
    let mut ids = Vec::new();
    for line in std::io::stdin().lines() {
        ids.push(ObjectId::from_hex(line?.as_bytes())?);
    }
    let mut clock = Clock(Instant::now());
    let store = ObjectStore::open(objects.as_ref(), StoreOptions::default())?;
    clock.tell("open");
    let found = store.locate_all(&ids)?;
    clock.tell("locate");
    let found: Option<Vec<Location>> = found.into_iter().collect();
    let locations = found.ok_or("an object is missing")?;
    let bases = SharedBases::plan_with_threads(&store, &locations, budget, threads)?;
    clock.tell("plan");
    let (next, bytes) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || -> hedgerow_pack::Result<()> {
        let mut reader = match budget {
            0 => Reader::new(&store),
            _ => Reader::with_bases(&store, &bases),
        };
        loop {
            let start = next.fetch_add(BATCH, Ordering::Relaxed);
            if start >= ids.len() {
                return Ok(());
            }
            let end = (start + BATCH).min(ids.len());
            for (id, location) in ids[start..end].iter().zip(&locations[start..end]) {
                if verify {
                    reader.verify(id, *location)?;
                } else {
                    let (_, content) = reader.read(id, *location)?;
                    bytes.fetch_add(content.len(), Ordering::Relaxed);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let mut outcomes = workers.into_iter().map(|worker| worker.join());
        outcomes.try_for_each(|outcome| outcome.expect("no panic"))
    })?;
    clock.tell("read");
    let (shared, held) = (bases.shared_count(), bases.held_bytes());
    println!("{bytes:?} bytes, {shared} shared bases, {held} bytes of them left");
    println!("{:?}", store.warnings());
    Ok(())
}

struct Clock(Instant);

impl Clock {
    fn tell(&mut self, phase: &str) {
        println!("{phase} {:.2} ms", self.0.elapsed().as_secs_f64() * 1e3);
        self.0 = Instant::now();
    }
}
