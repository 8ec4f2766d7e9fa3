//! Merges the parts of a listing.

use crate::footer::Omitted;
use crate::origin::Origin;
use crate::part::{path_hash, CheckedPart};
use crate::row::Row;
use crate::source::{Merged, Source};
use crate::spool::{Spool, FAN_IN};
use crate::text::escaped;
use crate::write::{Format, Writer};
use crate::{Error, Output, Result};
use hedgerow_engine::{CancelToken, Execution, Stage};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Number of missing directories that an error names.
const EXAMPLES: usize = 5;
/// Rows between two looks at the cancellation.
const CANCEL_ROWS: u64 = 4096;

/// What was merged.
#[derive(Debug)]
pub struct MergedListing {
    /// Number of entries.
    pub rows: u64,
    /// What the parts could not read.
    pub omitted: Vec<Omitted>,
}

/// Merges the parts in the files `parts`, in any order, to one listing. Where the tree did not change
/// meanwhile, its bytes are those that [`write_listing`](crate::write_listing) gives.
///
/// A part may be there twice, or in two versions: of an entry that is in several of them, the newest
/// state is taken. Parts are read as hostile: each is checked against the digests in it, and all
/// together must be of one root, made with the same options, and have listed every directory from the
/// root on. Memory is needed for a few thousand
/// rows of up to 64 parts at a time, and for 16 bytes for every directory that was given or left. Of
/// more parts, some are merged to temporary files in `temporary` first. Of `execution`, the cancellation
/// and the progress are used: [`Stage::Entries`] counts the rows.
///
/// # Errors
/// A part is damaged, or of another root or other options than the first ([`Error::Differs`]), a directory was left by one and listed by none ([`Error::Incomplete`]), or the
/// output cannot be written; then no file gets its name.
pub fn merge(
    parts: &[PathBuf],
    output: Output,
    format: Format,
    temporary: &Path,
    execution: &Execution,
) -> Result<MergedListing> {
    let cancel = &execution.cancel;
    let steps = execution.progress.stage(Stage::Entries);
    let mut listed = HashSet::new();
    let mut omitted = Vec::new();
    let mut spool = None;
    let mut sources: Vec<Box<dyn Source>> = Vec::new();
    let mut first: Option<(Origin, &Path)> = None;
    for group in parts.chunks(FAN_IN) {
        for path in group {
            let part = CheckedPart::open(path)?;
            let own = part.footer();
            match &first {
                Some((origin, first)) => {
                    let what = format!("'{}'", first.display());
                    origin.check(&what, path, &own.origin)?;
                }
                None => first = Some((own.origin.clone(), path)),
            }
            let given = own.given.iter().filter(|path| !part.has_left(path));
            listed.extend(given.map(|path| path_hash(path)));
            omitted.extend(own.failures.iter().cloned());
            sources.push(Box::new(part));
        }
        if parts.len() > FAN_IN {
            let spool = match &mut spool {
                Some(spool) => spool,
                none => none.insert(Spool::new(temporary)?),
            };
            let sources = std::mem::take(&mut sources);
            spool.add(Stoppable::new(Merged::new(sources)?, cancel))?;
        }
    }
    if let Some(spool) = spool {
        sources = spool.into_sources()?;
    }
    let mut rows = Stoppable::new(Merged::new(sources)?, cancel);
    let mut writer = Writer::new(output, format)?;
    let mut missing = Missing::default();
    if !listed.contains(&path_hash(b"")) {
        missing.add(b"");
    }
    while rows.advance()? {
        let row = rows.row();
        if rows.is_left() && !listed.contains(&path_hash(row.path)) {
            missing.add(row.path);
        }
        writer.push(&row)?;
        steps.step(1);
    }
    missing.check()?;
    omitted.sort();
    omitted.dedup();
    Ok(MergedListing {
        rows: writer.finish()?,
        omitted,
    })
}

/// Directories that are in no part.
#[derive(Debug, Default)]
struct Missing {
    count: u64,
    examples: Vec<String>,
}

impl Missing {
    fn add(&mut self, path: &[u8]) {
        self.count += 1;
        if self.examples.len() < EXAMPLES {
            self.examples.push(escaped(path));
        }
    }

    fn check(self) -> Result<()> {
        let Missing { count, examples } = self;
        if count == 0 {
            return Ok(());
        }
        Err(Error::Incomplete { count, examples })
    }
}

/// A source that can be cancelled.
pub(crate) struct Stoppable<'c, S> {
    source: S,
    cancel: &'c CancelToken,
    rows: u64,
}

impl<'c, S> Stoppable<'c, S> {
    pub(crate) fn new(source: S, cancel: &'c CancelToken) -> Self {
        Stoppable {
            source,
            cancel,
            rows: 0,
        }
    }
}

impl<S: Source> Source for Stoppable<'_, S> {
    fn advance(&mut self) -> Result<bool> {
        self.rows += 1;
        if self.rows.is_multiple_of(CANCEL_ROWS) && self.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        self.source.advance()
    }

    fn row(&self) -> Row<'_> {
        self.source.row()
    }

    fn is_left(&self) -> bool {
        self.source.is_left()
    }
}
