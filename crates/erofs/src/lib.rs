//! EROFS images: [`create`] writes them with the same bytes for any number of workers.
//!
//! Images are untrusted input. Every length is checked against what the image can contain before it
//! is used, and no image makes this crate panic.

mod crc32c;
pub mod format;
mod writer;

pub use writer::{create, create_numbered, CreateOptions, HOLE_LIMIT_BYTES};
