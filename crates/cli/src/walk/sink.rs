//! The destination of entries: lines on standard output, or totals.

use super::line::Form;
use crate::output::Output;
use hedgerow::walk::{CountedLinks, Entry, Omission, Receiver, Totals};
use hedgerow_fs::StandardOutput;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Output is buffered up to this many bytes, or for at most `PATIENCE`.
const BUFFER_BYTES: usize = 64 << 10;
/// The longest time that found entries stay in the buffer while the walk goes on.
const PATIENCE: Duration = Duration::from_millis(50);

/// Receives the entries of all workers.
pub struct Sink<'o> {
    form: Form,
    /// Whether to collect only totals.
    summary: bool,
    /// The root of the tree as the user named it.
    root: Vec<u8>,
    output: &'o Output,
    links: CountedLinks,
    totals: Mutex<Totals>,
    omitted: AtomicU64,
    /// Why the last buffer of a worker could not be written.
    failure: Mutex<Option<io::Error>>,
}

/// What one worker has collected.
pub struct Collected<'s, 'o> {
    sink: &'s Sink<'o>,
    lines: Vec<u8>,
    since: Instant,
    totals: Totals,
}

impl<'o> Sink<'o> {
    pub fn new(form: Form, summary: bool, root: &Path, output: &'o Output) -> Self {
        Sink {
            form,
            summary,
            root: root.as_os_str().as_bytes().to_vec(),
            output,
            links: CountedLinks::default(),
            totals: Mutex::default(),
            omitted: AtomicU64::new(0),
            failure: Mutex::default(),
        }
    }

    pub fn collect(&self) -> Collected<'_, 'o> {
        Collected {
            sink: self,
            lines: Vec::new(),
            since: Instant::now(),
            totals: Totals::default(),
        }
    }

    /// Reports an omitted entry on standard error.
    pub fn omit(&self, omission: Omission) {
        self.omitted.fetch_add(1, Ordering::Relaxed);
        let path = if omission.path.is_empty() {
            self.root.clone()
        } else {
            [&self.form.prefix[..], &omission.path].concat()
        };
        let path = PathBuf::from(OsStr::from_bytes(&path));
        let error = hedgerow_fs::Error::new(omission.operation, path, omission.source);
        self.output.error(error);
    }

    pub fn omitted(&self) -> u64 {
        self.omitted.load(Ordering::Relaxed)
    }

    /// The totals of all workers, after they have ended.
    pub fn totals(&self) -> Totals {
        let totals = self.totals.lock();
        totals.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The error if a worker's last buffer could not be written.
    pub fn failure(&self) -> Option<io::Error> {
        let failure = self.failure.lock();
        failure.unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Collected<'_, '_> {
    pub fn add(&mut self, entry: &Entry<'_>) -> io::Result<()> {
        if self.sink.summary {
            self.totals.add(entry, &self.sink.links);
            return Ok(());
        }
        self.sink.form.append(entry, None, &mut self.lines);
        if self.lines.len() >= BUFFER_BYTES {
            self.write()
        } else {
            Ok(())
        }
    }

    /// Writes the buffer if it has waited long enough.
    pub fn pause(&mut self) -> io::Result<()> {
        if self.lines.is_empty() || self.since.elapsed() < PATIENCE {
            Ok(())
        } else {
            self.write()
        }
    }

    fn write(&mut self) -> io::Result<()> {
        self.since = Instant::now();
        let written = write(&self.lines);
        self.lines.clear();
        written
    }
}

/// Writes to standard output immediately.
pub fn write(bytes: &[u8]) -> io::Result<()> {
    StandardOutput.write_all(bytes)
}

impl Drop for Collected<'_, '_> {
    fn drop(&mut self) {
        let totals = self.sink.totals.lock();
        totals
            .unwrap_or_else(PoisonError::into_inner)
            .merge(&self.totals);
        if self.lines.is_empty() {
            return;
        }
        if let Err(error) = self.write() {
            let failure = self.sink.failure.lock();
            *failure.unwrap_or_else(PoisonError::into_inner) = Some(error);
        }
    }
}

impl<'s, 'o> Receiver for &'s Sink<'o> {
    type Worker = Collected<'s, 'o>;
    type Error = io::Error;

    fn worker(&self) -> Self::Worker {
        self.collect()
    }

    fn entry(&self, worker: &mut Self::Worker, entry: Entry<'_>) -> io::Result<()> {
        worker.add(&entry)
    }

    fn omitted(&self, _: &mut Self::Worker, omission: Omission) -> io::Result<()> {
        self.omit(omission);
        Ok(())
    }

    fn pause(&self, worker: &mut Self::Worker) -> io::Result<()> {
        worker.pause()
    }
}
