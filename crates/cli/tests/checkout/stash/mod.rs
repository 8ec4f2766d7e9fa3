//! `hedgerow stash` beside git, in copies of one repository.

mod generated;
pub mod merges;
mod words;
