//! The colors of the forms for people: git-config(1) under `color.status.<slot>`.

use super::color_words::sequence;
use super::when::When;
use hedgerow_git::config::Config;
use hedgerow_git::{Error, Result};

/// What follows a colored text.
pub const RESET: &str = "\x1b[m";
const GREEN: &str = "\x1b[32m";
const RED: &str = "\x1b[31m";

/// What a terminal is sent before each kind of text; nothing without colors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Colors {
    /// Headers, hints and whatever has no color of its own.
    pub header: String,
    /// Paths that are added or updated in the index.
    pub updated: String,
    /// Paths that are changed in the working tree.
    pub changed: String,
    /// Untracked and ignored paths.
    pub untracked: String,
    /// Paths in conflict.
    pub unmerged: String,
    /// The name of what is checked out, in the long form.
    pub branch: String,
    /// The words that say that HEAD is detached.
    pub no_branch: String,
    /// The branch, and how far it is ahead, in the short form.
    pub local_branch: String,
    /// The branch it follows, and how far it is behind, in the short form.
    pub remote_branch: String,
}

impl Colors {
    /// The colors that the configuration asks for.
    ///
    /// A word that is no color is an error.
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
        if let Some(words) = config.text(&format!("{section}.{slot}"))? {
            return sequence(words.as_ref()).ok_or_else(|| Error::Config {
                reason: format!("invalid color value: {words}"),
            });
        }
    }
    Ok(default.to_owned())
}

/// When there are colors: what `color.status` says, or else `color.ui`.
///
/// A word that either does not know is an error, whether it would be used or not.
pub fn when(config: &Config) -> Result<When> {
    let status = when_of_key(config, "color.status")?;
    let older = when_of_key(config, "status.color")?;
    let all = when_of_key(config, "color.ui")?;
    Ok(status.or(older).or(all).unwrap_or(When::Auto))
}

fn when_of_key(config: &Config, key: &str) -> Result<Option<When>> {
    let word = config.string(key).unwrap_or_default();
    Ok(match word.to_ascii_lowercase().as_slice() {
        b"always" => Some(When::Always),
        b"never" => Some(When::Never),
        b"auto" => Some(When::Auto),
        _ => config
            .bool(key)?
            .map(|yes| if yes { When::Auto } else { When::Never }),
    })
}

/// Adds a text in a color.
pub fn paint(text: &mut Vec<u8>, color: &str, parts: &[&[u8]]) {
    text.extend_from_slice(color.as_bytes());
    parts.iter().for_each(|part| text.extend_from_slice(part));
    if !color.is_empty() {
        text.extend_from_slice(RESET.as_bytes());
    }
}
