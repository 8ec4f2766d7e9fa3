//! Images by recipe: trees that a text describes ([`Description`]), the order and the treatment of
//! contents ([`SortRules`]), and attributes that come from elsewhere ([`Labels`]).
//!
//! The formats are those of gensquashfs 1.2 of squashfs-tools-ng: its pack files, its sort files, the
//! output of `getfattr --dump`, and file contexts of SELinux. All are lines of bytes; errors name file
//! and line. Where that program leaves something open or its result cannot be meant, the items say what
//! is done here.

mod contexts;
mod description;
mod error;
mod glob;
mod input;
mod labels;
mod lines;
mod nodes;
mod pattern;
mod sort;
mod statement;
mod tree;
mod words;
mod xattrs;

pub use contexts::FileContexts;
pub use description::Description;
pub use error::RecipeError;
pub use hedgerow_tree::Defaults;
pub use labels::Labels;
pub use sort::{Arranged, SortRules};
pub use xattrs::XattrFile;

/// A text of a recipe has at most so many bytes.
pub const RECIPE_BYTES: u64 = 256 << 20;

/// The content of a recipe's file.
///
/// # Errors
/// It cannot be read, or is larger than [`RECIPE_BYTES`].
pub fn read(path: &std::path::Path) -> Result<Vec<u8>, RecipeError> {
    let mut content = Vec::new();
    hedgerow_fs::ReadFile::open(path)?.read_to_end(&mut content, RECIPE_BYTES)?;
    Ok(content)
}
