//! Differences as text: git-diff-index(1) under "Raw output format" and "Generating patch text", and
//! the lists and numbers in between. Where they come from is the caller's business: trees, the index
//! or files of the working tree.

mod attributes;
mod contents;
mod filter;
mod list;
mod patch;
mod promised;
#[cfg(test)]
mod tests;

pub use attributes::algorithm;
pub(crate) use attributes::{check_algorithm, configured_algorithm, DiffAttributes, Driver};
pub use contents::FileContents;
pub(crate) use contents::FileWorker;
pub use filter::KindFilter;
pub use patch::PatchOptions;
pub use promised::supply_contents;
pub(crate) use promised::supply_read_contents;

use crate::diffstat::{self, Counter, DiffstatOptions};
use crate::lines::Algorithm;
use crate::repository::Repository;
use crate::revision::Digits;
use crate::status::rename::{detect, map_contents, Detection, Filepair, RenameOptions, Side};
use crate::status::{Difference, DifferenceSide};
use crate::tree::Difference as TreeDifference;
use crate::worktree::name_rules;
use crate::Result;
use bstr::BStr;
use gix_hash::ObjectId;

/// How the differing paths are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// Modes, objects, kinds and paths.
    Raw,
    /// Paths.
    Names,
    /// Kinds and paths.
    Kinds,
}

/// What is shown, in the order in which it is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Formats {
    /// A list.
    pub listing: Option<Listing>,
    /// Numbers of lines, for programs.
    pub numstat: bool,
    /// Numbers of lines with a graph.
    pub stat: bool,
    /// The sums of these numbers.
    pub shortstat: bool,
    /// Files that come, go, move or get another mode.
    pub summary: bool,
    /// The changes of lines.
    pub patch: bool,
}

impl Formats {
    /// Whether contents have to be read.
    pub fn reads_contents(&self) -> bool {
        self.numstat || self.stat || self.shortstat || self.patch
    }

    /// Whether there is nothing but a list.
    pub fn only_lists(&self) -> bool {
        !self.reads_contents() && !self.summary
    }
}

/// How differences are shown.
#[derive(Clone, Debug, Default)]
pub struct DiffOptions {
    /// What is shown.
    pub formats: Formats,
    /// Paths end with NUL and are not quoted.
    pub null: bool,
    /// Old and new sides are swapped.
    pub reverse: bool,
    /// Which kinds of differences are shown.
    pub filter: KindFilter,
    /// How many digits of objects' names are shown in lists.
    pub digits: Digits,
    /// Which renames are detected.
    pub renames: RenameOptions,
    /// How lines are compared; `None` leaves it to the attributes of each file, then to Myers.
    pub algorithm: Option<Algorithm>,
    /// How patches are written.
    pub patch: PatchOptions,
    /// How numbers are shown, and how to run.
    pub stat: DiffstatOptions,
}

/// Patches are made for so many files at a time.
const TOGETHER: usize = 64;

/// Shows `pairs`, which are ascending by path, with what is in `contents`. Returns whether there are
/// any that `options` do not hide.
///
/// # Errors
/// An object or a file cannot be read; [`crate::Error::NotBuilt`] for a patch that only git makes.
pub fn show(
    repository: &Repository,
    pairs: Vec<Filepair>,
    contents: &FileContents<'_>,
    options: &DiffOptions,
    sink: &mut dyn FnMut(&[u8]),
) -> Result<bool> {
    let pairs = found(pairs, contents, options)?;
    if pairs.is_empty() {
        return Ok(false);
    }
    let high = repository.settings().quote_path;
    let (formats, mut separates) = (&options.formats, false);
    if let Some(listing) = formats.listing {
        let mut text = Vec::new();
        for pair in &pairs {
            list::line(repository, pair, listing, options, &mut text)?;
        }
        sink(&text);
        separates = true;
    }
    let attributes = if formats.reads_contents() {
        DiffAttributes::of_pairs(repository, &pairs, &options.stat.execution)?
    } else {
        Vec::new()
    };
    if formats.numstat || formats.stat || formats.shortstat {
        let counter = Counter::new(repository, contents, &attributes, options.algorithm);
        let engine = options.stat.execution.options("diff");
        let files = counter.files(&pairs, &engine, options.stat.compact)?;
        if formats.numstat {
            sink(&diffstat::numbers(&files, options.null, high));
        }
        if formats.stat {
            sink(&diffstat::lines(&files, &options.stat));
        }
        if formats.shortstat {
            sink(&diffstat::sums(&files));
        }
        separates = true;
    }
    if formats.summary {
        let lines = pairs.iter().flat_map(|pair| diffstat::summary(pair, high));
        let lines: Vec<u8> = lines.collect();
        separates |= !lines.is_empty();
        sink(&lines);
    }
    if formats.patch {
        if separates {
            sink(if options.null { b"\0" } else { b"\n" });
        }
        let writer = patch::Writer::new(repository, contents, &attributes, options);
        patches(&writer, &pairs, contents, options, sink)?;
    }
    Ok(true)
}

/// The pairs as they are shown: swapped, with renames, and only those of the wanted kinds.
fn found(
    mut pairs: Vec<Filepair>,
    contents: &FileContents<'_>,
    options: &DiffOptions,
) -> Result<Vec<Filepair>> {
    if options.reverse {
        // Git leaves the two sides of a path in conflict as they are.
        for pair in pairs.iter_mut().filter(|pair| !pair.unmerged) {
            std::mem::swap(&mut pair.old, &mut pair.new);
        }
    }
    if options.renames.detection != Detection::Off {
        let copies = options.renames.detection == Detection::Copies;
        let is_source = |it: &Filepair| it.old.is_some() && (copies || it.new.is_none());
        let has_source = pairs.iter().any(is_source);
        let engine = options.stat.execution.options("diff");
        detect(&mut pairs, &options.renames, contents, &engine)?;
        if has_source && options.formats.listing == Some(Listing::Raw) {
            contents.know_new(&mut pairs)?;
        }
    }
    options.filter.apply(&mut pairs);
    Ok(pairs)
}

fn patches<'a>(
    writer: &patch::Writer<'a>,
    pairs: &[Filepair],
    contents: &'a FileContents<'a>,
    options: &DiffOptions,
    sink: &mut dyn FnMut(&[u8]),
) -> Result<()> {
    let engine = options.stat.execution.options("diff");
    for start in (0..pairs.len()).step_by(TOGETHER) {
        let count = TOGETHER.min(pairs.len() - start);
        let write = |worker: &mut FileWorker<'a>, _: &mut (), at: usize| {
            writer.patch(worker, &pairs[start + at], start + at)
        };
        for text in map_contents(contents, &engine, count, || (), write)? {
            sink(&text);
        }
    }
    Ok(())
}

/// The differences of two trees as pairs. Without an `old` one, everything is new.
pub fn tree_pairs(
    repository: &Repository,
    old: Option<ObjectId>,
    new: ObjectId,
    execution: &hedgerow_engine::Execution,
) -> Result<Vec<Filepair>> {
    let engine = execution.options("diff");
    let rules = name_rules(repository);
    let found = TreeDifference::between(repository, old, Some(new), rules, &engine)?;
    let side = |path: &BStr, side: crate::tree::Side| Side {
        path: path.to_owned(),
        mode: side.kind.into(),
        id: Some(side.id),
    };
    let pairs = found.changes().iter().map(|change| Filepair {
        old: change.old.map(|it| side(found.path(change), it)),
        new: change.new.map(|it| side(found.path(change), it)),
        ..Filepair::default()
    });
    Ok(pairs.collect())
}

/// Listed differences as pairs.
pub fn pairs_of(list: &[Difference]) -> Vec<Filepair> {
    let pairs = list.iter().map(|difference| {
        let side = |side: DifferenceSide| Side {
            path: difference.path.clone(),
            mode: side.mode,
            id: side.id,
        };
        Filepair {
            old: difference.old.map(side),
            new: difference.new.map(side),
            unmerged: difference.is_unmerged,
            conflict: difference.is_unmerged.then(|| difference.path.clone()),
            origin: None,
        }
    });
    pairs.collect()
}
