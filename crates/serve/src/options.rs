use hedgerow_engine::Execution;
use std::num::NonZeroUsize;

/// Options for making a pack: git-pack-objects(1), git-config(1) under `pack`.
#[derive(Clone, Debug)]
pub struct PackOptions {
    /// Number of objects that a delta is tried against (`pack.window`); 0: no new deltas.
    pub window: usize,
    /// Maximum length of a delta chain (`pack.depth`); 0: no new deltas.
    pub depth: u32,
    /// Maximum memory of one thread's window, in bytes (`pack.windowMemory`); 0: no limit.
    pub window_memory_bytes: u64,
    /// Maximum memory for found deltas that are not written yet, in bytes (`pack.deltaCacheSize`);
    /// 0: no limit. Deltas that do not fit are computed again.
    pub delta_cache_bytes: u64,
    /// Objects larger than this, in bytes, are neither deltified nor held in memory
    /// (`core.bigFileThreshold`).
    pub big_file_bytes: u64,
    /// Compression level (`pack.compression`): 0 to 9, or -1 for the default.
    pub level: i32,
    /// Whether to name delta bases by their offset, which is shorter, instead of by their id.
    pub delta_base_offset: bool,
    /// Whether deltas may be against objects that the receiver has and that are not sent.
    pub thin: bool,
    /// Whether to send deltas of the store's packs as they are.
    pub reuse_deltas: bool,
    /// Whether to send compressed objects of the store's packs as they are.
    pub reuse_objects: bool,
    /// Whether to compare copied entries with the CRC-32 in their index, and objects read for
    /// compression with their id. This is for packs that are kept and not checked by a receiver.
    pub check_copies: bool,
    /// How to run. The pack is the same for any number of threads (`pack.threads`). Progress is
    /// reported in [`Stage::Counting`], [`Stage::Compressing`] and [`Stage::Writing`].
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
