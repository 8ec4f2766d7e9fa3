//! Reads Git objects: packs, their accelerators, and loose objects.
//!
//! An [`ObjectStore`] is a set of immutable maps that any number of threads read without a lock;
//! each thread has its own [`Reader`], which owns the inflaters and buffers it reuses for every
//! object. [`SharedBases`] lets the readers of one job share the delta bases they have in common.
//!
//! Nothing a file says is trusted: lengths are checked before memory is asked for, positions
//! before they are followed, and chains of deltas are walked, never recursed into. An accelerator
//! (multi-pack-index, reverse index) that is broken costs a warning and time, not correctness.

mod bitmap;
mod commit_graph;
mod database;
mod delta;
mod error;
mod fault;
mod format;
pub mod indexer;
mod loose;
mod midx;
mod object;
mod pack_file;
mod read;
mod refusal;

pub use bitmap::{
    BitOrder, BitmapContents, Bitmaps, CommitBitmap, DamagedBitmap, OrderPart, PseudoMerge, Words,
};
pub use commit_graph::{CommitGraph, GraphCommit, Parents};
pub use database::alternates::alternate_paths;
pub use database::main_pack::MainPack;
pub use database::options::StoreOptions;
pub use database::store::ObjectStore;
pub use delta::{apply_delta, DeltaIndex};
pub use error::{Error, Result};
pub use fault::Fault;
pub use format::hashed_file::TrailerHasher;
pub use gix_hash::{oid, Kind as HashKind, ObjectId};
pub use hedgerow_object::{ObjectHeader, ObjectKind};
pub use loose::{write_loose, LooseOptions};
pub use midx::{
    expire_midx_packs, midx_objects_to_repack, midx_packs, remove_midx, verify_midx, write_midx,
    MidxComplaint, MidxOptions, WrittenMidx,
};
pub use object::Location;
pub use pack_file::entry::EntryForm;
pub use pack_file::index_writer::{
    sort_index_entries, stage_index, write_index, IndexEntry, IndexLayout,
};
pub use pack_file::mtimes::{read_mtimes, stage_mtimes};
pub use pack_file::raw_entries::{PackEntries, RawEntry};
pub use pack_file::reverse_writer::{
    add_reverse_index, reverse_positions, stage_reverse_index, write_reverse_index,
};
pub use pack_file::sidecars::{delete_pack, is_kept, OPTIONAL_EXTENSIONS, PACK_EXTENSIONS};
pub use pack_file::sizes::PackedEntry;
pub use read::bases::SharedBases;
pub use read::reader::Reader;
pub use read::resting::RestingReader;
pub use read::stream::ObjectStream;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_share_the_store_and_own_their_readers() {
        fn shared<T: Send + Sync>() {}
        fn owned<T: Send>() {}
        shared::<ObjectStore>();
        shared::<SharedBases>();
        owned::<Reader<'static>>();
        owned::<RestingReader>();
        owned::<ObjectStream>();
    }
}
