//! Images by recipe: trees described in a text file ([`Description`]), the order and treatment of
//! contents ([`SortRules`]), and extended attributes from other files ([`Labels`]).
//!
//! The formats are those of gensquashfs 1.2 of squashfs-tools-ng: its pack files, its sort files,
//! the output of `getfattr --dump`, and SELinux file contexts. All consist of lines of bytes;
//! errors name file and line. Where gensquashfs leaves something open, or does what cannot be
//! intended, the items document the behaviour here.

mod contexts;
mod description;
mod error;
mod glob;
mod input;
mod labels;
pub(crate) mod lines;
mod nodes;
pub(crate) mod pattern;
mod sort;
mod statement;
mod tree;
mod words;
pub(crate) mod xattrs;

pub use contexts::FileContexts;
pub use description::Description;
pub use error::RecipeError;
pub use hedgerow_tree::Defaults;
pub use labels::Labels;
pub use sort::{Arranged, SortRules};
pub use xattrs::XattrFile;

/// Size limit of a recipe file, in bytes.
pub const RECIPE_BYTES: u64 = 256 << 20;

/// Reads a recipe file.
///
/// # Errors
/// The file cannot be read, or is larger than [`RECIPE_BYTES`].
pub fn read(path: &std::path::Path) -> Result<Vec<u8>, RecipeError> {
    let mut content = Vec::new();
    hedgerow_fs::ReadFile::open(path)?.read_to_end(&mut content, RECIPE_BYTES)?;
    Ok(content)
}
