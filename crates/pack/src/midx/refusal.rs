use std::fmt;

/// Why a multi-pack-index cannot be read, with git's messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The error that git prints first.
    pub error: Option<String>,
    /// The fatal error with which git exits; if `None`, git continues as if the file did not exist.
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
