//! `hedgerow reset`: the binary beside git, in copies of one repository.

mod generated;
mod matrix;
mod places;
mod words;
