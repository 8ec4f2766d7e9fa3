//! `hedgerow stash` beside git, in copies of one repository.

mod faults;
mod generated;
mod kept;
pub mod merges;
mod words;
