//! The common types of all sources and sinks of hedgerow: kinds of entries, the rules for names
//! that become paths on disk, the canonical order, and the grouping of ordered paths by directory.
//!
//! This crate knows no file format and makes no system calls.

mod dot_git;
mod entry;
mod kind;
mod layout;
mod name;
mod node;
mod order;
mod source;
mod split;

pub use dot_git::{is_any_dot_git, is_dot_file, DotFile};
pub use entry::{Entry, Metadata, NodeKind};
pub use kind::EntryKind;
pub use layout::{Directory, Layout};
pub use name::{check_name, check_path, NameError, NameRules};
pub use node::{Content, Defaults, Handle, Node, NodeError, Xattr};
pub use order::canonical_order;
pub use source::{Omission, TreeSource};
pub use split::{shown_path, split_path};
