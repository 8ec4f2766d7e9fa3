use hedgerow_engine::Progress;
use hedgerow_serve::PackWritten;
use std::fmt::Display;
use std::sync::Arc;

/// Called when the shown work is done. If it is dropped without a call, the work has failed.
pub type Finish = Box<dyn FnOnce()>;

/// Receives events while the work runs.
pub trait Observer {
    /// A problem that does not stop the work.
    fn warn(&self, warning: &dyn Display);

    /// As [`Observer::warn`], where git calls it an error.
    fn error(&self, error: &dyn Display) {
        self.warn(error);
    }

    /// A pack of `objects` is being made, with this `progress`.
    fn packing(&self, objects: u64, progress: &Arc<Progress>) -> Finish {
        let _ = (objects, progress);
        Box::new(|| {})
    }

    /// Bitmaps are being made, with this `progress`.
    fn building_bitmaps(&self, progress: &Arc<Progress>) -> Finish {
        let _ = progress;
        Box::new(|| {})
    }

    /// A pack has got its final name.
    fn wrote(&self, pack: &PackWritten) {
        let _ = pack;
    }

    /// There was nothing to pack.
    fn nothing_new(&self) {}
}
