//! How far the indexing of a pack is, as git shows it.

use crate::progress::lines::Phase;
use hedgerow_pack::indexer::Counters;
use std::sync::atomic::{AtomicU64, Ordering};

/// The two passes. `title` is what git calls the first, in which a pack is received or read.
pub fn phases(title: &str, is_received: bool, counters: &Counters) -> Vec<Phase> {
    let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let (total, received) = (get(&counters.total), get(&counters.received));
    let (deltas, resolved) = (get(&counters.deltas), get(&counters.resolved));
    vec![
        Phase {
            title: title.to_owned().into(),
            done: received,
            total: Some(total),
            bytes: is_received.then(|| get(&counters.bytes)),
            is_over: received >= total && deltas > 0,
        },
        Phase {
            title: "Resolving deltas".into(),
            done: resolved.min(deltas),
            total: Some(deltas),
            ..Phase::default()
        },
    ]
}
