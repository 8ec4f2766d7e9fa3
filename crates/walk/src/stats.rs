//! Stats the entries of one directory.

use hedgerow_engine::{run_tasks, Execution, Failure};
use hedgerow_fs::{Listing, OpenDirectory, Stat};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// So many entries are statted first, to see how long it takes.
const TRIAL: usize = 8;
/// What is expected to take longer is worth threads.
const WORTH_THREADS: Duration = Duration::from_millis(1);
/// Number of entries that a worker stats at a time.
const CHUNK: usize = 16;

/// The stat data of each entry of a listing of `directory`, in its order; `None` for those that cannot
/// be statted. Links are not followed. Where it takes long, as many threads do it as the file system
/// keeps busy.
///
/// ```
/// use hedgerow_fs::{Listing, OpenDirectory, ReadBuffer};
///
/// # fn main() -> std::io::Result<()> {
/// let directory = OpenDirectory::open(env!("CARGO_MANIFEST_DIR").as_ref())?;
/// let (mut buffer, mut listing) = (ReadBuffer::default(), Listing::default());
/// while directory.read(&mut buffer, &mut listing)? {}
/// let stats = hedgerow_walk::stat_entries(&directory, &listing);
/// assert!(stats.iter().all(Option::is_some) && stats.len() == listing.len());
/// # Ok(())
/// # }
/// ```
pub fn stat_entries(directory: &OpenDirectory, listing: &Listing) -> Vec<Option<Stat>> {
    let stat = |number: usize| directory.stat(listing.name_of(number as u32)).ok();
    let started = Instant::now();
    let trial = TRIAL.min(listing.len());
    let mut stats: Vec<Option<Stat>> = (0..trial).map(stat).collect();
    let rest = listing.len() - trial;
    let expected = started.elapsed() * rest.div_ceil(TRIAL) as u32;
    if expected < WORTH_THREADS || rest <= CHUNK {
        stats.extend((trial..listing.len()).map(stat));
        return stats;
    }
    stats.resize(listing.len(), None);
    let chunks = stats[trial..].chunks_mut(CHUNK).map(Mutex::new);
    let chunks: Vec<_> = chunks.collect();
    let options = Execution::default().options("stat");
    let all = (0..chunks.len()).collect();
    let ran: Result<_, Failure<()>> = run_tasks(
        &options,
        all,
        |_| (),
        |(), number: usize, scope| {
            let mut chunk = chunks[number]
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let first = trial + number * CHUNK;
            for (place, number) in chunk.iter_mut().zip(first..) {
                *place = scope.operation("stat", || stat(number));
            }
            Ok(())
        },
    );
    // What a worker that panicked did not stat is missing, and is asked for by who needs it.
    drop((ran, chunks));
    stats
}
