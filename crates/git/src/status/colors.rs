//! The colors of a status: git-config(1) under `color.status.<slot>`.

use crate::config::Config;
use crate::display::{color_of_key, When};
use crate::Result;

const GREEN: &str = "\x1b[32m";
const RED: &str = "\x1b[31m";

/// The escape sequence before each kind of text; empty without colors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Colors {
    /// Headers, hints and all text without a color of its own.
    pub header: String,
    /// Paths that are added or updated in the index.
    pub updated: String,
    /// Paths that are changed in the working tree.
    pub changed: String,
    /// Untracked and ignored paths.
    pub untracked: String,
    /// Paths in conflict.
    pub unmerged: String,
    /// The name of the current branch, in the long format.
    pub branch: String,
    /// The message that HEAD is detached.
    pub no_branch: String,
    /// The branch and its ahead count, in the short format.
    pub local_branch: String,
    /// The upstream branch and the behind count, in the short format.
    pub remote_branch: String,
}

impl Colors {
    /// The configured colors.
    ///
    /// An invalid color is an error.
    pub fn of(config: &Config) -> Result<Self> {
        let slot = |name: &str, default: &str| of_slot(config, name, default);
        let header = slot("header", "")?;
        let updated = match config.string("color.status.added") {
            Some(_) => slot("added", GREEN)?,
            None => slot("updated", GREEN)?,
        };
        Ok(Colors {
            updated,
            changed: slot("changed", RED)?,
            untracked: slot("untracked", RED)?,
            unmerged: slot("unmerged", RED)?,
            branch: slot("branch", &header)?,
            no_branch: slot("noBranch", RED)?,
            local_branch: slot("localBranch", GREEN)?,
            remote_branch: slot("remoteBranch", RED)?,
            header,
        })
    }
}

fn of_slot(config: &Config, slot: &str, default: &str) -> Result<String> {
    for section in ["color.status", "status.color"] {
        if let Some(color) = color_of_key(config, &format!("{section}.{slot}"))? {
            return Ok(color);
        }
    }
    Ok(default.to_owned())
}

/// When a status has colors: `color.status`, or else `color.ui`.
///
/// An invalid value of either is an error, whether it is used or not.
pub(super) fn when(config: &Config) -> Result<When> {
    let status = When::of_key(config, "color.status")?;
    let older = When::of_key(config, "status.color")?;
    let all = When::of_key(config, "color.ui")?;
    Ok(status.or(older).or(all).unwrap_or(When::Auto))
}
