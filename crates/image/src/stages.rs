//! The two stages of writing an image.

use crate::buffers::Buffers;
use crate::digest::LargeFiles;
use crate::gather::{gather, GatherOptions, Gathered};
use crate::item::Item;
use crate::plan::{PlanOptions, Planner};
use crate::WriteError;
use hedgerow_engine::{Jobs, Options, Progress, Stage, Window};
use hedgerow_fs::threads::start_scoped;
use hedgerow_tree::NodeError;
use std::sync::mpsc::{sync_channel, Receiver};

/// Limit of the data in progress at each of the two stages in bytes: a base, and an addition per
/// worker.
const WINDOW_BYTES: u64 = 4 << 20;
const WORKER_BYTES: u64 = 1 << 20;
/// Number of batches of gathered entries that may wait for the plan.
const WAITING: usize = 4;

/// The gathered entries as the plan receives them.
pub type Arriving = std::iter::Flatten<<Receiver<Vec<Gathered>> as IntoIterator>::IntoIter>;

/// Reads the contents of `items` with `readers`, plans them, and has `pack` store the plan's
/// batches at the same time. After the last item [`Stage::Entries`] ends; when all contents are read,
/// [`Stage::Contents`] has a total; `pack` counts its steps, see [`Batch::gathered_bytes`](crate::plan::Batch).
///
/// # Errors
/// An entry cannot be read, or `pack` failed.
pub fn store_contents<I: Into<Item>, R>(
    items: impl Iterator<Item = Result<I, NodeError>> + Send,
    readers: &Options,
    (wanted, plan): (GatherOptions, PlanOptions),
    buffers: &Buffers,
    progress: &Progress,
    pack: impl FnOnce(Planner<'_, Arriving>) -> Result<R, WriteError>,
) -> Result<R, WriteError> {
    let large = &LargeFiles::default();
    let (sender, receiver) = sync_channel(WAITING);
    let end = || {
        progress.stage(Stage::Entries).end();
        None
    };
    let items = items.chain(std::iter::from_fn(end));
    std::thread::scope(|threads| {
        let read = move || {
            let window = window(readers);
            let bytes = gather(items, readers, window, wanted, (large, buffers), &sender)?;
            progress.stage(Stage::Contents).expect(bytes);
            Ok(())
        };
        let readers = start_scoped(threads, "gather", read)?;
        let batches = Planner::new(receiver.into_iter().flatten(), large, buffers, plan);
        let packed = pack(batches);
        let gathered = readers
            .join()
            .unwrap_or_else(|_| Err(WriteError::Panicked("while contents were read".into())));
        match (packed, gathered) {
            // If packing fails, the channel closes and the readers end as if cancelled, so the error
            // of packing is the cause.
            (Err(error), _) | (Ok(_), Err(error)) => Err(error),
            (Ok(packing), Ok(())) => Ok(packing),
        }
    })
}

/// The limit of the data in progress at a stage with these workers.
pub fn window(workers: &Options) -> Window {
    let count = match workers.jobs {
        Jobs::Fixed(count) => count.get() as u64,
        // Automatic workers mostly wait for the file system and hold little data.
        Jobs::Auto => 4,
    };
    Window {
        bytes: WINDOW_BYTES.saturating_add(count.saturating_mul(WORKER_BYTES)),
    }
}
