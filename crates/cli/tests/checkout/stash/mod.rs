//! `hedgerow stash` beside git, in copies of one repository.

mod generated;
mod merges;
mod words;
