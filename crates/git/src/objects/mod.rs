//! Writing objects, as files of their own: blobs, trees and commits.

mod commits;
#[cfg(test)]
mod tests;
mod trees;
mod writer;

pub(crate) use commits::NewCommit;
pub(crate) use trees::{write_tree, TreeRow};
pub(crate) use writer::ObjectWriter;
