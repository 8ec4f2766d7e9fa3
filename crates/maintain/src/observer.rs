use hedgerow_engine::Progress;
use hedgerow_serve::PackWritten;
use std::fmt::Display;
use std::sync::Arc;

/// Called when the work that was shown is done. Dropped without, the work has failed.
pub type Finish = Box<dyn FnOnce()>;

/// Who is told what happens meanwhile.
pub trait Observer {
    /// Something is not as it should be, and the work goes on.
    fn warn(&self, warning: &dyn Display);

    /// As [`Observer::warn`], where git calls it an error.
    fn error(&self, error: &dyn Display) {
        self.warn(error);
    }

    /// A pack of `objects` is being made; `progress` says how far that is.
    fn packing(&self, objects: u64, progress: &Arc<Progress>) -> Finish {
        let _ = (objects, progress);
        Box::new(|| {})
    }

    /// Bitmaps are being made; `progress` says how far that is.
    fn building_bitmaps(&self, progress: &Arc<Progress>) -> Finish {
        let _ = progress;
        Box::new(|| {})
    }

    /// A pack has its name.
    fn wrote(&self, pack: &PackWritten) {
        let _ = pack;
    }

    /// There was nothing to pack.
    fn nothing_new(&self) {}
}
