//! A part of a listing: what one machine lists within a budget.

use crate::footer::{Footer, Omitted, NOTE};
use crate::merge::Stoppable;
use crate::origin::Origin;
use crate::parquet::PartRows;
use crate::row::{Attributes, Batch, Row};
use crate::source::{Merged, Sorted, Source};
use crate::spool::{append_row, Spool};
use crate::text::is_below;
use crate::write::{Format, Writer};
use crate::{Error, Output, Result};
use hedgerow_engine::{Failure, Stage, Steps};
use hedgerow_fs::{stat_path, OpenDirectory, Stat};
use hedgerow_tree::{canonical_order, Entry, NodeKind, Omission};
use hedgerow_walk::{walk_part, Budget, Receiver, Selection, WalkOptions};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Rows are sorted in memory up to this many bytes; more are kept in a temporary file.
const MEMORY_BYTES: usize = 64 << 20;

/// How a part is listed.
#[derive(Clone, Debug)]
pub struct PartOptions {
    /// The path of the root, as all parts name it.
    pub root: PathBuf,
    /// How to walk. Entries of all kinds are listed, and `.gitignore` files are not read. What is
    /// left out by [`Selection::skip`] must be the same in all parts; nobody can check that.
    pub walk: WalkOptions,
    /// How much is listed.
    pub budget: Budget,
    /// Where temporary files are created if the rows need more than 64 MiB.
    pub temporary: PathBuf,
}

/// What a part has.
#[derive(Debug)]
pub struct Part {
    /// Number of entries.
    pub rows: u64,
    /// The directories that are left for other parts, in canonical order.
    pub left: Vec<Vec<u8>>,
    /// Number of directories and entries that could not be read.
    pub omitted: u64,
    /// What it has in common with all parts of the listing.
    pub origin: Origin,
}

impl PartOptions {
    /// What the parts have in common that are made with these options.
    pub(crate) fn origin(&self) -> Result<Origin> {
        Origin::new(&self.root, &self.walk)
    }
}

/// Lists the directories `given`, relative to `root`, and what is below them until the budget is
/// spent, and writes the sorted rows as a Parquet file to `output`. The file also has what was
/// given and left, the root's path and the options that select entries, for [`merge`](crate::merge).
///
/// A part can be written again at any time: the rows of both are merged. [`Stage::Entries`] counts
/// the entries.
///
/// # Errors
/// As [`write_listing`](crate::write_listing).
pub fn write_part(
    root: OpenDirectory,
    given: Vec<Vec<u8>>,
    output: Output,
    options: &PartOptions,
    omitted: &(dyn Fn(Omission) + Sync),
) -> Result<Part> {
    let origin = options.origin()?;
    let place = stat_path(&options.root, true).ok();
    let rows = Rows {
        sorter: Mutex::new(Sorter::new(&options.temporary)),
        failures: Mutex::default(),
        omitted,
        steps: options.walk.execution.progress.stage(Stage::Entries),
    };
    let walk = WalkOptions {
        metadata: true,
        selection: Selection {
            kinds: Vec::new(),
            ..options.walk.selection.clone()
        },
        ..options.walk.clone()
    };
    let left = walk_part(root, given.clone(), options.budget, &rows, &walk);
    let left = left.map_err(|failure| match failure {
        Failure::Failed(error) => error,
        Failure::Cancelled => Error::Cancelled,
        Failure::Panicked(message) => Error::Panicked(message),
    })?;
    let sorter = rows.sorter.into_inner();
    let sources = sorter.unwrap_or_else(PoisonError::into_inner).finish()?;
    let mut sources = Stoppable::new(sources, &options.walk.execution.cancel);
    let mut writer = Writer::new(output, Format::Parquet)?;
    let mut digest = RowDigest::default();
    while sources.advance()? {
        digest.add(&sources.row());
        writer.push(&sources.row())?;
    }
    let failures = rows.failures.into_inner();
    let mut failures = failures.unwrap_or_else(PoisonError::into_inner);
    failures.sort();
    let omitted = failures.len() as u64;
    let footer = Footer {
        origin,
        place: place.map(|stat| (stat.dev, stat.ino)),
        rows: digest.rows,
        digest: digest.finish(),
        given,
        left,
        failures,
    };
    let rows = writer.finish_with(&[(NOTE, &footer.text())])?;
    Ok(Part {
        rows,
        left: footer.left,
        omitted,
        origin: footer.origin,
    })
}

/// Receives the entries of all workers.
struct Rows<'o> {
    sorter: Mutex<Sorter>,
    failures: Mutex<Vec<Omitted>>,
    omitted: &'o (dyn Fn(Omission) + Sync),
    steps: &'o Steps,
}

impl Rows<'_> {
    fn sorter(&self) -> MutexGuard<'_, Sorter> {
        self.sorter.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Receiver for Rows<'_> {
    /// Rows that the others do not have yet.
    type Worker = Batch;
    type Error = Error;

    fn worker(&self) -> Batch {
        Batch::default()
    }

    fn entry(&self, _: &mut Batch, _: Entry<'_>) -> Result<()> {
        // Every entry is statted.
        Ok(())
    }

    fn statted(&self, batch: &mut Batch, entry: Entry<'_>, stat: &Stat) -> Result<()> {
        batch.push(&Row {
            path: entry.path,
            attributes: Attributes::new(entry.kind, stat),
        });
        Ok(())
    }

    fn omitted(&self, _: &mut Batch, omission: Omission) -> Result<()> {
        let failures = self.failures.lock();
        failures
            .unwrap_or_else(PoisonError::into_inner)
            .push(Omitted::of(&omission));
        (self.omitted)(omission);
        Ok(())
    }

    fn pause(&self, batch: &mut Batch) -> Result<()> {
        if !batch.is_empty() {
            self.sorter().add(batch)?;
            self.steps.step(batch.len() as u64);
            batch.clear();
        }
        Ok(())
    }
}

/// Sorts any number of rows in bounded memory.
struct Sorter {
    temporary: PathBuf,
    batch: Batch,
    spool: Option<Spool>,
    memory_bytes: usize,
}

impl Sorter {
    fn new(temporary: &Path) -> Self {
        Sorter {
            temporary: temporary.to_owned(),
            batch: Batch::default(),
            spool: None,
            memory_bytes: MEMORY_BYTES,
        }
    }

    fn add(&mut self, rows: &Batch) -> Result<()> {
        self.batch.append(rows);
        if self.batch.bytes() < self.memory_bytes {
            return Ok(());
        }
        let run = Sorted::new(std::mem::take(&mut self.batch));
        let spool = match self.spool.take() {
            Some(spool) => spool,
            None => Spool::new(&self.temporary)?,
        };
        self.spool.insert(spool).add(run)
    }

    fn finish(self) -> Result<Merged<'static>> {
        let mut sources = match self.spool {
            Some(spool) => spool.into_sources()?,
            None => Vec::new(),
        };
        sources.push(Box::new(Sorted::new(self.batch)));
        Merged::new(sources)
    }
}

/// Hashes the rows of a part, so that damage is found.
#[derive(Default)]
struct RowDigest {
    rows: u64,
    hasher: blake3::Hasher,
    bytes: Vec<u8>,
}

impl RowDigest {
    fn add(&mut self, row: &Row<'_>) {
        self.rows += 1;
        append_row(row, false, &mut self.bytes);
        if self.bytes.len() >= 64 << 10 {
            self.hasher.update(&self.bytes);
            self.bytes.clear();
        }
    }

    fn finish(mut self) -> String {
        self.hasher.update(&self.bytes);
        self.hasher.finalize().to_hex().to_string()
    }
}

/// The rows of a part, checked while they are read.
pub(crate) struct CheckedPart {
    rows: PartRows,
    footer: Footer,
    /// Hashes of the directories that are left.
    left: HashSet<u128>,
    digest: Option<RowDigest>,
    previous: Vec<u8>,
    is_left: bool,
}

impl CheckedPart {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let (rows, notes) = PartRows::open(path)?;
        let footer = Footer::of(&rows, &notes)?;
        Ok(CheckedPart {
            rows,
            left: footer.left.iter().map(|path| path_hash(path)).collect(),
            footer,
            digest: Some(RowDigest::default()),
            previous: Vec::new(),
            is_left: false,
        })
    }

    pub(crate) fn footer(&self) -> &Footer {
        &self.footer
    }

    /// Whether it left this directory.
    pub(crate) fn has_left(&self, path: &[u8]) -> bool {
        self.left.contains(&path_hash(path))
    }
}

/// Identifies a path in little memory.
pub(crate) fn path_hash(path: &[u8]) -> u128 {
    let hash = blake3::hash(path);
    let (first, _) = hash
        .as_bytes()
        .split_first_chunk()
        .expect("a digest has 32 bytes");
    u128::from_le_bytes(*first)
}

impl Source for CheckedPart {
    fn advance(&mut self) -> Result<bool> {
        if !self.rows.advance()? {
            if let Some(digest) = self.digest.take() {
                if digest.rows != self.footer.rows || digest.finish() != self.footer.digest {
                    return Err(self
                        .rows
                        .damaged("its rows are not those that were written"));
                }
            }
            return Ok(false);
        }
        let row = self.rows.row();
        let is_next =
            self.previous.is_empty() || canonical_order(&self.previous, row.path) == Ordering::Less;
        if !is_below(row.path) || !is_next {
            return Err(self
                .rows
                .damaged("its paths are not those of a tree in canonical order"));
        }
        if let Some(digest) = &mut self.digest {
            digest.add(&row);
        }
        self.is_left = row.attributes.kind == NodeKind::Directory && self.has_left(row.path);
        let row = self.rows.row();
        self.previous.clear();
        self.previous.extend_from_slice(row.path);
        Ok(true)
    }

    fn row(&self) -> Row<'_> {
        self.rows.row()
    }

    fn is_left(&self) -> bool {
        self.is_left
    }
}
