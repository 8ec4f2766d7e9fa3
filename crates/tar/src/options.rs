/// How an archive is to be read.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// Reads absolute names as if they began at the root of the archive. Without it they are
    /// unusable.
    pub strip_leading_slashes: bool,
    /// Passes over members that no tree can have (their names are hostile, their types or numbers
    /// unknown) with a [`Warning`](crate::Warning), instead of failing.
    pub skip_unusable: bool,
    /// Reads on behind the blocks of zeros that end an archive: for archives that were put
    /// together from several by concatenation.
    pub ignore_zeros: bool,
    /// What is too large to be taken seriously.
    pub limits: Limits,
}

/// How much memory the headers of an archive may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest extended header, and what may be kept of all global ones, in bytes.
    pub pax_bytes: usize,
    /// The longest name or link target, in bytes.
    pub name_bytes: usize,
    /// The most segments of a sparse file, of 16 bytes each.
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
