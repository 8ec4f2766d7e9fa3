//! Configuration of a status: git-config(1) under "status", "color" and "column".

use super::colors::{self, Colors};
use super::columns::Columns;
use super::when::When;
use crate::environment;
use crate::failure::Failure;
use bstr::{BStr, BString, ByteSlice};
use hedgerow::repository::{boolean, Config, Repository};
use hedgerow::status::{IgnoreSubmodules, UntrackedFiles};

/// The configured settings. The command line and the format override them.
#[derive(Debug)]
pub struct Configuration {
    pub short: Option<bool>,
    pub branch: Option<bool>,
    pub ahead_behind: Option<bool>,
    pub show_stash: Option<bool>,
    pub relative_paths: bool,
    /// The comment prefix for lines of the long format, if they are to be comments.
    pub comment: Option<BString>,
    /// Whether to list the commits of changed submodules.
    pub submodule_summary: bool,
    /// `advice.statusHints`.
    pub hints: bool,
    pub untracked: UntrackedFiles,
    pub color: When,
    /// Whether colors are used in a pager started by git.
    pub color_in_pager: bool,
    pub colors: Colors,
    pub columns: Columns,
}

impl Configuration {
    /// Reads all of it: an invalid value is an error even where it is not used.
    pub fn read(repository: &Repository) -> Result<Self, Failure> {
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
            untracked: untracked(config)?,
            color: colors::when(config)?,
            color_in_pager: in_pager.or(config.bool("pager.color")?).unwrap_or(true),
            colors: Colors::of(config)?,
            columns: Columns::of(config)?,
        })
    }

    /// Whether to use colors.
    pub fn is_colored(&self) -> bool {
        let takes_colors = environment::output_takes_colors(self.color_in_pager);
        self.color.applies(takes_colors)
    }
}

/// The comment prefix, if `status.displayCommentPrefix` is set: `core.commentString` or its older
/// name.
fn comment(config: &Config) -> Result<Option<BString>, Failure> {
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
        return Err(Failure::fatal(format_args!("{key} {wrong}")));
    }
    Ok(Some(mark).filter(|_| is_wanted))
}

/// `status.submoduleSummary`: a boolean, or a number of commits.
fn submodule_summary(config: &Config) -> Result<bool, Failure> {
    const KEY: &str = "status.submoduleSummary";
    if config
        .string(KEY)
        .is_none_or(|text| boolean(text.as_ref()).is_some())
    {
        Ok(config.bool(KEY)? == Some(true))
    } else {
        Ok(config.integer(KEY)? != Some(0))
    }
}

fn untracked(config: &Config) -> Result<UntrackedFiles, Failure> {
    match config.string("status.showUntrackedFiles") {
        Some(mode) => untracked_mode(mode.as_ref()),
        // A key without a value is a boolean that is true.
        None => Ok(UntrackedFiles::Normal),
    }
}

/// Parses the value of `-u` or `status.showUntrackedFiles`.
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

/// Parses the value of `--ignore-submodules` or `diff.ignoreSubmodules`.
pub fn ignored_in_submodules(when: &BStr) -> Result<IgnoreSubmodules, Failure> {
    match when.as_bytes() {
        b"all" => Ok(IgnoreSubmodules::All),
        b"dirty" => Ok(IgnoreSubmodules::Dirty),
        b"untracked" => Ok(IgnoreSubmodules::Untracked),
        b"none" => Ok(IgnoreSubmodules::None),
        _ => {
            let message = format_args!("bad --ignore-submodules argument: {when}");
            Err(Failure::fatal(message))
        }
    }
}
