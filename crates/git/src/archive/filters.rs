//! Filter programs for contents.

use super::queue::{Place, Queue};
use super::source::Source;
use crate::convert::{
    Converter, Delivery, DriverConversion, DriverKind, FilterContext, FilterLane, Filtered,
};
use crate::repository::Repository;
use crate::{Error, Result};
use bstr::{BStr, BString};
use hedgerow_engine::CancelToken;
use hedgerow_fs::threads::start_scoped;
use hedgerow_fs::FilterCancel;
use hedgerow_pack::ObjectId;
use std::collections::BTreeMap;
use std::sync::mpsc::{channel, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Scope;
use std::time::Duration;

/// Interval at which a cancellation of running filters is checked.
const CANCEL_INTERVAL: Duration = Duration::from_millis(50);

/// The filter programs of a repository.
pub(super) struct Filters {
    context: FilterContext,
    drivers: Mutex<BTreeMap<BString, Arc<Program>>>,
    cancels: Mutex<Vec<FilterCancel>>,
    /// The first failure of one that is not required.
    failure: OnceLock<String>,
}

/// A running driver.
#[derive(Default)]
struct Program {
    /// Held while the driver's only process filters a file.
    turn: Mutex<()>,
    /// Idle lanes: one for a process, else as many as the workers needed.
    idle: Mutex<Vec<FilterLane>>,
    /// The process gets its files in the order of the places here.
    queue: Arc<Queue>,
}

impl Filters {
    pub fn new(repository: &Repository, source: &Source) -> Result<Self> {
        let directory = repository.work_tree().unwrap_or(repository.git_dir());
        let treeish = source.commit.as_ref().map(|commit| commit.id);
        Ok(Filters {
            context: FilterContext {
                directory: directory.into(),
                environment: repository.child_variables(),
                git_programs: Some(repository.git_programs()),
                reference: source.reference.clone(),
                treeish: treeish.or(Some(source.tree)),
                can_delay: false,
                hides_blob: false,
            },
            drivers: Mutex::default(),
            cancels: Mutex::default(),
            failure: OnceLock::new(),
        })
    }

    /// The next place in the queue before the process of `conversion`; none if that is a command.
    pub fn place(&self, converter: &Converter, conversion: &DriverConversion) -> Option<Place> {
        let driver = converter.driver(conversion.index)?;
        if conversion.kind == DriverKind::Command {
            return None;
        }
        Some(self.program(&driver.name).queue.place())
    }

    fn program(&self, name: &BString) -> Arc<Program> {
        let mut drivers = lock(&self.drivers);
        drivers.entry(name.clone()).or_default().clone()
    }

    /// Filters the blob `id`, whose converted content is `content`. Also returns git's
    /// messages about it.
    pub fn smudge(
        &self,
        converter: &Converter,
        conversion: &DriverConversion,
        path: &BStr,
        id: &ObjectId,
        content: &[u8],
    ) -> Result<(Vec<u8>, Vec<String>)> {
        let driver = converter.driver(conversion.index);
        let driver = driver.ok_or_else(|| Error::Internal {
            reason: "a conversion without a driver".into(),
        })?;
        let program = self.program(&driver.name);
        // A process filters one file at a time; commands run in parallel.
        let _turn = match conversion.kind {
            DriverKind::Process => Some(lock(&program.turn)),
            DriverKind::Command => None,
        };
        let idle = lock(&program.idle).pop();
        let mut lane = match idle {
            Some(lane) => lane,
            None => {
                let lane = FilterLane::open(driver, self.context.clone())?;
                lock(&self.cancels).push(lane.cancel_handle());
                lane
            }
        };
        let mut taken = None;
        let mut take = |delivery: Delivery<'_>| {
            let bytes = match delivery.content {
                Filtered::Content(content) => Ok(content.to_vec()),
                Filtered::Stream(stream) => {
                    let mut bytes = Vec::new();
                    let read = stream.read_to_end(&mut bytes);
                    read.map(|_| bytes).map_err(|error| Error::Convert {
                        path: path.to_owned(),
                        reason: error.to_string(),
                    })
                }
                Filtered::Failed(error) => Err(error),
            };
            taken = Some(bytes.map(|bytes| (bytes, delivery.messages)));
            Ok(())
        };
        let outcome = lane.smudge(0, path, id, content, &mut take);
        if lane.has_failed() {
            let failed = || format!("the filter '{}' failed at '{path}'", driver.name);
            self.failure.get_or_init(failed);
        }
        // Kept for the next file, even if this one failed.
        lock(&program.idle).push(lane);
        outcome?;
        taken.unwrap_or_else(|| {
            Err(Error::Convert {
                path: path.to_owned(),
                reason: "the filter did not give it back".into(),
            })
        })
    }

    /// Ends all programs when the user interrupts, until the returned sender is dropped.
    pub fn watch<'s>(&'s self, threads: &'s Scope<'s, '_>, cancel: &CancelToken) -> Sender<()> {
        let (alive, ended) = channel();
        let cancel = cancel.clone();
        let watch = move || {
            while ended.recv_timeout(CANCEL_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                if cancel.is_cancelled() {
                    for cancel in lock(&self.cancels).drain(..) {
                        // The lane notices the cancellation itself shortly afterwards.
                        let _ = cancel.cancel();
                    }
                }
            }
        };
        // Without the thread, a cancellation takes effect only when the filters answer.
        let _ = start_scoped(threads, "watch", watch);
        alive
    }

    /// The first failure of a filter that is not required: the file has the content that it was given.
    pub fn failure(&self) -> Option<String> {
        self.failure.get().cloned()
    }

    /// Ends the programs and returns their errors.
    pub fn finish(&self) -> Vec<String> {
        let programs = std::mem::take(&mut *lock(&self.drivers));
        let mut failures = Vec::new();
        for lane in programs
            .into_values()
            .flat_map(|program| std::mem::take(&mut *lock(&program.idle)))
        {
            if let Err(error) = lane.finish(&mut |_| Ok(())) {
                failures.push(error.to_string());
            }
        }
        failures
    }
}

fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    // Ignores poisoning: the value is consistent even if a thread panicked meanwhile.
    held.lock().unwrap_or_else(PoisonError::into_inner)
}
