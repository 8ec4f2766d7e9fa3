//! Rules of squashfs-tools: paths that are selected or left out ([`PathRules`]), changes of
//! permissions ([`ModeChange`]) and of extended attributes ([`XattrRules`]).

mod mode;
mod paths;
mod wildcard;
mod xattrs;

pub use mode::ModeChange;
pub use paths::{Fit, PathRules, Syntax};
pub use xattrs::{has_user_xattrs, named_xattr, XattrRules};

use std::fmt::Display;

/// Maximum number of rules in a list, and maximum length of a rule in bytes.
pub const RULES: usize = 1 << 20;
/// See [`RULES`].
pub const RULE_BYTES: usize = 64 << 10;
/// Maximum number of regular expressions and wildcards: each path is compared with all of them.
pub const PATTERNS: usize = 1 << 16;
/// Maximum size of a compiled regular expression, in bytes.
const REGEX_BYTES: usize = 1 << 20;

/// Why a rule cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RuleError(String);

impl RuleError {
    pub(crate) fn new(reason: impl Display) -> Self {
        RuleError(reason.to_string())
    }
}

/// Compiles an extended regular expression of POSIX, which matches bytes. Back-references, which
/// only some systems have, are errors.
fn regex(pattern: &[u8]) -> Result<regex::bytes::Regex, RuleError> {
    let text = std::str::from_utf8(pattern)
        .map_err(|_| RuleError::new("a regular expression that is not UTF-8"))?;
    let mut builder = regex::bytes::RegexBuilder::new(text);
    let built = builder
        .size_limit(REGEX_BYTES)
        .dot_matches_new_line(true)
        .build();
    built
        .map_err(|error| RuleError::new(format_args!("'{text}' is no regular expression: {error}")))
}
