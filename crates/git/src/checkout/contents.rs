//! The content of the files to write: from packs and loose objects, through conversions.

use super::lanes::Lanes;
use super::transition::Write;
use crate::convert::{Buffers, Conversion, Converter};
use crate::index::{EntryStat, Index, Mode};
use crate::repository::Objects;
use crate::{Error, Result};
use bstr::BStr;
use gix_hash::ObjectId;
use hedgerow_engine::{CancelToken, Steps};
use hedgerow_pack::{Location, ObjectKind, Reader, SharedBases};
use hedgerow_writer::{Form, LaneWriter, Plan, Problem, Sink, Written};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Objects of more bytes than this are large, and those that are built from such. They are written one
/// after the other in a lane, so that only a few are in memory at a time, however many workers there are.
const LARGE_BYTES: u64 = 1 << 20;
/// Objects of more bytes than this are streamed where possible. That takes constant memory but
/// twice the time, because the object is inflated in pieces.
const STREAMED_BYTES: u64 = 64 << 20;
/// Below this many objects for each thread, their headers are read before a thread has started.
const MIN_HEADERS_PER_THREAD: usize = 8 * 1024;
/// Length of a run of zero bytes that becomes a hole when a large file is streamed, in bytes: git's
/// unit.
const HOLE_BYTES: usize = 16 * 1024;

/// An object id after replacement, and the object's location, if it exists.
pub(crate) type Located = (ObjectId, Option<Location>);

/// Result of writing the entries.
#[derive(Debug, Default)]
pub(crate) struct Results {
    /// Position in the list of writes, and the stat data of the written file.
    pub written: Vec<(u32, EntryStat)>,
    /// Total size of the written files, in bytes.
    pub bytes: u64,
    /// Positions of the entries whose place was taken.
    pub collided: Vec<u32>,
    /// Positions of the entries that failed, with the reason.
    pub failed: Vec<(u32, String)>,
    /// Failed conversions; the content was written unconverted.
    pub unconverted: Vec<String>,
}

/// Everything that a worker needs to write any of the files.
pub(crate) struct Contents<'a> {
    pub objects: Objects<'a>,
    pub index: &'a Index,
    pub writes: &'a [Write],
    /// Where the files are written, an entry for each of `writes`; where the index has them if
    /// `None`.
    pub places: Option<&'a Index>,
    pub converter: &'a Converter,
    /// The object id of each file after replacement, and the object's location.
    pub located: Vec<Located>,
    pub bases: SharedBases,
    pub big_file_bytes: u64,
    /// Held while a large object is converted, because conversion holds the whole object in memory.
    pub large: Mutex<()>,
    pub symlinks: bool,
    pub progress: &'a Steps,
    pub lanes: Lanes,
    pub cancel: CancelToken,
    /// The error that stops all further writing.
    pub fatal: OnceLock<Error>,
    pub results: Mutex<Results>,
}

/// State that one worker reuses from file to file.
pub(crate) struct Worker<'a> {
    reader: Reader<'a>,
    buffers: Buffers,
}

impl<'a> Plan for &'a Contents<'a> {
    type Worker = Worker<'a>;

    fn count(&self) -> usize {
        self.writes.len()
    }

    fn path(&self, row: u32) -> &[u8] {
        self.place(row)
    }

    fn form(&self, row: u32) -> Form {
        match self.mode(row) {
            Mode::File => Form::File,
            Mode::Executable => Form::Executable,
            Mode::Symlink if self.symlinks => Form::Symlink,
            Mode::Symlink => Form::File,
            Mode::Gitlink | Mode::SparseDirectory => Form::Directory,
        }
    }

    fn replaces(&self, row: u32) -> bool {
        self.writes[row as usize].replaces
    }

    fn worker(&self) -> Worker<'a> {
        let contents: &'a Contents<'a> = self;
        let reader = Reader::with_bases(contents.objects.store, &contents.bases);
        Worker {
            reader,
            buffers: Buffers::default(),
        }
    }

    fn fill(
        &self,
        worker: &mut Worker<'a>,
        row: u32,
        sink: &mut Sink<'_>,
    ) -> std::result::Result<(), Problem> {
        if self.fatal.get().is_some() {
            return Err(Problem::content(Error::Interrupted));
        }
        let (id, location) = self.object(row)?;
        let path = self.entry_path(row);
        // What stands for a symbolic link is the target as it is.
        let conversion = match self.mode(row) {
            Mode::File | Mode::Executable => self.converter.conversion(path),
            _ => Conversion::Plain,
        };
        if !worker
            .reader
            .is_streamable(&id, location, self.streamed_from())
        {
            return self.write_whole(worker, row, conversion, sink);
        }
        if matches!(conversion, Conversion::Plain) {
            return stream(worker, &id, location, sink);
        }
        let _converted = self.large.lock();
        let outcome = self.write_whole(worker, row, conversion, sink);
        worker.give_back();
        outcome
    }

    fn written(&self, batch: Vec<Written>) {
        let bytes = batch.iter().filter_map(|entry| entry.outcome.as_ref().ok());
        self.progress.add_bytes(bytes.map(|stat| stat.size).sum());
        self.progress.step(batch.len() as u64);
        let Ok(mut results) = self.results.lock() else {
            return;
        };
        for Written { row, outcome } in batch {
            match outcome {
                Ok(stat) => {
                    results.bytes += stat.size;
                    results.written.push((row, EntryStat::from(&stat)));
                }
                Err(Problem::Collided) => results.collided.push(row),
                Err(Problem::Content(error)) => {
                    let path = self.entry_path(row);
                    let reason = format!("cannot read the content of '{path}': {error}");
                    results.failed.push((row, reason));
                }
                Err(problem) => results.failed.push((row, problem.to_string())),
            }
        }
    }

    fn lanes(&self) -> &[Vec<u32>] {
        self.lanes.rows()
    }

    fn in_lane(&self, row: u32) -> bool {
        self.lanes.contains(row)
    }

    fn run_lane(&self, worker: &mut Worker<'a>, lane: usize, writer: &mut dyn LaneWriter) {
        if !self.lanes.is_of_large_files(lane) {
            return self.lanes.run(self, &mut worker.reader, lane, writer);
        }
        for row in self.lanes.rows()[lane].iter().copied() {
            if writer.is_cancelled() {
                return;
            }
            writer.write(row, &mut |sink| self.fill(worker, row, sink));
        }
        worker.give_back();
    }
}

impl Worker<'_> {
    /// Frees the memory that a large object has taken.
    fn give_back(&mut self) {
        self.reader.shrink();
        self.buffers = Buffers::default();
    }
}

impl<'a> Contents<'a> {
    /// Writes a file after loading its whole content into memory.
    fn write_whole(
        &self,
        worker: &mut Worker<'_>,
        row: u32,
        conversion: Conversion,
        sink: &mut Sink<'_>,
    ) -> std::result::Result<(), Problem> {
        let (id, location) = self.object(row)?;
        let content = worker.reader.read_blob(&id, location);
        let content = content.map_err(Problem::content)?;
        if matches!(conversion, Conversion::Plain) {
            return sink.write(content);
        }
        let path = self.entry_path(row);
        let converted =
            self.converter
                .to_worktree(&mut worker.buffers, conversion, path, &id, content);
        let converted = converted.map_err(Problem::content)?;
        if let Some(message) = converted.message {
            self.note_unconverted(message);
        }
        sink.write(converted.content)
    }

    /// The object id of a row and the object's location.
    pub(crate) fn object(&self, row: u32) -> std::result::Result<(ObjectId, Location), Problem> {
        let (id, location) = self.located[row as usize];
        match location {
            Some(location) => Ok((id, location)),
            None => Err(Problem::content(hedgerow_pack::Error::Missing { id })),
        }
    }

    /// The path that a row is written to.
    pub(crate) fn place(&self, row: u32) -> &BStr {
        match self.places {
            Some(places) => places.path(&places.entries()[row as usize]),
            None => self.entry_path(row),
        }
    }

    /// The mode of a row.
    fn mode(&self, row: u32) -> Mode {
        match self.places {
            Some(places) => places.entries()[row as usize].mode,
            None => self.index.entries()[self.writes[row as usize].row as usize].mode,
        }
    }

    /// The path of a row.
    pub(crate) fn entry_path(&self, row: u32) -> &BStr {
        self.index
            .path(&self.index.entries()[self.writes[row as usize].row as usize])
    }

    /// Records why a file could not be converted.
    pub(crate) fn note_unconverted(&self, reason: String) {
        let results = self.results.lock();
        let mut results = results.unwrap_or_else(PoisonError::into_inner);
        results.unconverted.push(reason);
    }

    fn streamed_from(&self) -> u64 {
        self.big_file_bytes.min(STREAMED_BYTES)
    }
}

/// Writes an object in pieces; runs of zero bytes become holes.
fn stream(
    worker: &mut Worker<'_>,
    id: &ObjectId,
    location: Location,
    sink: &mut Sink<'_>,
) -> std::result::Result<(), Problem> {
    let header = worker.reader.header(id, location);
    let kind = header.map_err(Problem::content)?.kind;
    kind.expect(ObjectKind::Blob, id)
        .map_err(|error| Problem::content(hedgerow_pack::Error::from(error)))?;
    let mut problem = None;
    let mut write = |piece: &[u8]| {
        for block in piece.chunks(HOLE_BYTES) {
            let hole = block.len() == HOLE_BYTES && block.iter().all(|byte| *byte == 0);
            let outcome = if hole {
                sink.write_hole(block.len() as u64)
            } else {
                sink.write(block)
            };
            if let Err(error) = outcome {
                problem = Some(error);
                return Err(std::io::ErrorKind::Other.into());
            }
        }
        Ok(())
    };
    let outcome = worker.reader.stream(id, location, &mut write);
    match (problem, outcome) {
        (Some(problem), _) => Err(problem),
        (None, Err(error)) => Err(Problem::content(error)),
        (None, Ok(_)) => Ok(()),
    }
}

/// The rows of the large objects in `located`, and of those that are built from large ones. Rows that
/// are built from the same object follow each other, so that it is held for a short time. Reads the
/// headers of entries, in several threads if there are many.
pub(crate) fn large_rows(objects: Objects<'_>, located: &[Located]) -> Vec<u32> {
    let find = |(first, located): (usize, &[Located])| -> Vec<(Location, Location, u32)> {
        let mut reader = Reader::new(objects.store);
        let large = |(row, (_, location)): (usize, &Located)| {
            let location = (*location)?;
            let root = reader.large_root(location, LARGE_BYTES)?;
            Some((root, location, (first + row) as u32))
        };
        located.iter().enumerate().filter_map(large).collect()
    };
    let share = located.len().div_ceil(hedgerow_fs::cpu::available());
    let mut found = if share < MIN_HEADERS_PER_THREAD {
        find((0, located))
    } else {
        let starts = (0..located.len()).step_by(share);
        let parts = hedgerow_fs::threads::each("sizes", starts.zip(located.chunks(share)), find);
        let whole =
            |part: std::thread::Result<Vec<_>>| part.expect("reading headers does not panic");
        parts.into_iter().flat_map(whole).collect()
    };
    found.sort_unstable();
    found.into_iter().map(|(_, _, row)| row).collect()
}

/// Finds every object before anything is written: first the location of each, then the delta bases
/// that they share.
pub(crate) fn locate(
    objects: Objects<'_>,
    index: &Index,
    writes: &[Write],
    base_budget_bytes: usize,
) -> Result<(Vec<Located>, SharedBases)> {
    let replaced = |write: &Write| objects.replacement(&index.entries()[write.row as usize].id);
    let ids: Vec<ObjectId> = writes.iter().map(replaced).collect::<Result<_>>()?;
    let mut locations = objects.store.locate_all(&ids)?;
    for (write, location) in writes.iter().zip(&mut locations) {
        // A submodule's commit is in another repository.
        if index.entries()[write.row as usize].mode == Mode::Gitlink {
            *location = None;
        }
    }
    let needed: Vec<Location> = locations.iter().flatten().copied().collect();
    let threads = hedgerow_fs::cpu::available();
    let bases = SharedBases::plan_with_threads(objects.store, &needed, base_budget_bytes, threads)?;
    Ok((ids.into_iter().zip(locations).collect(), bases))
}
