//! How renames are looked for: git-config(1) under `status.renames`.

use super::Score;
use crate::config::{boolean, Config};
use crate::repository::Repository;
use crate::{Error, Result};
use bstr::BString;
use hedgerow_numbers::{integer, BadNumber};

/// What is looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detection {
    /// Nothing.
    Off,
    /// Renames.
    #[default]
    Renames,
    /// Renames, and copies of files that are changed too.
    Copies,
}

/// How renames are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenameOptions {
    /// What is looked for.
    pub detection: Detection,
    /// How alike contents must at least be.
    pub minimum: Score,
    /// Contents that are not equal are only compared if as many added as deleted paths, by
    /// geometric mean, are left. `None` is no limit.
    pub limit: Option<u32>,
}

impl Default for RenameOptions {
    fn default() -> Self {
        RenameOptions {
            detection: Detection::default(),
            minimum: Score::DEFAULT,
            limit: Some(DEFAULT_LIMIT),
        }
    }
}

/// The limit where none is set.
const DEFAULT_LIMIT: u32 = 1000;
/// The number that git takes for no limit being set.
const UNSET: i32 = -1;

impl RenameOptions {
    /// What `git status` does in `repository`: `status.renames` and `status.renameLimit`, or else
    /// `diff.renames` and `diff.renameLimit`. Of the latter, as in git, the first value counts.
    pub fn of_status(repository: &Repository) -> Result<Self> {
        let config = repository.config();
        let mut detection = None;
        for setting in settings(config, "renames") {
            if setting.is_status || detection.is_none() {
                detection = Some(setting.detection()?);
            }
        }
        let mut limit = UNSET;
        for setting in settings(config, "renameLimit") {
            if setting.is_status || limit == UNSET {
                limit = setting.number()?;
            }
        }
        Ok(RenameOptions {
            detection: detection.unwrap_or_default(),
            limit: match u32::try_from(limit) {
                Ok(0) => None,
                Ok(limit) => Some(limit),
                Err(_) => Some(DEFAULT_LIMIT),
            },
            ..RenameOptions::default()
        })
    }
}

/// The value of `status.<name>` or `diff.<name>`; without `=` it has no text.
struct Setting {
    is_status: bool,
    name: &'static str,
    text: Option<BString>,
}

/// All values of `status.<name>` and `diff.<name>`, in the order they are written in.
fn settings(config: &Config, name: &'static str) -> Vec<Setting> {
    let mut settings = Vec::new();
    for section in config.file().sections() {
        let header = section.header();
        let is_status = header.name().eq_ignore_ascii_case(b"status");
        let is_diff = header.name().eq_ignore_ascii_case(b"diff");
        if !is_status && !is_diff || header.subsection_name().is_some() {
            continue;
        }
        let body = section.body();
        let values = body.values(name);
        // Only of a single value one can tell that it has no `=`.
        let texts = match values.len() {
            1 => vec![body.value_implicit(name).flatten()],
            _ => values.into_iter().map(Some).collect(),
        };
        settings.extend(texts.into_iter().map(|text| Setting {
            is_status,
            name,
            text,
        }));
    }
    settings
}

impl Setting {
    fn detection(&self) -> Result<Detection> {
        let Some(text) = &self.text else {
            return Ok(Detection::Renames);
        };
        if text.eq_ignore_ascii_case(b"copies") || text.eq_ignore_ascii_case(b"copy") {
            return Ok(Detection::Copies);
        }
        match boolean(text.as_ref()) {
            Some(true) => Ok(Detection::Renames),
            Some(false) => Ok(Detection::Off),
            None => Err(Error::Config {
                reason: format!("bad boolean config value '{text}' for '{}'", self.key()),
            }),
        }
    }

    fn number(&self) -> Result<i32> {
        let Some(text) = &self.text else {
            return Err(Error::Config {
                reason: format!("missing value for '{}'", self.key()),
            });
        };
        let bad = |why: &str| Error::Config {
            reason: format!(
                "bad numeric config value '{text}' for '{}': {why}",
                self.key()
            ),
        };
        let number = integer(text.as_ref()).map_err(|why| bad(why.words()))?;
        i32::try_from(number).map_err(|_| bad(BadNumber::OutOfRange.words()))
    }

    /// The key as git shows it.
    fn key(&self) -> String {
        let section = if self.is_status { "status" } else { "diff" };
        format!("{section}.{}", self.name.to_ascii_lowercase())
    }
}
