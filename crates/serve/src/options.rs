use hedgerow_engine::Execution;
use std::num::NonZeroUsize;

/// How a pack is made: git-pack-objects(1), git-config(1) under `pack`.
#[derive(Clone, Debug)]
pub struct PackOptions {
    /// How many objects a delta is tried against (`pack.window`); 0: no new deltas.
    pub window: usize,
    /// The longest chain of deltas (`pack.depth`); 0: no new deltas.
    pub depth: u32,
    /// The most memory of one thread's window in bytes (`pack.windowMemory`); 0: no limit.
    pub window_memory_bytes: u64,
    /// The most memory for deltas from when they are found to when they are written, in bytes
    /// (`pack.deltaCacheSize`); 0: no limit. What does not fit is made again.
    pub delta_cache_bytes: u64,
    /// Larger objects are neither deltified nor held in memory (`core.bigFileThreshold`).
    pub big_file_bytes: u64,
    /// The level of compression (`pack.compression`): 0 to 9, or -1 for the usual one.
    pub level: i32,
    /// Bases are named by their offset, which is shorter, and not by their id.
    pub delta_base_offset: bool,
    /// Deltas may be against objects that are not sent but had.
    pub thin: bool,
    /// Deltas of the store's packs are sent as they are.
    pub reuse_deltas: bool,
    /// Compressed objects of the store's packs are sent as they are.
    pub reuse_objects: bool,
    /// What is copied is compared with the CRC-32 in its index, and what is read to be compressed
    /// with its id: for packs that stay, whose receiver does not check everything.
    pub check_copies: bool,
    /// How it is run. The pack is the same for any number of threads (`pack.threads`).
    /// [`Stage::Counting`], [`Stage::Compressing`] and [`Stage::Writing`] say how far it is.
    ///
    /// [`Stage::Counting`]: hedgerow_engine::Stage::Counting
    /// [`Stage::Compressing`]: hedgerow_engine::Stage::Compressing
    /// [`Stage::Writing`]: hedgerow_engine::Stage::Writing
    pub execution: Execution,
}

impl Default for PackOptions {
    fn default() -> Self {
        PackOptions {
            window: 10,
            depth: 50,
            window_memory_bytes: 0,
            delta_cache_bytes: 256 << 20,
            big_file_bytes: 512 << 20,
            level: -1,
            delta_base_offset: false,
            thin: false,
            reuse_deltas: true,
            reuse_objects: true,
            check_copies: false,
            execution: Execution::with_threads(NonZeroUsize::MIN),
        }
    }
}
