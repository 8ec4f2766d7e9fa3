//! Commands over objects and packs.

pub mod cat_file;
pub mod rev_list;
mod sources;
mod stream;
