use std::fmt;

/// Why a multi-pack-index cannot be read, in git's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// What git tells as an error before anything else.
    pub error: Option<String>,
    /// What git ends with; without it, git goes on as if there were no such file.
    pub fatal: Option<String>,
}

impl Refusal {
    pub fn error(reason: impl Into<String>) -> Self {
        Refusal {
            error: Some(reason.into()),
            fatal: None,
        }
    }

    pub fn fatal(reason: impl Into<String>) -> Self {
        Refusal {
            error: None,
            fatal: Some(reason.into()),
        }
    }

    /// A required chunk, `name`, cannot be used because of `error`; `None` if it is missing.
    pub fn chunk(name: &str, error: Option<String>) -> Self {
        Refusal {
            error,
            fatal: Some(format!(
                "multi-pack-index required {name} chunk missing or corrupted"
            )),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = self.error.as_ref().or(self.fatal.as_ref());
        formatter.write_str(reason.map_or("unreadable", String::as_str))
    }
}
