//! `hedgerow walk` end to end. The oracle is find(1).
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests make trees and look at them"
)]

mod faults;
mod limits;
mod oracle;
mod output;
mod selection;
mod support;
