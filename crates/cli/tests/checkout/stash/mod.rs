//! `hedgerow stash` beside git, in copies of one repository.

mod faults;
mod generated;
pub mod merges;
mod words;
