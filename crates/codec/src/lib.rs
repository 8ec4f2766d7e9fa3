//! Compression for hedgerow: the zlib streams of Git objects, and the blocks of SquashFS images.
//!
//! [`Inflater`] inflates a stream of known length into one buffer, as fast as possible;
//! [`StreamInflater`] works in pieces, for streams of unknown length or too large for memory.
//! [`Deflater`] and [`StreamDeflater`] are their counterparts. [`block`] has the six compressors of
//! images, in both directions. All libraries are built in, so that a version of hedgerow writes the
//! same bytes everywhere.

pub mod block;
pub mod cluster;
mod crc32;
mod deflate;
mod deflater;
mod error;
mod inflate;
mod literals;
mod stream;
mod versions;

pub use crc32::crc32;
pub use deflate::{deflate, StockDeflater};
pub use deflater::{Deflater, StreamDeflater};
pub use error::{Error, Result};
pub use inflate::{can_expand_to, Inflater};
pub use literals::leading_literals;
pub use stream::{Step, StreamInflater};
pub use versions::{fingerprint, versions};
