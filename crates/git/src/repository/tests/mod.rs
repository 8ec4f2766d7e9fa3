//! The library beside git: the same repository, the same question, the same answer.
#![allow(
    clippy::disallowed_methods,
    reason = "tests play the user, who has no handle"
)]

mod branches;
mod config_editing;
mod configuration;
mod discovery;
mod fixture;
mod formats;
mod heads;
mod histories;
mod hostile;
mod ownership;
mod revisions;

pub(crate) use fixture::Scratch;
