//! `hedgerow stash` beside git, in copies of one repository.

mod added;
mod faults;
mod found;
mod generated;
mod identity;
mod kept;
pub mod merges;
mod renamed;
mod restored;
mod staged;
mod words;
