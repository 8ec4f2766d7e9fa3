//! Deltas: instructions that make an object out of another (gitformat-pack, "deltified
//! representation"). `apply` reads them, `encode` makes them.

mod apply;
mod blocks;
mod encode;
#[cfg(test)]
mod tests;

pub use apply::apply_delta;
pub(crate) use apply::{apply, parse_header, result_length, DeltaHeader};
pub use encode::DeltaIndex;
