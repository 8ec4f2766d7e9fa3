//! Options of rename detection: git-config(1) under `status.renames`.

use super::Score;
use crate::config::{boolean, Config};
use crate::repository::Repository;
use crate::{Error, Result};
use bstr::BString;
use hedgerow_numbers::{integer, BadNumber};

/// What is detected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detection {
    /// Nothing.
    Off,
    /// Renames.
    #[default]
    Renames,
    /// Renames, and copies of changed files.
    Copies,
}

/// Options of rename detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenameOptions {
    /// What is detected.
    pub detection: Detection,
    /// Minimum similarity of the contents.
    pub minimum: Score,
    /// Unequal contents are compared only if the geometric mean of the numbers of remaining added
    /// and deleted paths does not exceed this. `None` is no limit.
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

/// The limit if none is configured.
const DEFAULT_LIMIT: u32 = 1000;
/// The value that git treats as no limit configured.
const UNSET: i32 = -1;

impl RenameOptions {
    /// The options of `git diff`: `diff.renames` and `diff.renameLimit`.
    pub fn of_diff(config: &Config) -> Result<Self> {
        let of_diff = |name| {
            settings(config, name)
                .into_iter()
                .filter(|it| !it.is_status)
        };
        let detection = of_diff("renames").next_back().map(|it| it.detection());
        let limit = of_diff("renameLimit").next_back().map(|it| it.number());
        Ok(RenameOptions {
            detection: detection.transpose()?.unwrap_or_default(),
            limit: match limit.transpose()?.map(u32::try_from) {
                None => Some(DEFAULT_LIMIT),
                Some(limit) => limit.ok().filter(|limit| *limit > 0),
            },
            ..RenameOptions::default()
        })
    }

    /// The options of `git status` in `repository`: `status.renames` and `status.renameLimit`, or
    /// else `diff.renames` and `diff.renameLimit`. Of the latter two the first value counts, as
    /// with git.
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

/// A value of `status.<name>` or `diff.<name>`; `text` is `None` if it has no `=`.
struct Setting {
    is_status: bool,
    name: &'static str,
    text: Option<BString>,
}

/// All values of `status.<name>` and `diff.<name>`, in file order.
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
        // A missing `=` can only be detected for a single value.
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
