//! What the configuration asks of a status: git-config(1) under "status", "color" and "column".

use super::colors::{self, Colors};
use super::columns::Columns;
use super::when::When;
use crate::environment;
use crate::failure::Failure;
use bstr::{BStr, ByteSlice};
use hedgerow_git::repository::{boolean, Repository};
use hedgerow_git::status::UntrackedFiles;

/// What the configuration asks for. Where the command line, or the form, says otherwise, that
/// counts.
#[derive(Debug)]
pub struct Configuration {
    pub short: Option<bool>,
    pub branch: Option<bool>,
    pub ahead_behind: Option<bool>,
    pub show_stash: Option<bool>,
    pub relative_paths: bool,
    pub comment_prefix: bool,
    /// `advice.statusHints`.
    pub hints: bool,
    pub untracked: UntrackedFiles,
    pub color: When,
    /// Whether a pager that git has started shows colors.
    pub color_in_pager: bool,
    pub colors: Colors,
    pub columns: Columns,
}

impl Configuration {
    /// Reads all of it: what makes no sense is an error even where it has no say.
    pub fn read(repository: &Repository) -> Result<Self, Failure> {
        let config = repository.config();
        let in_pager = config.bool("color.pager")?;
        Ok(Configuration {
            short: config.bool("status.short")?,
            branch: config.bool("status.branch")?,
            ahead_behind: config.bool("status.aheadBehind")?,
            show_stash: config.bool("status.showStash")?,
            relative_paths: config.bool("status.relativePaths")?.unwrap_or(true),
            comment_prefix: config.bool("status.displayCommentPrefix")?.unwrap_or(false),
            hints: repository.advises("statusHints")?,
            untracked: untracked(repository)?,
            color: colors::when(config)?,
            color_in_pager: in_pager.or(config.bool("pager.color")?).unwrap_or(true),
            colors: Colors::of(config)?,
            columns: Columns::of(config)?,
        })
    }

    /// Whether there are colors.
    pub fn is_colored(&self) -> bool {
        let takes_colors = environment::output_takes_colors(self.color_in_pager);
        self.color.applies(takes_colors)
    }
}

fn untracked(repository: &Repository) -> Result<UntrackedFiles, Failure> {
    let config = repository.config();
    match config.string("status.showUntrackedFiles") {
        Some(mode) => untracked_mode(mode.as_ref()),
        // A name without a value is a boolean that is on.
        None => Ok(UntrackedFiles::Normal),
    }
}

/// Reads the value of `-u` or `status.showUntrackedFiles`.
pub fn untracked_mode(mode: &BStr) -> Result<UntrackedFiles, Failure> {
    match (boolean(mode), mode.as_bytes()) {
        (Some(true), _) | (_, b"normal") => Ok(UntrackedFiles::Normal),
        (Some(false), _) => Ok(UntrackedFiles::No),
        (_, b"all") => Ok(UntrackedFiles::All),
        _ => {
            let message = format_args!("Invalid untracked files mode '{mode}'");
            Err(Failure::fatal(message))
        }
    }
}
