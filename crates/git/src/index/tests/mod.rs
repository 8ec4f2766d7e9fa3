//! Git as the oracle, and hostile bytes.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests make their own repositories and look at their files"
)]

mod accepted;
mod builder;
mod malformed;
mod oracle;
pub(super) mod repo;

use super::*;
use repo::Repo;
