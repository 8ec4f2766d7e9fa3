//! What the writers and readers of all kinds of images share.
//!
//! An image is written in two stages that run at the same time: as many workers as the file system
//! can use read and hash contents ([`gather`]), and one worker per processor compresses blocks.
//! Between them, a plan is made in the order of the entries ([`plan`]). It alone decides what is
//! stored and in which order, so an image is the same for any number of workers. What a block and an
//! inode look like is the business of each format.

pub mod buffers;
/// A bounded cache of blocks.
pub mod cache;
pub mod compare;
mod created;
mod damage;
pub mod digest;
pub mod directories;
mod entry;
mod error;
pub mod fragments;
pub mod gather;
pub mod hex;
mod item;
pub mod names;
mod output;
pub mod plan;
pub mod report;
pub mod runs;
mod selection;
mod source;
pub mod stages;
pub mod tree;
pub mod uuid;
pub mod verity;

pub use created::{Clamped, Created, Unstored};
pub use damage::{Damage, Error, Part, Result};
pub use entry::Entry;
pub use error::WriteError;
pub use fragments::FragmentPolicy;
pub use item::{Item, Role, Treatment};
pub use output::Output;
pub use selection::Selection;
pub use source::ReadAt;
