//! How far the making of a pack is, as git shows it.

use crate::progress::lines::{Lines, Phase, Showing};
use hedgerow::{Progress, Stage, Steps};
use std::sync::Arc;

/// Shows how a pack of `count` objects is made; `has_writing`: to the end, which whoever receives it
/// on standard output shows for itself.
pub fn show(showing: Showing, count: u64, has_writing: bool, progress: &Arc<Progress>) -> Lines {
    let progress = Arc::clone(progress);
    Lines::start(showing, move || {
        let counted = progress.stage(Stage::Counting);
        let searched = progress.stage(Stage::Compressing);
        let written = progress.stage(Stage::Writing);
        let is_writing = written.total() > 0;
        let mut phases = vec![
            Phase {
                title: "Enumerating objects".into(),
                done: count,
                is_over: true,
                ..Phase::default()
            },
            phase("Counting objects", counted, counted.is_over() || is_writing),
            phase("Compressing objects", searched, is_writing),
        ];
        if has_writing {
            phases.push(Phase {
                bytes: Some(written.bytes()),
                ..phase("Writing objects", written, false)
            });
        }
        phases
    })
}

fn phase(title: &'static str, steps: &Steps, is_over: bool) -> Phase {
    Phase {
        title: title.into(),
        done: steps.done(),
        total: Some(steps.total()),
        bytes: None,
        is_over,
    }
}
