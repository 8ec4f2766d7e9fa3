use hedgerow_engine::{CancelToken, Jobs};
use hedgerow_pack::Steps;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

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
    /// How many threads search for deltas and compress (`pack.threads`). The pack is the same for
    /// any number.
    pub threads: NonZeroUsize,
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
    /// Ends the work early.
    pub cancel: CancelToken,
    /// How far it is.
    pub progress: Arc<Progress>,
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
            threads: NonZeroUsize::MIN,
            delta_base_offset: false,
            thin: false,
            reuse_deltas: true,
            reuse_objects: true,
            check_copies: false,
            cancel: CancelToken::default(),
            progress: Arc::default(),
        }
    }
}

impl PackOptions {
    /// A run of the engine with `jobs` workers.
    pub(crate) fn run(&self, name: &'static str, jobs: NonZeroUsize) -> hedgerow_engine::Options {
        hedgerow_engine::Options {
            jobs: Jobs::Fixed(jobs),
            cancel: self.cancel.clone(),
            name,
            ..hedgerow_engine::Options::default()
        }
    }
}

/// How far the making of a pack is. Its phases follow each other.
#[derive(Debug, Default)]
pub struct Progress {
    /// Objects of which it is known how they are stored.
    pub counted: Steps,
    /// Objects that a delta was searched for.
    pub searched: Steps,
    /// Objects that are written.
    pub written: Steps,
    bytes: AtomicU64,
}

impl Progress {
    /// Bytes that are written.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn wrote(&self, bytes: u64) {
        self.bytes.store(bytes, Ordering::Relaxed);
    }
}
