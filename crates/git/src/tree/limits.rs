//! Limits of what trees may list, wherever one is walked: a few nested trees can name one another
//! so that they list more than any disk holds.

/// How deep trees may be nested: git's own default (`core.maxTreeDepth`).
pub(crate) const DEPTH_LIMIT: u32 = 2048;
/// Entries of all trees together, each counted as often as it is listed.
pub(crate) const ENTRY_LIMIT: u64 = 1 << 25;
/// The same for directories, each of which takes some hundred bytes while trees are compared.
pub(crate) const DIRECTORY_LIMIT: u32 = 1 << 21;
/// Bytes of all paths together: what a 32-bit position can address.
pub(crate) const PATH_LIMIT_BYTES: u64 = u32::MAX as u64;
/// Bytes of a tree object: some millions of entries.
pub(crate) const TREE_LIMIT_BYTES: u64 = 256 << 20;
