//! Counts what all commits of a pack's repository reach, by a walk of many threads: for measuring.
//!
//! `count OBJECTS THREADS COMMIT...`, where OBJECTS is an object directory; a commit behind `^` is
//! not wanted.

#![allow(clippy::print_stdout, reason = "it is a program")]

use hedgerow_pack::{ObjectId, ObjectStore, StoreOptions};
use hedgerow_reach::{walk_set, IdMap, Objects, Request, SeenIds, Source, Tip};
use std::collections::HashMap;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let objects = words.next().ok_or("which object directory?")?;
    let threads: usize = words.next().ok_or("how many threads?")?.parse()?;
    let mut tips = Vec::new();
    for word in words {
        let id = ObjectId::from_hex(word.trim_start_matches('^').as_bytes())?;
        tips.push(Tip::new(id, word.starts_with('^')));
    }
    let store = ObjectStore::open(objects.as_ref(), StoreOptions::default())?;
    let graph = store.commit_graph();
    let (grafts, replacements) = (IdMap::default(), HashMap::new());
    let source = Source {
        store: &store,
        graph: graph.as_ref(),
        checks_graph: false,
        grafts: &grafts,
        replacements: &replacements,
    };
    let request = Request {
        tips,
        objects: Objects::All,
        ..Request::default()
    };
    let seen = SeenIds::of(source.store);
    walk_set(source, request, threads, &seen)?;
    println!("{}", seen.count());
    Ok(())
}
