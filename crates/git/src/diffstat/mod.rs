//! What changed between two trees, in numbers: git-diff(1) under `--stat`, `--compact-summary` and
//! `--summary`, as git-merge(1) shows it.

mod counts;
mod layout;
mod names;
mod summary;

pub use layout::Widths;

pub(crate) use counts::Counter;
pub(crate) use layout::{lines, numbers, sums};
pub(crate) use summary::line as summary;

use crate::config::Config;
use crate::diff::{
    configured_algorithm, supply_read_contents, tree_pairs, DiffAttributes, FileContents,
};
use crate::display::color_of_key;
use crate::repository::Repository;
use crate::status::rename::{detect, Detection, Filepair, RenameOptions};
use crate::{Error, Result};
use gix_hash::ObjectId;
use hedgerow_engine::Execution;

/// How the changes are shown.
#[derive(Clone, Debug, Default)]
pub struct DiffstatOptions {
    /// What git calls the compact summary: created, deleted and changed modes stand behind the
    /// names instead of in lines of their own.
    pub compact: bool,
    /// The widths of columns.
    pub widths: Widths,
    /// The escape sequences of removed and of added lines; `None` without colors.
    pub colors: Option<[String; 2]>,
    /// How to run.
    pub execution: Execution,
}

/// A file with what changed in it.
pub(crate) struct Changed {
    pair: Filepair,
    /// How the file is named.
    name: Vec<u8>,
    counts: Counts,
}

/// How much of a file changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counts {
    /// Lines added and removed.
    Lines { added: u64, removed: u64 },
    /// Bytes of a binary file, after and before; zero for both if the content is the same.
    Bytes { added: u64, removed: u64 },
    /// The path is in conflict.
    Unmerged,
}

/// The escape sequences of removed and of added lines: `color.diff.old` and `color.diff.new`.
pub fn colors(config: &Config) -> Result<[String; 2]> {
    let slot = |names: [&str; 2], default: &str| {
        for name in names {
            if let Some(color) = color_of_key(config, name)? {
                return Ok::<_, Error>(color);
            }
        }
        Ok(default.to_owned())
    };
    Ok([
        slot(["color.diff.old", "diff.color.old"], "\x1b[31m")?,
        slot(["color.diff.new", "diff.color.new"], "\x1b[32m")?,
    ])
}

/// Refuses settings that change the numbers and are not followed here.
///
/// # Errors
/// [`Error::NotBuilt`], or that a setting is not valid.
pub fn check(repository: &Repository) -> Result<()> {
    configured_algorithm(repository.config())?;
    if repository.config().string("diff.orderFile").is_some() {
        return Err(Error::NotBuilt {
            reason: "diff.orderFile is not supported for a diffstat; use --no-stat".into(),
        });
    }
    RenameOptions::of_diff(repository.config()).map(drop)
}

/// The text about what `new` changed in the tree `old`; empty if that is nothing. In a partial clone,
/// contents that are missing are fetched.
pub fn diffstat(
    repository: &Repository,
    old: ObjectId,
    new: ObjectId,
    options: &DiffstatOptions,
) -> Result<Vec<u8>> {
    let engine = options.execution.options("diffstat");
    let mut pairs = tree_pairs(repository, Some(old), new, &options.execution)?;
    supply_read_contents(repository, &pairs, &|_| true)?;
    let contents = FileContents::of_objects(repository);
    // Renames are looked for whatever `diff.renames` says.
    let rename = RenameOptions {
        detection: Detection::Renames,
        ..RenameOptions::of_diff(repository.config())?
    };
    detect(&mut pairs, &rename, &contents, &engine)?;
    let attributes = DiffAttributes::of_pairs(repository, &pairs, &options.execution)?;
    let algorithm = configured_algorithm(repository.config())?;
    let counter = Counter::new(repository, &contents, &attributes, algorithm);
    let files = counter.files(&pairs, &engine, options.compact)?;
    let mut text = lines(&files, options);
    if !options.compact {
        let high = repository.settings().quote_path;
        text.extend(pairs.iter().flat_map(|pair| summary(pair, high)));
    }
    Ok(text)
}
