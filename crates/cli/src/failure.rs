//! Errors as the user sees them: a message, a hint, an exit code.

use std::fmt::Display;

/// Why a command ended early.
#[derive(Debug)]
pub struct Failure {
    /// `fatal` or `error`.
    pub severity: &'static str,
    pub message: String,
    /// What to do about it, if known.
    pub hint: Option<String>,
    /// As what nobody was named, if git explains that first.
    pub unknown: Option<hedgerow::repository::Role>,
    /// What failed before, each with its path.
    pub before: Vec<String>,
    /// Git's advice, which follows its message at once.
    pub advice: Option<String>,
    pub exit_code: u8,
}

/// Git's exit code for a fatal error.
pub const FATAL: u8 = 128;
/// Git's exit code for wrong usage.
pub const USAGE: u8 = 129;
/// Git's exit code for a refusal.
pub const REFUSED: u8 = 1;
/// Git's exit code where it restored paths, but not all.
pub const RESTORED_IN_PART: u8 = 255;
/// `tune` measured, but there is no repository to set the values in.
pub const NOWHERE_TO_SET: u8 = 2;
/// Finished, but some entries failed; each was reported.
pub const PARTIAL: u8 = 3;
/// Interrupted by the user.
pub const INTERRUPTED: u8 = 130;

impl Failure {
    pub fn fatal(message: impl Display) -> Self {
        Failure {
            severity: "fatal",
            message: message.to_string(),
            hint: None,
            unknown: None,
            before: Vec::new(),
            advice: None,
            exit_code: FATAL,
        }
    }

    pub fn usage(message: impl Display) -> Self {
        Failure {
            severity: "error",
            exit_code: USAGE,
            ..Failure::fatal(message)
        }
    }

    pub fn refused(message: impl Display) -> Self {
        Failure {
            severity: "error",
            exit_code: REFUSED,
            ..Failure::fatal(message)
        }
    }
}

impl From<hedgerow::repository::Error> for Failure {
    fn from(error: hedgerow::repository::Error) -> Self {
        use hedgerow::repository::Error;
        let (before, error) = error.apart();
        let mut failure = Failure {
            before,
            ..Failure::fatal(&error)
        };
        match &error {
            Error::Unmatched { .. } => {
                failure.severity = "error";
                failure.exit_code = REFUSED;
            }
            Error::Interrupted => {
                failure.severity = "error";
                failure.exit_code = INTERRUPTED;
            }
            Error::NotBuilt { .. } | Error::Usage { .. } => {
                failure.severity = "error";
                failure.exit_code = USAGE;
            }
            Error::MissingContent { .. } => {
                failure.hint = Some(
                    "nothing was changed; a partial clone needs a remote that can be reached, and \
                     GIT_NO_LAZY_FETCH unset"
                        .into(),
                );
            }
            Error::Identity { unknown, .. } => failure.unknown = *unknown,
            Error::Fs(cause) => {
                if let Some(words) = hedgerow::repository::locked(cause) {
                    failure.message = words;
                }
            }
            _ => {}
        }
        failure
    }
}

impl From<hedgerow::pack::RepackError> for Failure {
    fn from(error: hedgerow::pack::RepackError) -> Self {
        use hedgerow::pack::RepackError as Error;
        let words = error.to_string();
        match error {
            Error::Git(error) => error.into(),
            Error::Serve(error) => error.into(),
            Error::MidxBitmap { .. } => Failure::refused(words),
            Error::Interrupted | Error::Reach(hedgerow::pack::ReachError::Interrupted) => Failure {
                severity: "error",
                exit_code: INTERRUPTED,
                ..Failure::fatal(words)
            },
            _ => Failure::fatal(words),
        }
    }
}

impl From<hedgerow::tune::Error> for Failure {
    fn from(error: hedgerow::tune::Error) -> Self {
        use hedgerow::tune::Error;
        use std::io::ErrorKind;
        let mut failure = Failure::fatal(&error);
        match &error {
            Error::Cancelled => {
                failure.severity = "error";
                failure.exit_code = INTERRUPTED;
            }
            Error::Fs(cause) => {
                let kinds = [ErrorKind::PermissionDenied, ErrorKind::ReadOnlyFilesystem];
                if kinds.contains(&cause.kind()) {
                    let hint = "name a directory of that file system in which you may write: \
                                hedgerow tune DIR";
                    failure.hint = Some(hint.into());
                }
            }
            Error::Panicked(_) => {}
        }
        failure
    }
}

impl From<hedgerow::status::mercurial::Error> for Failure {
    fn from(error: hedgerow::status::mercurial::Error) -> Self {
        use hedgerow::status::mercurial::Error;
        let mut failure = Failure::fatal(&error);
        match &error {
            Error::Interrupted => {
                failure.severity = "error";
                failure.exit_code = INTERRUPTED;
            }
            Error::Pattern { .. } => {
                failure.hint = Some("patterns are described by: hg help hgignore".into());
            }
            _ => {}
        }
        failure
    }
}
