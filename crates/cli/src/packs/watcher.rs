//! How the tending of a repository is shown.

use super::pack_progress;
use crate::global::Global;
use crate::output::Output;
use crate::progress::lines::{Lines, Phase, Showing};
use hedgerow::plumbing::maintain::{Finish, Observer};
use hedgerow::plumbing::serve::PackWritten;
use hedgerow::{Progress, Stage};
use std::fmt::Display;
use std::sync::Arc;

/// Shows what happens as git does.
pub struct Watcher<'w> {
    pub global: &'w Global,
    pub output: &'w Output,
    /// Whether it was told already what there is to do.
    pub is_told: bool,
}

impl<'w> Watcher<'w> {
    pub fn new(global: &'w Global, output: &'w Output) -> Self {
        Watcher {
            global,
            output,
            is_told: global.quiet,
        }
    }
}

impl Observer for Watcher<'_> {
    fn warn(&self, warning: &dyn Display) {
        self.output.warn(warning);
    }

    fn error(&self, error: &dyn Display) {
        self.output.error(error);
    }

    fn packing(&self, objects: u64, progress: &Arc<Progress>) -> Finish {
        let showing = Showing::at_once(self.global);
        let lines = pack_progress::show(showing, objects, true, progress);
        Box::new(|| lines.finish())
    }

    fn building_bitmaps(&self, progress: &Arc<Progress>) -> Finish {
        let progress = Arc::clone(progress);
        let lines = Lines::start(Showing::at_once(self.global), move || {
            let steps = progress.stage(Stage::Bitmaps);
            vec![Phase {
                title: "Building bitmaps".into(),
                done: steps.done(),
                total: Some(steps.total()),
                ..Phase::default()
            }]
        });
        Box::new(|| lines.finish())
    }

    fn wrote(&self, pack: &PackWritten) {
        self.output.with_progress(self.global, pack);
    }

    fn nothing_new(&self) {
        if !self.is_told {
            self.output.data(b"Nothing new to pack.\n");
        }
    }
}
