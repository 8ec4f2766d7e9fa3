//! What changed between two trees, in numbers: git-diff(1) under `--stat`, `--compact-summary` and
//! `--summary`, as git-merge(1) shows it.

mod counts;
mod layout;
mod names;
mod summary;

pub use layout::Widths;

use crate::config::Config;
use crate::display::color_of_key;
use crate::repository::Repository;
use crate::status::rename::{detect, Filepair, ObjectContents, RenameOptions, Side};
use crate::tree::Difference;
use crate::worktree::name_rules;
use crate::{Error, Result};
use counts::Counter;
use gix_hash::ObjectId;
use hedgerow_engine::Execution;

/// How the changes are shown.
#[derive(Clone, Debug)]
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
struct Changed {
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
    counts::algorithm(repository.config())?;
    if repository.config().string("diff.orderFile").is_some() {
        return Err(Error::NotBuilt {
            reason: "a diffstat in the order of diff.orderFile (--no-stat goes without)".into(),
        });
    }
    rename_options(repository.config()).map(drop)
}

/// The text about what `new` changed in the tree `old`; empty if that is nothing.
pub fn diffstat(
    repository: &Repository,
    old: ObjectId,
    new: ObjectId,
    options: &DiffstatOptions,
) -> Result<Vec<u8>> {
    let engine = options.execution.options("diffstat");
    let rules = name_rules(repository);
    let difference = Difference::between(repository, Some(old), Some(new), rules, &engine)?;
    let side = |path: &bstr::BStr, side: crate::tree::Side| Side {
        path: path.to_owned(),
        mode: side.kind.into(),
        id: Some(side.id),
    };
    let pairs = difference.changes().iter().map(|change| Filepair {
        old: change.old.map(|it| side(difference.path(change), it)),
        new: change.new.map(|it| side(difference.path(change), it)),
        ..Filepair::default()
    });
    let mut pairs: Vec<Filepair> = pairs.collect();
    let contents = ObjectContents::new(repository);
    let rename = rename_options(repository.config())?;
    detect(&mut pairs, &rename, &contents, &engine)?;
    let counter = Counter::new(repository, &pairs, &options.execution)?;
    let counts = counter.count_all(&pairs, &engine)?;
    let high = repository.settings().quote_path;
    let files = pairs.into_iter().zip(counts);
    let files: Vec<Changed> = files
        .map(|(pair, counts)| Changed {
            name: names::shown(&pair, high, options.compact),
            pair,
            counts,
        })
        .collect();
    let mut text = layout::lines(&files, options);
    if !options.compact {
        text.extend(
            files
                .iter()
                .flat_map(|file| summary::line(&file.pair, high)),
        );
    }
    Ok(text)
}

/// Renames are looked for whatever `diff.renames` says, up to `diff.renameLimit`.
fn rename_options(config: &Config) -> Result<RenameOptions> {
    let default = RenameOptions::default();
    Ok(RenameOptions {
        limit: match config.integer("diff.renameLimit")? {
            None => default.limit,
            Some(limit) if limit <= 0 => None,
            Some(limit) => u32::try_from(limit).ok().or(default.limit),
        },
        ..default
    })
}
