//! Files that not just any worker can write at any time. Each filter program that content comes
//! from has a lane, and large files have a few. Lanes run beside the workers that write all other
//! files.

use super::contents::Contents;
use super::transition::Write;
use crate::convert::{
    Buffers, Conversion, Converter, Delivery, Driver, FilterContext, FilterLane, Filtered,
};
use crate::index::{Index, Mode};
use crate::{Error, Result};
use hedgerow_fs::threads::start_scoped;
use hedgerow_pack::Reader;
use hedgerow_writer::{LaneWriter, Problem, Sink};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::sync::mpsc::{channel, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Interval at which a lane that waits for its program checks for cancellation.
const CANCEL_INTERVAL: Duration = Duration::from_millis(50);
/// Maximum number of large files in memory at a time; below that limit, one for every two
/// processors.
const MAX_LARGE_LANES: usize = 4;
/// Size of each write of a streamed result, in bytes.
const PIECE_BYTES: usize = 128 * 1024;

/// The rows of each driver that has any, in order.
pub(crate) struct Lanes {
    rows: Vec<Vec<u32>>,
    drivers: Vec<usize>,
    members: BTreeSet<u32>,
    /// Filters that already run, by the positions of their drivers.
    running: Mutex<BTreeMap<usize, FilterLane>>,
    context: FilterContext,
}

impl Lanes {
    /// Collects the files among `writes` that need a filter program.
    pub(crate) fn new(
        index: &Index,
        writes: &[Write],
        converter: &Converter,
        context: FilterContext,
    ) -> Self {
        let mut lanes = Lanes {
            rows: Vec::new(),
            drivers: Vec::new(),
            members: BTreeSet::new(),
            running: Mutex::default(),
            context,
        };
        if converter.is_plain() {
            return lanes;
        }
        for (row, write) in writes.iter().enumerate() {
            let entry = &index.entries()[write.row as usize];
            if !matches!(entry.mode, Mode::File | Mode::Executable) {
                continue;
            }
            if let Conversion::Driver(conversion) = converter.conversion(index.path(entry)) {
                lanes.add(row as u32, conversion.index);
            }
        }
        lanes
    }

    fn add(&mut self, row: u32, driver: usize) {
        let lane = match self.drivers.iter().position(|known| *known == driver) {
            Some(lane) => lane,
            None => {
                self.drivers.push(driver);
                self.rows.push(Vec::new());
                self.rows.len() - 1
            }
        };
        self.rows[lane].push(row);
        self.members.insert(row);
    }

    /// Lets lanes start with filters that already run; filters without a lane are ended.
    pub(crate) fn reuse(&mut self, filters: BTreeMap<usize, FilterLane>) {
        let mut running = BTreeMap::new();
        for (driver, filter) in filters {
            if self.drivers.contains(&driver) {
                running.insert(driver, filter);
            } else {
                // Its output was valid; its exit status does not matter any more.
                drop(filter.finish(&mut |_| Ok(())))
            }
        }
        self.running = Mutex::new(running);
    }

    /// The filter of a driver: the running one, or a newly started one.
    fn open(&self, position: usize, driver: &Driver) -> Result<FilterLane> {
        let running = self.running.lock();
        let known = running
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&position);
        match known {
            Some(filter) => Ok(filter),
            None => FilterLane::open(driver, self.context.clone()),
        }
    }

    /// Distributes the rows of large files among lanes, those that follow each other to the same one. Rows
    /// that already have a lane stay there.
    pub(crate) fn add_large_files(&mut self, rows: Vec<u32>) {
        let lanes = (hedgerow_fs::cpu::available() / 2).clamp(1, MAX_LARGE_LANES);
        let rows: Vec<u32> = rows
            .into_iter()
            .filter(|row| !self.contains(*row))
            .collect();
        self.members.extend(&rows);
        let share = rows.len().div_ceil(lanes).max(1);
        self.rows.extend(rows.chunks(share).map(<[u32]>::to_vec));
    }

    /// Whether this is a lane for large files, which has no driver.
    pub(crate) fn is_of_large_files(&self, lane: usize) -> bool {
        lane >= self.drivers.len()
    }

    /// The rows of each lane.
    pub(crate) fn rows(&self) -> &[Vec<u32>] {
        &self.rows
    }

    /// Whether a lane has the row.
    pub(crate) fn contains(&self, row: u32) -> bool {
        !self.members.is_empty() && self.members.contains(&row)
    }

    /// Runs a lane to its end. Every one of its rows is either written or reported as failed,
    /// unless the run is cancelled. A required filter that fails ends the run.
    pub(crate) fn run(
        &self,
        contents: &Contents<'_>,
        reader: &mut Reader<'_>,
        lane: usize,
        writer: &mut dyn LaneWriter,
    ) {
        let mut run = LaneRun {
            contents,
            pending: self.rows[lane].iter().copied().collect(),
            is_required: false,
            writer,
        };
        let outcome = self.filter(&mut run, reader, lane);
        if run.writer.is_cancelled() {
            return;
        }
        let reason = match outcome {
            Ok(()) => "the filter did not give it back".to_owned(),
            Err(error) => {
                let reason = error.to_string();
                run.end_if_required(error);
                reason
            }
        };
        for row in std::mem::take(&mut run.pending) {
            let path = contents.entry_path(row).to_owned();
            let error = Error::Convert {
                path,
                reason: reason.clone(),
            };
            run.writer.fail(row, Problem::content(error));
        }
    }

    fn filter(
        &self,
        run: &mut LaneRun<'_, '_>,
        reader: &mut Reader<'_>,
        lane: usize,
    ) -> Result<()> {
        let driver = run
            .contents
            .converter
            .driver(self.drivers[lane])
            .ok_or_else(|| Error::Internal {
                reason: "a lane without a driver".into(),
            })?;
        run.is_required = driver.required;
        let mut filter = self.open(self.drivers[lane], driver)?;
        let cancel = filter.cancel_handle();
        let token = run.contents.cancel.clone();
        let (done, ended) = channel::<()>();
        std::thread::scope(|scope| {
            let watch = move || {
                while ended.recv_timeout(CANCEL_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                    if token.is_cancelled() {
                        // The lane notices the cancellation itself shortly afterwards.
                        let _ = cancel.cancel();
                        return;
                    }
                }
            };
            // Without the thread, a cancellation takes effect only when the filter answers.
            let _ = start_scoped(scope, "watch", watch);
            let mut buffers = Buffers::default();
            for row in &self.rows[lane] {
                if run.writer.is_cancelled() || run.contents.fatal.get().is_some() {
                    break;
                }
                run.smudge(&mut filter, reader, &mut buffers, *row);
            }
            let outcome = filter.finish(&mut |delivery| {
                run.deliver(delivery);
                Ok(())
            });
            drop(done);
            outcome
        })
    }
}

/// A running lane: the rows that its filter has not returned yet, and where results go.
struct LaneRun<'a, 'w> {
    contents: &'a Contents<'a>,
    pending: BTreeSet<u32>,
    /// The filter is required: if it fails, neither its files nor any others may be written.
    is_required: bool,
    writer: &'w mut dyn LaneWriter,
}

impl LaneRun<'_, '_> {
    /// Hands one file to the filter. A file that fails is reported; the others go on.
    fn smudge(
        &mut self,
        filter: &mut FilterLane,
        reader: &mut Reader<'_>,
        buffers: &mut Buffers,
        row: u32,
    ) {
        let contents = self.contents;
        let path = contents.entry_path(row);
        let outcome = (|| {
            let (id, location) = contents.object(row)?;
            let content = reader.read_blob(&id, location);
            let content = content.map_err(Problem::content)?;
            let conversion = contents.converter.conversion(path);
            let converted = contents
                .converter
                .to_worktree(buffers, conversion, path, &id, content);
            let converted = converted.map_err(Problem::content)?;
            if let Some(message) = converted.message {
                contents.note_unconverted(message);
            }
            let mut deliver = |delivery: Delivery<'_>| {
                self.deliver(delivery);
                Ok(())
            };
            let smudged = filter.smudge(row as usize, path, &id, converted.content, &mut deliver);
            smudged.map_err(|error| {
                let reason = error.to_string();
                self.end_if_required(error);
                Problem::content(Error::Convert {
                    path: path.to_owned(),
                    reason,
                })
            })
        })();
        if let Err(problem) = outcome {
            // A row that was delivered before the error is done.
            if self.pending.remove(&row) {
                self.writer.fail(row, problem);
            }
        }
    }

    fn deliver(&mut self, delivery: Delivery<'_>) {
        let row = delivery.row as u32;
        let messages = delivery.messages.into_iter();
        messages.for_each(|message| self.contents.note_unconverted(message));
        if !self.pending.remove(&row) {
            return;
        }
        match delivery.content {
            Filtered::Content(content) => {
                self.writer.write(row, &mut |sink| sink.write(content));
            }
            Filtered::Stream(stream) => {
                let path = self.contents.entry_path(row);
                self.writer.write(row, &mut |sink| copy(stream, sink, path));
            }
            Filtered::Failed(error) => {
                let reason = error.to_string();
                self.end_if_required(error);
                let path = self.contents.entry_path(row).to_owned();
                let error = Error::Convert { path, reason };
                self.writer.fail(row, Problem::content(error));
            }
        }
    }

    /// Ends the run with `error` if the filter that caused it is required. A filter may fail only
    /// after the user has interrupted the run.
    fn end_if_required(&self, error: Error) {
        if self.is_required && !self.writer.is_cancelled() {
            // Only the first error is reported.
            let _ = self.contents.fatal.set(error);
        }
    }
}

fn copy(
    stream: &mut dyn Read,
    sink: &mut Sink<'_>,
    path: &bstr::BStr,
) -> std::result::Result<(), Problem> {
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match stream.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(count) => sink.write(&piece[..count])?,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => {
                let path = path.to_owned();
                return Err(Problem::content(Error::Convert {
                    path,
                    reason: error.to_string(),
                }));
            }
        }
    }
}
