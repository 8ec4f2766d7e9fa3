//! How far the indexing of a pack is, as git shows it.

use crate::progress::lines::Phase;
use hedgerow::{Progress, Stage};

/// The two passes. `title` is what git calls the first, in which a pack is received or read.
pub fn phases(title: &str, is_received: bool, progress: &Progress) -> Vec<Phase> {
    let received = progress.stage(Stage::Receiving);
    let resolved = progress.stage(Stage::Resolving);
    vec![
        Phase {
            title: title.to_owned().into(),
            done: received.done(),
            total: Some(received.total()),
            bytes: is_received.then(|| received.bytes()),
            is_over: received.done() >= received.total() && resolved.total() > 0,
        },
        Phase {
            title: "Resolving deltas".into(),
            done: resolved.done().min(resolved.total()),
            total: Some(resolved.total()),
            ..Phase::default()
        },
    ]
}
