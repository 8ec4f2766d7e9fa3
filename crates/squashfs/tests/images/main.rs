//! Images made by others, and images that are damaged: what is read of them is what the kernel and
//! the other unpackers read.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::unwrap_used,
    missing_docs,
    reason = "tests make trees of their own"
)]

mod compare;
mod damage;
mod hostile;
mod large;
mod support;
mod tree;
