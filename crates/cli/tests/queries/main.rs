//! `hedgerow rev-list` and `hedgerow cat-file` beside git's, in the same repositories: what they
//! print, and how they end, must be the same.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests make repositories, look at files, and tell what differs"
)]

mod broken_references;
mod cat_file;
mod damage;
mod generate;
mod links;
mod odd_objects;
#[path = "../oracle/mod.rs"]
#[allow(dead_code, reason = "shared by many tests")]
mod oracle;
mod rev_list;
