//! Makes packs of reachable objects, for a receiver that may have some of them, and serves them to
//! a stock git server.
//!
//! [`write_pack`] takes [`Contents`] and decides for each object whether it is copied from a pack
//! of the store, as a delta or whole, or compressed anew. It searches new deltas in parallel, and
//! writes the pack to any sink. The same contents and options give the same bytes with any number
//! of threads.

mod bases;
mod cache;
mod configured;
mod contents;
mod edges;
mod enumerate;
mod error;
mod file;
mod geometry;
mod limited;
mod listed;
mod object_list;
mod options;
mod plan;
mod reached;
mod request;
mod search;
mod selection;
mod spread;
mod tags;
mod unreachable;
pub mod upload_pack;
mod verbatim;
mod write;

pub use cache::{
    Available, CacheLookup, CacheOptions, NewResponse, ResponseCache, ResponseKey, StoredResponse,
};
pub use configured::compression_level;
pub use contents::{name_hash, Contents, Verbatim, Wanted};
pub use edges::Edges;
pub use enumerate::{Enumerated, Enumeration};
pub use error::{Error, Result};
pub use file::{stage_pack, FileOptions, StagedPack};
pub use geometry::{split, TooLarge};
pub use limited::stage_limited_packs;
pub use listed::{name_objects, objects_of_pack, own_loose_objects};
pub use options::PackOptions;
pub use reached::{reached, walked};
pub use request::{PackReuse, Selected, Tag};
pub use selection::{Selection, Selector};
pub use unreachable::{add_loose, add_packed, follow, follow_besides, FollowLimits};
pub use write::PackWritten;

use hedgerow_pack::ObjectStore;
use plan::Plan;
use std::io::Write;
use tags::tags;
use verbatim::KeptPacks;

/// Writes a pack of `contents`, which are in `store`, to `sink`. `list`: return
/// [`PackWritten::index`].
///
/// Copied entries are neither inflated nor hashed: the receiver indexes the pack and finds any
/// damage. With [`PackOptions::check_copies`], they are compared with their CRC-32.
///
/// # Errors
/// [`Error::Object`] if an object cannot be read, [`Error::Copy`] if a pack cannot be copied,
/// [`Error::Write`] if the sink fails, [`Error::TooMany`], [`Error::Cancelled`].
pub fn write_pack(
    store: &ObjectStore,
    contents: &Contents<'_>,
    options: &PackOptions,
    list: bool,
    sink: &mut dyn Write,
) -> Result<PackWritten> {
    let kept = KeptPacks::new(store, contents, options)?;
    let mut plan = Plan::new(store, contents, &kept, options)?;
    search::search(&mut plan, store, options)?;
    write::write(&plan, &kept, store, options, list, sink)
}
