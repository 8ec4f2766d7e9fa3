//! Reads Git objects: packs, their accelerators, and loose objects.
//!
//! An [`ObjectStore`] is a set of immutable maps that any number of threads read without a lock;
//! each thread has its own [`Reader`], which owns the inflaters and buffers it reuses for every
//! object. [`SharedBases`] lets the readers of one job share the delta bases they have in common.
//!
//! Nothing a file says is trusted: lengths are checked before memory is asked for, positions
//! before they are followed, and chains of deltas are walked, never recursed into. An accelerator
//! (multi-pack-index, reverse index) that is broken costs a warning and time, not correctness.

mod alternates;
mod bases;
mod big_endian;
mod bitmap;
mod chain;
mod commit_graph;
mod count;
mod delta;
mod delta_encode;
mod directory_state;
mod entry;
mod error;
mod extent;
mod generation;
mod hashed_file;
mod id_table;
mod index;
mod index_writer;
pub mod indexer;
mod locate;
mod loose;
mod loose_writer;
mod map;
mod midx;
mod mtimes;
mod object;
mod on_disk;
mod order;
mod pack;
mod pack_order;
mod prefix;
mod pull;
mod raw_entry;
mod reader;
mod recent;
mod relist;
mod repair;
mod resting;
mod reverse;
mod reverse_writer;
mod sidecars;
mod steps;
mod store;
mod stream;
mod verified;

pub use bases::SharedBases;
pub use bitmap::{
    BitOrder, BitmapContents, Bitmaps, CommitBitmap, DamagedBitmap, OrderPart, PseudoMerge, Words,
};
pub use commit_graph::{CommitGraph, GraphCommit, Parents};
pub use delta::apply_delta;
pub use delta_encode::DeltaIndex;
pub use entry::EntryForm;
pub use error::{Error, Fault, Result};
pub use gix_hash::{oid, Kind as HashKind, ObjectId};
pub use hashed_file::TrailerHasher;
pub use hedgerow_object::{ObjectHeader, ObjectKind};
pub use index_writer::{sort_index_entries, stage_index, write_index, IndexEntry, IndexLayout};
pub use loose_writer::write_loose;
pub use midx::{
    expire_midx_packs, midx_objects_to_repack, midx_packs, remove_midx, verify_midx, write_midx,
    MidxComplaint, MidxOptions, MidxProgress, WrittenMidx,
};
pub use mtimes::{read_mtimes, stage_mtimes};
pub use object::Location;
pub use on_disk::PackedEntry;
pub use pull::ObjectStream;
pub use raw_entry::{PackEntries, RawEntry};
pub use reader::Reader;
pub use resting::RestingReader;
pub use reverse_writer::{
    add_reverse_index, reverse_positions, stage_reverse_index, write_reverse_index,
};
pub use sidecars::{delete_pack, is_kept, OPTIONAL_EXTENSIONS, PACK_EXTENSIONS};
pub use steps::Steps;
pub use store::{ObjectStore, StoreOptions};

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
