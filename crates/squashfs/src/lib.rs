//! SquashFS images, format 4.0.

pub mod format;
mod writer;

pub use writer::{
    create, nodes_of_directory, Content, CreateOptions, Created, Handle, Node, WriteError,
};
