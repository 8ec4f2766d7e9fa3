//! Working trees that are mounted, beside ordinary ones. Where mounting is not allowed, these tests say
//! so and do nothing.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "tests make repositories and look at files"
)]

mod contents;
mod damaged;
mod faults;
mod hindered;
mod kills;
mod layer;
mod lifecycle;
mod lost;
mod plain;
mod scene;
mod session;
mod store;
mod twice;
mod twins;
mod watched;

/// The filter process of a test.
#[test]
fn filter_server() {
    hedgerow_testkit::filter_server::serve_if_told();
}
