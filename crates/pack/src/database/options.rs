use gix_hash::Kind;
use std::path::PathBuf;

/// How to open an [`ObjectStore`](crate::ObjectStore).
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// The hash function of the repository.
    pub hash: Kind,
    /// Whether to use `.rev` files (`pack.readReverseIndex`).
    pub read_reverse_index: bool,
    /// Whether to use a multi-pack-index (`core.multiPackIndex`).
    pub read_multi_pack_index: bool,
    /// Whether nothing is believed that only makes reading faster, and the index of a pack only when
    /// its hash is right: for those who delete what they do not find. There is no reverse index and
    /// no multi-pack-index then.
    pub unaided: bool,
    /// Whether to note, in the object directory, which accelerators were found right, so that the
    /// next process need not check them again.
    pub note_verified: bool,
    /// The largest object, or delta base, that is built in memory, in bytes. Streamed objects may
    /// be larger.
    pub object_size_limit: u64,
    /// Further object directories, searched after the repository's own
    /// (`GIT_ALTERNATE_OBJECT_DIRECTORIES`).
    pub alternates: Vec<PathBuf>,
}

impl Default for StoreOptions {
    fn default() -> Self {
        StoreOptions {
            hash: Kind::Sha1,
            read_reverse_index: true,
            read_multi_pack_index: true,
            unaided: false,
            note_verified: false,
            object_size_limit: 4 << 30,
            alternates: Vec::new(),
        }
    }
}
