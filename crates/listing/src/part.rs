//! A part of a listing: what one machine lists within a budget.

use crate::merge::Stoppable;
use crate::parquet::{Notes, PartRows};
use crate::row::{Attributes, Batch, Row};
use crate::source::{Merged, Sorted, Source};
use crate::spool::{append_row, Spool};
use crate::text::{escaped, is_below, unescaped};
use crate::write::{Format, Writer};
use crate::{Error, Output, Result};
use hedgerow_engine::{Failure, Stage, Steps};
use hedgerow_fs::{OpenDirectory, Stat};
use hedgerow_tree::{canonical_order, Entry, NodeKind, Omission};
use hedgerow_walk::{walk_part, Budget, Receiver, Selection, WalkOptions};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Rows are sorted in memory up to this many bytes; more are kept in a temporary file.
const MEMORY_BYTES: usize = 64 << 20;

/// How a part is listed.
#[derive(Clone, Debug)]
pub struct PartOptions {
    /// How to walk. Entries of all kinds are listed, and `.gitignore` files are not read.
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
}

/// Lists the directories `given`, relative to `root`, and what is below them until the budget is
/// spent, and writes the sorted rows as a Parquet file to `output`. The file also has what was
/// given and left, for [`merge`](crate::merge).
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

/// The name of the footer of a part among the notes of its file.
const NOTE: &str = "hedgerow-part";
const HEADER: &str = "hedgerow.part.v1";

/// What a part has besides its rows. In the file it is text, a line for each of the directories that
/// were given, were left, or could not be read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Footer {
    pub rows: u64,
    /// The digest of the rows.
    pub digest: String,
    pub given: Vec<Vec<u8>>,
    pub left: Vec<Vec<u8>>,
    pub failures: Vec<Omitted>,
}

/// Something that could not be read and is missing in a listing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Omitted {
    /// Its path relative to the root.
    pub path: Vec<u8>,
    /// The failed operation, as a verb.
    pub operation: String,
    /// The system's reason.
    pub reason: String,
}

impl Omitted {
    fn of(omission: &Omission) -> Self {
        Omitted {
            path: omission.path.clone(),
            operation: omission.operation.to_owned(),
            reason: hedgerow_fs::reason(&omission.source),
        }
    }
}

impl Footer {
    fn text(&self) -> String {
        let mut text = format!("{HEADER}\n");
        // Writing to memory does not fail.
        let _ = writeln!(text, "rows\t{}\t{}", self.rows, self.digest);
        for (word, paths) in [("given", &self.given), ("left", &self.left)] {
            for path in paths {
                let _ = writeln!(text, "{word}\t{}", escaped(path));
            }
        }
        for failure in &self.failures {
            let words = [
                failure.operation.as_bytes(),
                failure.reason.as_bytes(),
                &failure.path,
            ];
            let [operation, reason, path] = words.map(escaped);
            let _ = writeln!(text, "omitted\t{operation}\t{reason}\t{path}");
        }
        text
    }

    /// The footer of a file with these notes.
    pub(crate) fn of(rows: &PartRows, notes: &Notes) -> Result<Self> {
        let note = notes.iter().find(|(name, _)| name == NOTE);
        let (_, text) =
            note.ok_or_else(|| rows.damaged("it is a listing, but not a part of one"))?;
        Footer::parse(text).ok_or_else(|| rows.damaged("its list of directories is malformed"))
    }

    fn parse(text: &str) -> Option<Self> {
        let lines = text.strip_prefix(HEADER)?.strip_prefix('\n')?;
        let mut footer = Footer::default();
        for line in lines.strip_suffix('\n')?.split('\n') {
            let fields: Vec<&str> = line.split('\t').collect();
            match fields[..] {
                ["rows", rows, digest] => {
                    footer.rows = rows.parse().ok()?;
                    footer.digest = digest.to_owned();
                }
                ["given", path] => footer.given.push(place(path)?),
                ["left", path] => footer.left.push(place(path)?),
                ["omitted", operation, reason, path] => footer.failures.push(Omitted {
                    path: place(path)?,
                    operation: String::from_utf8(unescaped(operation)?).ok()?,
                    reason: String::from_utf8(unescaped(reason)?).ok()?,
                }),
                _ => return None,
            }
        }
        (!footer.digest.is_empty()).then_some(footer)
    }
}

fn place(text: &str) -> Option<Vec<u8>> {
    unescaped(text).filter(|path| path.is_empty() || is_below(path))
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
