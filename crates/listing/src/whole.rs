//! A listing of a whole tree by one machine.

use crate::row::{Attributes, Row};
use crate::write::{Format, Writer};
use crate::{Error, Output, Result};
use hedgerow_engine::{Failure, Stage, Steps};
use hedgerow_fs::{OpenDirectory, Stat};
use hedgerow_tree::{Entry, Omission};
use hedgerow_walk::{walk_sorted, Receiver, WalkOptions};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Writes a listing of the tree below the directory at `path`, which `root` is, to `output`; returns
/// the number of entries. [`WalkOptions::metadata`] is implied.
///
/// `omitted` is called for what cannot be read and is missing in the listing. Memory is bounded,
/// whatever the size of the tree. [`Stage::Entries`] counts the entries.
///
/// # Errors
/// The output cannot be written, or it was cancelled; then no file gets its name.
pub fn write_listing(
    root: OpenDirectory,
    path: &Path,
    output: Output,
    format: Format,
    options: &WalkOptions,
    omitted: &(dyn Fn(Omission) + Sync),
) -> Result<u64> {
    let rows = Rows {
        writer: Mutex::new(Writer::new(output, format)?),
        omitted,
        steps: options.execution.progress.stage(Stage::Entries),
    };
    let options = WalkOptions {
        metadata: true,
        ..options.clone()
    };
    walk_sorted(root, path, &rows, &options).map_err(|failure| match failure {
        Failure::Failed(error) => error,
        Failure::Cancelled => Error::Cancelled,
        Failure::Panicked(message) => Error::Panicked(message),
    })?;
    let writer = rows.writer.into_inner();
    writer.unwrap_or_else(PoisonError::into_inner).finish()
}

/// Receives the entries, one at a time.
struct Rows<'o> {
    writer: Mutex<Writer>,
    omitted: &'o (dyn Fn(Omission) + Sync),
    steps: &'o Steps,
}

impl Rows<'_> {
    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Receiver for Rows<'_> {
    type Worker = ();
    type Error = Error;

    fn worker(&self) {}

    fn entry(&self, (): &mut (), _: Entry<'_>) -> Result<()> {
        // Every entry is statted.
        Ok(())
    }

    fn statted(&self, (): &mut (), entry: Entry<'_>, stat: &Stat) -> Result<()> {
        self.writer().push(&Row {
            path: entry.path,
            attributes: Attributes::new(entry.kind, stat),
        })?;
        self.steps.step(1);
        Ok(())
    }

    fn omitted(&self, (): &mut (), omission: Omission) -> Result<()> {
        (self.omitted)(omission);
        Ok(())
    }
}
