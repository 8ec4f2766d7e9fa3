use hedgerow_engine::Execution;

/// What a repack is asked to do: the options of git-repack(1). What is `None` is as the configuration
/// says.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// All that is reachable goes into one pack (`-a`).
    pub all: bool,
    /// The same, and what nothing reaches becomes loose (`-A`).
    pub all_and_loosen: bool,
    /// What is not needed any more is deleted (`-d`).
    pub delete: bool,
    /// All deltas are searched anew (`-f`).
    pub no_reuse_delta: bool,
    /// All objects are compressed anew, too (`-F`).
    pub no_reuse_object: bool,
    /// What dumb servers need is not updated (`-n`).
    pub no_server_info: bool,
    /// What an alternate has is left out (`--local`).
    pub local: bool,
    /// Whether bitmaps are written (`--write-bitmap-index`).
    pub write_bitmaps: Option<bool>,
    /// What nothing reaches goes into a pack of its own (`--cruft`).
    pub cruft: bool,
    /// From when on that is dropped, as git understands dates (`--cruft-expiration`).
    pub cruft_expiration: Option<String>,
    /// From when on it does not become loose (`--unpack-unreachable`).
    pub unpack_unreachable: Option<String>,
    /// What nothing reaches is packed, too (`--keep-unreachable`).
    pub keep_unreachable: bool,
    /// How many objects a delta is tried against (`--window`).
    pub window: Option<u32>,
    /// The most memory of one thread's window in bytes (`--window-memory`).
    pub window_memory_bytes: Option<u64>,
    /// The longest chain of deltas (`--depth`).
    pub depth: Option<u32>,
    /// How long a pack may be, in bytes (`--max-pack-size`).
    pub max_pack_bytes: Option<u64>,
    /// Whether packs with a `.keep` file are repacked, too (`--pack-kept-objects`).
    pub pack_kept_objects: Option<bool>,
    /// The packs that stay as they are, by their files (`--keep-pack`).
    pub keep_packs: Vec<String>,
    /// Small packs are joined, so that each has at least so many times as many objects as the next
    /// smaller one (`--geometric`).
    pub geometric: Option<u32>,
    /// A multi-pack-index is written (`--write-midx`).
    pub write_midx: bool,
    /// How it is run; [`Jobs::Auto`](hedgerow_engine::Jobs::Auto) is what `pack.threads` says
    /// (`--threads`).
    pub execution: Execution,
}
