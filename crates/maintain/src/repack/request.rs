use hedgerow_engine::Execution;

/// A request for a repack: the options of git-repack(1). Where a field is `None`, the configuration
/// applies.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Pack all reachable objects into one pack (`-a`).
    pub all: bool,
    /// The same, and make unreachable objects loose (`-A`).
    pub all_and_loosen: bool,
    /// Delete packs and loose objects that are no longer needed (`-d`).
    pub delete: bool,
    /// Compute all deltas anew (`-f`).
    pub no_reuse_delta: bool,
    /// Compress all objects anew, too (`-F`).
    pub no_reuse_object: bool,
    /// Do not update the files for dumb servers (`-n`).
    pub no_server_info: bool,
    /// Leave out objects of alternates (`--local`).
    pub local: bool,
    /// Whether to write bitmaps (`--write-bitmap-index`).
    pub write_bitmaps: Option<bool>,
    /// Put unreachable objects into a separate pack (`--cruft`).
    pub cruft: bool,
    /// The age at which these are deleted, in git's date formats (`--cruft-expiration`).
    pub cruft_expiration: Option<String>,
    /// The age from which objects are not made loose (`--unpack-unreachable`).
    pub unpack_unreachable: Option<String>,
    /// Pack unreachable objects, too (`--keep-unreachable`).
    pub keep_unreachable: bool,
    /// Number of objects that a delta is tried against (`--window`).
    pub window: Option<u32>,
    /// Maximum memory of one thread's window, in bytes (`--window-memory`).
    pub window_memory_bytes: Option<u64>,
    /// Maximum length of a delta chain (`--depth`).
    pub depth: Option<u32>,
    /// Maximum length of a pack, in bytes (`--max-pack-size`).
    pub max_pack_bytes: Option<u64>,
    /// Whether to repack packs with a `.keep` file, too (`--pack-kept-objects`).
    pub pack_kept_objects: Option<bool>,
    /// Packs to keep, by file name (`--keep-pack`).
    pub keep_packs: Vec<String>,
    /// Combine small packs, so that each has at least this many times as many objects as the next
    /// smaller one (`--geometric`).
    pub geometric: Option<u32>,
    /// Write a multi-pack-index (`--write-midx`).
    pub write_midx: bool,
    /// How to run; [`Jobs::Auto`](hedgerow_engine::Jobs::Auto) means the value of `pack.threads`
    /// (`--threads`).
    pub execution: Execution,
}
