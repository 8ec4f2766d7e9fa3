use crate::config::Config;
use crate::Result;

/// When to use a feature meant for people.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum When {
    /// Whoever reads.
    Always,
    /// Not at all.
    #[default]
    Never,
    /// If somebody is reading.
    Auto,
}

impl When {
    /// Whether to use it; `is_read` says whether somebody is reading.
    pub fn applies(self, is_read: bool) -> bool {
        match self {
            When::Always => true,
            When::Never => false,
            When::Auto => is_read,
        }
    }

    /// The value of a key such as `color.ui`: one of the three words, or a boolean, of which true
    /// means `auto`.
    ///
    /// Fails if it is neither.
    pub fn of_key(config: &Config, key: &str) -> Result<Option<When>> {
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
}
