//! Configuration of a status: git-config(1) under "status", "color" and "column".

use super::colors::{self, Colors};
use super::{IgnoreSubmodules, UntrackedFiles};
use crate::config::{boolean, Config, FsMonitor};
use crate::display::{Columns, When};
use crate::repository::Repository;
use crate::{Error, Result};
use bstr::{BStr, BString, ByteSlice};

/// The configured settings of how a status is shown. The command line and the format override them.
#[derive(Debug)]
pub struct Configuration {
    /// `status.short`: use the short format.
    pub short: Option<bool>,
    /// `status.branch`: show the branch in the short formats.
    pub branch: Option<bool>,
    /// `status.aheadBehind`: count the commits between the branch and its upstream.
    pub ahead_behind: Option<bool>,
    /// `status.showStash`: show the number of stash entries.
    pub show_stash: Option<bool>,
    /// `status.relativePaths`: paths are relative to the user's directory.
    pub relative_paths: bool,
    /// The comment prefix for lines of the long format, if they are to be comments.
    pub comment: Option<BString>,
    /// `status.submoduleSummary`: how many commits of each changed submodule to list, all if it is
    /// negative; `None`: none.
    pub submodule_summary: Option<i64>,
    /// `advice.statusHints`.
    pub hints: bool,
    /// `advice.statusUoption`: say so if the search for untracked files is slow.
    pub advises_when_slow: bool,
    /// `core.fsmonitor`: whether a monitor is to tell what changed.
    pub is_monitored: bool,
    /// `status.showUntrackedFiles`.
    pub untracked: UntrackedFiles,
    /// When to use colors.
    pub color: When,
    /// Whether colors are used in a pager started by git.
    pub color_in_pager: bool,
    /// `color.status`: the color of each kind of text.
    pub colors: Colors,
    /// `column.status`: the layout of untracked and ignored paths.
    pub columns: Columns,
}

impl Configuration {
    /// Reads all of it: an invalid value is an error even where it is not used.
    pub fn read(repository: &Repository) -> Result<Self> {
        let config = repository.config();
        let in_pager = config.bool("color.pager")?;
        if let Some(when) = config.text("diff.ignoreSubmodules")? {
            // The default for all submodules; it is read again where each submodule is known.
            ignored_in_submodules(when.as_ref())?;
        }
        Ok(Configuration {
            short: config.bool("status.short")?,
            branch: config.bool("status.branch")?,
            ahead_behind: config.bool("status.aheadBehind")?,
            show_stash: config.bool("status.showStash")?,
            relative_paths: config.bool("status.relativePaths")?.unwrap_or(true),
            comment: comment(config)?,
            submodule_summary: submodule_summary(config)?,
            hints: repository.advises("statusHints")?,
            advises_when_slow: repository.advises("statusUoption")?,
            is_monitored: repository.settings().fsmonitor != FsMonitor::Off,
            untracked: untracked(config)?,
            color: colors::when(config)?,
            color_in_pager: in_pager.or(config.bool("pager.color")?).unwrap_or(true),
            colors: Colors::of(config)?,
            columns: Columns::of(config, "status")?,
        })
    }
}

/// The comment prefix, if `status.displayCommentPrefix` is set: `core.commentString` or its older
/// name.
fn comment(config: &Config) -> Result<Option<BString>> {
    let is_wanted = config.bool("status.displayCommentPrefix")? == Some(true);
    let mut mark = BString::from("#");
    for key in ["core.commentChar", "core.commentString"] {
        let Some(asked) = config.text(key)? else {
            continue;
        };
        let wrong = match (asked.is_empty(), asked.contains(&b'\n')) {
            (true, _) => "must have at least one character",
            (_, true) => "cannot contain newline",
            _ => {
                let is_auto = asked.eq_ignore_ascii_case(b"auto");
                mark = if is_auto { mark } else { asked };
                continue;
            }
        };
        let key = key.to_ascii_lowercase();
        return Err(Error::Config {
            reason: format!("{key} {wrong}"),
        });
    }
    Ok(Some(mark).filter(|_| is_wanted))
}

/// `status.submoduleSummary`: a boolean, or a number of commits.
fn submodule_summary(config: &Config) -> Result<Option<i64>> {
    const KEY: &str = "status.submoduleSummary";
    let text = config.string(KEY);
    // As a boolean, any number but 0 would be true.
    if text.is_some_and(|text| text.iter().any(u8::is_ascii_digit)) {
        Ok(config.integer(KEY)?.filter(|limit| *limit != 0))
    } else {
        Ok(config.bool(KEY)?.filter(|is_on| *is_on).map(|_| -1))
    }
}

fn untracked(config: &Config) -> Result<UntrackedFiles> {
    match config.string("status.showUntrackedFiles") {
        Some(mode) => untracked_mode(mode.as_ref()),
        // A key without a value is a boolean that is true.
        None => Ok(UntrackedFiles::Normal),
    }
}

/// Parses the value of `-u` or `status.showUntrackedFiles`.
///
/// Fails if it is none of git's words.
pub fn untracked_mode(mode: &BStr) -> Result<UntrackedFiles> {
    match (boolean(mode), mode.as_bytes()) {
        (Some(true), _) | (_, b"normal") => Ok(UntrackedFiles::Normal),
        (Some(false), _) => Ok(UntrackedFiles::No),
        (_, b"all") => Ok(UntrackedFiles::All),
        _ => Err(Error::Config {
            reason: format!("Invalid untracked files mode '{mode}'"),
        }),
    }
}

/// Parses the value of `--ignore-submodules` or `diff.ignoreSubmodules`.
///
/// Fails if it is none of git's words.
pub fn ignored_in_submodules(when: &BStr) -> Result<IgnoreSubmodules> {
    match when.as_bytes() {
        b"all" => Ok(IgnoreSubmodules::All),
        b"dirty" => Ok(IgnoreSubmodules::Dirty),
        b"untracked" => Ok(IgnoreSubmodules::Untracked),
        b"none" => Ok(IgnoreSubmodules::None),
        _ => Err(Error::Config {
            reason: format!("bad --ignore-submodules argument: {when}"),
        }),
    }
}
