//! Limits of what trees may list, wherever one is walked: a few nested trees can name one another
//! so that they list more than any disk holds.

use crate::repository::Repository;
use crate::Result;

/// How deep trees may be nested: git's own default.
const DEPTH_LIMIT: u32 = 2048;

/// What is said where they are nested deeper, in git's words.
pub(crate) const DEPTH_EXCEEDED: &str = "exceeded maximum allowed tree depth";

/// `core.maxTreeDepth`, or git's default.
///
/// # Errors
/// It is no number.
pub(crate) fn depth_limit(repository: &Repository) -> Result<u32> {
    let depth = repository.config().integer("core.maxTreeDepth")?;
    // Where git has a negative number, no tree is small enough.
    let depth = depth.map(|depth| u32::try_from(depth.max(0)).unwrap_or(u32::MAX));
    Ok(depth.unwrap_or(DEPTH_LIMIT))
}
/// Entries of all trees together, each counted as often as it is listed.
pub(crate) const ENTRY_LIMIT: u64 = 1 << 25;
/// The same for directories, each of which takes some hundred bytes while trees are compared.
pub(crate) const DIRECTORY_LIMIT: u32 = 1 << 21;
/// Bytes of all paths together: what a 32-bit position can address.
pub(crate) const PATH_LIMIT_BYTES: u64 = u32::MAX as u64;
/// Bytes of a tree object: some millions of entries.
pub(crate) const TREE_LIMIT_BYTES: u64 = 256 << 20;
