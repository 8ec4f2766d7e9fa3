/// How an archive is read.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// Drops leading slashes, so that absolute names start at the root of the archive. Otherwise
    /// such members are unusable.
    pub strip_leading_slashes: bool,
    /// Skips members that cannot be in a tree, because their names are hostile or their types or
    /// numbers unknown, with a [`Warning`](crate::Warning) instead of failing.
    pub skip_unusable: bool,
    /// Continues after the blocks of zeros that end an archive, for concatenated archives.
    pub ignore_zeros: bool,
    /// Limits of the sizes in headers.
    pub limits: Limits,
}

/// How much memory the headers of an archive may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum size of an extended header, and of all global ones together, in bytes.
    pub pax_bytes: usize,
    /// Maximum length of a name or link target in bytes.
    pub name_bytes: usize,
    /// Maximum number of segments of a sparse file, 16 bytes each.
    pub sparse_segments: usize,
}

impl Default for Limits {
    /// 1 MiB of records, names of 64 KiB, 2^20 segments.
    fn default() -> Self {
        Limits {
            pax_bytes: 1 << 20,
            name_bytes: 1 << 16,
            sparse_segments: 1 << 20,
        }
    }
}
